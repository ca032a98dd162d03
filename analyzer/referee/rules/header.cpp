// SPDX-License-Identifier: GPL-2.0-or-later
// Group D: the header and its XDR.
#include <fmt/format.h>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

void judge_undecodable(Context& context, Connection& connection, const trace::Send& event,
                       const wire::FixedWords& fixed, const wire::DecodeError& error) {
  if (error.fault == wire::Fault::truncated || event.holes) {
    context.book.unchecked(RuleId::xdr_malformed, connection.id(),
                           fmt::format("frame {} was cut inside the RPC-over-RDMA header", event.frame.number));
    return;
  }
  const std::optional<std::uint32_t> xid = event.wire_length >= 4 && event.octets.size() >= 4
                                               ? std::optional(wire::load_be32(event.octets.data()))
                                               : std::nullopt;
  if (event.wire_length < 16 || (event.wire_length < 28 && fixed.proc <= 1)) {
    context.book.add(
        {RuleId::header_too_short,
         connection.id(),
         {event.frame},
         fmt::format("The {} sent {} octets: too short for an RPC-over-RDMA header (28 for a message with or "
                     "without RPC payload, 16 at least for anything).",
                     name(event.side), event.wire_length),
         std::nullopt,
         xid,
         party(event.side),
         std::nullopt});
    return;
  }
  if (fixed.version == 1 && fixed.proc > 4) {
    context.book.add(
        {RuleId::unknown_proc,
         connection.id(),
         {event.frame},
         fmt::format("The {}'s header has procedure {}; version 1 knows 0 to 4.", name(event.side), fixed.proc),
         std::nullopt,
         xid,
         party(event.side),
         std::nullopt});
    return;
  }
  context.book.add({RuleId::xdr_malformed,
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

}  // namespace rpcrdma::referee
