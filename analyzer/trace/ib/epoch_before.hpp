// SPDX-License-Identifier: GPL-2.0-or-later
// What the connection before sent to a queue pair that is in use again: of that, something may still come, late or for
// the second time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "trace/ib/flow_key.hpp"
#include "trace/ib/shared.hpp"
#include "trace/proven_order.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace::ib {

struct EpochBefore {
  /// PSNs that a side used for its requests lately, and those that were next.
  struct Used {
    std::uint32_t from = 0;
    std::uint32_t to = 0;

    [[nodiscard]] bool holds(std::uint32_t psn) const noexcept {
      return psn_distance(from, psn) >= 0 && psn_distance(psn, to) >= 0;
    }
  };
  FlowKey key;
  FrameRef ended;
  std::optional<Used> requests;  ///< of who sent to the queue pair
  std::optional<Used> answered;  ///< requests of its owner, that were answered this way

  [[nodiscard]] bool over(FrameRef now) const noexcept { return passed(ended.time, now.time, ProvenOrder::patience); }
  [[nodiscard]] bool holds(const wire::IbHeader& header, FrameRef now) const noexcept {
    const std::optional<Used>& used = is_request(header.op.kind) ? requests : answered;
    return used && used->holds(header.psn) && !over(now);
  }
};

/// Of the queue pairs that were used again lately.
class EpochsBefore {
 public:
  void keep(const EpochBefore& before) {
    constexpr std::size_t most = 64;
    if (all_.size() >= most) all_.pop_front();
    all_.push_back(before);
  }
  /// The newest one of those that sent there, or nullptr.
  [[nodiscard]] const EpochBefore* find(const FlowKey& key) const {
    const auto at = std::find_if(all_.rbegin(), all_.rend(), [&](const EpochBefore& one) { return one.key == key; });
    return at == all_.rend() ? nullptr : &*at;
  }

 private:
  std::deque<EpochBefore> all_;  ///< oldest first
};

}  // namespace rpcrdma::trace::ib
