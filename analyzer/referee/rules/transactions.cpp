// SPDX-License-Identifier: GPL-2.0-or-later
// Group I: transactions.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/ending.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/possible_calls.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_open_named = 32;

/// Octets at each position of a Read list.
[[nodiscard]] std::map<std::uint32_t, std::uint64_t> read_chunks(const Transaction& call) {
  std::map<std::uint32_t, std::uint64_t> chunks;
  for (const wire::ReadSegment& read : call.reads) chunks[read.position] += read.target.length;
  return chunks;
}

/// Same lengths in the same lists: a retransmission registers its memory anew, so handles, offsets, and the segments
/// that a chunk is made of, may differ.
[[nodiscard]] bool same_shape(const Transaction& a, const Transaction& b) {
  if (a.writes.size() != b.writes.size() || read_chunks(a) != read_chunks(b)) return false;
  return a.payload == b.payload;
}

/// Is `fresh` the Call that was refused, sent once more? XIDs wrap. Empty: cannot be told.
[[nodiscard]] std::optional<bool> same_request(const trace::Send& event, const Transaction& old,
                                               const Transaction& fresh) {
  const bool both_known = old.payload && fresh.payload;
  if (both_known && old.payload == fresh.payload) return true;
  wire::HeaderV1 header;
  constexpr std::size_t to_procedure = 24;
  if (old.procedure && wire::decode_header_v1(event.octets, event.wire_length, header) &&
      header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg) &&
      event.octets.size() >= header.length + to_procedure) {
    const std::uint8_t* rpc = event.octets.data() + header.length;
    const std::tuple procedure(wire::load_be32(rpc + 12), wire::load_be32(rpc + 16), wire::load_be32(rpc + 20));
    if (procedure != *old.procedure) return false;
    // Moving an argument to or from a chunk changes what is inline, and nothing else may.
    const bool comparable = both_known && old.reads.empty() && fresh.reads.empty();
    return when(!comparable, true);
  }
  if (old.body_length != 0 && old.body_length == fresh.body_length) return true;
  return {};
}

}  // namespace

const Row rows::xid_duplicate_outstanding{
    .group = 'I',
    .severity = Severity::warning,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8167 section 2.4; version 2 draft section 3.1.3",
    .who = "requester",
    .title = "Two different calls share one XID",
    .explanation =
        "Outstanding calls of one requester need different XIDs, or their replies cannot be told apart: data ends up "
        "in the wrong place, or one call hangs. Client and server count separately, so the same XID in both directions "
        "is fine.",
    .evidence =
        "A second Call from the same side with the XID of an unanswered one and other contents. The same contents are "
        "call-retransmitted. Not decided across a gap.",
    .next = "Linux client: sunrpc:xprt_transmit and rpcrdma:xprtrdma_marshal show the XIDs as they are sent."};

const Row rows::call_retransmitted{
    .group = 'I',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "version 2 draft section 3.1.3",
    .who = "requester",
    .title = "A call was sent again on the same connection",
    .explanation =
        "RDMA connections are reliable, so resending a call on the same connection is seldom useful; each copy takes a "
        "receive buffer and counts as a credit of its own.",
    .evidence =
        "The same XID and the same octets from the same side while the first is unanswered. Retransmitted packets are "
        "removed before. Not decided across a gap or when the payload was not captured.",
    .next =
        "Linux client: sunrpc:xprt_retransmit, the timeo mount option, and per-operation retransmissions in "
        "/proc/self/mountstats."};

namespace {

void settle_same_xid(const Witness& witness, const Case& waited) {
  const Transaction* first = witness.connection.find(waited.is<Case::SameXid>()->first);
  if (first != nullptr && first->answers != 0 && first->reply.number < waited.frame.number) return;  // delivered late
  if (!waited.proven()) {
    witness.unchecked(waited.rule, "the Reply in between may be missing from the capture");
    return;
  }
  witness.conclude(waited,
                   {.frames = {waited.frame, waited.evidence},
                    .by = waited.accused,
                    .as = Role::requester,
                    .xid = waited.xid,
                    .what = fmt::format(
                        "The {} sent a different Call with XID {:#010x} while the one in frame {} is unanswered: their "
                        "Replies cannot be told apart.",
                        name(waited.accused), waited.xid, waited.evidence.number)});
}

}  // namespace

