// SPDX-License-Identifier: GPL-2.0-or-later
// The second reading: which packets each of two taps has, and how long they took from one to the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trace/taps.hpp"
#include "trace/taps/cover.hpp"
#include "trace/taps/mark.hpp"
#include "trace/taps/sample.hpp"

namespace rpcrdma::trace::taps {

/// How long packets took lately, by the frame number of their first copy: that of the tap near their sender as a rule,
/// but not where a longer one took its place, or where it came as late as the least way is long.
class OneWays {
 public:
  void add(std::uint64_t frame, TimeNs one_way, bool seen_far) {
    Recent& recent = recent_[frame % most];
    if (recent.frame != frame) recent = {frame, {}};
    TimeNs& side = seen_far ? recent.way.before : recent.way.after;
    side = std::max(side, one_way);
  }
  /// Empty: not known (any more).
  [[nodiscard]] std::optional<TapWay> of(std::uint64_t frame) const noexcept {
    const Recent& recent = recent_[frame % most];
    if (frame == 0 || recent.frame != frame) return std::nullopt;
    return recent.way;
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 16U;
  struct Recent {
    std::uint64_t frame = 0;
    TapWay way;
  };
  std::vector<Recent> recent_ = std::vector<Recent>(most);
};

/// Two inputs. Times are those of one clock.
class Pair {
 public:
  Pair(const TapPair& pair, const std::vector<TapClock>& clocks);

  struct Times {
    TimeNs from = 0;
    TimeNs to = 0;
  };
  /// While one of the two ran, and with as much more as a copy may come earlier or later: only what the other one saw
  /// then is compared.
  [[nodiscard]] Times ran(std::size_t input) const noexcept;
  [[nodiscard]] const TapPair& inputs() const noexcept { return pair_; }
  /// As if it had never been seen by both.
  void leave_out(std::uint64_t route) { pair_.low_is_near.erase(route); }

  /// True: the other tap has shown this packet already, and so its way is known.
  [[nodiscard]] bool packet(std::size_t input, const Mark& mark, FrameRef ref, OneWays& one_ways);
  /// Nothing more comes, or nothing that counts.
  void finish();

  /// `rdma`: flows of RDMA connections; others do not matter.
  void routes(const std::set<std::uint64_t>& rdma, std::vector<TapRoute>& into) const;

 private:
  /// So long it may take until a packet is sent again; that of TCP takes longer each time.
  static constexpr TimeNs window = 60'000'000'000;
  static constexpr std::size_t most_waiting = std::size_t{1} << 16U;
  static constexpr std::size_t most_in_place = 32;
  static constexpr std::size_t most_flows = 4096;

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
    std::array<TapPath, 2> paths;
    std::array<std::array<Cover, 2>, 2> covers;  ///< by tap
  };

  [[nodiscard]] Flow* flow_of(std::uint64_t flow, std::uint64_t route);
  void give_up(TimeNs now);
  void alone(const Packet& packet);

  TapPair pair_;
  std::array<TapClock, 2> clocks_;
  TimeNs slack_ = 0;
  std::map<std::uint64_t, std::vector<Packet>> packets_;  // by place
  std::deque<Waiting> waiting_;
  std::map<std::uint64_t, Route> routes_;
  std::map<std::uint64_t, Flow> flows_;
};

}  // namespace rpcrdma::trace::taps
