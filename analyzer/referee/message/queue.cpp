// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/message/queue.hpp"

#include <algorithm>
#include <utility>

#include "referee/docket/cases.hpp"
#include "referee/docket/witness.hpp"
#include "referee/state/possible_calls.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_reads = 256;

}  // namespace

bool MessageQueue::send(const Witness& witness, const trace::Send& event) {
  Connection& connection = witness.connection;
  told_by(witness, event);
  if (const Kept* waits = callless(connection)) {
    const bool its_call = call_of(waits->event, event, scratch_);
    if (its_call) take(witness, event, LongForm::not_asked);
    release_callless(witness);
    if (its_call) return true;
    told_by(witness, event);  // it may wait to be pulled now
  }
  if (reply_or_reverse_call(connection, event, scratch_)) {
    callless_.emplace(connection.id(), event).first->second.handles = handles_of(scratch_);
    ++connection.of(event.side).untold;
    return false;
  }
  if (keep_unpulled(connection, event)) return false;
  take(witness, event, LongForm::not_asked);
  return true;
}

void MessageQueue::used(const Witness& witness, Side side, std::uint32_t handle) {
  const Kept* waits = callless(witness.connection);
  if (waits != nullptr && side != waits->event.side && waits->names(handle)) release_callless(witness);
}

void MessageQueue::written(const Witness& witness, Side side, std::uint32_t handle) {
  used(witness, side, handle);
  // What it pulled before may be missing, or held back behind a hole.
  const Unpulled* waits = unpulled(witness.connection);
  if (waits != nullptr && side != waits->event.side && waits->names(handle)) {
    release_unpulled(witness, LongForm::undecided);
  }
}

bool MessageQueue::read(const Witness& witness, const trace::ReadRequest& event) {
  Unpulled* waits = unpulled(witness.connection);
  if (waits == nullptr || event.side == waits->event.side) return false;
  if (!waits->names(event.handle) && waits->reads.empty()) return false;
  if (waits->reads.size() >= most_reads) {
    release_unpulled(witness, LongForm::undecided);
    return false;
  }
  waits->reads.push_back(event);
  return true;
}

void MessageQueue::pulled(const Witness& witness, const trace::ReadResponse& event) {
  const Unpulled* waits = unpulled(witness.connection);
  if (waits == nullptr || event.side != waits->event.side) return;
  const bool its_read = std::any_of(waits->reads.begin(), waits->reads.end(),
                                    [&](const trace::ReadRequest& read) { return read.op == event.op; });
  if (!its_read) return;
  auto form = LongForm::undecided;
  const std::optional<wire::Segment>& first = waits->first;
  if (first && event.handle == first->handle && event.offset == first->offset &&
      event.octets.size() >= wire::rpc_start_octets &&
      wire::load_be32(event.octets.data()) == wire::load_be32(waits->octets.data())) {
    const std::uint32_t type = wire::load_be32(event.octets.data() + 4);
    if (type == 0) form = LongForm::call;
    if (type == 1) form = LongForm::reply;
  }
  release_unpulled(witness, form);
}

void MessageQueue::disturbed(const Witness& witness) { release_unpulled(witness, LongForm::undecided); }

void MessageQueue::release_all(const Witness& witness) {
  release_callless(witness);
  release_unpulled(witness, LongForm::undecided);
}

const MessageQueue::Kept* MessageQueue::callless(const Connection& connection) const {
  if (callless_.empty()) return nullptr;
  const auto at = callless_.find(connection.id());
  return at == callless_.end() ? nullptr : &at->second;
}

MessageQueue::Unpulled* MessageQueue::unpulled(const Connection& connection) {
  if (unpulled_.empty()) return nullptr;
  const auto at = unpulled_.find(connection.id());
  return at == unpulled_.end() ? nullptr : &at->second;
}

bool MessageQueue::keep_unpulled(Connection& connection, const trace::Send& event) {
  if (unpulled(connection) != nullptr || !call_or_offer(connection, event, scratch_)) return false;
  Unpulled& kept = unpulled_.emplace(connection.id(), event).first->second;
  const auto first = std::find_if(scratch_.reads.begin(), scratch_.reads.end(), [](const wire::ReadSegment& read) {
    return wire::position_zero(read) && read.target.length != 0;
  });
  if (first != scratch_.reads.end()) kept.first = first->target;
  kept.handles = handles_of(scratch_);
  ++connection.of(event.side).untold;
  return true;
}

void MessageQueue::release_callless(const Witness& witness) {
  if (callless(witness.connection) == nullptr) return;
  const auto node = callless_.extract(witness.connection.id());
  const trace::Send& event = node.mapped().event;
  --witness.connection.of(event.side).untold;
  if (!keep_unpulled(witness.connection, event)) take(witness, event, LongForm::not_asked);
}

void MessageQueue::release_unpulled(const Witness& witness, LongForm form) {
  if (unpulled(witness.connection) == nullptr) return;
  const auto node = unpulled_.extract(witness.connection.id());
  --witness.connection.of(node.mapped().event.side).untold;
  take(witness, node.mapped().event, form);
  for (const trace::ReadRequest& read : node.mapped().reads) read_(witness, read);
}

void MessageQueue::take(const Witness& witness, const trace::Send& event, LongForm form) {
  message_(witness, event, scratch_, form);
  if (!witness.connection.cases.empty() && event.wire_length >= 4) {
    const SaysItself it = says_itself(event, scratch_);
    const Heard what = it == SaysItself::nothing ? Heard::perhaps_call : Heard::answer;
    if (it != SaysItself::done) heard_of(witness, event.side, wire::first_word(event.octets), what, event.frame);
  }
  settle_cases(witness, event.side, event.sent_by());
}

void MessageQueue::told_by(const Witness& witness, const trace::Send& event) {
  Connection& connection = witness.connection;
  const Unpulled* waits = unpulled(connection);
  if (waits == nullptr) return;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  const SaysItself it = says_itself(event, scratch_);
  const bool same_xid = fixed && fixed->xid == wire::load_be32(waits->octets.data());
  const bool theirs = event.side == waits->event.side;
  // RDMA_DONE is said about a Reply only, be it an earlier one; RDMA_ERROR about a Call only, and a Call gets one
  // Reply.
  const bool first = same_xid && connection.open_call(other(waits->event.side), fixed->xid) != nullptr;
  const bool done = first && !theirs && it == SaysItself::done;
  // Or about an earlier Call of the same side, which is open, or may be: what is cut answers it only by its XID, and it
  // may look like an offered Reply.
  const Transaction* earlier = same_xid ? connection.find(waits->event.side, fixed->xid) : nullptr;
  const Side asked = other(waits->event.side);
  const bool maybe_open =
      earlier != nullptr && (!earlier->answered() || possible_cut_call(connection, asked, fixed->xid));
  const bool of_another = same_xid && (maybe_open || possible_long_call(connection, waits->event.side, fixed->xid));
  const bool error = it == SaysItself::error && !of_another;
  const bool may_call = same_xid && !waits->event.invalidated;  // only Replies may invalidate
  const bool of_a_call = may_call && (error || (theirs && it == SaysItself::reply));
  release_unpulled(witness, done ? LongForm::reply : of_a_call ? LongForm::call : LongForm::undecided);
}

}  // namespace rpcrdma::referee
