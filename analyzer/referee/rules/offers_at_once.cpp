// SPDX-License-Identifier: GPL-2.0-or-later
// Group H: Replies that are offered to be read at the same time, where one can be taken for the other: by its XID, or
// by its memory.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/shared_memory.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

const Row rows::xid_reuse_before_done{
    .group = 'H',
    .severity = Severity::note,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::trusted},
    .source = "reliable-reply draft, Pull Completion (derived)",
    .who = "requester",
    .title = "An XID was used again before the RDMA_DONE of its first reply",
    .explanation =
        "RDMA_DONE names the reply that it ends by its XID and by nothing else. While one that was offered still waits "
        "for it, a new call with the same XID may get an offer as well, and then neither side can tell which of the "
        "two an RDMA_DONE is about: the responder may take back the memory that is still being read.",
    .evidence =
        "A Reply offered for pulling, no RDMA_DONE with its XID, and another Call of the requester with that XID. The "
        "same Call once more is no new one, unless all of the offer had been read. Not decided across a gap or when "
        "one of the two Calls was cut.",
    .next =
        "The requester has to free an XID behind its RDMA_DONE, not behind its last Read. See also "
        "pull-completion-missing."};

namespace {

/// Where it stands, a Long Call is only known by its length.
[[nodiscard]] bool payload_known(const Transaction& call) { return call.payload || call.body_length != 0; }

}  // namespace

void judge_xid_reuse(const Witness& witness, const trace::Send& event, const Transaction& old,
                     const Transaction& fresh) {
  Connection& connection = witness.connection;
  const Offer* offer = newest_offer(connection, event.side, fresh.xid);
  // One of an earlier generation has been told of when this one began.
  if (offer == nullptr || !(offer->transaction == old.id) || offer->done.number != 0) return;
  if (offer->may_be_call()) {
    witness.unchecked(RuleId::xid_reuse_before_done, "what looks like an offered Reply may be a Long Call");
    return;
  }
  if (!done_is_due(witness, *offer)) return;
  if (offer->undecidable) {
    witness.unchecked(RuleId::xid_reuse_before_done,
                      "frames of this connection are missing, or its XID was used again before RDMA_DONE");
    return;
  }
  // Who has read all of the Reply does not ask for it again.
  if (!offer_pulled(connection, *offer)) {
    const std::optional<bool> same = sent_once_more(event, old, fresh);
    if (!same || (*same && !(payload_known(old) && payload_known(fresh)))) {
      witness.unchecked(RuleId::xid_reuse_before_done,
                        "one of two Calls with one XID is not in the capture as a whole");
      return;
    }
    if (*same) return;
  }
  witness.say(RuleId::xid_reuse_before_done,
              {.frames = {event.frame, offer->frame, old.call},
               .by = event.side,
               .as = Role::requester,
               .xid = fresh.xid,
               .what = fmt::format("The {} sent another Call with XID {:#010x} before it had sent RDMA_DONE for the "
                                   "Reply with that XID offered in frame {}: which of two Replies an RDMA_DONE ends "
                                   "cannot be told.",
                                   name(event.side), fresh.xid, offer->frame.number)});
}

const Row rows::handle_shared_between_offers{
    .group = 'H',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .repetition = Repetition::few,
    .needs = {.past = Needs::Past::whole},
    .source = "reliable-reply draft, Responder-Provided Read Chunks (derived)",
    .who = "responder",
    .title = "Two replies offer the same memory for pulling at once",
    .explanation =
        "What a responder offers stays as it is until RDMA_DONE says that it was read. Where another reply is offered "
        "out of the same octets under the same handle, one of the two was written over the other, or the end of one "
        "takes the memory away from the other: the requester reads the wrong reply, or is refused. With one "
        "registration for all memory the handle is the same everywhere, which is fine as long as the ranges differ.",
    .evidence =
        "Two Replies to different Calls, the same handle, intersecting ranges, and no RDMA_DONE for the first, nor an "
        "invalidation of its handle, ahead of the second. A note when the first had waited longer than the timeout "
        "(60 s unless set): its responder may have taken it back. Not decided when frames are missing, or when one XID "
        "was used for two offers.",
    .next =
        "The responder's bookkeeping of memory that waits for RDMA_DONE; on Linux, rdma resource show mr. If the first "
        "was never ended, see pull-completion-missing."};

