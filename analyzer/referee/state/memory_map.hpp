// SPDX-License-Identifier: GPL-2.0-or-later
// Who exposed which memory, for what, and until when. One map for each side of a connection (the owner).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/coverage.hpp"
#include "referee/state/region_room.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// What the other side may do with a region.
enum class Access : std::uint8_t {
  read,   ///< a Read chunk of a Call: the responder may read
  write,  ///< a Write chunk or Reply chunk: the responder may write
  offer,  ///< a Read chunk of a Reply: the requester may read
};

/// Key (Transactions::key) and generation of the transaction that exposed a region.
struct TransactionId {
  std::uint64_t key = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const TransactionId&, const TransactionId&) = default;
};

struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< exclusive; begin + length never wraps here
  [[nodiscard]] std::uint64_t length() const noexcept { return end - begin; }
};

/// May its memory still be touched?
enum class Standing : std::uint8_t {
  live,
  perhaps_over,  ///< what ends it may be what the capture lacks: it counts as live where nothing newer does
  over           ///< the Reply (or RDMA_DONE) has been sent
};

/// All that one transaction exposed under one handle for one kind of access.
class Exposure {
 public:
  Exposure(std::uint32_t handle_of, Access access_of, TransactionId owner_of, FrameRef frame)
      : handle(handle_of), access(access_of), owner(owner_of), exposed(frame) {}

  const std::uint32_t handle;
  const Access access;
  const TransactionId owner;
  const FrameRef exposed;  ///< the message that named it first
  Standing standing = Standing::live;
  FrameRef retired;      ///< by which message
  FrameRef invalidated;  ///< the Send With Invalidate that named its handle since; number 0: none
  /// What its handle stood for then, be that offered anew by now.
  enum class Registration : std::uint8_t { valid, invalidated } registration = Registration::valid;
  Coverage touched;    ///< octets written, or read and answered
  Coverage requested;  ///< octets that a READ Request asked for

  void add(Region region);
  [[nodiscard]] std::size_t regions() const noexcept { return all().size() + empty_.size(); }
  /// Its octets lie between these; without octets: {0, 0}.
  [[nodiscard]] Region bounds() const noexcept { return {lowest_, highest_}; }
  /// The region that begins there; where several do (an empty segment in front of the next one is legal), the longest:
  /// it has the octets.
  [[nodiscard]] std::optional<Region> at(std::uint64_t begin) const;
  /// The octets exposed without a gap around this one (adjacent segments count together); empty: it is not exposed.
  [[nodiscard]] Region around(std::uint64_t octet) const {
    if (octet < lowest_ || octet >= highest_) return {};
    return single() ? Region{octet, highest_} : around_inside(octet);
  }
  /// What of [begin, end) is exposed first; empty: nothing of it.
  [[nodiscard]] Region meeting(std::uint64_t begin, std::uint64_t end) const {
    return end <= lowest_ || begin >= highest_ ? Region{} : meeting_inside(begin, end);
  }
  /// The region that holds the octet, or the nearest in front of it, or the first one.
  [[nodiscard]] Region nearest(std::uint64_t octet) const {
    return any_ && single() ? only_.region : nearest_of_many(octet);
  }
  /// Adds what of [begin, end) is exposed.
  void cover(Coverage& coverage, std::uint64_t begin, std::uint64_t end) const {
    if (begin >= highest_ || end <= lowest_) return;
    if (single()) {
      coverage.add(std::max(begin, lowest_), std::min(end, highest_), Coverage::most + 1);
    } else {
      cover_inside(coverage, begin, end);
    }
  }

 private:
  struct Sorted {
    Region region;
    std::uint64_t reach = 0;  ///< end of the exposed octets without a gap that it is part of
  };
  /// At most one region has octets.
  [[nodiscard]] bool single() const noexcept { return regions_.empty(); }
  // Where many Calls share one handle, most of what is asked lies outside of most of them.
  [[nodiscard]] Region around_inside(std::uint64_t octet) const;
  void cover_inside(Coverage& coverage, std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] Region meeting_inside(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] Region nearest_of_many(std::uint64_t octet) const;
  /// By begin, with `reach`: put right when somebody asks, after all of a message has been added.
  void sort() const;
  /// Behind the last one that begins at or in front of the octet.
  [[nodiscard]] std::span<const Sorted>::iterator behind(std::uint64_t octet) const;
  /// Those with octets.
  [[nodiscard]] std::span<const Sorted> all() const noexcept {
    return regions_.empty() ? std::span(&only_, any_ ? 1U : 0U) : std::span<const Sorted>(regions_);
  }

  Sorted only_;  ///< the first: most have no other
  bool any_ = false;
  mutable std::vector<Sorted> regions_;       ///< all of them, where there are several
  mutable std::vector<std::uint64_t> empty_;  ///< where those without begin
  mutable bool in_order_ = true;
  std::uint64_t lowest_ = 0;  ///< the octets of all of them lie in [lowest_, highest_)
  std::uint64_t highest_ = 0;
};

class MemoryMap {
 public:
  MemoryMap() = default;
  ~MemoryMap() { clear(); }
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  static constexpr std::size_t most_regions = 1U << 20U;
  /// Transactions that share a handle: with one registration for all memory, as many as there are credits.
  static constexpr std::size_t most_sharing = 1024;

