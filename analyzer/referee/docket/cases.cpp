// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/cases.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "referee/state/mount.hpp"
#include "trace/spans.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::referee {

namespace {

/// Among cases that nothing has proven: memory that nobody seems to have offered, or not any more, and an answer of
/// the same peer to no Call. What is missing is rather the Call.
[[nodiscard]] bool call_missing(const Case& waited, const std::vector<Case>& all) {
  return waited.use() != nullptr && std::any_of(all.begin(), all.end(), [&](const Case& c) {
           return c.accused == waited.accused && c.answer() != nullptr;
         });
}

[[nodiscard]] bool reads_unknown_memory(const Case& waited) {
  const auto* use = waited.is<Case::UnknownMemory>();
  return use != nullptr && !writes(use->verb);
}

[[nodiscard]] bool done(const Case& waited) { return waited.is<Case::Done>() != nullptr; }

/// Likewise: a client's Read of memory that was never offered, and an RDMA_DONE with it. What is missing is rather the
/// offer, which is a Reply.
[[nodiscard]] bool offer_missing(const Case& waited, const std::vector<Case>& all) {
  const auto with_it = [&](auto wanted) {
    return std::any_of(all.begin(), all.end(), [&](const Case& c) { return c.accused == waited.accused && wanted(c); });
  };
  if (waited.rule == RuleId::credit_initial_exceeded) return with_it(done);
  if (done(waited)) return with_it(reads_unknown_memory);
  if (!reads_unknown_memory(waited)) return false;
  return waited.rule == RuleId::rdma_by_requester || with_it(done);
}

/// The accused reads what nobody seems to have offered, or ends an offer, while a Call of its own is open: rather than
/// a fault that is the trace of the Reply.
[[nodiscard]] bool shows_reply(const Connection& connection, const Case& waited) {
  const auto is_open = [&](const Transaction& call) {
    return call.requester == waited.accused && call.answers == 0 && call.call.number < waited.frame.number;
  };
  if (done(waited)) {
    const Transaction* call = connection.find(waited.accused, waited.xid);
    return call != nullptr && is_open(*call);
  }
  if (waited.rule != RuleId::rdma_by_requester || !reads_unknown_memory(waited)) return false;
  return std::any_of(connection.transactions.begin(), connection.transactions.end(),
                     [&](const auto& entry) { return is_open(entry.second); });
}

/// A Call of the requester may be missing behind all that was heard of it. What it is accused of itself, another Call
/// of its own explains. For what its responder did with the one that was seen, there has to be a trace of another: an
/// answer to no Call, or one that is missing as well.
[[nodiscard]] bool another_call_missing(const Connection& connection, const AboutAnswer& about,
                                        const std::vector<Case>& all) {
  if (about.accused == about.requester) return true;
  const Side responder = other(about.requester);
  return connection.of(responder).gaps != about.responder_gaps ||
         std::any_of(all.begin(), all.end(),
                     [&](const Case& c) { return c.rule == RuleId::reply_without_call && c.accused == responder; });
}

/// What is only late in the file comes within the time by which two taps may be apart.
[[nodiscard]] bool long_before(const Case& waited, FrameRef now) noexcept {
  return trace::passed(waited.frame.time, now.time, trace::two_taps_apart);
}

/// The same where a time proves something: neither does one direction stand late in the file, nor is anything missing.
[[nodiscard]] bool surely_long_before(const Connection& connection, const Case& waited, FrameRef now) noexcept {
  return connection.whole() && !connection.order_lost() && long_before(waited, now);
}

constexpr std::string_view order_unknown =
    "nothing proves that the order of the two directions in the capture is that on the wire";

/// Before what the accused's peer has sent at `now`?
[[nodiscard]] Case::Order order_of(const Connection& connection, const Case& waited, FrameRef now) {
  // Over TCP the trace delivers in the order of the wire.
  if (connection.facts.transport == trace::Transport::iwarp) return Case::Order::proven;
  const SideState& accused = connection.of(waited.accused);
  const bool heard = accused.acknowledged >= waited.heard_by && accused.acknowledged_in.number <= now.number;
  if (heard && connection.acknowledgements_in_order()) return Case::Order::proven;
  // What would excuse it would have come by now.
  if (waited.of_absence()) return long_before(waited, now) ? Case::Order::proven : Case::Order::open;
  // Where nothing is acknowledged, nothing would show that the file's order is another one.
  const bool acknowledged = connection.sides[0].acknowledged + connection.sides[1].acknowledged > 0;
  const bool trusted = acknowledged && !connection.order_lost();
  return trusted ? Case::Order::of_file : Case::Order::open;
}

}  // namespace

