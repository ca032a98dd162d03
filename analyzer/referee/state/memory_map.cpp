// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/memory_map.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace rpcrdma::referee {

namespace {

/// A Reply that is offered where another one still is takes its place.
[[nodiscard]] bool replaces(const Exposure& newer, const Exposure& older) noexcept {
  return newer.access == Access::offer && older.access == Access::offer && later(newer.exposed, older.exposed);
}

[[nodiscard]] bool right_kind(const Exposure& exposure, bool writing) noexcept {
  return writing == (exposure.access == Access::write);
}

/// Exclusive, and never past the end of the address space: a range may end exactly there.
[[nodiscard]] std::uint64_t end_of(std::uint64_t offset, std::uint64_t length) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return offset > most - length ? most : offset + length;
}

}  // namespace

void Exposure::add(Region region) {
  if (region.length() == 0) {
    in_order_ = in_order_ && empty_.empty();
    empty_.push_back(region.begin);
    return;
  }
  lowest_ = any_ ? std::min(lowest_, region.begin) : region.begin;
  highest_ = any_ ? std::max(highest_, region.end) : region.end;
  if (!any_) {
    any_ = true;
    only_ = {region, region.end};
    return;
  }
  in_order_ = false;
  if (regions_.empty()) regions_.push_back(only_);
  regions_.push_back({region, region.end});
}

void Exposure::sort() const {
  if (in_order_) return;
  in_order_ = true;
  std::sort(empty_.begin(), empty_.end());
  std::sort(regions_.begin(), regions_.end(), [](const Sorted& a, const Sorted& b) {
    return std::tie(a.region.begin, a.region.end) < std::tie(b.region.begin, b.region.end);
  });
  for (std::size_t first = 0; first < regions_.size();) {
    std::uint64_t reach = regions_[first].region.end;
    std::size_t next = first + 1;
    for (; next < regions_.size() && regions_[next].region.begin <= reach; ++next) {
      reach = std::max(reach, regions_[next].region.end);
    }
    for (; first < next; ++first) regions_[first].reach = reach;
  }
}

std::span<const Exposure::Sorted>::iterator Exposure::behind(std::uint64_t octet) const {
  sort();
  return std::upper_bound(all().begin(), all().end(), octet,
                          [](std::uint64_t o, const Sorted& each) { return o < each.region.begin; });
}

std::optional<Region> Exposure::at(std::uint64_t begin) const {
  const auto after = behind(begin);
  // Of those that begin there the last is the longest.
  if (after != all().begin() && std::prev(after)->region.begin == begin) return std::prev(after)->region;
  if (std::binary_search(empty_.begin(), empty_.end(), begin)) return Region{begin, begin};
  return std::nullopt;
}

Region Exposure::around_inside(std::uint64_t octet) const {
  const auto after = behind(octet);
  if (after == all().begin()) return {};
  const Sorted& before = *std::prev(after);
  return octet < before.reach ? Region{octet, before.reach} : Region{};
}

Region Exposure::meeting_inside(std::uint64_t begin, std::uint64_t end) const {
  const Region here = around(begin);
  if (here.length() != 0) return {begin, std::min(here.end, end)};
  const auto next = behind(begin);
  if (next == all().end() || next->region.begin >= end) return {};
  return {next->region.begin, std::min(next->reach, end)};
}

Region Exposure::nearest_of_many(std::uint64_t octet) const {
  const auto after = behind(octet);
  if (!any_) return {empty_.front(), empty_.front()};
  return after == all().begin() ? all().front().region : std::prev(after)->region;
}

void Exposure::cover_inside(Coverage& coverage, std::uint64_t begin, std::uint64_t end) const {
  constexpr std::size_t most_apart = 4096;
  const std::size_t most = Coverage::most + std::min(all().size(), most_apart);
  auto from = begin;
  while (from < end && !coverage.overflow()) {
    const Region next = meeting(from, end);
    if (next.length() == 0) return;
    coverage.add(next.begin, next.end, most);
    from = next.end;
  }
}

