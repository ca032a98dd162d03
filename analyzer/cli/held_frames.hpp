// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of one input that wait for others of it that were sent earlier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/frame.hpp"

namespace rpcrdma::cli {

class HeldFrames {
 public:
  struct Held {
    trace::TimeNs sent = 0;
    std::uint64_t number = 0;  ///< in the order of the file
    trace::Frame frame;        ///< its octets are `octets`
    std::vector<std::uint8_t> octets;
    bool packet = false;
  };

  [[nodiscard]] bool empty() const noexcept { return frames_.empty(); }
  /// So much that the first one goes, whoever may come.
  [[nodiscard]] bool full() const noexcept { return frames_.size() >= most_frames || octets_ >= most_octets; }
  [[nodiscard]] trace::TimeNs first() const noexcept { return frames_.front().sent; }

  void hold(const trace::Frame& frame, trace::TimeNs sent, bool packet) {
    Held held{sent, ++number_, frame, {frame.octets.begin(), frame.octets.end()}, packet};
    octets_ += held.octets.size();
    frames_.push_back(std::move(held));
    std::push_heap(frames_.begin(), frames_.end(), later);
  }
  [[nodiscard]] Held take() {
    std::pop_heap(frames_.begin(), frames_.end(), later);
    Held held = std::move(frames_.back());
    frames_.pop_back();
    octets_ -= held.octets.size();
    held.frame.octets = held.octets;
    return held;
  }

 private:
  static constexpr std::size_t most_frames = 16384;
  static constexpr std::size_t most_octets = std::size_t{32} << 20U;

  [[nodiscard]] static bool later(const Held& a, const Held& b) noexcept {
    return a.sent != b.sent ? a.sent > b.sent : a.number > b.number;
  }

  std::vector<Held> frames_;  // a heap
  std::size_t octets_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace rpcrdma::cli
