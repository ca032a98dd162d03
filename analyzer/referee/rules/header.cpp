// SPDX-License-Identifier: GPL-2.0-or-later
// Group D: the header and its XDR.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

HeldFinding judge_undecodable(Context& context, Connection& connection, const trace::Send& event,
                              const wire::FixedWords& fixed, const wire::DecodeError& error) {
  if (error.fault == wire::Fault::truncated || event.holes) {
    context.book.unchecked(RuleId::xdr_malformed, connection.id(),
                           fmt::format("frame {} was cut inside the RPC-over-RDMA header", event.frame.number));
    return {};
  }
  const std::optional<std::uint32_t> xid = event.wire_length >= 4 && event.octets.size() >= 4
                                               ? std::optional(wire::load_be32(event.octets.data()))
                                               : std::nullopt;
  if (event.wire_length < 16 || (event.wire_length < 28 && fixed.proc <= 1)) {
    return context.book.add(
        {RuleId::header_too_short,
         connection.id(),
         {event.frame},
         fmt::format("The {} sent {}: too short for an RPC-over-RDMA header (28 for a message with or "
                     "without RPC payload, 16 at least for anything).",
                     name(event.side), counted(event.wire_length, "octet")),
         std::nullopt,
         xid,
         party(event.side),
         std::nullopt});
  }
  if (fixed.version == 1 && fixed.proc > 4) {
    return context.book.add(
        {RuleId::unknown_proc,
         connection.id(),
         {event.frame},
         fmt::format("The {}'s header has procedure {}; version 1 knows 0 to 4.", name(event.side), fixed.proc),
         std::nullopt,
         xid,
         party(event.side),
         std::nullopt});
  }
  if (error.field == "list discriminator") {
    const std::size_t at = error.offset;
    return context.book.add(
        {RuleId::xdr_bool_invalid,
         connection.id(),
         {event.frame},
         fmt::format("The {}'s header has the value {:#x} at octet {}, where 1 says that a list goes on "
                     "and 0 that it ends.",
                     name(event.side), wire::load_be32(event.octets.data() + at), at),
         std::nullopt,
         xid,
         party(event.side),
         std::nullopt});
  }
  return context.book.add({RuleId::xdr_malformed,
                           connection.id(),
                           {event.frame},
                           fmt::format("The {}'s header cannot be decoded: {} at octet {} of {}.", name(event.side),
                                       error.field, error.offset, event.wire_length),
                           std::nullopt,
                           xid,
                           party(event.side),
                           std::nullopt});
}

void judge_version(Context& context, Connection& connection, const trace::Send& event, const wire::FixedWords& fixed) {
  context.book.add(
      {RuleId::bad_version,
       connection.id(),
       {event.frame},
       fmt::format("The {}'s header says version {}; versions 1 and 2 exist.", name(event.side), fixed.version),
       std::nullopt,
       fixed.xid,
       party(event.side),
       std::nullopt});
}

void judge_xid(Context& context, Connection& connection, const trace::Send& event, std::uint32_t header_xid,
               std::uint32_t rpc_xid) {
  if (header_xid == rpc_xid) return;
  context.book.add({RuleId::xid_mismatch,
                    connection.id(),
                    {event.frame},
                    fmt::format("The {}'s transport header has XID {:#010x}, the RPC message behind it {:#010x}.",
                                name(event.side), header_xid, rpc_xid),
                    std::nullopt,
                    header_xid,
                    party(event.side),
                    std::nullopt});
}

void judge_xid_by_rdma(Context& context, Connection& connection, FrameRef frame, Side violator, Role role,
                       std::uint32_t header_xid, std::uint32_t rpc_xid, FrameRef data) {
  if (header_xid == rpc_xid) return;
  context.book.add({RuleId::xid_mismatch,
                    connection.id(),
                    {frame, data},
                    fmt::format("The {}'s transport header has XID {:#010x}, the RPC message in its chunk {:#010x}.",
                                name(violator), header_xid, rpc_xid),
                    std::nullopt,
                    header_xid,
                    party(violator),
                    role});
}