bool MemoryMap::expose(const wire::Segment& segment, Access access, TransactionId owner, FrameRef frame) {
  ever_ = true;
  if (count_ >= most_regions || (room_ != nullptr && !room_->take(frame))) return false;
  const Key key{segment.handle, owner.generation, access};
  auto at = exposures_.lower_bound(key);
  if (at == exposures_.end() || !(at->first == key)) {
    const bool shared = (at != exposures_.end() && at->first.handle() == segment.handle) ||
                        (at != exposures_.begin() && std::prev(at)->first.handle() == segment.handle);
    if (shared) {
      const Shared* sharing = shared_of(segment.handle);
      if (sharing != nullptr && sharing->parts.size() >= most_sharing) {
        if (room_ != nullptr) room_->give(1);
        return false;
      }
      const auto oldest = exposures_.lower_bound(first_of(segment.handle));
      if (oldest->second.invalidated.number != 0) invalidate(segment.handle, {});  // registered anew
    }
    at = exposures_.try_emplace(at, key, segment.handle, access, owner, frame);
    latest_ = nullptr;
    if (shared) share(segment.handle);
  } else if (at->second.invalidated.number != 0) {
    invalidate(segment.handle, {});
  }
  at->second.add({segment.offset, end_of(segment.offset, segment.length)});
  ++count_;
  if (Shared* sharing = shared_of(segment.handle)) {
    const auto part = std::find_if(sharing->parts.rbegin(), sharing->parts.rend(),
                                   [&](const Shared::Part& each) { return each.exposure == &at->second; });
    part->bounds = at->second.bounds();
  }
  return true;
}

/// Writes down anew what shares the handle.
void MemoryMap::share(std::uint32_t handle) {
  Shared& shared = shared_[handle];
  const auto behind = exposures_.upper_bound(Key{handle, std::numeric_limits<std::uint32_t>::max(), Access::offer});
  const auto last = std::prev(behind);
  if (!shared.parts.empty() && shared.parts.back().exposure == &std::prev(last)->second) {
    shared.parts.push_back({last->second.bounds(), &last->second});  // the usual case: the newest
    return;
  }
  shared.parts.clear();
  for (auto at = exposures_.lower_bound(first_of(handle)); under(at, handle); ++at) {
    shared.parts.push_back({at->second.bounds(), &at->second});
  }
}

void MemoryMap::retire(TransactionId owner, std::uint32_t handle, FrameRef by) {
  each_of(owner, handle, [&](Exposures::iterator at) {
    if (at->second.standing == Standing::over) return;
    at->second.standing = Standing::over;
    at->second.retired = by;
  });
}

void MemoryMap::doubt(TransactionId owner, std::uint32_t handle) {
  each_of(owner, handle, [&](Exposures::iterator at) {
    if (at->second.standing == Standing::live) at->second.standing = Standing::perhaps_over;
  });
}

void MemoryMap::forget(TransactionId owner, std::uint32_t handle) {
  each_of(owner, handle, [&](Exposures::iterator at) {
    count_ -= at->second.regions();
    if (room_ != nullptr) room_->give(at->second.regions());
    if (Shared* sharing = shared_of(handle)) {
      std::vector<Shared::Part>& parts = sharing->parts;
      parts.erase(std::find_if(parts.begin(), parts.end(),
                               [&](const Shared::Part& each) { return each.exposure == &at->second; }));
      if (parts.size() <= 1) shared_.erase(handle);
    }
    exposures_.erase(at);
    latest_ = nullptr;
  });
}

void MemoryMap::invalidate(std::uint32_t handle, FrameRef by, const Spared& spared) {
  for (auto at = exposures_.lower_bound(first_of(handle)); under(at, handle); ++at) {
    if (spared && spared(at->second)) continue;
    at->second.invalidated = by;
    if (by.number != 0) at->second.registration = Exposure::Registration::invalidated;
  }
}

