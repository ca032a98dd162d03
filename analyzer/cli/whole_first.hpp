// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of several captures that wait a little, in their order: of two copies of a packet the longer one takes the
// place of the first, since that is the one that is judged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/frame.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::cli {

class WholeFirst {
 public:
  struct From {
    std::size_t input = 0;
    bool packet = false;
    trace::TimeNs sent = 0;  ///< where its turn is
  };
  struct Held {
    From from;
    trace::Frame frame;  ///< its octets are `octets`
    std::vector<std::uint8_t> octets;
    std::uint64_t copies_of = 0;
  };

  /// `copies_of`: the same for all copies of a packet; 0: not known.
  void put(const trace::Frame& frame, const From& from, std::uint64_t copies_of) {
    newest_ = std::max(newest_, from.sent);
    octets_ += frame.octets.size();
    const std::uint64_t number = first_ + waiting_.size();
    waiting_.push_back({from, frame, {frame.octets.begin(), frame.octets.end()}, copies_of});
    if (copies_of == 0) return;
    const auto [at, fresh] = newest_copy_.try_emplace(copies_of, number);
    if (fresh) return;
    Held& before = waiting_[at->second - first_];
    Held& now = waiting_.back();
    at->second = number;
    if (before.from.input != now.from.input && before.octets.size() < now.octets.size()) {
      std::swap(before, now);
      std::swap(before.from.sent, now.from.sent);  // the turns stay
    }
  }
  /// The first one needs not wait any more.
  [[nodiscard]] bool ready() const noexcept {
    if (waiting_.empty()) return false;
    return trace::passed(waiting_.front().from.sent, newest_, longest) || waiting_.size() > most ||
           octets_ > most_octets;
  }
  /// nullptr: there is none. Valid until the next call.
  [[nodiscard]] const Held* take() {
    if (waiting_.empty()) return nullptr;
    taken_ = std::move(waiting_.front());
    waiting_.pop_front();
    taken_.frame.octets = taken_.octets;
    octets_ -= taken_.octets.size();
    const auto at = newest_copy_.find(taken_.copies_of);
    if (at != newest_copy_.end() && at->second == first_) newest_copy_.erase(at);
    ++first_;
    return &taken_;
  }

 private:
  /// A copy comes later by more than its way only where queues grow.
  static constexpr trace::TimeNs longest = 2'000'000;
  static constexpr std::size_t most = 16384;
  static constexpr std::size_t most_octets = std::size_t{32} << 20U;

  std::deque<Held> waiting_;
  std::uint64_t first_ = 0;                                       ///< number of the first one
  std::unordered_map<std::uint64_t, std::uint64_t> newest_copy_;  ///< its number, by packet
  trace::TimeNs newest_ = INT64_MIN;
  std::size_t octets_ = 0;
  Held taken_;
};

}  // namespace rpcrdma::cli
