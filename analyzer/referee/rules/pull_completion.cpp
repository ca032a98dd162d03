// SPDX-License-Identifier: GPL-2.0-or-later
// Group H: responder-provided Read chunks and their completion by RDMA_DONE, as a state machine for each offer.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/docket/resting.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/ending.hpp"
#include "referee/rules/offer_form.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "trace/spans.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_offers = 1024;
constexpr std::size_t kept_finished_offers = 64;

void drop_offer(Connection& connection, const Offer& offer) {
  // A Reply that was offered twice may have been so out of the same memory.
  const auto again = offer.reply == Offer::Offered::once
                         ? connection.offers.end()
                         : std::find_if(connection.offers.begin(), connection.offers.end(), [&](const Offer& each) {
                             return &each != &offer && each.transaction == offer.transaction;
                           });
  const auto still_named = [&](std::uint32_t handle) {
    return again != connection.offers.end() &&
           std::any_of(again->segments.begin(), again->segments.end(),
                       [&](const wire::Segment& segment) { return segment.handle == handle; });
  };
  for (const wire::Segment& segment : offer.segments) {
    if (still_named(segment.handle)) continue;
    connection.of(other(offer.requester)).memory.forget(offer.transaction, segment.handle);
  }
}

/// Nothing will tell any more whether it is a Reply.
void leave_untold(const Witness& witness, const Offer& offer) {
  if (offer.shared) {
    witness.unchecked(RuleId::handle_shared_between_offers, "what looks like an offered Reply may be a Long Call");
  }
  if (!offer.may_be_call()) return;
  witness.unchecked(RuleId::read_list_in_reply,
                    fmt::format("the message in frame {} may be a Long Call", offer.frame.number));
}

void bound_offers(const Witness& witness) {
  Connection& connection = witness.connection;
  std::size_t finished = 0;
  for (const Offer& offer : connection.offers) finished += offer.done.number != 0 ? 1U : 0U;
  while (finished > kept_finished_offers) {
    const auto oldest = std::find_if(connection.offers.begin(), connection.offers.end(),
                                     [](const Offer& offer) { return offer.done.number != 0; });
    leave_untold(witness, *oldest);
    drop_offer(connection, *oldest);
    connection.offers.erase(oldest);
    --finished;
  }
  if (connection.offers.size() > most_offers) {
    witness.unchecked(RuleId::pull_completion_missing,
                      "more responder-provided Read chunks are open than the analyzer keeps");
    leave_untold(witness, connection.offers.front());
    drop_offer(connection, connection.offers.front());
    connection.offers.pop_front();
    connection.distrust(kept_finished, Doubt::bound);  // it may still be pulled
  }
}

/// What lies between two messages of a requester counts up to here: it may have slept, and it has worked at both.
constexpr TimeNs idle_after = 30'000'000'000;

}  // namespace

bool done_is_due(const Witness& witness, const Offer& offer) noexcept {
  const Connection& connection = witness.connection;
  const Profile profile = witness.context.options.profile;
  if (profile == Profile::rfc8166 || (profile == Profile::automatic && !connection.reliable_reply)) return false;
  return offer.done.number == 0 && offer.form == Offer::Form::proper && offer.refused.number == 0;
}

const Row rows::pull_completion_missing{
    .group = 'H',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Requester Duties",
    .who = "requester",
    .title = "The pull was never reported as complete",
    .explanation =
        "Once its Reads are finished, in success or in error, the requester has to tell the responder, which holds the "
        "reply's memory until then. Without the notification the responder runs out of memory or has to guess.",
    .evidence =
        "An offer without RDMA_DONE. An error when the requester closed the connection in good order without it; a "
        "warning when it stayed active for the timeout (60 s unless set), or the connection was lost or closed by the "
        "responder; a note when the capture ended first. Not decided across a gap.",
    .next =
        "The requester's completion path; --pull-timeout sets how long to wait. On the responder watch registered "
        "memory (rdma resource show mr)."};

