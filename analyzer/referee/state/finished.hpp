// SPDX-License-Identifier: GPL-2.0-or-later
// The facts of connections that are over, until the report is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::referee {

class Finished {
 public:
  void add(const ConnectionFacts& facts) {
    facts_.push_back(facts);
    ids_.push_back(facts.id);
  }

  /// Those of these that are here.
  template <class Change>
  void change(std::vector<ConnectionId> wanted, Change how) {
    if (wanted.empty()) return;
    std::sort(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (std::binary_search(wanted.begin(), wanted.end(), ids_[i])) facts_.change(i, how);
    }
  }
  /// By number; who is asked for afterwards is still known.
  [[nodiscard]] PackedList<ConnectionFacts> take() {
    std::vector<std::size_t> by_id(ids_.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    std::sort(by_id.begin(), by_id.end(), [&](std::size_t a, std::size_t b) { return ids_[a] < ids_[b]; });
    facts_.keep(by_id);
    std::sort(ids_.begin(), ids_.end());
    return std::exchange(facts_, {});
  }
  /// Once they are taken.
  [[nodiscard]] bool holds(ConnectionId id) const noexcept { return std::binary_search(ids_.begin(), ids_.end(), id); }

 private:
  PackedList<ConnectionFacts> facts_;
  std::vector<ConnectionId> ids_;  ///< of each
};

}  // namespace rpcrdma::referee
