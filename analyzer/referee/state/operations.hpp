// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA operations of one side: how they were judged, which Reads wait, which handles are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/state/memory_map.hpp"

namespace rpcrdma::referee {

/// What an operation does with the memory. An atomic one changes it.
enum class RdmaVerb : std::uint8_t { read, write, atomic };
[[nodiscard]] constexpr bool writes(RdmaVerb verb) noexcept { return verb != RdmaVerb::read; }

/// How a recent RDMA operation was judged, for telling who is to blame when it is refused.
struct JudgedOp {
  std::uint64_t op = 0;
  FrameRef frame;
  RdmaVerb verb = RdmaVerb::read;
  /// misled: it follows what its owner's doubtful message says.
  enum class State : std::uint8_t { inside, guilty, undecided, misled } state = State::undecided;
  RuleId rule = RuleId::remote_access_error;
  HeldFinding finding;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  TransactionId transaction;
  bool offer = false;
  std::uint64_t sends_before = 0;  ///< Sends of the same side in front of it
};

/// READ Requests of one side that wait for their answer, and when there were too many of them.
struct ReadsInFlight {
  static constexpr std::size_t most = 4096;
  struct Read {
    std::uint64_t op = 0;
    FrameRef frame;
  };
  /// Held back until each of the Reads that were counted has shown its answer.
  struct Excess {
    FrameRef frame;
    std::uint64_t first = 0;  ///< op of the oldest and of the newest Read that were counted
    std::uint64_t last = 0;
    std::uint64_t open = 0;
  };
  std::vector<Read> open;  ///< in the order of their numbers
  std::vector<Excess> excess;

  /// It is not answered in full.
  [[nodiscard]] bool waits(std::uint64_t op) const noexcept {
    const auto at = std::lower_bound(open.begin(), open.end(), op, [](const Read& r, auto o) { return r.op < o; });
    return at != open.end() && at->op == op;
  }
  void clear() noexcept {
    open.clear();
    excess.clear();
  }
};

/// Handles of one side that its peer invalidated, by registration: the low octet is a key that changes.
class InvalidatedHandles {
 public:
  static constexpr std::size_t most = 65536;
  void invalidated(std::uint32_t handle, FrameRef frame) {
    if (newest_.size() < most || newest_.contains(handle >> 8U)) newest_[handle >> 8U] = {handle, frame};
  }
  /// Offered again: the frame that invalidated exactly this value, or number 0.
  FrameRef offered(std::uint32_t handle) {
    const auto at = newest_.find(handle >> 8U);
    if (at == newest_.end() || at->second.frame.number == 0) return {};
    const FrameRef frame = at->second.handle == handle ? at->second.frame : FrameRef{};
    at->second.frame = {};
    return frame;
  }
  [[nodiscard]] bool empty() const noexcept { return newest_.empty(); }

 private:
  struct Newest {
    std::uint32_t handle = 0;
    FrameRef frame;
  };
  std::map<std::uint32_t, Newest> newest_;
};

}  // namespace rpcrdma::referee