bool came_long_before(const Connection& connection, const Case& waited, FrameRef frame) {
  const FrameRef received = waited.answer()->received;
  return received.number != 0 && later(frame, received) && surely_long_before(connection, waited, frame);
}

void heard_of(const Witness& witness, Side side, std::optional<std::uint32_t> xid, Heard what, FrameRef frame) {
  bool second = false;
  std::erase_if(witness.connection.cases, [&](const Case& waited) {
    const Case::Answering* answer = waited.answer();
    if (answer == nullptr || waited.accused != other(side) || waited.xid != xid.value_or(waited.xid)) return false;
    if (what == Heard::answer && waited.is<Case::HoldsReply>() != nullptr) return false;
    // Nobody knows an XID that no Call has had yet.
    const bool explained = (answer->received.number == 0 || answer->call.number == 0) &&
                           !came_long_before(witness.connection, waited, frame);
    second = second || (explained && waited.rule == RuleId::duplicate_reply);
    return explained;
  });
  if (second) witness.unchecked(RuleId::duplicate_reply, "its Call may be the one behind it in the capture");
}

namespace {

/// Nothing shows that this Call stands in the wrong place of the file: no answer to it stands in front of it, either.
[[nodiscard]] bool in_its_place(const Connection& connection, const Transaction& call) {
  return !connection.order_lost() && connection.acknowledgements_in_order() &&
         std::none_of(connection.cases.begin(), connection.cases.end(), [&](const Case& waited) {
           return waited.answer() != nullptr && waited.xid == call.xid && waited.accused == other(call.requester);
         });
}

/// The owner of the memory answered long before it sent this.
[[nodiscard]] bool answered_before(const Case::Use& use, FrameRef sent) {
  return use.answered.number != 0 && use.answered.number < sent.number &&
         trace::passed(use.answered.time, sent.time, trace::change_of_places);
}

}  // namespace

void use_answered(Connection& connection, Side owner, std::uint64_t op, FrameRef response) {
  for (Case& waited : connection.cases) {
    Case::Use* use = waited.use();
    if (use == nullptr || waited.accused == owner || writes(use->verb) || use->op != op) continue;
    if (use->answered.number == 0) use->answered = response;
  }
}

bool may_offer(const trace::Send& call, Lists lists, std::uint32_t handle, FrameRef used) {
  if (lists == Lists::cut && !trace::passed(used.time, call.frame.time, trace::two_taps_apart)) return true;
  for (std::size_t at = 0; at + 4 <= call.octets.size(); at += 4) {
    if (wire::load_be32(call.octets.data() + at) == handle) return true;
  }
  return false;
}

