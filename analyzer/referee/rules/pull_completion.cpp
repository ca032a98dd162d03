// SPDX-License-Identifier: GPL-2.0-or-later
// Group H: responder-provided Read chunks and their completion by RDMA_DONE, as a state machine for each offer.
#include <algorithm>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_offers = 1024;
constexpr std::size_t kept_finished_offers = 64;

void drop_offer(Connection& connection, const Offer& offer) {
  for (const wire::Segment& segment : offer.segments) {
    connection.of(other(offer.requester)).memory.forget(offer.transaction, segment.handle);
  }
}

void bound_offers(Context& context, Connection& connection) {
  std::size_t finished = 0;
  for (const Offer& offer : connection.offers) finished += offer.done.number != 0 ? 1U : 0U;
  while (finished > kept_finished_offers) {
    const auto oldest = std::find_if(connection.offers.begin(), connection.offers.end(),
                                     [](const Offer& offer) { return offer.done.number != 0; });
    drop_offer(connection, *oldest);
    connection.offers.erase(oldest);
    --finished;
  }
  if (connection.offers.size() > most_offers) {
    context.book.unchecked(RuleId::pull_completion_missing, connection.id(),
                           "more responder-provided Read chunks are open than the analyzer keeps");
    drop_offer(connection, connection.offers.front());
    connection.offers.pop_front();
  }
}

/// The oldest offer with this XID that has not been ended.
[[nodiscard]] Offer* oldest_open_offer(Connection& connection, Side requester, std::uint32_t xid) {
  const auto at = std::find_if(connection.offers.begin(), connection.offers.end(), [&](const Offer& offer) {
    return offer.xid == xid && offer.requester == requester && offer.done.number == 0;
  });
  return at == connection.offers.end() ? nullptr : &*at;
}

/// The newest offer with this XID whose requester is `requester`.
[[nodiscard]] Offer* newest_offer(Connection& connection, Side requester, std::uint32_t xid) {
  for (auto at = connection.offers.rbegin(); at != connection.offers.rend(); ++at) {
    if (at->xid == xid && at->requester == requester) return &*at;
  }
  return nullptr;
}

/// A requester that lets so much time pass between two messages is idle.
constexpr TimeNs idle_after = 30'000'000'000;

/// Has RDMA_DONE to come? Not where it is forbidden (RFC 8166 section 4.6.2), as after an offer in a form that nothing
/// allows, and not once a Read of it was refused, which is the end of the connection.
[[nodiscard]] bool done_is_due(const Context& context, const Connection& connection, const Offer& offer) noexcept {
  const Profile profile = context.options.profile;
  if (profile == Profile::rfc8166 || (profile == Profile::automatic && !connection.reliable_reply)) return false;
  return offer.done.number == 0 && offer.proper && !offer.refused && !offer.inferred;
}

void judge_missing(Context& context, Connection& connection, Offer& offer, FrameRef now, Severity severity,
                   std::string_view why) {
  if (offer.overdue || !done_is_due(context, connection, offer)) return;
  offer.overdue = true;
  ++connection.facts.pull_completion.missing;
  if (offer.undecidable || !connection.whole()) {
    severity = Severity::note;
    context.book.unchecked(RuleId::pull_completion_missing, connection.id(),
                           "frames of this connection are missing, or its XID was used again before RDMA_DONE");
  }
  context.book.add(
      {RuleId::pull_completion_missing,
       connection.id(),
       {offer.frame, offer.last_read, now},
       fmt::format("The {} never told the {} that it was finished with the Read chunk offered in frame {} ({} "
                   "octets, {}): no RDMA_DONE, {}.",
                   name(offer.requester), name(other(offer.requester)), offer.frame.number, offer.length,
                   offer.reads != 0 ? "read" : "never read", why),
       severity,
       offer.xid,
       party(offer.requester),
       Role::requester});
}

}  // namespace