std::optional<bool> sent_once_more(const trace::Send& event, const Transaction& old, const Transaction& fresh) {
  if (same_shape(old, fresh)) return true;
  const bool comparable = old.lists_known && fresh.lists_known && old.payload.has_value() == fresh.payload.has_value();
  return when(comparable && !event.holes, false);
}

void judge_repeated_call(const Witness& witness, const trace::Send& event, Transaction& old, const Transaction& fresh) {
  const std::optional<bool> same = sent_once_more(event, old, fresh);
  if (same == true) {
    witness.say(RuleId::call_retransmitted,
                {.frames = {event.frame, old.call},
                 .by = event.side,
                 .as = Role::requester,
                 .xid = old.xid,
                 .what = fmt::format(
                     "The {} sent the Call with XID {:#010x} again on the same connection (first: frame {}). It "
                     "takes another credit.",
                     name(event.side), old.xid, old.call.number)});
    return;
  }
  if (!same) {
    witness.unchecked(RuleId::xid_duplicate_outstanding,
                      "one of two Calls with one XID is not in the capture as a whole");
    return;
  }
  // The Reply in between may be missing: that shows only when the responder goes on.
  witness.wait({.rule = RuleId::xid_duplicate_outstanding,
                .accused = event.side,
                .frame = event.frame,
                .evidence = old.call,
                .xid = old.xid,
                .about = Case::SameXid{old.id},
                .settle = settle_same_xid});
}

const Row rows::retransmit_after_reconnect{
    .group = 'I',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "RFC 8167 section 5.4",
    .who = "requester",
    .title = "A call was sent again after a reconnect",
    .explanation =
        "Normal: the XID of a call that got no answer comes again on the new connection, and the server's reply cache "
        "keeps it from being carried out twice.",
    .evidence =
        "The XID of a call of an earlier connection of the same peers that was not answered, or whose answer was not "
        "acknowledged.",
    .next = "Nothing to do for the retransmission itself; see why the earlier connection ended."};

void judge_sent_again(const Witness& witness, const Transaction& call, const Unheard& before) {
  const bool unanswered = before.answer.number == 0;
  const std::string then =
      unanswered
          ? fmt::format("the first Call (frame {}) got no Reply before its connection ended.", before.call.number)
          : fmt::format("the answer to the first Call (frame {}) was not acknowledged before its connection ended.",
                        before.answer.number);
  witness.say(RuleId::retransmit_after_reconnect,
              {.frames = {call.call, before.call, before.answer},
               .as = Role::requester,
               .xid = call.xid,
               .what = fmt::format("The client sent XID {:#010x} again after a reconnect; {}", call.xid, then)});
}

const Row rows::reply_version_differs{
    .group = 'I',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.call = Needs::Call::sent_once},
    .source = "RFC 8166 section 4.5; RFC 8167 section 5.2; version 2 draft section 7",
    .who = "responder",
    .title = "A reply uses another protocol version than its call",
    .explanation =
        "An answer, a refusal too, carries the version of its call. A requester drops a reply with another version and "
        "the call hangs.",
    .evidence = "The version words of Call and answer. Not decided when the Call is missing.",
    .next = "Linux client: rpcrdma:xprtrdma_reply_vers_err. Linux servers copy the version from the call."};

void judge_reply_version(const Witness& witness, const trace::Send& event, std::uint32_t version,
                         const Transaction& call) {
  if (version == call.version || call.malformed()) return;
  // A message that went astray may have the XID of an open Call of the right version.
  if (!witness.connection.trusted() && witness.connection.facts.version != call.version) {
    witness.unchecked(RuleId::reply_version_differs, "the Call that was answered may be missing from the capture");
    return;
  }
  witness.say(RuleId::reply_version_differs,
              {.frames = {event.frame, call.call},
               .by = event.side,
               .as = Role::responder,
               .xid = call.xid,
               .call = &call,
               .what = fmt::format("The {}'s answer says version {}, the Call had version {}.", name(event.side),
                                   version, call.version)});
}