  /// Before anything is exposed: what all maps share, and outlives them.
  void share_room(RegionRoom& room) noexcept { room_ = &room; }
  /// False when a bound is met (the region is not recorded).
  bool expose(const wire::Segment& segment, Access access, TransactionId owner, FrameRef frame);
  /// The transaction's regions may no longer be touched.
  void retire(TransactionId owner, std::uint32_t handle, FrameRef by);
  /// They may have been retired unseen: what is exposed under this handle later goes first.
  void doubt(TransactionId owner, std::uint32_t handle);
  void forget(TransactionId owner, std::uint32_t handle);
  /// The other side invalidated the handle: holds until a message offers it again (number 0). `spared`: of exposures
  /// that may be younger, whatever the file says.
  using Spared = std::function<bool(const Exposure&)>;
  void invalidate(std::uint32_t handle, FrameRef by, const Spared& spared = {});
  void clear() noexcept;

  struct Hit {
    enum class Verdict : std::uint8_t {
      inside,         ///< live, right kind, in bounds (the union of adjacent segments of one transaction counts)
      wrong_kind,     ///< live and in bounds, but exposed for the other direction
      outside,        ///< the handle is live, the octets are not exposed
      retired,        ///< in bounds of memory whose transaction is over
      unknown_handle  ///< no such handle
    } verdict = Verdict::unknown_handle;
    Exposure* exposure = nullptr;  ///< what the first octet falls into, or the nearest with that handle
    Region region;                 ///< of it
  };
  /// Of several live ones the oldest is hit, but of offers the newest: what is read there is the Reply that was offered
  /// last. Pointers are valid until the next call that changes the map.
  [[nodiscard]] Hit find(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool writing);
  /// Adds [offset, offset+length) to the coverage of everything live that it touches.
  void touch(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool requested_only, bool writing);

  [[nodiscard]] bool knows(std::uint32_t handle) const;
  [[nodiscard]] const Exposure* of(TransactionId owner, std::uint32_t handle, Access access) const;
  /// Those under this handle whose bounds meet [begin, end), the oldest first. Returns how many were asked.
  template <class Visit>
  std::size_t each_near(std::uint32_t handle, std::uint64_t begin, std::uint64_t end, Visit visit) const {
    const auto meets = [&](Region bounds) { return begin < bounds.end && end > bounds.begin; };
    if (const Shared* shared = shared_of(handle)) {
      for (const Shared::Part& part : shared->parts) {
        if (meets(part.bounds)) visit(*part.exposure);
      }
      return shared->parts.size();
    }
    const Exposure* const only = oldest(handle);
    if (only == nullptr) return 0;
    if (meets(only->bounds())) visit(*only);
    return 1;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Something was exposed since the connection began, be it over by now.
  [[nodiscard]] bool ever() const noexcept { return ever_; }

 private:
  /// Handle, generation of the transaction (no two have the same), access. Ordered, so that no choice of handles makes
  /// looking one up slow.
  struct Key {
    std::uint64_t place = 0;
    Access access = Access::read;
    Key(std::uint32_t handle, std::uint32_t generation, Access kind) noexcept
        : place(std::uint64_t{handle} << 32U | generation), access(kind) {}
    [[nodiscard]] std::uint32_t handle() const noexcept { return static_cast<std::uint32_t>(place >> 32U); }
    friend bool operator==(const Key&, const Key&) = default;
    friend bool operator<(const Key& a, const Key& b) noexcept {
      return a.place != b.place ? a.place < b.place : a.access < b.access;
    }
  };
  using Exposures = std::map<Key, Exposure>;
  [[nodiscard]] static Key first_of(std::uint32_t handle) noexcept { return {handle, 0, Access::read}; }
  /// Those of one transaction under one handle.
  template <class Visit>
  void each_of(TransactionId owner, std::uint32_t handle, Visit visit) {
    const Key first{handle, owner.generation, Access::read};
    for (auto at = exposures_.lower_bound(first); at != exposures_.end() && at->first.place == first.place;)
      visit(at++);
  }
  [[nodiscard]] bool under(Exposures::const_iterator at, std::uint32_t handle) const {
    return at != exposures_.end() && at->first.handle() == handle;
  }

  /// All exposures of a handle that has several, side by side: each operation passes over most of them.
  struct Shared {
    struct Part {
      Region bounds;
      Exposure* exposure = nullptr;  ///< in exposures_
    };
    std::vector<Part> parts;  ///< in the order of exposures_
  };
  [[nodiscard]] const Shared* shared_of(std::uint32_t handle) const {
    if (shared_.empty()) return nullptr;
    const auto at = shared_.find(handle);
    return at == shared_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] Shared* shared_of(std::uint32_t handle) {
    if (shared_.empty()) return nullptr;
    const auto at = shared_.find(handle);
    return at == shared_.end() ? nullptr : &at->second;
  }
  void share(std::uint32_t handle);
  /// The oldest under this handle; nullptr: there is none. Operations come in rows under one handle.
  [[nodiscard]] const Exposure* oldest(std::uint32_t handle) const {
    if (latest_ == nullptr || latest_->handle != handle) {
      const auto at = exposures_.lower_bound(first_of(handle));
      latest_ = under(at, handle) ? &at->second : nullptr;
    }
    return latest_;
  }
  [[nodiscard]] Exposure* oldest(std::uint32_t handle) {
    return const_cast<Exposure*>(std::as_const(*this).oldest(handle));  // NOLINT(*-const-cast): the map is ours
  }

  Exposures exposures_;
  mutable const Exposure* latest_ = nullptr;  ///< what oldest() found last, as long as nothing is added or taken away
  std::map<std::uint32_t, Shared> shared_;
  std::size_t count_ = 0;
  RegionRoom* room_ = nullptr;  ///< null: only the map's own bound holds
  bool ever_ = false;
};

}  // namespace rpcrdma::referee
