// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/sent_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trace/taps/mark.hpp"

namespace rpcrdma::trace {

struct TapOrder::Impl {
  /// A pair of taps as one of them sees it: how much later it has what comes from the other's side.
  struct Way {
    const std::map<std::uint64_t, bool>* low_is_near = nullptr;
    bool reference = false;
    TimeNs takes = 0;
  };

  std::vector<TapPair> pairs;
  /// An input stands behind those that cut less; whatever the network does to a packet, the whole copy comes first.
  void put_behind(const std::vector<TapClock>& clocks) {
    constexpr TimeNs jitter = 1'000'000;
    constexpr double clearly = 2;
    const auto cut = [&](std::size_t input) {
      const TapClock& clock = clocks[input];
      return clock.packets == 0 ? 0.0 : static_cast<double>(clock.lacks) / static_cast<double>(clock.packets);
    };
    std::vector<std::size_t> by_cut(clocks.size());
    std::iota(by_cut.begin(), by_cut.end(), std::size_t{0});
    std::stable_sort(by_cut.begin(), by_cut.end(), [&](std::size_t a, std::size_t b) { return cut(a) < cut(b); });
    for (const std::size_t input : by_cut) {
      for (const TapPair& pair : pairs) {
        if (pair.input != input && pair.reference != input) continue;
        const std::size_t other = pair.input == input ? pair.reference : pair.input;
        if (cut(input) == 0 || cut(input) < clearly * cut(other)) continue;
        behind[input] = std::max(behind[input], behind[other] + pair.one_way + jitter);
      }
    }
  }

  std::vector<std::vector<Way>> ways;  // by input
  std::vector<TimeNs> behind;          // likewise
  Opened opened;
  taps::Mark mark;
};

TapOrder::TapOrder(TapClocks compared) : impl_(std::make_unique<Impl>()) {
  impl_->pairs = std::move(compared.pairs);
  impl_->ways.resize(compared.clocks.size());
  impl_->behind.resize(compared.clocks.size());
  impl_->put_behind(compared.clocks);
  for (const TapPair& pair : impl_->pairs) {
    if (pair.one_way == 0) continue;
    impl_->ways[pair.input].push_back({&pair.low_is_near, false, pair.one_way});
    impl_->ways[pair.reference].push_back({&pair.low_is_near, true, pair.one_way});
  }
}
TapOrder::~TapOrder() = default;

TimeNs TapOrder::most(std::size_t input) const noexcept {
  TimeNs most = 0;
  for (const Impl::Way& way : impl_->ways[input]) most = std::max(most, way.takes);
  return most;
}

TimeNs TapOrder::on_the_way(std::size_t input, const Frame& frame) {
  open_frame(frame, impl_->opened);
  if (!taps::mark_of(impl_->opened, impl_->mark)) return 0;
  TimeNs longest = 0;
  for (const Impl::Way& way : impl_->ways[input]) {
    const auto side = way.low_is_near->find(impl_->mark.route);
    if (side == way.low_is_near->end()) continue;
    const bool from_reference = impl_->mark.up == side->second;
    if (from_reference != way.reference) longest = std::max(longest, way.takes);
  }
  return longest;
}

TimeNs TapOrder::behind(std::size_t input) const noexcept { return impl_->behind[input]; }

}  // namespace rpcrdma::trace
