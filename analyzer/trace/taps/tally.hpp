// SPDX-License-Identifier: GPL-2.0-or-later
// The second reading: which packets each of two taps has, and how long they took from one to the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/taps.hpp"
#include "trace/taps/cover.hpp"
#include "trace/taps/mark.hpp"
#include "trace/taps/sample.hpp"

namespace rpcrdma::trace::taps {

/// Two inputs. Times are those of one clock.
class Pair {
 public:
  /// `near`, `far`: as in TapClock, the reference and the input that was compared with it.
  Pair(std::size_t near, std::size_t far, const TapClock& near_clock, const TapClock& far_clock);

  [[nodiscard]] bool has(std::size_t input) const noexcept { return input == inputs_[0] || input == inputs_[1]; }
  /// True: the other tap has shown this packet already.
  [[nodiscard]] bool packet(std::size_t input, const Mark& mark, FrameRef ref);
  /// It belongs to an RDMA connection, and so does all of its flow.
  void rdma(std::uint64_t flow);
  void finish();

  void routes(std::vector<TapRoute>& into) const;
  /// How long the packet took whose first copy had this frame number; empty: not known (any more).
  [[nodiscard]] std::optional<TimeNs> one_way(std::uint64_t frame) const noexcept;

 private:
  /// So long it may take until a packet is sent again; that of TCP takes longer each time.
  static constexpr TimeNs window = 60'000'000'000;
  static constexpr std::size_t most_waiting = std::size_t{1} << 16U;
  static constexpr std::size_t most_flows = 4096;
  static constexpr std::size_t most_recent = std::size_t{1} << 16U;

  struct Packet {
    std::uint64_t packet = 0;
    FrameRef ref;
    std::uint64_t flow = 0;
    std::uint64_t route = 0;
    std::uint32_t sequence = 0;
    std::uint32_t octets = 0;
    bool second = false;  ///< the second tap's
    bool up = false;
    bool bare = false;
    bool again = false;  ///< sent again
  };
  struct Waiting {
    std::uint64_t place = 0;
    FrameRef ref;
  };
  /// By direction: [up].
  struct Route {
    Address low;
    Address high;
    bool low_is_near = true;
    std::array<Sample, 2> one_way;
  };
  struct Flow {
    std::uint64_t route = 0;
    bool rdma = false;
    std::array<TapPath, 2> paths;
    std::array<std::array<Cover, 2>, 2> covers;  ///< by tap
  };
  struct Recent {
    std::uint64_t frame = 0;
    TimeNs one_way = 0;
  };

  [[nodiscard]] Flow* flow_of(std::uint64_t flow, std::uint64_t route);
  void give_up(TimeNs now);
  void alone(const Packet& packet);

  std::array<std::size_t, 2> inputs_;
  std::array<TapClock, 2> clocks_;
  TimeNs slack_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Packet>> packets_;  // by place
  std::deque<Waiting> waiting_;
  std::unordered_map<std::uint64_t, Route> routes_;
  std::unordered_map<std::uint64_t, Flow> flows_;
  std::vector<Recent> recent_;
};

}  // namespace rpcrdma::trace::taps
