// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/memory_map.hpp"

#include <algorithm>
#include <limits>

namespace rpcrdma::referee {

namespace {

[[nodiscard]] bool right_kind(const Region& region, bool writing) noexcept {
  return writing == (region.access == Access::write);
}

[[nodiscard]] bool contains(const Region& region, std::uint64_t offset, std::uint64_t end) noexcept {
  return region.begin <= offset && end <= region.end;
}

/// Exclusive, and never past the end of the address space: a range may end exactly there.
[[nodiscard]] std::uint64_t end_of(std::uint64_t offset, std::uint64_t length) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return offset > most - length ? most : offset + length;
}

}  // namespace

bool MemoryMap::expose(const wire::Segment& segment, Access access, TransactionId owner, FrameRef frame) {
  ever_ = true;
  if (count_ >= most_regions) return false;
  Region region;
  region.handle = segment.handle;
  region.begin = segment.offset;
  region.end = end_of(segment.offset, segment.length);
  region.access = access;
  region.owner = owner;
  region.exposed = frame;
  std::vector<Region>& same = by_handle_[segment.handle];
  if (!same.empty() && same.back().invalidated.number != 0) {
    for (Region& earlier : same) earlier.invalidated = {};  // registered anew
  }
  same.push_back(std::move(region));
  ++count_;
  return true;
}

void MemoryMap::retire(TransactionId owner, std::uint32_t handle, FrameRef by) {
  const auto at = by_handle_.find(handle);
  if (at == by_handle_.end()) return;
  for (Region& region : at->second) {
    if (region.owner == owner && region.live) {
      region.live = false;
      region.retired = by;
    }
  }
}

void MemoryMap::forget(TransactionId owner, std::uint32_t handle) {
  const auto at = by_handle_.find(handle);
  if (at == by_handle_.end()) return;
  count_ -= std::erase_if(at->second, [&](const Region& region) { return region.owner == owner; });
  if (at->second.empty()) by_handle_.erase(at);
}

void MemoryMap::invalidate(std::uint32_t handle, FrameRef by) {
  const auto at = by_handle_.find(handle);
  if (at == by_handle_.end()) return;
  for (Region& region : at->second) region.invalidated = by;
}

void MemoryMap::clear() noexcept {
  by_handle_.clear();
  count_ = 0;
}

std::vector<Region>* MemoryMap::regions(std::uint32_t handle) {
  const auto at = by_handle_.find(handle);
  return at == by_handle_.end() ? nullptr : &at->second;
}

MemoryMap::Hit MemoryMap::find(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool writing) {
  using Verdict = Hit::Verdict;
  std::vector<Region>* all = regions(handle);
  if (all == nullptr) return {};
  const bool wraps = length != 0 && offset > std::numeric_limits<std::uint64_t>::max() - (length - 1);
  const std::uint64_t end = end_of(offset, length);

  Region* other_kind = nullptr;
  Region* over = nullptr;
  Region* near_live = nullptr;
  Region* near_any = nullptr;
  std::uint64_t reached = offset;  // how far the union of live regions carries the operation
  Region* start = nullptr;
  bool grew = true;
  for (std::size_t round = 0; grew && reached < end && round <= all->size(); ++round) {
    grew = false;
    for (Region& region : *all) {
      if (!region.live || !right_kind(region, writing) || reached < region.begin || reached >= region.end) continue;
      if (start != nullptr && !(start->owner == region.owner)) continue;
      if (start == nullptr) start = &region;
      reached = std::max(reached, region.end);
      grew = true;
    }
  }
  if (start != nullptr && reached >= end && !wraps) return {Verdict::inside, start};

  for (Region& region : *all) {
    if (near_any == nullptr || region.exposed.number > near_any->exposed.number) near_any = &region;
    if (region.live) {
      if (near_live == nullptr || (region.begin <= offset && offset < region.end)) near_live = &region;
      if (contains(region, offset, end) && !right_kind(region, writing)) other_kind = &region;
    } else if (contains(region, offset, end) && right_kind(region, writing)) {
      if (over == nullptr || region.exposed.number > over->exposed.number) over = &region;
    }
  }
  if (other_kind != nullptr) return {Verdict::wrong_kind, other_kind};
  if (over != nullptr) return {Verdict::retired, over};
  if (near_live != nullptr) return {Verdict::outside, near_live};
  return {Verdict::outside, near_any};
}

void MemoryMap::touch(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool requested_only,
                      bool writing) {
  std::vector<Region>* all = regions(handle);
  if (all == nullptr) return;
  const std::uint64_t end = end_of(offset, length);
  for (Region& region : *all) {
    if (!right_kind(region, writing)) continue;
    if (!region.live && all->size() > 1) continue;
    const std::uint64_t from = std::max(region.begin, offset);
    const std::uint64_t to = std::min(region.end, end);
    if (from >= to) continue;
    (requested_only ? region.requested : region.touched).add(from, to);
  }
}

}  // namespace rpcrdma::referee