namespace {

HeldFinding judge_missing(const Witness& witness, Offer& offer, FrameRef now, Severity severity, std::string_view why) {
  Connection& connection = witness.connection;
  if (offer.overdue || !done_is_due(witness, offer)) return {};
  offer.overdue = true;
  ++connection.facts.pull_completion.missing;
  if (offer.undecidable || !connection.whole()) {
    severity = Severity::note;
    witness.unchecked(RuleId::pull_completion_missing,
                      "frames of this connection are missing, or its XID was used again before RDMA_DONE");
  }
  return witness.say(RuleId::pull_completion_missing,
                     {.frames = {offer.frame, offer.last_read, now},
                      .by = offer.requester,
                      .as = Role::requester,
                      .xid = offer.xid,
                      .at_most = severity,
                      .what = fmt::format(
                          "The {} did not tell the {} that it was finished with the Read chunk offered in frame {} ({} "
                          "octets, {}): no RDMA_DONE, {}.",
                          name(offer.requester), name(other(offer.requester)), offer.frame.number,
                          grouped(offer.length), offer.reads != 0 ? "read" : "never read", why)});
}

}  // namespace

const Row rows::done_with_reads_in_flight{
    .group = 'H',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .needs = {.file_order = true},
    .source = "reliable-reply draft, Requester Duties",
    .who = "requester",
    .title = "RDMA_DONE while a Read is still unanswered",
    .explanation =
        "The notification means that the Reads have completed. Sent earlier, the responder may invalidate the memory "
        "while it is still being read: the Read is refused and the connection lost. It is a race, so it breaks now and "
        "then.",
    .evidence =
        "RDMA_DONE with an unanswered Read Request of that offer before it. Not decided across a gap, where the "
        "capture "
        "point leaves the order open, or where an InfiniBand READ was sent again before RDMA_DONE: the answers to both "
        "have the same numbers, and the first ones may be missing.",
    .next = "The requester has to wait for the completion of its last Read before it posts RDMA_DONE."};

namespace {

/// One answer just behind RDMA_DONE may have changed places with it on its way into the file; of two packets the second
/// cannot have, nor one that comes much later.
[[nodiscard]] bool certainly_behind_done(const Offer& offer, FrameRef answer) noexcept {
  const FrameRef first = offer.first_behind_done;
  return (first.number != 0 && first.number != answer.number) ||
         answer.time - offer.done.time > trace::change_of_places;
}

}  // namespace

void offer_read_answered(const Witness& witness, Offer& offer, FrameRef frame) {
  if (offer.reads_outstanding > 0) --offer.reads_outstanding;
  offer.waited = 0;
  offer.counted_to = frame.time;
  // Proven only by a response behind RDMA_DONE: one that never shows may just be missing from the capture.
  if (offer.done.number == 0 || offer.in_flight_said || frame.number < offer.done.number ||
      frame.time < offer.done.time || offer.last_read.number > offer.done.number ||
      !certainly_behind_done(offer, frame)) {
    return;
  }
  offer.in_flight_said = true;
  if (offer.read_requests == Offer::Requests::perhaps_again) {
    witness.unchecked(
        RuleId::done_with_reads_in_flight,
        "the Read was sent again in front of RDMA_DONE: its first answer may be missing from the capture");
    return;
  }
  witness.say(RuleId::done_with_reads_in_flight,
              {.frames = {offer.done, offer.last_read, frame},
               .by = offer.requester,
               .as = Role::requester,
               .xid = offer.xid,
               .what = fmt::format(
                   "The {} sent RDMA_DONE while its RDMA Read in frame {} was still unanswered (answer: frame {}): "
                   "the responder may take the memory away under it.",
                   name(offer.requester), offer.last_read.number, frame.number)});
}

namespace {

/// Another Reply, with this XID, is offered there as well, or may be by what is not read yet, or is on its way: which
/// of them is read cannot be told.
[[nodiscard]] bool offered_for_another(const Connection& connection, const Offer& offer,
                                       const trace::ReadResponse& event, std::uint32_t xid) {
  const Transaction* call = connection.find(offer.requester, xid);
  bool another = connection.of(event.side).untold != 0 || (call != nullptr && call->answers == 0);
  const std::uint64_t behind = event.offset + 1 != 0 ? event.offset + 1 : event.offset;  // held at the end
  connection.of(event.side).memory.each_near(event.handle, event.offset, behind, [&](const Exposure& exposure) {
    another = another || (exposure.standing != Standing::over && exposure.access == Access::offer &&
                          !(exposure.owner == offer.transaction) && exposure.around(event.offset).length() != 0);
  });
  return another;
}

}  // namespace

