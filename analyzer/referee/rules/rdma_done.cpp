// SPDX-License-Identifier: GPL-2.0-or-later
// Group H: RDMA_DONE.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/possible_calls.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint64_t done_length = 16;

void settle_waiting_done(const Witness& witness, const Case& waited) {
  const bool automatic = witness.context.options.profile == Profile::automatic && !witness.connection.reliable_reply;
  // What its sender acknowledged on InfiniBand may be missing together with the acknowledgement.
  const bool known =
      waited.proven() || (waited.orderly && witness.connection.facts.transport == trace::Transport::iwarp);
  if (!known && automatic) {
    leave_unproven(witness, waited);  // the first offer of a server that completes pulls so
    return;
  }
  const Case::Done& done = *waited.is<Case::Done>();
  settle_done(witness, {waited.accused, waited.frame, waited.xid, done.ordinal, done.invalidated});
}

void judge_behind_done(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  if (event.holes || event.wire_length <= done_length) return;
  witness.say(RuleId::nomsg_trailing_bytes,
              {.frames = {event.frame},
               .by = event.side,
               .xid = xid,
               .at_most = Severity::note,
               .what = fmt::format("The {}'s RDMA_DONE goes on for {} behind its {} octets, where nothing belongs.",
                                   name(event.side), counted(event.wire_length - done_length, "octet"), done_length)});
}

}  // namespace

void judge_done(const Witness& witness, const trace::Send& event, RecentSend& send) {
  Connection& connection = witness.connection;
  const std::uint32_t xid = send.xid;
  connection.dones.add({xid, event.side, event.frame, connection.generation});
  judge_behind_done(witness, event, xid);
  // The handle stands in the last packet, which is that of another message behind a hole.
  const std::optional<std::uint32_t> invalidated = event.holes ? std::nullopt : event.invalidated;
  if (event.holes && event.invalidated) {
    witness.unchecked(RuleId::remote_invalidation_not_reply, last_packet_of_another);
  }
  if (newest_offer(connection, event.side, xid) == nullptr && connection.cases.size() < most_cases) {
    // Its offer may still be held back behind a hole in the other direction: wait for what the peer sends next.
    witness.wait({.rule = RuleId::rdma_done_sent,
                  .accused = event.side,
                  .frame = event.frame,
                  .xid = xid,
                  .about = Case::Done{invalidated, event.ordinal},
                  .settle = settle_waiting_done});
    return;
  }
  send.invalidate_finding = settle_done(witness, {event.side, event.frame, xid, event.ordinal, invalidated});
}

const Row rows::rdma_done_sent{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 section 4.6.2",
    .who = "sender",
    .title = "RDMA_DONE was sent",
    .explanation =
        "RDMA_DONE belonged to a transfer model that version 1 dropped: it must not be sent, and receivers drop it "
        "silently. It takes a receive buffer and never gets an answer, so it disturbs credit accounting.",
    .evidence =
        "A version 1 header with message type 3, while the reliable-reply extension is not in use on the connection.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_drop_err. If both peers implement responder-provided Read chunks, run "
        "the analysis with --profile reliable-reply."};

const Row rows::done_without_pending_chunk{
    .group = 'H',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Pull Completion",
    .who = "nobody",
    .title = "RDMA_DONE for an XID that offers nothing",
    .explanation =
        "The responder has to ignore a notification it has nothing waiting for, so nothing breaks. It can follow a "
        "reconnect or a responder that gave up waiting.",
    .evidence =
        "RDMA_DONE and no live offer for that XID. Not decided across a gap or when the start is missing. Under the "
        "rfc8166 profile it is rdma-done-sent.",
    .next = "See whether the responder released the offer early, or whether the XID in RDMA_DONE is wrong."};

const Row rows::done_before_complete_pull{
    .group = 'H',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Requester Duties",
    .who = "requester",
    .title = "RDMA_DONE before everything was read",
    .explanation =
        "Usually the requester reads the whole offer and then notifies. It may stop early when the RPC was aborted or "
        "it does not support pulling; otherwise its reply is incomplete.",
    .evidence =
        "RDMA_DONE while octets of the offer were never read. With packets missing the octets read are only a lower "
        "bound, and nothing is said.",
    .next = "See whether the application was interrupted (signal, timeout) and what the requester made of the reply."};

