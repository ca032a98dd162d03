// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that were opened and wait for those whose share they are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "cli/share.hpp"
#include "reader/capture.hpp"
#include "trace/shares.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::cli {

/// Memory for octets that do not stay where they were read to.
class Copies {
 public:
  [[nodiscard]] wire::Bytes put(wire::Bytes octets) {
    if (octets.empty()) return octets;
    while (at_ < rooms_.size() && rooms_[at_].size() - used_ < octets.size()) {
      ++at_;
      used_ = 0;
    }
    if (at_ == rooms_.size()) rooms_.emplace_back(std::max(room, octets.size()));
    std::uint8_t* to = rooms_[at_].data() + used_;
    std::memcpy(to, octets.data(), octets.size());
    used_ += octets.size();
    return {to, octets.size()};
  }
  void clear() {
    std::erase_if(rooms_, [](const auto& each) { return each.size() > room; });
    at_ = used_ = 0;
  }

 private:
  static constexpr std::size_t room = std::size_t{256} << 10U;

  std::vector<std::vector<std::uint8_t>> rooms_;
  std::size_t at_ = 0;
  std::size_t used_ = 0;
};

/// What a share gets to know of a frame.
struct Part {
  struct OfCapture {
    trace::Quality::Kind kind;
    trace::FrameRef frame;
  };
  template <class What>
  Part(const What& shown, trace::Opener::Task to_do, std::uint32_t before)
      : what(shown), told_before(before), task(to_do) {}

  std::variant<trace::IbPacket, trace::TcpSegment, trace::Undelivered, Serves, OfCapture> what;
  std::uint32_t told_before;  ///< so many times that have passed
  trace::Opener::Task task;
};

class Block {
 public:
  static constexpr std::size_t most_frames = 4096;
  static constexpr std::size_t most_octets = std::size_t{1} << 20U;

  [[nodiscard]] bool full() const noexcept { return frames_ >= most_frames || octets_ >= most_octets; }
  [[nodiscard]] bool nothing_for(std::size_t share) const noexcept { return parts_[share].empty() && times_.empty(); }
  template <class What>
  What& give(std::size_t share, const What& what, trace::Opener::Task task = trace::Opener::Task::take) {
    return std::get<What>(parts_[share].emplace_back(what, task, static_cast<std::uint32_t>(times_.size())).what);
  }
  /// What each share is told.
  void time_passed(trace::FrameRef frame) { times_.push_back(frame); }
  /// All that is the share's.
  void take(std::size_t number, Share& share) const {
    std::size_t told = 0;
    const auto tell = [&](std::size_t before) {
      for (; told < before; ++told) share.time_passed(times_[told]);
    };
    for (const Part& part : parts_[number]) {
      tell(part.told_before);
      if (const auto* packet = std::get_if<trace::IbPacket>(&part.what)) {
        share.take(*packet, part.task);
      } else if (const auto* segment = std::get_if<trace::TcpSegment>(&part.what)) {
        share.take(*segment, part.task);
      } else if (const auto* undelivered = std::get_if<trace::Undelivered>(&part.what)) {
        share.take(*undelivered);
      } else if (const auto* serves = std::get_if<Serves>(&part.what)) {
        share.take(*serves);
      } else {
        const auto& of_capture = std::get<Part::OfCapture>(part.what);
        share.of_capture(of_capture.kind, of_capture.frame);
      }
    }
    tell(times_.size());
  }

  /// A frame that comes into it. `hold`: gives what keeps its octets, or nothing.
  template <class Hold>
  void keep(trace::Frame& frame, Hold hold) {
    ++frames_;
    octets_ += frame.octets.size();
    if (frame.octets.empty() || inside(frame.octets)) return;
    if (reader::Octets held = hold()) {
      held_.push_back(std::move(held));
    } else {
      frame.octets = copies_.put(frame.octets);
    }
  }
  /// Octets that stand in no frame.
  [[nodiscard]] wire::Bytes copied(wire::Bytes octets) { return copies_.put(octets); }
  /// All have taken what is theirs.
  void clear() {
    for (auto& parts : parts_) parts.clear();
    times_.clear();
    held_.clear();
    copies_.clear();
    frames_ = octets_ = 0;
  }

  std::size_t awaited = 0;  ///< so many have still to take what is theirs

 private:
  [[nodiscard]] bool inside(wire::Bytes octets) const noexcept {
    if (held_.empty()) return false;
    const auto& held = *held_.back();
    return octets.data() >= held.data() && octets.data() + octets.size() <= held.data() + held.size();
  }

  std::array<std::vector<Part>, trace::Shares::count> parts_;
  std::vector<trace::FrameRef> times_;  ///< that have passed
  std::vector<reader::Octets> held_;
  Copies copies_;
  std::size_t frames_ = 0;
  std::size_t octets_ = 0;
};

}  // namespace rpcrdma::cli