void offer_content(const Witness& witness, Offer& offer, const trace::ReadResponse& event) {
  if (offer.done.number != 0 && event.frame.number > offer.done.number && offer.first_behind_done.number == 0) {
    offer.first_behind_done = event.frame;
  }
  if (offer.content.number != 0 || !offer.begins || event.octets.size() < wire::rpc_start_octets) return;
  if (event.handle != offer.begins->handle || event.offset != offer.begins->offset) return;
  offer.content = event.frame;
  const std::uint32_t xid = wire::load_be32(event.octets.data());
  // A Long Call has to have the XID of its header just as well.
  if (xid != offer.xid && offered_for_another(witness.connection, offer, event, xid)) {
    witness.unchecked(RuleId::xid_mismatch, "the memory that was read may be offered for another Reply, too");
  } else if (offer.form != Offer::Form::improper && !offer.undecidable) {
    judge_xid_by_rdma(witness, offer.frame, other(offer.requester), when(!offer.may_be_call(), Role::responder),
                      offer.xid, xid, event.frame);
  }
  if (xid == offer.xid && wire::load_be32(event.octets.data() + 4) == 1) prove_reply(witness, offer);
}

namespace {

/// A Reply with a Read list, as it stands in the capture.
struct OfferSeen {
  const trace::Send& event;
  const wire::HeaderV1& header;
  const Transaction* call;  ///< that with its XID; null: none was seen
  Side requester;
  bool may_be_call;  ///< a Long Call of the responder looks alike

  [[nodiscard]] Side responder() const noexcept { return other(requester); }
  [[nodiscard]] std::uint32_t xid() const noexcept { return header.fixed.xid; }
  [[nodiscard]] FrameRef call_frame() const noexcept { return call != nullptr ? call->call : FrameRef{}; }
  [[nodiscard]] bool nomsg() const noexcept {
    return header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::nomsg);
  }
  /// The one form that the draft allows.
  [[nodiscard]] bool proper() const noexcept {
    return nomsg() && std::all_of(header.reads.begin(), header.reads.end(), wire::position_zero);
  }
  [[nodiscard]] Offer::Form form() const noexcept {
    if (may_be_call) return proper() ? Offer::Form::inferred : Offer::Form::inferred_improper;
    return proper() ? Offer::Form::proper : Offer::Form::improper;
  }
  [[nodiscard]] std::uint64_t length() const noexcept {
    std::uint64_t octets = 0;
    for (const wire::ReadSegment& read : header.reads) octets += read.target.length;
    return octets;
  }
};

/// The first one of a connection tells what its peers agreed on.
void agree_by(const Witness& witness, const OfferSeen& seen) {
  Connection& connection = witness.connection;
  // One Position too many is wrong in its form; it is an offer all the same.
  const bool offers = seen.nomsg() && wire::has_position_zero(seen.header);
  if (witness.context.options.profile != Profile::automatic || !offers || connection.reliable_reply) return;
  connection.reliable_reply = true;
  witness.unchecked(RuleId::read_list_in_reply,
                    fmt::format("the Reply in frame {} offers a Position-Zero Read chunk, which RFC 8166 does not "
                                "allow; from there on the connection is judged by the reliable-reply draft "
                                "(--profile rfc8166 reports it)",
                                seen.event.frame.number));
}

/// A Call that was answered is not the one that it answers.
[[nodiscard]] Offer::Room room_for(const OfferSeen& seen) {
  if (seen.call == nullptr || seen.call->answered()) return Offer::Room::none;
  if (!seen.call->lists_known) return Offer::Room::unknown;
  const bool enough = seen.call->reply_chunk && wire::chunk_length(*seen.call->reply_chunk) >= seen.length();
  return enough ? Offer::Room::enough : Offer::Room::none;
}

/// What is known of it from now on, and whose exchange it is.
[[nodiscard]] Offer open_offer(Connection& connection, const OfferSeen& seen) {
  Offer offer;
  // Offered again when RDMA_DONE had ended it: it begins anew.
  Offer* before = seen.call != nullptr ? find_offer(connection, seen.call->id) : nullptr;
  const bool anew = seen.call == nullptr || (before != nullptr && before->done.number != 0);
  if (before != nullptr && !anew) offer.reply = before->reply = Offer::Offered::again;
  offer.transaction =
      anew ? TransactionId{Transactions::key(seen.requester, seen.xid()), ++connection.generation} : seen.call->id;
  offer.xid = seen.xid();
  offer.requester = seen.requester;
  offer.frame = seen.event.frame;
  offer.call = seen.call_frame();
  if (seen.call != nullptr && seen.call->requester == seen.requester) offer.asked = seen.call->call_ordinal;
  offer.counted_to = seen.event.frame.time;
  offer.form = seen.form();
  for (const wire::ReadSegment& read : seen.header.reads) {
    offer.segments.push_back(read.target);
    if (!offer.begins && wire::position_zero(read)) offer.begins = read.target;
  }
  offer.length = seen.length();
  offer.reply_chunk = room_for(seen);
  constexpr std::uint64_t read_segment = 24;  // octets of it in a Read list
  offer.inline_length = seen.header.length - seen.header.reads.size() * read_segment + seen.length();
  return offer;
}