const Row rows::done_duplicate{
    .group = 'H',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Pull Completion",
    .who = "requester",
    .title = "RDMA_DONE sent twice for one reply",
    .explanation = "The second notification is ignored; it only takes a receive buffer of the responder.",
    .evidence = "Two RDMA_DONE with the XID of one offer. Transport retransmissions are removed first.",
    .next = "Look at the requester's completion path; credits are at risk only when it happens often."};

const Row rows::done_wrong_sender{
    .group = 'H',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Pull Completion",
    .who = "sender",
    .title = "RDMA_DONE from the side that offered the memory",
    .explanation =
        "Only the requester, who pulls, can say that pulling is over. From the responder the message means nothing and "
        "is ignored, while the offer stays open.",
    .evidence = "The sender of RDMA_DONE is the responder of that XID, and no call of its own with that XID is open.",
    .next = "Look at the sender's handling of direction when the same XID is used both ways."};

const Row rows::done_invalidate_rule{
    .group = 'H',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Remote Invalidation; RFC 8797 section 4.1",
    .who = "requester",
    .title = "RDMA_DONE invalidates a handle it may not",
    .explanation =
        "The notification may invalidate a handle of the responder only when both peers support remote invalidation, "
        "and only one the responder offered in that reply. Anything else ends the connection or harms another "
        "transfer.",
    .evidence =
        "RDMA_DONE as Send With Invalidate with an R bit clear on either side, or with a handle not in the offer. Not "
        "decided without the handshake.",
    .next = "The requester's choice between plain Send and Send With Invalidate, and the handle it names."};

