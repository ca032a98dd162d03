// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/long_messages.hpp"

#include <algorithm>

#include "referee/state/procedures.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t rpc_start_length = 8;  // XID and message type

struct Place {
  std::uint64_t at = 0;    ///< in the message
  std::uint64_t left = 0;  ///< octets of its segment from there on
};

/// Follows segments in the order of the message, the first thousand. Memory that two of them name has no place of its
/// own.
class Search {
 public:
  Search(std::uint32_t handle, std::uint64_t offset) noexcept : handle_(handle), offset_(offset) {}
  void pass(const wire::Segment& segment) noexcept {
    ++seen_;
    const std::uint64_t into = offset_ - segment.offset;
    if (segment.handle == handle_ && offset_ >= segment.offset && into < segment.length) {
      ++hits_;
      place_ = {passed_ + into, segment.length - into};
    }
    passed_ += segment.length;
  }
  [[nodiscard]] bool over() const noexcept { return seen_ >= most; }
  [[nodiscard]] const Place* found() const noexcept { return hits_ == 1 ? &place_ : nullptr; }

 private:
  static constexpr std::size_t most = 1024;
  std::uint32_t handle_;
  std::uint64_t offset_;
  std::size_t seen_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t hits_ = 0;
  Place place_;
};

/// What of the packet belongs to the segment, as captured.
[[nodiscard]] wire::Bytes within(wire::Bytes octets, std::uint64_t left) noexcept {
  return octets.first(static_cast<std::size_t>(std::min<std::uint64_t>(octets.size(), left)));
}

/// Are there results that may have been moved?
[[nodiscard]] bool has_items(const Transaction& call) noexcept { return !call.writes.empty(); }

/// Octets up to `at` are there, and more are to be kept.
[[nodiscard]] bool goes_on(const Transaction& call, std::uint64_t at) noexcept {
  return call.reply_body.size() >= at && at < (has_items(call) ? BodyStore::most : BodyStore::head);
}

/// The responder has to refuse it (RFC 8166 section 4.5.2), and nobody may answer it. It is still open: the memory is
/// that of no later Call. What the server offers may be a Reply, unless it says CALL: that is left to its answer.
void judge_pulled_xid(const Witness& witness, Transaction& call, std::uint32_t pulled, FrameRef data) {
  const bool perhaps_reply = call.requester == Side::passive && call.may_be_offer();
  if (perhaps_reply || !witness.connection.trusted()) return;
  judge_xid_by_rdma(witness, call.call, call.requester, Role::requester, call.xid, pulled, data, nullptr);
  call.refusal = Transaction::Refusal::due;
}

}  // namespace

void keep_written(const Witness& witness, TransactionId owner, const trace::Write& event) {
  Connection& connection = witness.connection;
  Transaction* call = connection.find(owner);
  if (call == nullptr || !call->reply_chunk) return;
  Search search(event.handle, event.offset);
  for (const wire::Segment& segment : *call->reply_chunk) {
    if (search.over()) break;
    search.pass(segment);
  }
  const Place* place = search.found();
  if (place == nullptr) return;
  if (place->at == 0 && call->reply_written.number == 0) call->reply_written = event.frame;
  call->reply_body.put(witness.context.bodies, place->at, within(event.octets, place->left), has_items(*call));
  BodyWrite& more = connection.body_writes[index(event.side)];
  more = {};
  const std::uint64_t next = place->at + event.length;
  if (!event.last && event.length < place->left && goes_on(*call, next)) {
    more = {event.op, call->id, next, place->left - event.length};
  }
}

void keep_more_written(const Witness& witness, const trace::Write& event) {
  Connection& connection = witness.connection;
  BodyWrite& more = connection.body_writes[index(event.side)];
  Transaction* call = event.op == more.op ? connection.find(more.call) : nullptr;
  if (call == nullptr) {
    more = {};
    return;
  }
  call->reply_body.put(witness.context.bodies, more.at, within(event.octets, more.left), has_items(*call));
  more.at += event.length;
  more.left -= std::min<std::uint64_t>(more.left, event.length);
  if (event.last || !goes_on(*call, more.at)) more = {};
}

void keep_pulled(const Witness& witness, const trace::ReadResponse& event) {
  Connection& connection = witness.connection;
  // Read-only memory may be named by several open Calls: for which of them it was pulled is not known.
  std::size_t holders = 0;
  TransactionId owner;
  const std::uint64_t behind = event.offset + 1 != 0 ? event.offset + 1 : event.offset;  // held at the end
  connection.of(event.side).memory.each_near(event.handle, event.offset, behind, [&](const Exposure& exposure) {
    if (exposure.standing != Standing::live || exposure.access != Access::read ||
        exposure.around(event.offset).length() == 0)
      return;
    ++holders;
    owner = exposure.owner;
  });
  if (holders != 1) return;
  Transaction* call = connection.find(owner);
  if (call == nullptr || call->body_length == 0) return;
  Search search(event.handle, event.offset);
  for (const wire::ReadSegment& read : call->reads) {
    if (search.over()) break;
    if (read.position == 0) search.pass(read.target);
  }
  const Place* place = search.found();
  if (place == nullptr) return;
  if (event.last) call->pulled = event.frame;
  const bool short_before = call->call_body.size() < rpc_start_length;
  call->call_body.put(witness.context.bodies, place->at, within(event.octets, place->left), call->items());
  if (call->call_body.size() < rpc_start_length) return;
  const wire::Bytes body = call->call_body.octets();
  const std::uint32_t xid = wire::load_be32(body.data());
  if (short_before && xid != call->xid) judge_pulled_xid(witness, *call, xid, event.frame);
  if (xid != call->xid) return;
  // Nobody may answer it, and then this is all that tells what it asks for.
  if (call->call_body.full() || body.size() >= call->body_length) {
    note_procedure(connection, *call, body, std::max<std::size_t>(body.size(), call->body_length));
  }
  if (!short_before) return;
  const std::uint32_t type = wire::load_be32(body.data() + 4);
  if (type != 0) call->found_ill_formed();
  judge_direction_by_rdma(witness, call->call, *call, Role::requester, type, event.frame);
}

}  // namespace rpcrdma::referee
