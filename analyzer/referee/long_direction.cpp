// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/long_direction.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_reads = 256;
constexpr std::size_t rpc_start = 8;  // XID and message type

}  // namespace

LongDirection::Kept* LongDirection::find(const Connection& connection) {
  if (kept_.empty()) return nullptr;
  const auto at = kept_.find(connection.id());
  return at == kept_.end() ? nullptr : &at->second;
}

bool LongDirection::keep(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch) {
  if (find(connection) != nullptr || !call_or_offer(connection, event, scratch)) return false;
  Kept& kept = kept_[connection.id()];
  kept.octets.assign(event.octets.begin(), event.octets.end());
  kept.event = event;
  kept.event.octets = kept.octets;
  for (const wire::ReadSegment& read : scratch.reads) {
    if (read.position == 0 && read.target.length != 0) kept.segments.push_back(read.target);
  }
  return true;
}

bool LongDirection::keep(Context& context, Connection& connection, const trace::ReadRequest& event,
                         wire::HeaderV1& scratch) {
  Kept* kept = find(connection);
  if (kept == nullptr || event.side == kept->event.side) return false;
  const bool of_it = std::any_of(kept->segments.begin(), kept->segments.end(),
                                 [&](const wire::Segment& segment) { return segment.handle == event.handle; });
  if (!of_it && kept->reads.empty()) return false;
  if (kept->reads.size() >= most_reads) {
    release(context, connection, LongForm::undecided, scratch);
    return false;
  }
  kept->reads.push_back(event);
  return true;
}

void LongDirection::pulled(Context& context, Connection& connection, const trace::ReadResponse& event,
                           wire::HeaderV1& scratch) {
  const Kept* kept = find(connection);
  if (kept == nullptr || event.side != kept->event.side) return;
  const bool its_read = std::any_of(kept->reads.begin(), kept->reads.end(),
                                    [&](const trace::ReadRequest& read) { return read.op == event.op; });
  if (!its_read) return;
  auto form = LongForm::undecided;
  const wire::Segment& first = kept->segments.front();
  if (event.handle == first.handle && event.offset == first.offset && event.octets.size() >= rpc_start &&
      wire::load_be32(event.octets.data()) == wire::load_be32(kept->octets.data())) {
    const std::uint32_t type = wire::load_be32(event.octets.data() + 4);
    if (type == 0) form = LongForm::call;
    if (type == 1) form = LongForm::reply;
  }
  release(context, connection, form, scratch);
}

void LongDirection::next_send(Context& context, Connection& connection, const trace::Send& event,
                              wire::HeaderV1& scratch) {
  const Kept* kept = find(connection);
  if (kept == nullptr) return;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  const bool done = fixed && fixed->version == 1 && fixed->proc == static_cast<std::uint32_t>(wire::Proc::done) &&
                    event.side != kept->event.side && fixed->xid == wire::load_be32(kept->octets.data());
  // RDMA_DONE is said about a Reply only; RDMA_ERROR about a Call only, and a Call gets one Reply.
  const bool same_xid = fixed && fixed->xid == wire::load_be32(kept->octets.data());
  const bool error = fixed && fixed->proc == static_cast<std::uint32_t>(wire::Proc::error);
  const bool of_a_call = same_xid && (error || event.side == kept->event.side);
  release(context, connection, done ? LongForm::reply : of_a_call ? LongForm::call : LongForm::undecided, scratch);
}

void LongDirection::release(Context& context, Connection& connection, LongForm form, wire::HeaderV1& scratch) {
  if (find(connection) == nullptr) return;
  auto node = kept_.extract(connection.id());
  Kept& kept = node.mapped();
  take_message(context, connection, kept.event, scratch, form);
  for (const trace::ReadRequest& read : kept.reads) judge_read(context, connection, read);
}

}  // namespace rpcrdma::referee