namespace {

/// What is said of an RDMA_DONE and of what it is about.
struct DoneSaid {
  RuleId rule;
  FrameRef evidence;
  Severity severity;
  std::string message;
  Role as = Role::requester;
};

HeldFinding say_of_done(const Witness& witness, const DoneSeen& event, DoneSaid said) {
  return witness.say(said.rule, {.frames = {event.frame, said.evidence},
                                 .by = event.side,
                                 .as = said.as,
                                 .xid = event.xid,
                                 .at_most = said.severity,
                                 .what = std::move(said.message)});
}

/// RFC 8166 knows RDMA_DONE only to forbid it; the draft is not in force, or not known to be.
[[nodiscard]] bool judged_by_rfc8166(const Witness& witness) noexcept {
  const Profile profile = witness.context.options.profile;
  return profile == Profile::rfc8166 || (profile == Profile::automatic && !witness.connection.reliable_reply);
}

/// Whether it is known to be forbidden.
bool judge_forbidden_done(const Witness& witness, const DoneSeen& event, const Offer* offer) {
  Connection& connection = witness.connection;
  const bool automatic = witness.context.options.profile == Profile::automatic;
  if (automatic && !connection.whole()) {
    witness.unchecked(RuleId::rdma_done_sent, "whether a Read chunk was offered before is not in the capture");
    return false;
  }
  const Transaction* call = connection.find(other(event.side), event.xid);
  if (automatic && offer == nullptr && call != nullptr && call->answer_uncertain() && call->may_be_offer()) {
    witness.unchecked(RuleId::rdma_done_sent,
                      fmt::format("whether the message in frame {} is a Long Call or an offered Reply cannot be told",
                                  call->call.number));
    return false;
  }
  say_of_done(witness, event,
              {RuleId::rdma_done_sent, offer != nullptr ? offer->frame : FrameRef{}, Severity::error,
               offer != nullptr
                   ? fmt::format("The {} sent RDMA_DONE, which RFC 8166 forbids. It fits the reliable-reply draft: it "
                                 "ends the Read chunk offered in frame {}.",
                                 name(event.side), offer->frame.number)
                   : fmt::format("The {} sent RDMA_DONE, which RFC 8166 forbids; nothing had been offered to be read.",
                                 name(event.side))});
  return true;
}

/// Nothing with its XID was offered to its sender.
void judge_done_without_offer(const Witness& witness, const DoneSeen& event) {
  Connection& connection = witness.connection;
  const Offer* theirs = newest_offer(connection, other(event.side), event.xid);
  const bool called = theirs != nullptr && possible_long_call(connection, event.side, event.xid) && theirs->undecidable;
  const bool waited = theirs != nullptr && (theirs->done.number == 0 || theirs->done.number > event.frame.number);
  const bool called_itself = connection.find(event.side, event.xid) != nullptr;
  if (theirs != nullptr && (called || !connection.whole())) {
    // It ends an offer of the other side that is not in the capture, or was taken for a Call.
    witness.unchecked(RuleId::done_wrong_sender, "frames are missing: what it ends may be another offer");
  } else if (theirs != nullptr && connection.order_lost()) {
    // Of two messages that may both be a Long Call, or an offered Reply to the other, the first was taken for the Call.
    witness.unchecked(RuleId::done_wrong_sender,
                      "the order of the two directions is not that on the wire: which of the two offered is not known");
  } else if (theirs != nullptr && (waited || !called_itself)) {
    say_of_done(witness, event,
                {RuleId::done_wrong_sender, theirs->frame, Severity::error,
                 fmt::format("The {} sent RDMA_DONE for XID {:#010x}, whose Read chunk it offered itself (frame {}): "
                             "only the requester may end it.",
                             name(event.side), event.xid, theirs->frame.number),
                 Role::responder});
  } else if (!judged_by_rfc8166(witness)) {
    say_of_done(witness, event,
                {RuleId::done_without_pending_chunk,
                 {},
                 Severity::note,
                 fmt::format("The {} sent RDMA_DONE for XID {:#010x}, for which no Read chunk is waiting; the receiver "
                             "drops it.",
                             name(event.side), event.xid)});
  }
}

void judge_pull_before_done(const Witness& witness, const DoneSeen& event, const Offer& offer) {
  if (offer.reads_outstanding != 0 || offer.refused.number != 0 || offer_pulled(witness.connection, offer)) return;
  if (offer.undecidable) {
    witness.unchecked(RuleId::done_before_complete_pull, "frames are missing since the offer");
    return;
  }
  say_of_done(witness, event,
              {RuleId::done_before_complete_pull, offer.frame, Severity::note,
               fmt::format("The {} sent RDMA_DONE before it had read all {} octets offered in frame {}: right when it "
                           "gave up on the reply, odd otherwise.",
                           name(event.side), grouped(offer.length), offer.frame.number)});
}

HeldFinding judge_done_invalidation(const Witness& witness, const DoneSeen& event, const Offer& offer) {
  if (!event.invalidated) return {};
  const std::optional<bool> client = witness.connection.of(Side::active).private_data.remote_invalidation();
  const std::optional<bool> server = witness.connection.of(Side::passive).private_data.remote_invalidation();
  if (!client || !server) {
    witness.unchecked(RuleId::done_invalidate_rule, "the private data is not in the capture");
  }
  const bool offered = std::any_of(offer.segments.begin(), offer.segments.end(),
                                   [&](const wire::Segment& s) { return s.handle == *event.invalidated; });
  if (offered && client.value_or(true) && server.value_or(true)) return {};
  if (!offered && offer.asked == 0 && !witness.connection.whole()) {
    witness.unchecked(RuleId::done_invalidate_rule, "the offer that it ends may be missing from the capture");
    return {};
  }
  return say_of_done(
      witness, event,
      {RuleId::done_invalidate_rule, offer.frame, Severity::error,
       offered
           ? fmt::format("The {} sent RDMA_DONE with invalidation although not both sides had set R.", name(event.side))
           : fmt::format("The {}'s RDMA_DONE invalidates handle {:#010x}, which was not offered in frame {}.",
                         name(event.side), *event.invalidated, offer.frame.number)});
}

void give_back(Connection& connection, const Offer& offer, FrameRef done) {
  for (const wire::Segment& segment : offer.segments) {
    connection.of(other(offer.requester)).memory.retire(offer.transaction, segment.handle, done);
  }
}

/// As many RDMA_DONE as offers with the XID: none of these is open any more. One that was not read as a whole stays
/// readable: one of them may have been sent twice.
void give_back_others(Connection& connection, const DoneSeen& event) {
  for (Offer& offer : connection.offers) {
    if (offer.ended == Offer::Ended::surely || !offer.answers(event.side, event.xid)) continue;
    offer.ended = Offer::Ended::surely;
    if (offer.reads_outstanding == 0 && offer_pulled(connection, offer)) give_back(connection, offer, event.frame);
  }
}

}  // namespace