Offer* find_offer(Connection& connection, TransactionId transaction) {
  const auto at = std::find_if(connection.offers.rbegin(), connection.offers.rend(),
                               [&](const Offer& offer) { return offer.transaction == transaction; });
  return at == connection.offers.rend() ? nullptr : &*at;
}

void offer_read(Connection& /*connection*/, Offer& offer, FrameRef frame) {
  ++offer.reads;
  ++offer.reads_outstanding;
  offer.waited = 0;
  offer.counted_to = frame.time;
  offer.last_read = frame;
}

void offer_read_answered(Context& context, Connection& connection, Offer& offer, FrameRef frame) {
  if (offer.reads_outstanding > 0) --offer.reads_outstanding;
  offer.waited = 0;
  offer.counted_to = frame.time;
  // Proven only by a response behind RDMA_DONE: one that never shows may just be missing from the capture.
  if (offer.done.number == 0 || offer.in_flight_said || frame.number < offer.done.number ||
      frame.time < offer.done.time || offer.last_read.number > offer.done.number) {
    return;
  }
  offer.in_flight_said = true;
  context.book.add(
      {RuleId::done_with_reads_in_flight,
       connection.id(),
       {offer.done, offer.last_read, frame},
       fmt::format("The {} sent RDMA_DONE while its RDMA Read in frame {} was still unanswered (answer: frame {}): "
                   "the responder may take the memory away under it.",
                   name(offer.requester), offer.last_read.number, frame.number),
       std::nullopt,
       offer.xid,
       party(offer.requester),
       Role::requester});
}

void offer_content(Context& context, Connection& connection, Offer& offer, const trace::ReadResponse& event) {
  constexpr std::size_t rpc_start = 8;  // XID and message type
  if (offer.content.number != 0 || offer.segments.empty() || event.octets.size() < rpc_start) return;
  const wire::Segment& first = offer.segments.front();
  if (event.handle != first.handle || event.offset != first.offset) return;
  offer.content = event.frame;
  const std::uint32_t xid = wire::load_be32(event.octets.data());
  if (!offer.inferred && offer.proper && !offer.undecidable) {
    judge_xid_by_rdma(context, connection, offer.frame, other(offer.requester), Role::responder, offer.xid, xid,
                      event.frame);
  }
  if (!offer.inferred || xid != offer.xid || wire::load_be32(event.octets.data() + 4) != 1) return;
  offer.inferred = false;
  if (Transaction* call = connection.find(offer.transaction)) call->reply_inferred = false;
}

bool offer_pulled(Connection& connection, const Offer& offer) {
  MemoryMap& memory = connection.of(other(offer.requester)).memory;
  std::uint64_t pulled = 0;
  for (const wire::Segment& segment : offer.segments) {
    const std::vector<Region>* regions = memory.regions(segment.handle);
    if (regions == nullptr) continue;
    for (const Region& region : *regions) {
      if (region.owner == offer.transaction && region.begin == segment.offset) {
        pulled += region.touched.within(region.begin, region.end);
        break;
      }
    }
  }
  return pulled >= offer.length;
}

