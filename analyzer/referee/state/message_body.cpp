// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/message_body.hpp"

#include <algorithm>

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_spare = 64;  // buffers of each kind that wait for the next body

}  // namespace

BodyStore::BodyStore() {
  spare_.reserve(most_spare);
  spare_long_.reserve(most_long);
}

BodyStore::Buffer BodyStore::lend() {
  Buffer buffer;
  if (spare_.empty()) {
    buffer.reserve(head);
  } else {
    buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  return buffer;
}

bool BodyStore::lend_long(Buffer& buffer) {
  if (long_lent_ == most_long) return false;
  Buffer longer;
  if (spare_long_.empty()) {
    longer.reserve(most);
  } else {
    longer = std::move(spare_long_.back());
    spare_long_.pop_back();
  }
  ++long_lent_;
  longer.assign(buffer.begin(), buffer.end());
  take_back(std::exchange(buffer, std::move(longer)), false);
  return true;
}

void BodyStore::take_back(Buffer&& buffer, bool is_long) {
  if (is_long) --long_lent_;
  std::vector<Buffer>& spare = is_long ? spare_long_ : spare_;
  if (spare.size() >= most_spare) return;
  buffer.clear();
  spare.push_back(std::move(buffer));
}

void MessageBody::put(BodyStore& store, std::uint64_t at, wire::Bytes octets, bool items) {
  if (octets.empty() || at > octets_.size()) return;
  if (store_ == nullptr) {
    store_ = &store;
    octets_ = store.lend();
    long_ = false;
  }
  const auto first = static_cast<std::size_t>(at);
  const std::size_t wanted = std::min(first + octets.size(), items || long_ ? BodyStore::most : BodyStore::head);
  if (wanted > BodyStore::head && !long_) long_ = store_->lend_long(octets_);
  const std::size_t end = long_ ? wanted : std::min(wanted, BodyStore::head);
  if (first >= end) return;
  if (end > octets_.size()) octets_.resize(end);
  std::copy_n(octets.begin(), end - first, octets_.begin() + static_cast<std::ptrdiff_t>(first));
}

void MessageBody::give_back() noexcept {
  std::exchange(store_, nullptr)->take_back(std::move(octets_), long_);
  octets_ = {};
  long_ = false;
}

}  // namespace rpcrdma::referee
