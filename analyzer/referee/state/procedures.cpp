// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/procedures.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "referee/state/nfs_watch.hpp"
#include "referee/state/slots.hpp"
#include "wire/nfs_steps.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] bool compounds(const ProcedureId& procedure) noexcept {
  const auto [program, version, number] = procedure;
  return number == 1 && ((program == wire::nfs_program && version == 4) || wire::callback_program(program));
}

/// A Call's RPC header, and its COMPOUND, as far as they could be read.
struct CallRead {
  wire::Decoded<wire::RpcCall> rpc;
  const wire::Compound* compound = nullptr;  ///< nullptr: it has none, or that cannot be read
};

[[nodiscard]] CallRead read_call(Connection& connection, const Transaction& call, wire::Bytes message,
                                 std::size_t wire_length) {
  CallRead read{wire::decode_rpc_call(message, wire_length), nullptr};
  if (!read.rpc || !compounds(*call.procedure)) return read;
  wire::Compound& compound = connection.newest_compound;
  const wire::DataPlaces places = argument_places(connection, call);
  if (wire::decode_compound_of(*read.rpc, message, wire_length, places, compound)) read.compound = &compound;
  return read;
}

enum class Consent : std::uint8_t { none, given, not_read };

/// Of a procedure of NFSv4 that is not NULL.
[[nodiscard]] Consent consent_of(const wire::Compound* compound) {
  if (compound == nullptr || !compound->back_channel) return Consent::not_read;
  if (*compound->back_channel) return Consent::given;
  // Both stand alone in their compound, but for CREATE_SESSION, which may be anywhere behind SEQUENCE (RFC 8881
  // sections 18.34 and 18.36).
  const bool alone = !compound->operations.empty() && compound->operations.front() != wire::operation::sequence;
  const bool read = alone || compound->operations.size() >= compound->count;
  return read ? Consent::none : Consent::not_read;
}

void note_back_channel(Connection& connection, const Transaction& call, const CallRead& read) {
  BackChannel& channel = connection.back_channel;
  if (call.requester != Side::active || channel.agreed.number != 0) return;
  const auto [program, version, number] = *call.procedure;
  const bool nfs4 = program == wire::nfs_program && version == 4;
  channel.nfs4 = channel.nfs4 || nfs4;
  channel.read_again(call.call);
  switch (nfs4 && number != 0 ? consent_of(read.compound) : Consent::none) {
    case Consent::given:
      channel.agreed = call.call;
      break;
    case Consent::not_read:
      channel.could_not_read(call.call);
      break;
    case Consent::none:
      break;
  }
}

/// Where the service is none that is known, nothing can be read either.
[[nodiscard]] wire::Protection protection_assumed(const wire::RpcCall& call) noexcept {
  return wire::protection_of(call).value_or(wire::Protection::privacy);
}

/// RPCSEC_GSS around a procedure of NFSv2 or NFSv3. Where its service cannot be read, no result of it can.
void note_protection(Transaction& call, const CallRead& read, wire::Bytes message) {
  constexpr std::size_t flavor_at = 24;
  if (message.size() < flavor_at + 4 || wire::load_be32(message.data() + flavor_at) != wire::flavor_gss) return;
  call.protection = read.rpc ? protection_assumed(*read.rpc) : wire::Protection::privacy;
}

/// Who has no context yet asks for one with NULL (RFC 2203 section 5.2.2), and so takes leave of it who has.
void note_context(Transaction& call, const CallRead& read) {
  if (!read.rpc) return;
  const bool asks = read.rpc->gss_procedure == wire::gss_procedure::init ||
                    read.rpc->gss_procedure == wire::gss_procedure::continue_init;
  if (asks) call.introduces = Transaction::Introduces::user;
  const bool destroys = read.rpc->gss_procedure == wire::gss_procedure::destroy;
  call.leaves = destroys ? Transaction::Leaves::context : Transaction::Leaves::nothing;
}

void count_operations(Procedure& procedure, const wire::Compound& compound) {
  std::vector<std::uint64_t>& counts = procedure.operations;
  if (counts.empty()) counts.resize(Procedure::most_operations);
  for (const std::uint32_t operation : compound.operations) {
    // Which of them have a name is asked at the end.
    if (operation != 0 && operation < counts.size()) ++counts[operation];
    if (operation == wire::nfs4_illegal_operation) ++counts[0];
  }
}

[[nodiscard]] bool of_callback(const Transaction& call) noexcept {
  return wire::callback_program(std::get<0>(*call.procedure));
}

