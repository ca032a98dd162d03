// SPDX-License-Identifier: GPL-2.0-or-later
// Group G: remote invalidation.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] bool names(const Transaction& call, std::uint32_t handle) {
  const auto has = [&](const wire::WriteChunk& chunk) {
    return std::any_of(chunk.begin(), chunk.end(), [&](const wire::Segment& s) { return s.handle == handle; });
  };
  return std::any_of(call.reads.begin(), call.reads.end(),
                     [&](const wire::ReadSegment& r) { return r.target.handle == handle; }) ||
         std::any_of(call.writes.begin(), call.writes.end(), has) || (call.reply_chunk && has(*call.reply_chunk));
}

}  // namespace

void judge_invalidation(Context& context, Connection& connection, const trace::Send& event, const Transaction& call,
                        RecentSend& send) {
  if (!event.invalidated) return;
  const Side responder = event.side;
  const Side requester = other(responder);
  const std::optional<bool> wanted = connection.of(requester).private_data.remote_invalidation();
  const std::optional<bool> mine = connection.of(responder).private_data.remote_invalidation();
  const FrameRef requester_frame = connection.of(requester).private_data.frame;
  const FrameRef responder_frame = connection.of(responder).private_data.frame;
  if (!wanted) {
    context.book.unchecked(RuleId::remote_invalidation_not_allowed, connection.id(),
                           "the requester's private data is not in the capture");
  } else if (!*wanted || (mine && !*mine && responder == Side::active)) {
    const Side silent = !*wanted ? requester : responder;
    send.invalidate_finding = context.book.add(
        {RuleId::remote_invalidation_not_allowed,
         connection.id(),
         {event.frame, requester_frame, responder_frame},
         fmt::format(
             "The {} replied with Send With Invalidate (handle {:#010x}) although the {} had not set R in its private "
             "data.",
             name(responder), *event.invalidated, name(silent)),
         std::nullopt,
         call.xid,
         party(responder),
         Role::responder});
  } else if (mine && !*mine) {
    context.book.add_few(
        {RuleId::remote_invalidation_server_r_clear,
         connection.id(),
         {event.frame, responder_frame},
         "The server invalidates remotely although its own private data says R=0: against the letter of "
         "RFC 8797 section 4.1, harmless since the client asked for it, and a habit of every Linux server.",
         std::nullopt,
         call.xid,
         party(responder),
         Role::responder});
  }
  if (!call.lists_known) {
    context.book.unchecked(RuleId::remote_invalidation_wrong_handle, connection.id(),
                           "the chunk lists of the Call are not in the capture");
    return;
  }
  if (call.copies != 1 || !connection.trusted()) {
    // A Call that was sent again has registered its memory anew; behind a gap there may be another one with that XID.
    context.book.unchecked(
        RuleId::remote_invalidation_wrong_handle, connection.id(),
        call.copies != 1 ? std::string_view("a Call was sent more than once") : connection.why_not_whole());
    return;
  }
  if (names(call, *event.invalidated)) return;
  send.invalidate_finding =
      context.book.add({RuleId::remote_invalidation_wrong_handle,
                        connection.id(),
                        {event.frame, call.call},
                        fmt::format("The {} invalidated handle {:#010x}, which the Call with XID {:#010x} never named.",
                                    name(responder), *event.invalidated, call.xid),
                        std::nullopt,
                        call.xid,
                        party(responder),
                        Role::responder});
}

void judge_misplaced_invalidation(Context& context, Connection& connection, const trace::Send& event, std::uint32_t xid,
                                  const char* what, RecentSend& send) {
  if (!event.invalidated) return;
  // Which end is the client may be a guess on a connection that began before the capture.
  const bool roles_known = connection.facts.handshake_seen || connection.trusted();
  send.invalidate_finding =
      context.book.add({RuleId::remote_invalidation_not_reply,
                        connection.id(),
                        {event.frame},
                        fmt::format("The {} sent {} with Send With Invalidate (handle {:#010x}); only Replies may "
                                    "invalidate.",
                                    name(event.side), what, *event.invalidated),
                        std::nullopt,
                        xid,
                        roles_known ? std::optional(party(event.side)) : std::nullopt,
                        std::nullopt});
}

}  // namespace rpcrdma::referee