void expose_offered(const Witness& witness, const Offer& offer) {
  Connection& connection = witness.connection;
  bool all = true;
  for (const wire::Segment& segment : offer.segments) {
    all = connection.of(other(offer.requester)).memory.expose(segment, Access::offer, offer.transaction, offer.frame) &&
          all;
  }
  if (all) return;
  connection.distrust(kept_finished, Doubt::bound);
  witness.unchecked(RuleId::rdma_unknown_handle, "more memory is exposed than the analyzer keeps");
}

/// RDMA_DONE of the newest offer may have been delivered first.
void settle_early_done(const Witness& witness) {
  Connection& connection = witness.connection;
  Offer& offer = connection.offers.back();
  const auto early = std::find_if(connection.cases.begin(), connection.cases.end(), [&](const Case& waited) {
    const auto* done = waited.is<Case::Done>();
    return done != nullptr && done->ordinal > offer.asked && offer.answers(waited.accused, waited.xid);
  });
  if (early == connection.cases.end()) return;
  const Case::Done& about = *early->is<Case::Done>();
  const DoneSeen done{offer.requester, early->frame, offer.xid, about.ordinal, about.invalidated};
  connection.cases.erase(early);
  offer.undecidable = true;  // which Reads came in between is not certain
  settle_done(witness, done);
}

}  // namespace

TransactionId judge_offer(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                          const Transaction* call, Side requester, bool inferred) {
  Connection& connection = witness.connection;
  const OfferSeen seen{event, header, call, requester, inferred || (call != nullptr && call->answer_uncertain())};
  agree_by(witness, seen);
  Offer offer = open_offer(connection, seen);
  const TransactionId exchange = offer.transaction;
  if (!offer.may_be_call()) judge_offer_form(witness, offer);
  judge_offers_at_once(witness, offer);
  expose_offered(witness, offer);
  ++connection.facts.pull_completion.offered;
  if (Offer* earlier = oldest_open_offer(connection, requester, offer.xid)) {
    // The XID was used again before RDMA_DONE: which of them it will end cannot be told.
    earlier->undecidable = true;
    offer.undecidable = true;
  }
  judge_offer_needed(witness, offer);
  connection.offers.push_back(std::move(offer));
  bound_offers(witness);
  if (cancel_reads_of_offered(witness, requester)) connection.offers.back().undecidable = true;
  settle_early_done(witness);
  return exchange;
}

void prove_reply(const Witness& witness, Offer& offer) {
  if (!offer.may_be_call()) return;
  Connection& connection = witness.connection;
  for (Offer& same : connection.offers) {  // the same octets may be offered a second time
    if (!same.may_be_call() || !same.answers(offer.requester, offer.xid) || same.segments != offer.segments) continue;
    same.form = same.form == Offer::Form::inferred ? Offer::Form::proper : Offer::Form::improper;
    judge_offer_form(witness, same);
    judge_offer_needed(witness, same);
  }
  judge_shared_offers(witness);
  // What it names is known, and it ends the Call, unless another message seems to have done so before: then that one
  // was a Long Call.
  settle_doubtful(connection, other(offer.requester), offer.frame);
  Transaction* call = connection.find(offer.transaction);
  if (call != nullptr && call->reply.number == offer.frame.number) {
    call->answer = Transaction::Answer::plain;
    retire(connection, *call, offer.frame);
  }
}