const Row rows::duplicate_reply{
    .group = 'I',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 5531 (derived); version 2 draft section 3.1.3",
    .who = "responder",
    .title = "A call was answered twice",
    .explanation =
        "Each call gets one answer. The second one finds no call; it takes a receive buffer and may be mistaken for "
        "the answer to a new call with the same XID.",
    .evidence =
        "A second Reply for one Call. A call that was itself sent twice earns two answers. One that is offered to be "
        "read looks like a Long Call of the responder: its memory is that of the first offer, or what is read of it "
        "says that it is a Reply. Not decided across a gap.",
    .next =
        "Linux client: bad_xids in /proc/self/mountstats. Server: whether its reply cache answered besides the "
        "operation itself."};

namespace {

void settle_duplicate(const Witness& witness, const Case& waited) {
  witness.conclude(waited, {.frames = {waited.frame, waited.evidence, waited.is<Case::Answer>()->call},
                            .by = waited.accused,
                            .as = Role::responder,
                            .xid = waited.xid,
                            .at_most = waited.at_most(),
                            .what = fmt::format("The {} answered XID {:#010x} a second time (first: frame {}).",
                                                name(waited.accused), waited.xid, waited.evidence.number)});
}

}  // namespace

void judge_duplicate(const Witness& witness, const trace::Send& event, const Transaction& call) {
  if (call.answer_uncertain() || possible_answered_call(witness.connection, call.requester, call.xid)) {
    // Long Calls that look like Replies are of version 1.
    const bool behind = witness.connection.version2() || witness.connection.order_lost();
    witness.unchecked(RuleId::duplicate_reply, behind ? "the Reply before it may be that of another Call"
                                                      : "it may be about a Long Call that looks like an offered Reply");
    return;
  }
  if (call.answer == Transaction::Answer::perhaps) {
    witness.unchecked(RuleId::duplicate_reply, "the error before it may be about something else with the same XID");
    return;
  }
  // One that waited to be pulled may have been acknowledged meanwhile.
  const bool heard = witness.connection.heard(event.side, event.ordinal);
  const FrameRef received = heard ? witness.connection.last_frame : FrameRef{};
  witness.wait({.rule = RuleId::duplicate_reply,
                .accused = event.side,
                .frame = event.frame,
                .evidence = call.reply,
                .xid = call.xid,
                .about = Case::Answer{{call.call, event.ordinal, received}},
                .settle = settle_duplicate});
}

const Row rows::error_from_requester{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 4.2.4",
    .who = "requester",
    .title = "RDMA_ERROR from a side that had no call to refuse",
    .explanation =
        "RDMA_ERROR is a responder's answer to a call. A requester that cannot use a reply has to drop it silently; "
        "its RDMA_ERROR only takes one of the responder's receive buffers.",
    .evidence =
        "RDMA_ERROR from a side to which no Call with that XID was sent. A client that refuses a reverse call does "
        "nothing wrong. Not decided when the capture has gaps or begins in the middle.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_drop_err (it ignores the message). Look at why the sender disliked the "
        "reply: the frames before it."};

namespace {

void settle_error_from_requester(const Witness& witness, const Case& waited) {
  witness.conclude(
      waited, {.frames = {waited.frame},
               .by = waited.accused,
               .as = Role::requester,
               .xid = waited.xid,
               .at_most = waited.at_most(),
               .what = fmt::format("The {} sent RDMA_ERROR for XID {:#010x} although no Call with that XID had come to "
                                   "it: only a responder may.",
                                   name(waited.accused), waited.xid)});
}

}  // namespace

void judge_error_later(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  witness.wait({.rule = RuleId::error_from_requester,
                .accused = event.side,
                .frame = event.frame,
                .xid = xid,
                .about = Case::Answer{{{}, event.ordinal}},
                .settle = settle_error_from_requester});
}

