// SPDX-License-Identifier: GPL-2.0-or-later
// Group G: remote invalidation.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"

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

const Row rows::remote_invalidation_not_allowed{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4.1",
    .who = "responder",
    .title = "Remote invalidation although the requester does not support it",
    .explanation =
        "A reply may invalidate one of the requester's handles only when both peers said in their private data that "
        "they support it. A requester that did not say so may lose a registration it counts on; an adapter that cannot "
        "do it ends the connection.",
    .evidence =
        "A Send With Invalidate carrying a Reply while the requester's private data has R at 0 or is absent. Not "
        "decided when the handshake was not captured.",
    .next = "Linux server: inv_rkey in rpcrdma:svcrdma_post_send. Client: rpcrdma:xprtrdma_wc_receive for errors."};

const Row rows::remote_invalidation_server_r_clear{
    .group = 'G',
    .severity = Severity::note,
    .versions = Versions::v1,
    .repetition = Repetition::few,
    .source = "RFC 8797 section 4.1",
    .who = "responder",
    .title = "Remote invalidation by a server that left its own R bit clear",
    .explanation =
        "By the letter both peers have to set R before replies may invalidate. Linux servers send R as 0 and "
        "invalidate whenever the client set R. The client said it can take it, so nothing breaks.",
    .evidence =
        "A Send With Invalidate carrying a Reply, R set by the client and clear in the server's private data. Not "
        "decided when the handshake was not captured.",
    .next = "Expected with Linux servers; nothing to do. inv_rkey in rpcrdma:svcrdma_post_send shows the handles."};

const Row rows::remote_invalidation_wrong_handle{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8797 section 4.1",
    .who = "responder",
    .title = "A reply invalidates a handle that is not of its call",
    .explanation =
        "The handle a reply invalidates has to come from the chunk lists of the call it answers. Any other one is "
        "either no handle at all, which ends the connection, or belongs to another call, whose data transfer then "
        "fails.",
    .evidence =
        "The handle in the Send With Invalidate is in no chunk list of the Call with that XID and direction. Not "
        "decided when the Call is missing or cut short.",
    .next =
        "Server: inv_rkey in rpcrdma:svcrdma_post_send against svcrdma_decode_wseg and svcrdma_decode_rseg. Client: "
        "rpcrdma:xprtrdma_mr_reminv, and the handles in xprtrdma_mr_fastreg."};

void judge_invalidation(const Witness& witness, const trace::Send& event, const Transaction& call, RecentSend& send) {
  Connection& connection = witness.connection;
  if (!event.invalidated) return;
  const Side responder = event.side;
  const Side requester = other(responder);
  const std::optional<bool> wanted = connection.of(requester).private_data.remote_invalidation();
  const std::optional<bool> mine = connection.of(responder).private_data.remote_invalidation();
  const FrameRef requester_frame = connection.of(requester).private_data.frame;
  const FrameRef responder_frame = connection.of(responder).private_data.frame;
  if (!wanted) {
    witness.unchecked(RuleId::remote_invalidation_not_allowed, "the requester's private data is not in the capture");
  } else if (!*wanted || (mine && !*mine && responder == Side::active)) {
    const Side silent = !*wanted ? requester : responder;
    send.invalidate_finding = witness.say(
        RuleId::remote_invalidation_not_allowed,
        {.frames = {event.frame, requester_frame, responder_frame},
         .by = responder,
         .as = Role::responder,
         .xid = call.xid,
         .what = fmt::format(
             "The {} replied with Send With Invalidate (handle {:#010x}) although the {} had not set R in its private "
             "data.",
             name(responder), *event.invalidated, name(silent))});
  } else if (mine && !*mine) {
    witness.say(
        RuleId::remote_invalidation_server_r_clear,
        {.frames = {event.frame, responder_frame},
         .by = responder,
         .as = Role::responder,
         .xid = call.xid,
         .what = "The server invalidates remotely although its own private data says R=0: against the letter of "
                 "RFC 8797 section 4.1, harmless since the client asked for it, and a habit of every Linux server."});
  }
  if (!witness.may(RuleId::remote_invalidation_wrong_handle, call)) return;
  if (names(call, *event.invalidated)) return;
  send.invalidate_finding = witness.say(
      RuleId::remote_invalidation_wrong_handle,
      {.frames = {event.frame, call.call},
       .by = responder,
       .as = Role::responder,
       .xid = call.xid,
       .call = &call,
       .what = fmt::format("The {} invalidated handle {:#010x}, which the Call with XID {:#010x} never named.",
                           name(responder), *event.invalidated, call.xid)});
}

const Row rows::remote_invalidation_not_reply{
    .group = 'G',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4.1",
    .who = "sender",
    .title = "A message other than a reply invalidates a handle",
    .explanation =
        "Remote invalidation saves the requester the work of invalidating what the reply has made free. Calls and "
        "RDMA_ERROR messages free nothing: their receiver still needs the registrations it has, and loses one without "
        "knowing.",
    .evidence =
        "A Send With Invalidate that carries a Call, RDMA_ERROR, or an RDMA_DONE that rdma-done-sent forbids and that "
        "ends no offer; one that ends an offer is judged by done-invalidate-rule. A reply of the client to a call of "
        "the server is a Reply. Not decided when the capture cut the message before its direction, or lacks a packet "
        "of it.",
    .next =
        "Sender: inv_rkey in rpcrdma:svcrdma_post_send (Linux servers send RDMA_ERROR with a plain Send). Receiver: "
        "rpcrdma:xprtrdma_mr_reminv, and work requests that fail with a local protection error afterwards."};

HeldFinding say_misplaced_invalidation(const Witness& witness, Side sender, FrameRef frame, std::uint32_t handle,
                                       std::uint32_t xid, const char* what) {
  Connection& connection = witness.connection;
  // Which end is the client may be a guess on a connection that began before the capture.
  const bool roles_known = connection.facts.handshake_seen || connection.trusted();
  return witness.say(
      RuleId::remote_invalidation_not_reply,
      {.frames = {frame},
       .by = when(roles_known, sender),
       .xid = xid,
       .what = fmt::format("The {} sent {} with Send With Invalidate (handle {:#010x}); only Replies may "
                           "invalidate.",
                           name(sender), what, handle)});
}

void judge_misplaced_invalidation(const Witness& witness, const trace::Send& event, std::uint32_t xid, const char* what,
                                  RecentSend& send) {
  if (!event.invalidated) return;
  if (event.holes) return witness.unchecked(RuleId::remote_invalidation_not_reply, last_packet_of_another);
  send.invalidate_finding = say_misplaced_invalidation(witness, event.side, event.frame, *event.invalidated, xid, what);
}

}  // namespace rpcrdma::referee
