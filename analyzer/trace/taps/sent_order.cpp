// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/sent_order.hpp"

#include <algorithm>
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
  std::vector<std::vector<Way>> ways;  // by input
  bool cut = false;
  Opened opened;
  taps::Mark mark;
};

TapOrder::TapOrder(TapClocks compared) : impl_(std::make_unique<Impl>()) {
  impl_->pairs = std::move(compared.pairs);
  impl_->ways.resize(compared.clocks.size());
  const auto lacks = [](const TapClock& clock) { return clock.lacks != 0; };
  impl_->cut = !impl_->pairs.empty() && std::any_of(compared.clocks.begin(), compared.clocks.end(), lacks);
  for (const TapPair& pair : impl_->pairs) {
    // Not all of it: of two copies that stand at the same time that of the nearer tap comes first, whichever was named
    // first. Times are corrected to a nanosecond.
    constexpr TimeNs rounding = 2;
    if (pair.one_way <= rounding) continue;
    impl_->ways[pair.input].push_back({&pair.low_is_near, false, pair.one_way - rounding});
    impl_->ways[pair.reference].push_back({&pair.low_is_near, true, pair.one_way - rounding});
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

bool TapOrder::cut() const noexcept { return impl_->cut; }

std::uint64_t TapOrder::packet(const Frame& frame) {
  open_frame(frame, impl_->opened);
  return taps::mark_of(impl_->opened, impl_->mark) ? impl_->mark.packet : 0;
}

}  // namespace rpcrdma::trace