const Row rows::reply_without_call{
    .group = 'I',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8167 section 2; version 2 draft section 3.1.3",
    .who = "responder",
    .title = "A reply or refusal nobody asked for",
    .explanation =
        "A responder sends one answer to each call and nothing else. An answer with an unknown XID is dropped by the "
        "requester, while the call it was meant for hangs; it also takes a receive buffer that another reply needs.",
    .evidence =
        "A Reply or RDMA_ERROR with an XID of which no Call is known on this connection. Not decided for a minute, and "
        "128 transactions, behind a gap or the beginning of a capture that begins in the middle: a Call that is not in "
        "it may be as slow.",
    .next =
        "Linux client: bad_xids in the xprt line of /proc/self/mountstats and rpcrdma:xprtrdma_reply_rqst_err. If an "
        "RPC was aborted (signal), its late reply is harmless."};

namespace {

void settle_orphan(const Witness& witness, const Case& waited) {
  // Nothing of who would have asked comes behind it: the Call, and more than that, may be missing.
  if (!waited.proven()) {
    keep_later(witness.connection.of(other(waited.accused)).unseen_asked, waited.frame);
    if (witness.connection.mount != nullptr) outcomes_missing(witness.connection.mount->nfs);
  }
  witness.conclude(waited, {.frames = {waited.frame},
                            .by = waited.accused,
                            .as = Role::responder,
                            .xid = waited.xid,
                            .at_most = waited.at_most(),
                            .what = fmt::format("The {} answered XID {:#010x}, with which no Call was sent to it.",
                                                name(waited.accused), waited.xid)});
}

/// Something with that XID was sent to it, in another version: maybe a Call.
[[nodiscard]] bool asked_in_another_version(Connection& connection, const trace::Send& event, Side requester,
                                            std::uint32_t xid) {
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed) return false;
  return connection.of(requester).sends.newest([&](const RecentSend& s) {
    return s.version && s.version != fixed->version && s.xid == xid && !s.reply();
  }) != nullptr;
}

/// What was sent to it with that XID could not be read: maybe a Call.
[[nodiscard]] bool asked_unreadably(Connection& connection, Side requester, std::uint32_t xid) {
  return connection.of(requester).doubtful.newest(
             [&](const Doubtful& message) { return message.xid == xid && !message.settled; }) != nullptr;
}

}  // namespace

void judge_orphan(const Witness& witness, const trace::Send& event, Side requester, std::uint32_t xid, AnswerIs is) {
  Connection& connection = witness.connection;
  if (connection.unjudged()) {
    witness.unchecked(RuleId::reply_without_call, "traffic of an early draft of version 2 is not judged");
    return;
  }
  if (witness.may(RuleId::reply_without_call) && connection.unseen_call_may_be_open(event.frame.time)) {
    witness.unchecked(RuleId::reply_without_call, unseen_call);
    return;
  }
  if (connection.perhaps_open == Connection::PerhapsOpen::newest) {
    witness.unchecked(RuleId::reply_without_call,
                      "more Calls are without the answers that the capture lacks than are kept");
    return;
  }
  if (possible_answered_call(connection, requester, xid)) {
    witness.unchecked(RuleId::reply_without_call, "its Call may be the Long Call that looks like an offered Reply");
    return;
  }
  if (asked_in_another_version(connection, event, requester, xid)) {
    witness.unchecked(RuleId::reply_without_call, "what was sent with that XID speaks another version");
    return;
  }
  if (asked_unreadably(connection, requester, xid)) {
    witness.unchecked(RuleId::reply_without_call, "what was sent with that XID could not be read");
    return;
  }
  if (possible_empty_call(connection, requester, xid)) {
    witness.unchecked(RuleId::reply_without_call,
                      "what was sent with that XID has another one, too, or does not say whether it is a Call");
    return;
  }
  const Case::Answering answer{{}, event.ordinal};
  witness.wait(Case{
      .rule = RuleId::reply_without_call,
      .accused = other(requester),
      .frame = event.frame,
      .xid = xid,
      .about = is == AnswerIs::reply ? Case::Subject{Case::HoldsReply{answer}} : Case::Subject{Case::Answer{answer}},
      .settle = settle_orphan});
}