namespace {

constexpr std::size_t most_offers_compared = 16384;  // exposures and offers for one Reply

/// It waited for its RDMA_DONE when `then` was offered, which may only be judged later: when it was pulled.
[[nodiscard]] bool was_open(const Witness& witness, const Offer& offer, const Offer& then) noexcept {
  if (witness.context.options.profile == Profile::rfc8166) return false;
  if (offer.form == Offer::Form::improper || offer.refused.number != 0) return false;
  return offer.done.number == 0 || offer.done.number > then.frame.number;
}

struct SharedOctets {
  Offer* with = nullptr;
  std::uint32_t handle = 0;
  Region octets;
};

/// The oldest open offer that this segment meets.
[[nodiscard]] SharedOctets offer_met_by(const Witness& witness, const Offer& offer, const wire::Segment& segment,
                                        std::size_t& compared) {
  Connection& connection = witness.connection;
  SharedOctets shared;
  if (segment.length == 0 || compared > most_offers_compared) return shared;
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - segment.offset;
  const std::uint64_t end = segment.offset + std::min<std::uint64_t>(segment.length, room);
  const MemoryMap& memory = connection.of(other(offer.requester)).memory;
  compared += memory.each_near(segment.handle, segment.offset, end, [&](const Exposure& exposure) {
    if (shared.with != nullptr || compared > most_offers_compared) return;
    if (exposure.access != Access::offer || exposure.owner == offer.transaction) return;
    if (exposure.standing == Standing::over && exposure.retired.number < offer.frame.number) return;
    if (exposure.registration == Exposure::Registration::invalidated &&
        exposure.invalidated.number < offer.frame.number) {
      return;
    }
    const Region octets = exposure.meeting(segment.offset, end);
    if (octets.length() == 0) return;
    compared += connection.offers.size();
    Offer* with = find_offer(connection, exposure.owner);
    if (with != nullptr && was_open(witness, *with, offer)) shared = {with, segment.handle, octets};
  });
  return shared;
}

void settle_shared_offers(const Witness& witness, const Case& waited) {
  const Offer* first = find_offer(witness.connection, waited.is<Case::SharedMemory>()->first);
  if (first == nullptr) return;                                                     // over, and forgotten
  if (first->done.number != 0 && first->done.number < waited.frame.number) return;  // only delivered late
  const bool stale = trace::passed(first->frame.time, waited.frame.time, witness.context.options.pull_timeout);
  std::string then = ", and no RDMA_DONE has ended that";
  if (stale) {
    then += fmt::format("; it is {} s old, and may have been taken back",
                        trace::elapsed(first->frame.time, waited.frame.time) / 1'000'000'000);
  }
  settle_shared(witness, waited, {Role::responder, "Reply", "Reply"}, {first->xid, stale, std::move(then)});
}

}  // namespace

namespace {

void judge_shared_offer(const Witness& witness, const Offer& offer, const Offer& with, const Offer::Shared& shared) {
  // It has been seen since. Of the two directions one may stand late in the file: the order of these proves nothing.
  if (with.done.number != 0) {
    witness.unchecked(RuleId::handle_shared_between_offers,
                      "whether RDMA_DONE had ended the first offer when the second was made cannot be told");
    return;
  }
  if (with.undecidable) {
    witness.unchecked(RuleId::handle_shared_between_offers,
                      "frames of this connection are missing, or its XID was used again before RDMA_DONE");
    return;
  }
  witness.wait({.rule = RuleId::handle_shared_between_offers,
                .accused = other(offer.requester),
                .frame = offer.frame,
                .evidence = with.frame,
                .xid = offer.xid,
                .about = Case::SharedMemory{shared.with, shared.handle, shared.octets.begin, shared.octets.length()},
                .settle = settle_shared_offers});
}

}  // namespace

void judge_offers_at_once(const Witness& witness, Offer& offer) {
  Connection& connection = witness.connection;
  const bool uncertain = offer.form == Offer::Form::inferred;
  if (connection.offers.empty() || (!uncertain && !done_is_due(witness, offer))) return;
  std::size_t compared = 0;
  SharedOctets found;
  for (const wire::Segment& segment : offer.segments) {
    found = offer_met_by(witness, offer, segment, compared);
    if (found.with != nullptr) break;
  }
  if (compared > most_offers_compared) {
    witness.unchecked(RuleId::handle_shared_between_offers,
                      fmt::format("too many Replies name the handles of frame {}", offer.frame.number));
  }
  if (found.with == nullptr) return;
  // Which of them a Read is of cannot be told.
  found.with->in_flight_said = true;
  offer.in_flight_said = true;
  const Offer::Shared shared{found.with->transaction, found.handle, found.octets};
  if (uncertain || found.with->may_be_call()) {
    offer.shared = shared;
  } else {
    judge_shared_offer(witness, offer, *found.with, shared);
  }
}

void judge_shared_offers(const Witness& witness) {
  for (Offer& offer : witness.connection.offers) {
    if (!offer.shared || offer.may_be_call()) continue;
    const Offer* with = find_offer(witness.connection, offer.shared->with);
    if (with == nullptr || with->may_be_call()) continue;
    const Offer::Shared shared = *offer.shared;
    offer.shared.reset();
    if (offer.form == Offer::Form::proper) judge_shared_offer(witness, offer, *with, shared);
  }
}

}  // namespace rpcrdma::referee