void judge_offer(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                 const Transaction* call, Side requester) {
  const Side responder = other(requester);
  const std::uint32_t xid = header.fixed.xid;
  const bool proper = header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::nomsg) &&
                      std::all_of(header.reads.begin(), header.reads.end(),
                                  [](const wire::ReadSegment& read) { return read.position == 0; });
  // One Position too many is wrong in its form; it is an offer all the same.
  const bool offers = header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::nomsg) &&
                      std::any_of(header.reads.begin(), header.reads.end(),
                                  [](const wire::ReadSegment& read) { return read.position == 0; });
  const FrameRef call_frame = call != nullptr ? call->call : FrameRef{};
  const auto accuse = [&](RuleId rule, std::string message) {
    context.book.add({rule,
                      connection.id(),
                      {event.frame, call_frame},
                      std::move(message),
                      std::nullopt,
                      xid,
                      party(responder),
                      Role::responder});
  };
  const Profile profile = context.options.profile;
  if (profile == Profile::automatic && offers && !connection.reliable_reply) {
    connection.reliable_reply = true;
    context.book.unchecked(
        RuleId::read_list_in_reply, connection.id(),
        fmt::format("the Reply in frame {} offers a Position-Zero Read chunk, which RFC 8166 does not "
                    "allow; from there on the connection is judged by the reliable-reply draft "
                    "(--profile rfc8166 reports it)",
                    event.frame.number));
  }
  if (profile == Profile::rfc8166) {
    accuse(RuleId::read_list_in_reply,
           fmt::format("The {}'s Reply carries a Read list; in a Reply it has to be empty.", name(responder)));
  } else if (!proper && !connection.reliable_reply && profile == Profile::automatic && !connection.whole()) {
    context.book.unchecked(RuleId::read_list_in_reply, connection.id(),
                           "whether these peers agreed on responder-provided Read chunks before is not in the capture");
  } else if (!proper) {
    accuse(
        connection.reliable_reply ? RuleId::pull_offer_form : RuleId::read_list_in_reply,
        fmt::format("The {}'s Reply carries a Read list in a form that nothing allows: a responder-provided Read chunk "
                    "belongs into an RDMA_NOMSG, all of it at Position 0.",
                    name(responder)));
  }

  Offer offer;
  offer.transaction =
      call != nullptr ? call->id : TransactionId{Connection::key(requester, xid), ++connection.generation};
  offer.xid = xid;
  offer.requester = requester;
  offer.frame = event.frame;
  offer.counted_to = event.frame.time;
  offer.proper = proper;
  offer.inferred = call != nullptr && call->reply_inferred;
  for (const wire::ReadSegment& read : header.reads) {
    offer.segments.push_back(read.target);
    offer.length += read.target.length;
    connection.of(responder).memory.expose(read.target, Access::offer, offer.transaction, event.frame);
  }
  ++connection.facts.pull_completion.offered;
  if (Offer* earlier = oldest_open_offer(connection, requester, xid)) {
    // The XID was used again before RDMA_DONE: which of them it will end cannot be told.
    earlier->undecidable = true;
    offer.undecidable = true;
  }

  if (proper && connection.reliable_reply) {
    const std::optional<std::uint32_t> limit = connection.threshold(responder);
    const bool room = call != nullptr && call->lists_known && call->reply_chunk &&
                      wire::chunk_length(*call->reply_chunk) >= offer.length;
    if (room || (limit && offer.length + 28 <= *limit)) {
      context.book.add({RuleId::pull_offer_unneeded,
                        connection.id(),
                        {event.frame, call_frame},
                        room ? fmt::format("The {} offered {} to be read although the Call's Reply chunk had room for "
                                           "them.",
                                           name(responder), counted(offer.length, "octet"))
                             : fmt::format("The {} offered {} to be read although they fit inline (threshold {}).",
                                           name(responder), counted(offer.length, "octet"), *limit),
                        room ? Severity::warning : Severity::note,
                        xid,
                        room ? std::optional(party(responder)) : std::nullopt,
                        Role::responder});
    }
  }
  connection.offers.push_back(std::move(offer));
  bound_offers(context, connection);

  // Its RDMA_DONE may have been delivered first.
  const auto early = std::find_if(connection.pending.begin(), connection.pending.end(), [&](const Pending& pending) {
    return pending.kind == Pending::Kind::done && pending.xid == xid && pending.side == requester &&
           pending.frame.number > event.frame.number;
  });
  if (early == connection.pending.end()) return;
  const DoneSeen done{requester, early->frame, xid, early->invalidated};
  connection.pending.erase(early);
  connection.offers.back().undecidable = true;  // which Reads came in between is not certain
  settle_done(context, connection, done);
}