const Row rows::call_unanswered{
    .group = 'I',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "A call without an answer",
    .explanation =
        "The call was open when the capture ended or for a long time. Long operations and calls without a reply exist; "
        "otherwise this is what a hanging mount looks like.",
    .evidence =
        "A Call without Reply or RDMA_ERROR. Not decided across a gap, where the reply may simply be missing, nor of a "
        "message of the server that cannot be read: it may be a Reply.",
    .next =
        "Server: is the call seen (rpcrdma:svcrdma_decode_rqst)? If so, are all nfsd threads busy "
        "(/proc/fs/nfsd/threads, /proc/PID/stack)? Client: sunrpc:rpc_task_sleep shows what the RPC waits for."};

const Row rows::call_lost_by_close{.group = 'I',
                                   .severity = Severity::note,
                                   .versions = Versions::both,
                                   .source = "RFC 8166 section 4.5.4",
                                   .who = "nobody",
                                   .title = "A call was open when the connection ended",
                                   .explanation =
                                       "The call is lost with the connection and the client sends it again on the next "
                                       "one. Seen often, it says the connections keep dying.",
                                   .evidence = "A Call without an answer at the end of its connection.",
                                   .next =
                                       "Look at why the connection ended (its cause in this report), and at "
                                       "connect_count in the xprt line of /proc/self/mountstats."};

namespace {

[[nodiscard]] HeldFinding say_lost_by_close(const Witness& witness, const LeftOpen& left) {
  const auto& calls = left.calls;
  const bool of_client = std::all_of(calls.begin(), calls.end(),
                                     [](const LeftOpen::Call& call) { return call.requester == Side::active; });
  if (left.by_client && of_client) return {};  // whoever asked chose to leave
  return witness.say(
      RuleId::call_lost_by_close,
      {.frames = {left.end, calls.front().frame},
       .xid = calls.front().xid,
       .what = fmt::format("{} Call{} pending when the connection ended; the requester has to send {} again on a new "
                           "one.",
                           calls.size(), calls.size() == 1 ? " was" : "s were", calls.size() == 1 ? "it" : "them")});
}

/// A message of the server that cannot be read may have been meant as a Reply, and then nothing is said to it.
[[nodiscard]] bool perhaps_reply(const Transaction& call) {
  return call.malformed() && call.requester == Side::passive;
}

/// " (12.0 s later)"; of a capture without times nothing.
[[nodiscard]] std::string later_text(FrameRef call, FrameRef until) {
  if (call.time == 0 && until.time == 0) return "";
  return fmt::format(" ({:.1f} s later)", static_cast<double>(std::max<TimeNs>(until.time - call.time, 0)) / 1e9);
}

}  // namespace