void cancel_accesses_of(const Witness& witness, const trace::Send& event, const Transaction& call, Lists lists) {
  Connection& connection = witness.connection;
  if (connection.cases.empty()) return;
  MemoryMap& memory = connection.of(call.requester).memory;
  const bool in_place = in_its_place(connection, call);
  const auto came_before = [&](const Case& waited) {
    return in_place && surely_long_before(connection, waited, call.call);
  };
  std::optional<RuleId> cancelled;
  std::optional<RuleId> unread;
  std::vector<Case> before;
  std::erase_if(connection.cases, [&](const Case& waited) {
    const Case::Use* use = waited.use();
    if (waited.accused == call.requester || use == nullptr) return false;
    const bool misuse = waited.is<Case::Misuse>() != nullptr;
    if (!call.lists_known) {
      // Memory that is misused was known: only what is late may have offered it otherwise.
      if (misuse && long_before(waited, call.call)) return false;
      if (!may_offer(event, lists, use->handle, waited.frame)) return false;
      unread = waited.rule;
      return true;
    }
    if (misuse) {
      const MemoryMap::Hit hit = memory.find(use->handle, use->offset, use->length, writes(use->verb));
      if (hit.verdict != MemoryMap::Hit::Verdict::inside || !(hit.exposure->owner == call.id)) return false;
      if (came_before(waited)) return false;
    } else if (!memory.knows(use->handle)) {
      return false;
    } else if (came_before(waited) || (in_place && answered_before(*use, call.call)) ||
               (waited.order == Case::Order::open && !connection.order_lost())) {
      before.push_back(waited);
      return true;
    }
    memory.touch(use->handle, use->offset, use->length, !writes(use->verb), writes(use->verb));
    cancelled = misuse ? waited.rule : RuleId::rdma_before_call;
    return true;
  });
  // The requester sent something else in between, be it the answer.
  for (Case& waited : before) {
    waited.order = in_place && answered_before(*waited.use(), call.call) ? Case::Order::proven : Case::Order::of_file;
    waited.settle(witness, waited);
  }
  if (cancelled) witness.unchecked(*cancelled, order_unknown);
  if (unread) witness.unchecked(*unread, lists_unread);
}

bool cancel_reads_of_offered(const Witness& witness, Side requester) {
  Connection& connection = witness.connection;
  const MemoryMap& memory = connection.of(other(requester)).memory;
  std::optional<RuleId> cancelled;
  std::erase_if(connection.cases, [&](const Case& waited) {
    const auto* use = waited.is<Case::UnknownMemory>();
    if (use == nullptr || waited.accused != requester || !memory.knows(use->handle)) return false;
    cancelled = waited.rule;
    return true;
  });
  if (cancelled) witness.unchecked(*cancelled, order_unknown);
  return cancelled.has_value();
}

void received(Connection& connection, Side side, std::uint64_t ordinal, FrameRef proof) {
  for (Case& waited : connection.cases) {
    Case::Answering* answer = waited.answer();
    if (answer == nullptr || waited.accused == side || answer->ordinal > ordinal) continue;
    if (answer->received.number == 0) answer->received = proof;
  }
}

void settle_cases(const Witness& witness, Side side, FrameRef before) {
  Connection& connection = witness.connection;
  // Over TCP the trace knows what came first; elsewhere neighbours may have been exchanged.
  const std::uint64_t margin = connection.facts.transport == trace::Transport::iwarp ? 0 : 1;
  std::erase_if(connection.about_answers, [&](const AboutAnswer& about) {
    return about.requester == side && about.frame + margin < before.number;
  });
  // A message that waits until it can be told what it is may be what shows that nobody is guilty.
  if (connection.cases.empty() || connection.of(side).untold != 0) return;
  std::vector<Case> ready;
  std::erase_if(connection.cases, [&](Case& waited) {
    if (waited.accused == side || waited.frame.number >= before.number) return false;
    // Who was first was open before, and nothing that comes later proves it: only that it was harmless.
    const bool doubted = waited.order == Case::Order::open && !waited.of_absence() && connection.order_lost();
    if (!doubted) waited.order = order_of(connection, waited, before);
    // A Call that is only late may still show what an operation was for.
    const bool late = waited.use() != nullptr && !long_before(waited, before);
    const bool may_be_shown = waited.of_absence() || late || !connection.order_lost();
    if (waited.order == Case::Order::open && may_be_shown) return false;
    ready.push_back(std::move(waited));
    return true;
  });
  for (const Case& waited : ready) {
    if (waited.order == Case::Order::open) {
      witness.unchecked(waited.rule, order_unknown);
    } else {
      waited.settle(witness, waited);
    }
  }
  connection.settle_episode(other(side));
}

