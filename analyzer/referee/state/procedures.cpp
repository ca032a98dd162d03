// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/procedures.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "referee/state/nfs_watch.hpp"
#include "wire/nfs_steps.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

enum class Consent : std::uint8_t { none, given, not_read };

[[nodiscard]] Consent consent_of(wire::Bytes message, std::size_t wire_length) {
  const auto rpc = wire::decode_rpc_call(message, wire_length);
  if (!rpc) return Consent::not_read;
  if (rpc->program != wire::nfs_program || rpc->version != 4 || rpc->procedure == 0) return Consent::none;
  const auto compound = wire::decode_compound_of(*rpc, message, wire_length);
  if (!compound) return Consent::not_read;
  if (!compound->back_channel) return Consent::not_read;
  if (*compound->back_channel) return Consent::given;
  // Both stand alone in their compound, but for CREATE_SESSION, which may be anywhere behind SEQUENCE (RFC 8881
  // sections 18.34 and 18.36).
  const bool alone = !compound->operations.empty() && compound->operations.front() != wire::operation::sequence;
  const bool read = alone || compound->operations.size() >= compound->count;
  return read ? Consent::none : Consent::not_read;
}

void note_back_channel(Connection& connection, const Transaction& call, wire::Bytes message, std::size_t wire_length) {
  BackChannel& channel = connection.back_channel;
  if (call.requester != Side::active || channel.agreed.number != 0) return;
  if (call.procedure && std::get<0>(*call.procedure) == wire::nfs_program && std::get<1>(*call.procedure) == 4) {
    channel.nfs4 = true;
  }
  if (channel.not_read == call.call.number) channel.not_read = 0;  // what could not be read of it before, may be now
  switch (consent_of(message, wire_length)) {
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

/// RPCSEC_GSS around a procedure of NFSv3. Where its service cannot be read, no result of it can.
void note_protection(Transaction& call, wire::Bytes message, std::size_t wire_length) {
  constexpr std::size_t flavor_at = 24;
  if (message.size() < flavor_at + 4 || wire::load_be32(message.data() + flavor_at) != wire::flavor_gss) return;
  const auto decoded = wire::decode_rpc_call(message, wire_length);
  call.protection = decoded ? protection_assumed(*decoded) : wire::Protection::privacy;
}

/// Who has no context yet asks for one with NULL (RFC 2203 section 5.2.2).
void note_context(Transaction& call, wire::Bytes message, std::size_t wire_length) {
  const auto decoded = wire::decode_rpc_call(message, wire_length);
  if (!decoded) return;
  const bool asks = decoded->gss_procedure == wire::gss_procedure::init ||
                    decoded->gss_procedure == wire::gss_procedure::continue_init;
  if (asks) call.introduces = Transaction::Introduces::user;
}

/// Of a COMPOUND; the operation that gives it its name, where it could be read.
[[nodiscard]] std::optional<std::uint32_t> note_operations(Connection& connection, Transaction& call,
                                                           Procedure& procedure, wire::Bytes message,
                                                           std::size_t wire_length, bool callback) {
  const auto decoded = wire::decode_rpc_call(message, wire_length);
  if (!decoded) {
    watch_unread(connection, call.call);
    return std::nullopt;
  }
  call.protection = protection_assumed(*decoded);
  wire::Compound& compound = connection.newest_compound;
  if (!wire::decode_compound_of(*decoded, message, wire_length, compound)) {
    watch_unread(connection, call.call);
    return std::nullopt;
  }
  // Cut by the capture, or data of which it is not known whether they stand here, or more operations than are kept.
  if (compound.operations.size() < compound.count) watch_unread(connection, call.call);
  const bool watched = std::any_of(compound.operations.begin(), compound.operations.end(),
                                   [&](std::uint32_t operation) { return watches(operation, callback); });
  if (watched || callback) watch_call(connection, call, message, wire_length);
  std::vector<std::uint64_t>& counts = procedure.operations;
  if (counts.empty()) counts.resize(Procedure::most_operations);
  for (const std::uint32_t operation : compound.operations) {
    // Which of them have a name is asked at the end.
    if (operation != 0 && operation < counts.size()) ++counts[operation];
    if (operation == wire::nfs4_illegal_operation) ++counts[0];
  }
  return wire::leading_operation(compound.operations, compound.count, callback);
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

[[nodiscard]] bool compounds(const ProcedureId& procedure) noexcept {
  const auto [program, version, number] = procedure;
  return number == 1 && ((program == wire::nfs_program && version == 4) || wire::callback_program(program));
}

void give_name(Transaction& call, std::optional<std::uint32_t> leading) {
  const auto [program, version, number] = *call.procedure;
  call.operation = leading ? wire::nfs4_operation_name(*leading, wire::callback_program(program))
                           : wire::bare_procedure_name(program, version, number);
}

/// What the message says beside its procedure.
void note_arguments(Connection& connection, Transaction& call, Procedure* procedure, wire::Bytes message,
                    std::size_t wire_length) {
  note_back_channel(connection, call, message, wire_length);
  const auto [program, version, number] = *call.procedure;
  if (program == wire::nfs_program && version == 3) note_protection(call, message, wire_length);
  if (number == 0) note_context(call, message, wire_length);
  if (procedure == nullptr) return;
  give_name(call, compounds(*call.procedure) ? note_operations(connection, call, *procedure, message, wire_length,
                                                               wire::callback_program(program))
                                             : std::nullopt);
}

/// What a COMPOUND is called whose end has not come.
[[nodiscard]] std::optional<std::uint32_t> leading_so_far(Connection& connection, wire::Bytes piece, bool callback) {
  const auto decoded = wire::decode_rpc_call(piece, piece.size());
  wire::Compound& compound = connection.newest_compound;
  if (!decoded || !wire::decode_compound_of(*decoded, piece, piece.size(), compound)) return {};
  return wire::leading_operation(compound.operations, compound.count, callback);
}

}  // namespace

void note_procedure(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length) {
  if (!read_procedure(call, message)) return;
  Procedure* procedure = procedure_of(connection, call);
  if (procedure != nullptr) ++procedure->calls;
  note_arguments(connection, call, procedure, message, wire_length);
}

void note_first_piece(Connection& connection, Transaction& call, wire::Bytes piece) {
  if (!read_procedure(call, piece)) return;
  note_back_channel(connection, call, piece, piece.size());
  Procedure* procedure = procedure_of(connection, call);
  if (procedure == nullptr) return;
  ++procedure->calls;
  const bool callback = wire::callback_program(std::get<0>(*call.procedure));
  give_name(call, compounds(*call.procedure) ? leading_so_far(connection, piece, callback) : std::nullopt);
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