/// Of a COMPOUND: which operations, and what somebody waits for.
void note_operations(Connection& connection, Transaction& call, const CallRead& read, Procedure& procedure,
                     wire::Bytes message, std::size_t wire_length) {
  if (read.rpc) call.protection = protection_assumed(*read.rpc);
  if (read.compound == nullptr) {
    watch_unread(connection, call, call.call);
    return;
  }
  const wire::Compound& compound = *read.compound;
  call.minor = compound.minor_version;
  // Cut by the capture, or data of which it is not known whether they stand here, or more operations than are kept.
  if (compound.operations.size() < compound.count) watch_unread(connection, call, call.call);
  const bool callback = of_callback(call);
  if (call.protection == wire::Protection::none) {
    call.session = compound.session;
    if (compound.slot && !callback) take_up_slot(connection, call, *compound.slot);
  }
  const bool watched = std::any_of(compound.operations.begin(), compound.operations.end(),
                                   [&](std::uint32_t operation) { return watches(operation, callback); });
  if (watched || callback || watches_files(connection))
    watch_call(connection, call, message, wire_length, argument_places(connection, call));
  count_operations(procedure, compound);
}

/// False: it has been read before, or cannot be.
[[nodiscard]] bool read_procedure(Transaction& call, wire::Bytes message) {
  if (call.procedure || message.size() < 24) return false;
  const std::uint8_t* p = message.data();
  if (wire::load_be32(p + 4) != 0 || wire::load_be32(p + 8) != 2) return false;
  call.procedure = std::tuple(wire::load_be32(p + 12), wire::load_be32(p + 16), wire::load_be32(p + 20));
  return true;
}

/// Where the Call's procedure is counted; nullptr: there is no room.
[[nodiscard]] Procedure* procedure_of(Connection& connection, const Transaction& call) {
  constexpr std::size_t most_procedures = 512;
  if (connection.procedures.size() >= most_procedures && !connection.procedures.contains(*call.procedure)) {
    return nullptr;
  }
  return &connection.procedures[*call.procedure];
}

void give_name(Transaction& call, const wire::Compound* compound) {
  const auto [program, version, number] = *call.procedure;
  const bool callback = wire::callback_program(program);
  const auto leading =
      compound == nullptr ? std::nullopt : wire::leading_operation(compound->operations, compound->count, callback);
  call.operation =
      leading ? wire::nfs4_operation_name(*leading, callback) : wire::bare_procedure_name(program, version, number);
}

/// What the message says beside its procedure.
void note_arguments(Connection& connection, Transaction& call, Procedure* procedure, wire::Bytes message,
                    std::size_t wire_length) {
  const CallRead read = read_call(connection, call, message, wire_length);
  note_back_channel(connection, call, read);
  const auto [program, version, number] = *call.procedure;
  if (program == wire::nfs_program && (version == 2 || version == 3)) {
    note_protection(call, read, message);
    if (version == 3 && read.rpc && read.rpc->body < message.size())
      watch_file(connection, call, message.subspan(read.rpc->body));
  }
  if (number == 0) note_context(call, read);
  if (procedure == nullptr) return;
  if (compounds(*call.procedure)) note_operations(connection, call, read, *procedure, message, wire_length);
  give_name(call, read.compound);
}

}  // namespace

wire::DataPlaces argument_places(Connection& connection, const Transaction& call) {
  if (!call.all_lists() || call.ill_formed()) return {};
  if (!call.arguments_moved()) return wire::NothingMoved();
  std::vector<wire::ReadChunk>& chunks = connection.scratch.reads;
  wire::collect_read_chunks(call.reads, chunks);
  return wire::ChunksOfCall(chunks);
}

void note_procedure(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length) {
  if (!read_procedure(call, message)) return;
  Procedure* procedure = procedure_of(connection, call);
  if (procedure != nullptr) ++procedure->calls;
  note_arguments(connection, call, procedure, message, wire_length);
}

void note_first_piece(Connection& connection, Transaction& call, wire::Bytes piece) {
  if (!read_procedure(call, piece)) return;
  const CallRead read = read_call(connection, call, piece, piece.size());
  note_back_channel(connection, call, read);
  if (read.compound != nullptr) call.minor = read.compound->minor_version;
  Procedure* procedure = procedure_of(connection, call);
  if (procedure == nullptr) return;
  ++procedure->calls;
  give_name(call, read.compound);
}

void note_all_pieces(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length) {
  if (!call.procedure) {
    note_procedure(connection, call, message, wire_length);
    return;
  }
  note_arguments(connection, call, procedure_of(connection, call), message, wire_length);
}

std::vector<ProcedureFacts::Operation> operations_of(const Procedure& procedure, std::uint32_t program) {
  const auto& counts = procedure.operations;
  std::vector<ProcedureFacts::Operation> all;
  all.reserve(counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0U)));
  for (std::uint32_t slot = 0; slot < counts.size(); ++slot) {
    if (counts[slot] == 0) continue;
    const std::uint32_t operation = slot == 0 ? wire::nfs4_illegal_operation : slot;
    const std::string_view name = wire::nfs4_operation_name(operation, wire::callback_program(program));
    if (!name.empty()) all.push_back({name, counts[slot]});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace rpcrdma::referee
