// SPDX-License-Identifier: GPL-2.0-or-later
// Group J: calls of the server. Whether they are refused as they have to be: errors.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint32_t gss_none = 1;
/// Two taps, or two queues of one: so near to each other the order of the two directions is not certain.
constexpr TimeNs order_unsure = 1'000'000;

enum class Consent : std::uint8_t { none, given, not_read };

[[nodiscard]] Consent consent_of(wire::Bytes message, std::size_t wire_length) {
  const auto rpc = wire::decode_rpc_call(message, wire_length);
  if (!rpc || rpc->body > message.size()) return Consent::not_read;
  if (rpc->program != wire::nfs_program || rpc->version != 4 || rpc->procedure == 0) return Consent::none;
  if (rpc->gss_service && *rpc->gss_service != gss_none) return Consent::not_read;
  const auto compound = wire::decode_compound(message.subspan(rpc->body), wire_length - rpc->body, false);
  if (!compound) return Consent::not_read;
  if (!compound->back_channel) return Consent::not_read;
  if (*compound->back_channel) return Consent::given;
  // Both stand first in their compound, or right behind SEQUENCE: what comes after an operation of another kind is
  // no place for them.
  constexpr std::size_t enough = 2;
  const bool read = compound->operations.size() >= std::min<std::size_t>(compound->count, enough);
  return read ? Consent::none : Consent::not_read;
}

}  // namespace

void note_back_channel(Connection& connection, const Transaction& call, wire::Bytes message, std::size_t wire_length) {
  BackChannel& channel = connection.back_channel;
  if (call.requester != Side::active || channel.agreed.number != 0) return;
  if (call.procedure && std::get<0>(*call.procedure) == wire::nfs_program && std::get<1>(*call.procedure) == 4) {
    channel.nfs4 = true;
  }
  switch (consent_of(message, wire_length)) {
    case Consent::given:
      channel.agreed = call.call;
      break;
    case Consent::not_read:
      if (channel.not_read == 0) channel.not_read = call.call.number;
      break;
    case Consent::none:
      break;
  }
}

void judge_reverse_call(Context& context, Connection& connection, const trace::Send& event, const Transaction& call) {
  const BackChannel& channel = connection.back_channel;
  if (channel.agreed.number != 0) return;
  if (!connection.facts.handshake_seen || !connection.whole()) {
    context.book.unchecked(RuleId::reverse_before_ready, connection.id(),
                           "what the client agreed to may be missing from the capture");
    return;
  }
  if (channel.not_read != 0) {
    context.book.unchecked(
        RuleId::reverse_before_ready, connection.id(),
        fmt::format("the client's Call in frame {} cannot be read to its end: it may have agreed there",
                    channel.not_read));
    return;
  }
  const bool nfs = channel.nfs4 || (call.procedure && wire::callback_program(std::get<0>(*call.procedure)));
  Pending pending;
  pending.kind = Pending::Kind::before_ready;
  pending.rule = RuleId::reverse_before_ready;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.xid = call.xid;
  pending.severity = nfs ? Severity::error : Severity::note;
  hold_back(connection, std::move(pending));
}

void settle_before_ready(Context& context, Connection& connection, const Pending& pending, bool proven) {
  const FrameRef agreed = connection.back_channel.agreed;
  if (agreed.number != 0 && agreed.number < pending.frame.number) return;  // it was only delivered late
  if (agreed.number != 0 && agreed.time - pending.frame.time < order_unsure) {
    context.book.unchecked(RuleId::reverse_before_ready, connection.id(),
                           "the client agreed at the same moment: which came first is not certain");
    return;
  }
  const bool nfs = pending.severity == Severity::error;
  context.book.add(
      {RuleId::reverse_before_ready,
       connection.id(),
       {pending.frame, agreed},
       nfs ? fmt::format(
                 "The server sent a Call (XID {:#010x}) although the client has not agreed to be called on this "
                 "connection: it sent no CREATE_SESSION with a back channel and bound the connection to none.",
                 pending.xid)
           : fmt::format("The server sent a Call (XID {:#010x}). Whether this client is ready for calls depends on a "
                         "protocol that is not known here.",
                         pending.xid),
       !nfs ? Severity::note : (proven ? Severity::error : Severity::warning),
       pending.xid,
       nfs ? std::optional(Party::server) : std::nullopt,
       Role::requester});
}

}  // namespace rpcrdma::referee