void offers_overdue(const Witness& witness, Side requester, FrameRef now) {
  Connection& connection = witness.connection;
  for (Offer& offer : connection.offers) {
    if (offer.requester != requester || offer.overdue || !done_is_due(witness, offer)) continue;
    const TimeNs passed = now.time - offer.counted_to;
    if (passed > 0) {
      offer.waited += std::min(passed, idle_after);
      offer.counted_to = now.time;
    }
    if (offer.waited <= witness.context.options.pull_timeout) continue;
    if (offer.reads != 0 && !offer_pulled(connection, offer)) continue;  // still at it
    judge_missing(witness, offer, now, Severity::warning,
                  fmt::format("{} s after the offer, while it goes on working",
                              trace::elapsed(offer.frame.time, now.time) / 1'000'000'000));
  }
}

namespace {

/// Something else of the requester was seen behind its last Read of the offer: there, or before, RDMA_DONE would be,
/// unless what it said last is missing. A FIN stands behind all that was sent; DREQ has no place among it.
[[nodiscard]] bool behind_the_pull(const Connection& connection, const Offer& offer) {
  if (connection.facts.transport == trace::Transport::iwarp) return true;
  if (connection.order_lost()) return false;  // it may stand there, and have been sent before
  const std::uint64_t last = offer.last_read.number != 0 ? offer.last_read.number : offer.frame.number;
  const SideState& requester = connection.of(offer.requester);
  return requester.last_event.number > last && requester.end_missing.number <= last &&
         !gap_beside(connection, std::max(last, requester.newest_send()));
}

}  // namespace

void offers_at_end(const Witness& witness, const Ending& end) {
  Connection& connection = witness.connection;
  for (Offer& offer : connection.offers) {
    leave_untold(witness, offer);
    if (offer.done.number != 0) continue;
    if (offer.may_be_call() && witness.context.options.profile != Profile::rfc8166) {
      witness.unchecked(RuleId::pull_completion_missing, "what looks like an offered Reply may be a Long Call");
      continue;
    }
    if (offer.reads_outstanding != 0 && end.how != Ending::How::orderly) {
      Transaction* call = connection.find(offer.transaction);
      if (call != nullptr && call->reply.number == offer.frame.number) call->fetching = offer.last_read;
    }
    if (offer.reads_outstanding != 0 && done_is_due(witness, offer)) {
      // RDMA_DONE comes behind the answer, or behind the refusal, of every Read.
      witness.unchecked(RuleId::pull_completion_missing, "a Read of the offered memory has no answer in the capture");
      continue;
    }
    HeldFinding missing;
    if (end.open()) {
      missing = judge_missing(witness, offer, end.at, Severity::note, "until the end of the capture");
    } else if (!end.orderly_by(offer.requester)) {
      missing = judge_missing(witness, offer, end.at, Severity::warning, "until the connection ended");
    } else if (!behind_the_pull(connection, offer)) {
      missing = judge_missing(witness, offer, end.at, Severity::note,
                              "before it closed the connection, as far as the capture shows");
    } else {
      missing =
          judge_missing(witness, offer, end.at, Severity::error, "and then it closed the connection in good order");
      rests_on_close(witness, RuleId::pull_completion_missing, offer.requester, missing);
    }
    if (missing && may_cross_with_close(connection)) {
      connection.left_offers.push_back({offer.requester, offer.xid, std::move(missing)});
    }
  }
  connection.offers.clear();
}

void judge_done_behind_close(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Connection& connection = witness.connection;
  if (!crosses_with_close(connection, event.frame)) return;
  const auto offer = std::find_if(connection.left_offers.begin(), connection.left_offers.end(),
                                  [&](const LeftOffer& o) { return o.requester == event.side && o.xid == xid; });
  if (offer == connection.left_offers.end()) return;
  witness.context.book.withdraw(offer->missing);
  connection.left_offers.erase(offer);
  --connection.facts.pull_completion.missing;
  ++connection.facts.pull_completion.completed;
}

void doubt_left_offers(const Witness& witness, std::optional<Side> lossy) {
  Connection& connection = witness.connection;
  std::erase_if(connection.left_offers, [&](const LeftOffer& offer) {
    const Closed& closed = *connection.facts.closed;
    if (closed.by == party(offer.requester)) return false;
    const bool heard = connection.of(offer.requester).last_event.number > closed.frame.number;
    if (lossy ? offer.requester != *lossy : heard) return false;
    witness.context.book.at(offer.missing).severity = Severity::note;
    witness.unchecked(RuleId::pull_completion_missing,
                      "RDMA_DONE may have crossed with the close, and not be in the capture");
    return true;
  });
}

}  // namespace rpcrdma::referee