void MemoryMap::clear() noexcept {
  exposures_.clear();
  latest_ = nullptr;
  shared_.clear();
  if (room_ != nullptr) room_->give(count_);
  count_ = 0;
}

bool MemoryMap::knows(std::uint32_t handle) const { return under(exposures_.lower_bound(first_of(handle)), handle); }

const Exposure* MemoryMap::of(TransactionId owner, std::uint32_t handle, Access access) const {
  const auto at = exposures_.find(Key{handle, owner.generation, access});
  return at == exposures_.end() ? nullptr : &at->second;
}

MemoryMap::Hit MemoryMap::find(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool writing) {
  using Verdict = Hit::Verdict;
  Exposure* const first = oldest(handle);
  if (first == nullptr) return {};
  const bool wraps = length != 0 && offset > std::numeric_limits<std::uint64_t>::max() - (length - 1);
  const std::uint64_t end = end_of(offset, length);
  const auto hit = [&](Verdict verdict, Exposure* exposure) {
    return Hit{verdict, exposure, exposure->nearest(offset)};
  };

  Exposure* inside = nullptr;
  Exposure* perhaps_inside = nullptr;
  Exposure* other_kind = nullptr;
  Exposure* over = nullptr;
  const auto look = [&](Exposure& exposure) {
    const Region around = exposure.around(offset);
    if (inside != nullptr && !replaces(exposure, *inside)) return;
    if (around.length() == 0 || end > around.end || wraps) return;
    if (exposure.standing == Standing::live) {
      (right_kind(exposure, writing) ? inside : other_kind) = &exposure;
      return;
    }
    if (exposure.standing == Standing::perhaps_over) {
      if (right_kind(exposure, writing)) perhaps_inside = &exposure;
      return;
    }
    const bool newer = over == nullptr || exposure.exposed.number > over->exposed.number;
    if (right_kind(exposure, writing) && newer) over = &exposure;
  };
  if (Shared* shared = shared_of(handle)) {
    for (const Shared::Part& part : shared->parts) {
      if (offset >= part.bounds.begin && offset < part.bounds.end) look(*part.exposure);
    }
  } else {
    look(*first);
  }
  if (inside == nullptr) inside = perhaps_inside;
  if (inside != nullptr) return hit(Verdict::inside, inside);
  if (other_kind != nullptr) return hit(Verdict::wrong_kind, other_kind);
  if (over != nullptr) return hit(Verdict::retired, over);
  Exposure* near_live = nullptr;
  Exposure* near_any = nullptr;
  for (auto at = exposures_.lower_bound(first_of(handle)); under(at, handle); ++at) {
    Exposure& exposure = at->second;
    if (near_any == nullptr || exposure.exposed.number > near_any->exposed.number) near_any = &exposure;
    if (exposure.standing == Standing::over) continue;
    if (near_live == nullptr || (exposure.around(offset).length() != 0 && near_live->around(offset).length() == 0)) {
      near_live = &exposure;
    }
  }
  return hit(Verdict::outside, near_live != nullptr ? near_live : near_any);
}

void MemoryMap::touch(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool requested_only,
                      bool writing) {
  const std::uint64_t end = end_of(offset, length);
  const auto add = [&](Exposure& exposure) {
    if (right_kind(exposure, writing))
      exposure.cover(requested_only ? exposure.requested : exposure.touched, offset, end);
  };
  if (Shared* shared = shared_of(handle)) {
    for (const Shared::Part& part : shared->parts) {
      if (offset < part.bounds.end && end > part.bounds.begin && part.exposure->standing == Standing::live) {
        add(*part.exposure);
      }
    }
    return;
  }
  Exposure* const only = oldest(handle);
  if (only != nullptr && (only->standing == Standing::live || only->regions() == 1)) add(*only);
}

}  // namespace rpcrdma::referee