void judge_done(Context& context, Connection& connection, const trace::Send& event, RecentSend& send) {
  const std::uint32_t xid = send.xid;
  connection.dones.add({xid, event.side, event.frame});
  const Offer* theirs = newest_offer(connection, other(event.side), xid);
  const bool wrong_side = theirs != nullptr && theirs->done.number == 0;
  if (newest_offer(connection, event.side, xid) == nullptr && !wrong_side &&
      connection.pending.size() < most_held_back) {
    // Its offer may still be held back behind a hole in the other direction: wait for what the peer sends next.
    Pending pending;
    pending.kind = Pending::Kind::done;
    pending.side = event.side;
    pending.frame = event.frame;
    pending.xid = xid;
    pending.invalidated = event.invalidated;
    hold_back(connection, std::move(pending));
    return;
  }
  send.invalidate_finding = settle_done(context, connection, {event.side, event.frame, xid, event.invalidated});
}

HeldFinding settle_done(Context& context, Connection& connection, const DoneSeen& event) {
  const Side sender = event.side;
  const std::uint32_t xid = event.xid;
  const bool strict = context.options.profile == Profile::rfc8166 ||
                      (context.options.profile == Profile::automatic && !connection.reliable_reply);
  const auto say = [&](RuleId rule, std::string message, FrameRef evidence, Severity severity,
                       Role role = Role::requester) {
    return context.book.add(
        {rule, connection.id(), {event.frame, evidence}, std::move(message), severity, xid, party(sender), role});
  };
  Offer* offer = newest_offer(connection, sender, xid);
  Offer* theirs = newest_offer(connection, other(sender), xid);
  if (strict) {
    if (context.options.profile == Profile::automatic && !connection.whole()) {
      context.book.unchecked(RuleId::rdma_done_sent, connection.id(),
                             "whether a Read chunk was offered before is not in the capture");
    } else {
      say(RuleId::rdma_done_sent,
          offer != nullptr
              ? fmt::format(
                    "The {} sent RDMA_DONE, which RFC 8166 forbids. It fits the reliable-reply draft: it ends the "
                    "Read chunk offered in frame {}.",
                    name(sender), offer->frame.number)
              : fmt::format("The {} sent RDMA_DONE, which RFC 8166 forbids; nothing had been offered to be read.",
                            name(sender)),
          offer != nullptr ? offer->frame : FrameRef{}, Severity::error);
    }
  }
  if (offer == nullptr) {
    if (theirs != nullptr && theirs->done.number == 0) {
      say(RuleId::done_wrong_sender,
          fmt::format("The {} sent RDMA_DONE for XID {:#010x}, whose Read chunk it offered itself (frame {}): only the "
                      "requester may end it.",
                      name(sender), xid, theirs->frame.number),
          theirs->frame, Severity::error, Role::responder);
    } else if (!strict) {
      say(RuleId::done_without_pending_chunk,
          fmt::format(
              "The {} sent RDMA_DONE for XID {:#010x}, for which no Read chunk is waiting; the receiver drops it.",
              name(sender), xid),
          FrameRef{}, Severity::note);
    }
    return {};
  }
  if (offer->done.number != 0) {
    say(RuleId::done_duplicate,
        fmt::format("The {} sent RDMA_DONE for XID {:#010x} a second time (first: frame {}); the receiver drops it.",
                    name(sender), xid, offer->done.number),
        offer->done, Severity::note);
    return {};
  }
  Offer* oldest = oldest_open_offer(connection, sender, xid);
  if (oldest != offer) {
    // Either of them may be meant: both stay readable.
    oldest->done = event.frame;
    oldest->in_flight_said = true;
    ++connection.facts.pull_completion.completed;
    context.book.unchecked(RuleId::done_duplicate, connection.id(), "an XID was used again before its RDMA_DONE");
    return {};
  }
  const bool pulled = offer_pulled(connection, *offer);
  if (offer->reads_outstanding == 0 && !pulled && !offer->refused) {
    if (offer->undecidable) {
      context.book.unchecked(RuleId::done_before_complete_pull, connection.id(), "frames are missing since the offer");
    } else {
      say(RuleId::done_before_complete_pull,
          fmt::format(
              "The {} sent RDMA_DONE before it had read all {} octets offered in frame {}: right when it gave up on "
              "the reply, odd otherwise.",
              name(sender), offer->length, offer->frame.number),
          offer->frame, Severity::note);
    }
  }
  HeldFinding invalidation;
  if (event.invalidated) {
    const std::optional<bool> client = connection.of(Side::active).private_data.remote_invalidation();
    const std::optional<bool> server = connection.of(Side::passive).private_data.remote_invalidation();
    const bool offered = std::any_of(offer->segments.begin(), offer->segments.end(),
                                     [&](const wire::Segment& s) { return s.handle == *event.invalidated; });
    if (!client || !server) {
      context.book.unchecked(RuleId::done_invalidate_rule, connection.id(), "the private data is not in the capture");
    }
    if (!offered || (client && !*client) || (server && !*server)) {
      invalidation = say(
          RuleId::done_invalidate_rule,
          offered
              ? fmt::format("The {} sent RDMA_DONE with invalidation although not both sides had set R.", name(sender))
              : fmt::format("The {}'s RDMA_DONE invalidates handle {:#010x}, which was not offered in frame {}.",
                            name(sender), *event.invalidated, offer->frame.number),
          offer->frame, Severity::error);
    }
  }
  offer->done = event.frame;
  ++connection.facts.pull_completion.completed;
  for (const wire::Segment& segment : offer->segments) {
    connection.of(other(sender)).memory.retire(offer->transaction, segment.handle, event.frame);
  }
  return invalidation;
}