namespace {

constexpr std::uint64_t xdr_word = 4;

[[nodiscard]] std::optional<Role> role_of(Direction direction, bool guessed) noexcept {
  if (guessed || direction == Direction::unknown) return std::nullopt;
  return direction == Direction::call ? Role::requester : Role::responder;
}

[[nodiscard]] const char* kind(std::uint32_t type) noexcept { return type == 0 ? "a CALL" : "a REPLY"; }

/// Which end is the client may be a guess on a connection that began before the capture.
[[nodiscard]] std::optional<Party> violator(const Connection& connection, Side side) noexcept {
  if (!connection.facts.handshake_seen && !connection.trusted()) return std::nullopt;
  return party(side);
}

/// RDMA_NOMSG: where the RPC message is. True when it is nowhere.
bool judge_body(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                Direction direction, std::optional<Role> role) {
  const std::uint64_t left = event.wire_length > header.length ? event.wire_length - header.length : 0;
  const bool position_zero = std::any_of(header.reads.begin(), header.reads.end(),
                                         [](const wire::ReadSegment& read) { return read.position == 0; });
  // A Call's Reply chunk is room for its answer, and holds nothing.
  const bool reply_chunk = header.reply && !(direction == Direction::call && role);
  std::uint64_t body = reply_chunk ? wire::chunk_length(*header.reply) : 0;
  for (const wire::ReadSegment& read : header.reads) body += read.position == 0 ? read.target.length : 0;
  // A Call with Read chunks at other positions only lacks its body chunk, which is group E's business.
  const bool reply = direction == Direction::reply && role;
  if (body == 0 && (header.reads.empty() || position_zero || reply)) {
    context.book.add(
        {RuleId::nomsg_without_body,
         connection.id(),
         {event.frame},
         fmt::format("The {} sent RDMA_NOMSG, but no chunk holds the RPC message: {}{}.", name(event.side),
                     header.reads.empty() && header.writes.empty() && !header.reply ? "all three lists are empty"
                     : reply_chunk || !header.reply ? "no octet at Position 0, none in a Reply chunk"
                                                    : "no octet at Position 0, and the Reply chunk is for the answer",
                     left >= 8 ? fmt::format("; {} octets stand inline, as in RDMA_MSG", left) : std::string()),
         std::nullopt,
         header.fixed.xid,
         violator(connection, event.side),
         role});
    return true;
  }
  std::uint64_t by_read = 0;
  for (const wire::ReadSegment& read : header.reads) by_read += read.position == 0 ? read.target.length : 0;
  if (by_read % xdr_word != 0) {
    context.book.add_few(
        {RuleId::payload_unaligned,
         connection.id(),
         {event.frame},
         fmt::format(
             "The {}'s Read chunk at Position 0, an RPC message, is {} octets long, {} more than a whole number "
             "of XDR words.",
             name(event.side), by_read, by_read % xdr_word),
         std::nullopt,
         header.fixed.xid,
         violator(connection, event.side),
         role});
  }
  if (left == 0 || event.holes) return false;
  constexpr std::uint64_t most_pad = 3;
  context.book.add(
      {RuleId::nomsg_trailing_bytes,
       connection.id(),
       {event.frame},
       fmt::format("The {}'s RDMA_NOMSG goes on for {} octet{} behind its {} octets of header, where nothing belongs.",
                   name(event.side), left, left == 1 ? "" : "s", header.length),
       left <= most_pad ? std::optional(Severity::note) : std::nullopt,
       header.fixed.xid,
       violator(connection, event.side),
       role});
  return false;
}

}  // namespace

bool judge_form(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                Direction direction, bool guessed, const std::optional<wire::RpcStart>& rpc) {
  const auto proc = static_cast<wire::Proc>(header.fixed.proc);
  const std::optional<Role> role = role_of(direction, guessed);
  if (proc == wire::Proc::nomsg) return judge_body(context, connection, event, header, direction, role);
  if (proc != wire::Proc::msg) return false;
  const auto say = [&](RuleId rule, std::string message, std::optional<Role> who) {
    context.book.add({rule,
                      connection.id(),
                      {event.frame},
                      std::move(message),
                      std::nullopt,
                      header.fixed.xid,
                      violator(connection, event.side),
                      who});
  };
  constexpr std::uint64_t least_rpc = 8;
  const std::uint64_t left = event.wire_length > header.length ? event.wire_length - header.length : 0;
  if (left < least_rpc) {
    if (event.holes) return false;
    say(RuleId::msg_without_rpc,
        fmt::format("The {}'s RDMA_MSG ends {} octet{} behind its header; an RPC message has at least {}.",
                    name(event.side), left, left == 1 ? "" : "s", least_rpc),
        role);
    return true;
  }
  bool ill = false;
  if (direction == Direction::call && !guessed &&
      std::any_of(header.reads.begin(), header.reads.end(),
                  [](const wire::ReadSegment& read) { return read.position == 0; })) {
    say(RuleId::position_zero_in_msg,
        fmt::format("The {}'s RDMA_MSG has {} octets of RPC message inline and a Read chunk at Position 0, which holds "
                    "a whole message and belongs into RDMA_NOMSG.",
                    name(event.side), left),
        Role::requester);
    ill = true;
  }
  if (!rpc || rpc->xid != header.fixed.xid) return ill;
  if (rpc->type > 1) {
    say(RuleId::direction_mismatch,
        fmt::format("The {}'s RPC message has the message type {}; 0 is a CALL and 1 a REPLY.", name(event.side),
                    rpc->type),
        std::nullopt);
    return true;
  }
  if (left % xdr_word != 0 && !event.holes) {
    context.book.add_few(
        {RuleId::payload_unaligned,
         connection.id(),
         {event.frame},
         fmt::format("The {}'s RPC message is {} octets long, {} more than a whole number of XDR words.",
                     name(event.side), left, left % xdr_word),
         std::nullopt,
         header.fixed.xid,
         violator(connection, event.side),
         role});
  }
  return ill;
}

void judge_direction_by_rdma(Context& context, Connection& connection, FrameRef frame, const Transaction& call,
                             Role role, std::uint32_t type, FrameRef data) {
  const std::uint32_t wanted = role == Role::requester ? 0 : 1;
  if (type == wanted) return;
  if (!connection.whole() || (role == Role::requester && call.requester == Side::passive)) {
    context.book.unchecked(RuleId::direction_mismatch, connection.id(),
                           "the message may belong to another one that is not in the capture");
    return;
  }
  const Side violator = role == Role::requester ? call.requester : other(call.requester);
  context.book.add(
      {RuleId::direction_mismatch,
       connection.id(),
       {frame, data},
       fmt::format("The {}'s message with XID {:#010x} has the form of {}, but what its chunk holds is {}.",
                   name(violator), call.xid, kind(wanted),
                   type <= 1 ? std::string(kind(type)) : fmt::format("of the message type {}", type)),
       std::nullopt,
       call.xid,
       party(violator),
       role});
}

}  // namespace rpcrdma::referee