void lose_order(const Witness& witness, Connection::FileOrder shown) {
  Connection& connection = witness.connection;
  connection.file_order = std::max(connection.file_order, shown);
  if (!connection.order_lost()) return;
  for (const Connection::ByFileOrder& each : std::exchange(connection.by_file_order, {})) {
    for (std::uint64_t i = 0; i < each.times; ++i) witness.context.book.withdraw(each.finding);
    witness.unchecked(each.rule, order_unknown);
  }
}

void take_back(const Witness& witness, const AboutAnswer& about) {
  witness.context.book.withdraw(about.finding);
  // What it was to explain is not explained any more.
  std::erase_if(witness.connection.suspects, [&](const Suspect& suspect) {
    return suspect.rule == about.rule &&
           std::find(suspect.frames.begin(), suspect.frames.end(), about.answer) != suspect.frames.end();
  });
  witness.unchecked(about.rule, "the Call that was answered may be missing from the capture");
}

void leave_unproven(const Witness& witness, const Case& waited) {
  witness.unchecked(waited.rule, "the last messages of the peer may be missing from the capture");
  if (shows_reply(witness.connection, waited)) {
    witness.connection.of(other(waited.accused)).reply_missing = waited.frame;
    if (witness.connection.mount != nullptr) outcomes_missing(witness.connection.mount->nfs);
  }
}

Stop stop_of(trace::Disconnect::How how) noexcept {
  if (how == trace::Disconnect::How::fin) return Stop::fin;
  return how == trace::Disconnect::How::reset ? Stop::cut_off : Stop::request;
}

void settle_all_cases(const Witness& witness, Stop stop, Side by) {
  Connection& connection = witness.connection;
  const auto complete = [&](Side side) { return stop == Stop::fin && side == by; };
  const bool orderly = stop != Stop::cut_off;
  std::vector<Case> all = std::exchange(connection.cases, {});
  for (const AboutAnswer& about : std::exchange(connection.about_answers, {})) {
    if (!complete(about.requester) && another_call_missing(connection, about, all)) take_back(witness, about);
  }
  for (Case& waited : all) {
    // What its peer said last may be a packet whose header the capture cut: it leaves no gap where nothing follows it.
    const SideState& peer = connection.of(other(waited.accused));
    const bool all_placed = witness.context.unplaced.number <= peer.last_event.number;
    waited.orderly = orderly && connection.trusted() && all_placed && !gap_beside(connection, peer.newest_send());
    if (!waited.of_absence() && order_of(connection, waited, waited.frame) == Case::Order::open) {
      witness.unchecked(waited.rule, order_unknown);
      continue;
    }
    // All of the file is here: what only was late would have come.
    const bool overtaken = waited.order == Case::Order::open && !connection.order_lost();
    const bool proven = overtaken || complete(other(waited.accused));
    if (!proven && waited.answer() != nullptr) {
      keep_later(connection.of(other(waited.accused)).end_missing, waited.frame);
    }
    const bool may_be_offered = witness.context.options.profile != Profile::rfc8166;
    if (!proven && (call_missing(waited, all) || (may_be_offered && offer_missing(waited, all)))) {
      leave_unproven(witness, waited);
    } else {
      waited.settled_by = proven ? Case::SettledBy::proof : Case::SettledBy::end;
      waited.settle(witness, waited);
    }
  }
  for (const RuleId rule : std::exchange(connection.given_up, {})) {
    witness.unchecked(rule, "more accusations than can be kept were waiting for their proof");
  }
}

}  // namespace rpcrdma::referee