bool judge_answer_to_done(Context& context, Connection& connection, const trace::Send& event, std::uint32_t xid) {
  const Connection::Done* done =
      connection.dones.newest([&](const Connection::Done& d) { return d.xid == xid && d.side == other(event.side); });
  if (done == nullptr) return false;
  if (!connection.whole()) {
    context.book.unchecked(RuleId::done_answered, connection.id(), connection.why_not_whole());
    return true;
  }
  // A Call with the same XID may be missing in between: that shows only when its sender goes on.
  Pending pending;
  pending.kind = Pending::Kind::reply_without_call;
  pending.rule = RuleId::done_answered;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = done->frame;
  pending.xid = xid;
  hold_back(connection, std::move(pending));
  return true;
}

void offers_overdue(Context& context, Connection& connection, Side requester, FrameRef now) {
  for (Offer& offer : connection.offers) {
    if (offer.requester != requester || offer.overdue || !done_is_due(context, connection, offer)) continue;
    const TimeNs passed = now.time - offer.counted_to;
    if (passed > 0 && passed <= idle_after) offer.waited += passed;
    if (passed > 0) offer.counted_to = now.time;
    if (offer.waited <= context.options.pull_timeout) continue;
    if (offer.reads != 0 && !offer_pulled(connection, offer)) continue;  // still at it
    judge_missing(
        context, connection, offer, now, Severity::warning,
        fmt::format("{} s after the offer, while it goes on working", (now.time - offer.frame.time) / 1'000'000'000));
  }
}

void offers_at_end(Context& context, Connection& connection, FrameRef now, bool capture_end,
                   std::optional<Side> closed_by, bool orderly) {
  for (Offer& offer : connection.offers) {
    if (offer.done.number != 0) continue;
    if (offer.reads_outstanding != 0 && done_is_due(context, connection, offer)) {
      // RDMA_DONE comes behind the answer, or behind the refusal, of every Read.
      context.book.unchecked(RuleId::pull_completion_missing, connection.id(),
                             "a Read of the offered memory has no answer in the capture");
      continue;
    }
    if (capture_end) {
      judge_missing(context, connection, offer, now, Severity::note, "until the end of the capture");
    } else if (orderly && closed_by == offer.requester) {
      judge_missing(context, connection, offer, now, Severity::error,
                    "and then it closed the connection in good order");
    } else {
      judge_missing(context, connection, offer, now, Severity::warning, "until the connection ended");
    }
  }
  connection.offers.clear();
}

}  // namespace rpcrdma::referee