void judge_open_calls(const Witness& witness, const Ending& ending) {
  Connection& connection = witness.connection;
  v2::judge_end(witness, ending.at);
  const bool end_unseen = connection.facts.closed && connection.facts.closed->how == Closed::How::unseen;
  std::vector<const Transaction*> open;
  for (const auto& [key, call] : connection.transactions) {
    if (!call.surely_open()) continue;
    // The Call that it would answer may be missing.
    const bool alone = connection.facts.one_way || call.completed_before < connection.trusted_from;
    if (alone && call.may_be_offer()) {
      witness.unchecked(RuleId::call_unanswered,
                        fmt::format("whether the message in frame {} is a Long Call or an offered Reply cannot be told",
                                    call.call.number));
      continue;
    }
    if (perhaps_reply(call)) {
      witness.unchecked(
          RuleId::call_unanswered,
          fmt::format("whether the broken message in frame {} is a Call or a Reply cannot be told", call.call.number));
      continue;
    }
    if (answer_may_be_unseen(connection, call) || end_unseen) {
      witness.unchecked(RuleId::call_unanswered, "the answer may be what the capture lacks");
      continue;
    }
    open.push_back(&call);
  }
  if (open.empty()) return;
  std::sort(open.begin(), open.end(),
            [](const Transaction* a, const Transaction* b) { return a->call.number < b->call.number; });
  // What shows that it is over may come long behind its end.
  const auto& end = connection.facts.closed;
  const bool over_before =
      ending.of_connection() && end && end->frame.number != 0 && end->frame.number < ending.at.number;
  const FrameRef until = over_before ? end->frame : ending.at;
  const char* end_words = ending.of_connection() ? "when the connection ends" : "at the end of the capture";
  connection.facts.waiting = {open.size(), open.front()->call, until};
  std::size_t named = 0;
  LeftOpen left{{}, {}, ending.at, ending.by == Side::active};
  for (const Transaction* call : open) {
    HeldFinding unanswered =
        witness.say(RuleId::call_unanswered,
                    {.frames = {call->call, until},
                     .xid = call->xid,
                     .habit = named++ >= most_open_named,
                     .what = fmt::format("The {}'s Call with XID {:#010x} has no Reply {}{}.", name(call->requester),
                                         call->xid, end_words, later_text(call->call, until))});
    left.calls.push_back({call->requester, call->xid, call->call, std::move(unanswered)});
  }
  if (!ending.of_connection()) return;
  left.lost = say_lost_by_close(witness, left);
  if (may_cross_with_close(connection)) connection.left_open = std::move(left);
}

void judge_answer_behind_close(const Witness& witness, Side requester, std::uint32_t xid, FrameRef reply) {
  Connection& connection = witness.connection;
  if (!end_wait_behind_close(connection, requester, xid, reply)) return;
  LeftOpen& left = connection.left_open;
  const auto call = std::find_if(left.calls.begin(), left.calls.end(), [&](const LeftOpen::Call& open) {
    return open.requester == requester && open.xid == xid;
  });
  if (call == left.calls.end()) return;
  FindingBook& book = witness.context.book;
  if (call->unanswered) book.withdraw(call->unanswered);
  if (left.lost) book.withdraw(left.lost);
  left.lost.reset();
  left.calls.erase(call);
  Waiting& waiting = connection.facts.waiting;
  if (left.calls.empty()) {
    waiting = {};
    return;
  }
  waiting = {left.calls.size(), left.calls.front().frame, waiting.until};
  left.lost = say_lost_by_close(witness, left);
}

const Row rows::error_retried_same_xid{
    .group = 'I',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted},
    .source = "RFC 8267 sections 3.1 and 6.4.2",
    .who = "requester",
    .title = "A refused call was sent again with the same XID",
    .explanation =
        "ERR_CHUNK is final: the same call will be refused again, and the requester should use other chunks and a new "
        "XID. Otherwise requester and responder can go round in a loop.",
    .evidence =
        "A Call with the XID of one that was answered by RDMA_ERROR. Not decided across a gap; XIDs wrap, so the same "
        "number much later is no retry.",
    .next = "Linux client: rpcrdma:xprtrdma_err_chunk followed by sunrpc:xprt_transmit with that XID."};

void judge_retry(const Witness& witness, const trace::Send& event, const Transaction& old, const Transaction& fresh) {
  if (!witness.may(RuleId::error_retried_same_xid)) return;
  const std::optional<bool> same = same_request(event, old, fresh);
  if (!same) {
    witness.unchecked(RuleId::error_retried_same_xid,
                      "a later Call with the XID of a refused one may be another request");
    return;
  }
  if (!*same) return;
  witness.say(RuleId::error_retried_same_xid,
              {.frames = {event.frame, old.reply, old.call},
               .by = event.side,
               .as = Role::requester,
               .xid = fresh.xid,
               .what = fmt::format(
                   "The {} sent a Call with XID {:#010x} again after ERR_CHUNK (frame {}) had ended it: a retry "
                   "needs a new XID.",
                   name(event.side), fresh.xid, old.reply.number)});
}

}  // namespace rpcrdma::referee
