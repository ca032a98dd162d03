// SPDX-License-Identifier: GPL-2.0-or-later
// Segments that stand in the capture in front of what they acknowledge: they were sent after it had arrived, and wait
// for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

#include "trace/budget.hpp"
#include "trace/iwarp/piece.hpp"
#include "trace/packet.hpp"

namespace rpcrdma::trace::iwarp {

/// Of one direction, in the order in which they were sent: what acknowledges less was sent before.
class EarlySegments {
 public:
  static constexpr std::size_t most = 4096;

  explicit EarlySegments(Budget& budget) noexcept : budget_(budget) {}
  ~EarlySegments() {
    while (!held_.empty()) pop();
  }
  EarlySegments(const EarlySegments&) = delete;
  EarlySegments& operator=(const EarlySegments&) = delete;

  [[nodiscard]] bool empty() const noexcept { return held_.empty(); }
  /// Keeps a copy. False: there is no room.
  [[nodiscard]] bool hold(const TcpSegment& segment);
  /// Something waits, and all of it was sent behind this.
  [[nodiscard]] bool sent_before_all(const TcpSegment& segment) const noexcept {
    return !held_.empty() && sent_before(segment, held_.front().segment);
  }
  /// Octets, or a FIN, in front of this sequence number wait here: they are not missing, only not taken yet.
  [[nodiscard]] bool data_before(std::uint32_t sequence) const noexcept {
    const TcpSegment* const first = first_data();
    return first != nullptr && static_cast<std::int32_t>(first->sequence - sequence) < 0;
  }
  /// The first one that says something there or behind it, when nothing in front of it waits. May be null.
  [[nodiscard]] const TcpSegment* data_from(std::uint32_t sequence) const noexcept {
    const TcpSegment* const first = first_data();
    return first != nullptr && static_cast<std::int32_t>(first->sequence - sequence) >= 0 ? first : nullptr;
  }
  /// The oldest one, until it is popped.
  [[nodiscard]] const TcpSegment& front() const noexcept { return held_.front().segment; }
  [[nodiscard]] const TcpSegment& newest() const noexcept { return held_.back().segment; }
  void pop() noexcept;

 private:
  struct Held {
    TcpSegment segment;
    std::vector<std::uint8_t> payload;
  };
  [[nodiscard]] static bool sent_before(const TcpSegment& one, const TcpSegment& another) noexcept {
    const bool known = (one.flags & another.flags & TcpSegment::ack) != 0;
    return known && static_cast<std::int32_t>(one.acknowledgement - another.acknowledgement) < 0;
  }

  [[nodiscard]] static bool says(const TcpSegment& segment) noexcept {
    return segment.wire_length > 0 || (segment.flags & TcpSegment::fin) != 0;
  }
  [[nodiscard]] const TcpSegment* first_data() const noexcept {
    for (std::size_t i = 0; with_data_ != 0 && i < held_.size() && i < looked_at; ++i) {
      if (says(held_[i].segment)) return &held_[i].segment;
    }
    return nullptr;
  }

  static constexpr std::size_t looked_at = 64;  // a mirror that is ahead by more is another matter

  Budget& budget_;
  std::deque<Held> held_;
  std::size_t with_data_ = 0;
};

inline bool EarlySegments::hold(const TcpSegment& segment) {
  if (held_.size() >= most || !budget_.take(segment.payload.size())) return false;
  auto at = held_.end();
  while (at != held_.begin() && static_cast<std::size_t>(held_.end() - at) < looked_at &&
         sent_before(segment, std::prev(at)->segment)) {
    --at;
  }
  Held& held = *held_.emplace(at);
  held.segment = segment;
  held.payload.assign(segment.payload.begin(), segment.payload.end());
  held.segment.payload = held.payload;
  if (says(segment)) ++with_data_;
  return true;
}

inline void EarlySegments::pop() noexcept {
  budget_.give(held_.front().payload.size());
  if (says(held_.front().segment)) --with_data_;
  held_.pop_front();
}

}  // namespace rpcrdma::trace::iwarp