HeldFinding settle_done(const Witness& witness, const DoneSeen& event) {
  Connection& connection = witness.connection;
  Offer* offer = newest_offer(connection, event.side, event.xid);
  if (offer != nullptr && offer->asked > event.ordinal) offer = nullptr;
  const bool forbidden = judged_by_rfc8166(witness) && judge_forbidden_done(witness, event, offer);
  if (offer == nullptr) {
    judge_done_without_offer(witness, event);
    if (!forbidden || !event.invalidated) return {};
    return say_misplaced_invalidation(witness, event.side, event.frame, *event.invalidated, event.xid, "RDMA_DONE");
  }
  if (offer->done.number != 0) {
    say_of_done(witness, event,
                {RuleId::done_duplicate, offer->done, Severity::note,
                 fmt::format("The {} sent RDMA_DONE for XID {:#010x} a second time (first: frame {}); the receiver "
                             "drops it.",
                             name(event.side), event.xid, offer->done.number)});
    return {};
  }
  Offer* oldest = oldest_open_offer(connection, event.side, event.xid);
  if (oldest != offer) {
    // Either of them may be meant: both stay readable.
    oldest->done = event.frame;
    oldest->ended = Offer::Ended::perhaps;
    oldest->in_flight_said = true;
    ++connection.facts.pull_completion.completed;
    witness.unchecked(RuleId::done_duplicate, "an XID was used again before its RDMA_DONE");
    return {};
  }
  judge_pull_before_done(witness, event, *offer);
  HeldFinding invalidation = judge_done_invalidation(witness, event, *offer);
  // Only a Reply is ended like that, and none other with its XID is open.
  if (connection.whole() && !offer->undecidable) prove_reply(witness, *offer);
  const bool numbered = connection.facts.transport != trace::Transport::iwarp;
  if (numbered && connection.of(event.side).last_repeat.number > offer->frame.number) {
    offer->read_requests = Offer::Requests::perhaps_again;
  }
  offer->done = event.frame;
  ++connection.facts.pull_completion.completed;
  give_back(connection, *offer, event.frame);
  give_back_others(connection, event);
  return invalidation;
}

const Row rows::done_answered{
    .group = 'H',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 4.6.2; reliable-reply draft, Pull Completion",
    .who = "receiver",
    .title = "RDMA_DONE was answered",
    .explanation =
        "RDMA_DONE is a notification and gets no answer. An RDMA_ERROR or a Reply to it arrives for an XID that is "
        "already finished, and may be taken for the answer to a later call with the same XID.",
    .evidence =
        "RDMA_ERROR or a Reply with that XID right behind RDMA_DONE, with no call open. Not decided across a gap.",
    .next =
        "Linux servers drop RDMA_DONE silently (rpcrdma:svcrdma_decode_drop_err); look at what the answering side "
        "does."};

namespace {

void settle_done_answered(const Witness& witness, const Case& waited) {
  if (!waited.proven()) {
    witness.unchecked(waited.rule, "a Call with the same XID may be missing from the capture");
    return;
  }
  witness.conclude(
      waited, {.frames = {waited.frame, waited.evidence},
               .by = waited.accused,
               .as = Role::responder,
               .xid = waited.xid,
               .what = fmt::format("The {} answered an RDMA_DONE (frame {}); it has to be taken, or dropped, silently.",
                                   name(waited.accused), waited.evidence.number)});
}

}  // namespace

bool judge_answer_to_done(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Connection& connection = witness.connection;
  const Connection::Done* done =
      connection.dones.newest([&](const Connection::Done& d) { return d.xid == xid && d.side == other(event.side); });
  if (done == nullptr) return false;
  const Transaction* call = connection.find(other(event.side), xid);
  if (call != nullptr && call->id.generation > done->generation) return false;  // it is about that one
  if (possible_answered_call(connection, other(event.side), xid)) return false;
  // A Call with the same XID may be missing in between: that shows only when its sender goes on.
  witness.wait({.rule = RuleId::done_answered,
                .accused = event.side,
                .frame = event.frame,
                .evidence = done->frame,
                .xid = xid,
                .about = Case::Answer{{{}, event.ordinal}},
                .settle = settle_done_answered});
  return true;
}

}  // namespace rpcrdma::referee
