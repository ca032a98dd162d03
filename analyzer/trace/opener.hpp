// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: what is done with every frame, in the order of the capture, before anybody asks which connection it
// belongs to.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/link/fragments.hpp"
#include "trace/link/open_frame.hpp"
#include "trace/networks.hpp"
#include "trace/sightings.hpp"
#include "trace/spans.hpp"
#include "trace/trace.hpp"
#include "trace/two_ways.hpp"

namespace rpcrdma::trace {

class Opener {
 public:
  /// What the transports have to do with the packet.
  enum class Task : std::uint8_t {
    nothing,
    take,
    copy,  ///< it was here before, by another way
  };

  // Asked for each frame: they stand here for speed.
  /// Before anything else is done with the frame. True: some time has passed since it was true before, by the clock of
  /// all frames, and what waits for nothing but time is to be told so.
  [[nodiscard]] bool time_passed(FrameRef frame) noexcept {
    // Neither long behind that, nor set back: one comparison, where numbers below 0 are large ones.
    const std::uint64_t ahead = static_cast<std::uint64_t>(frame.time) - static_cast<std::uint64_t>(last_told_);
    constexpr std::uint64_t slack{time_slack};
    if (ahead + slack <= slack + std::uint64_t{two_taps_apart} || frame.time == 0) [[likely]] {
      return false;
    }
    return std::exchange(last_told_, frame.time) != 0;
  }
  /// First this: opened() is then what the frame holds. False: its time lies long before its predecessor's.
  bool open(const Frame& frame) {
    ++statistics_.frames;
    const bool good = in_time(frame.ref);
    if (frame.ref.time == 0 && last_time_ != 0) [[unlikely]] {
      open_untimed(frame);
      return good;
    }
    last_ = frame.ref;
    open_frame(frame, opened_, &fragments_);
    return good;
  }
  /// Then this. `shown`: another tap has shown the packet already.
  [[nodiscard]] Task task(bool shown = false) {
    no_room_ = !networks_.place(opened_);
    if (opened_.frame_cut) ++statistics_.truncated_frames;
    switch (opened_.content) {
      case Content::infiniband:
        ++statistics_.rdma_frames;
        if (shown) return Task::nothing;
        return two_ways_.copy(opened_.ib) ? Task::copy : Task::take;
      case Content::tcp:
        sightings_.note(opened_.tcp.source, last_);
        if (shown) return Task::nothing;
        return two_ways_.copy(opened_.tcp) ? Task::copy : Task::take;
      case Content::undelivered:
        see_sender();
        return Task::take;
      case Content::nothing:
      case Content::tunnel:
      case Content::unknown_link:
        break;
    }
    see_sender();
    count_closed();
    return Task::nothing;
  }
  /// More networks use these addresses than are told apart: said once.
  [[nodiscard]] bool no_room() const noexcept { return no_room_; }
  /// What was opened was put together out of several frames, and stands in none of them.
  [[nodiscard]] bool joined() const noexcept { return fragments_.joined_any(); }

  [[nodiscard]] const Opened& opened() const noexcept { return opened_; }
  [[nodiscard]] FrameRef last() const noexcept { return last_; }

  /// A TCP segment turned out to be iWARP's.
  void carried_rdma(std::uint64_t frames = 1) noexcept { statistics_.rdma_frames += frames; }
  /// The capture is over.
  void finish();
  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
  /// Who sent something that is not RoCE.
  [[nodiscard]] const Sightings& sightings() const noexcept { return sightings_; }

 private:
  /// How far a frame's time may lie before its predecessor's without a word. A capture over several queues or
  /// processors is out of order by milliseconds; more than this is a clock that was set, or files in the wrong order.
  static constexpr TimeNs time_slack = 1'000'000'000;

  /// 0 stands for "no time": some formats have packets without one.
  [[nodiscard]] bool in_time(FrameRef frame) noexcept {
    if (frame.time == 0) return true;
    const TimeNs before = std::exchange(last_time_, frame.time);
    return before == 0 || !set_back(before, frame.time);
  }
  [[nodiscard]] static bool set_back(TimeNs before, TimeNs now) noexcept { return passed(now, before, time_slack); }
  /// Among frames that have a time: it was captured when the newest of these was, or later.
  void open_untimed(Frame frame);
  void see_sender() {
    if (opened_.sender.kind != Address::Kind::none) sightings_.note(opened_.sender, last_);
  }
  void count_closed();
  void count_not_opened(NotOpened what, std::uint64_t frames = 1);

  Opened opened_;  // one for all frames
  Fragments fragments_;
  Networks networks_;
  TwoWays two_ways_;
  Sightings sightings_;
  Statistics statistics_;
  FrameRef last_;
  TimeNs last_time_ = 0;
  TimeNs last_told_ = 0;  ///< 0: none yet
  bool no_room_ = false;
};

}  // namespace rpcrdma::trace
