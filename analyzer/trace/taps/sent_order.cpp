// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/sent_order.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "trace/taps/mark.hpp"

namespace rpcrdma::trace {

struct TapOrder::Impl {
  /// By direction ([up]): how much later this input has what comes from the other side of one of its pairs, at most.
  using Ways = std::map<std::uint64_t, std::array<TimeNs, 2>>;

  struct Input {
    TimeNs most = 0;
    Ways ways;  ///< by route
  };

  void add(std::size_t at, const TapPair& pair, TimeNs takes) {
    Input& input = inputs[at];
    input.most = std::max(input.most, takes);
    for (const auto& [route, low_is_near] : pair.low_is_near) {
      // What the reference is nearer to comes late to the input, and the other way round.
      const bool up = low_is_near == (at == pair.input);
      TimeNs& longest = input.ways[route].at(up ? 1 : 0);
      longest = std::max(longest, takes);
    }
  }

  std::vector<Input> inputs;
  bool cut = false;
  Opened opened;
  taps::Mark mark;
};

TapOrder::TapOrder(const TapClocks& compared) : impl_(std::make_unique<Impl>()) {
  impl_->inputs.resize(compared.clocks.size());
  const auto lacks = [](const TapClock& clock) { return clock.lacks != 0; };
  impl_->cut = !compared.pairs.empty() && std::any_of(compared.clocks.begin(), compared.clocks.end(), lacks);
  for (const TapPair& pair : compared.pairs) {
    // Not all of it: of two copies that stand at the same time that of the nearer tap comes first, whichever was named
    // first. Times are corrected to a nanosecond.
    constexpr TimeNs rounding = 2;
    if (pair.one_way <= rounding) continue;
    impl_->add(pair.input, pair, pair.one_way - rounding);
    impl_->add(pair.reference, pair, pair.one_way - rounding);
  }
}
TapOrder::~TapOrder() = default;

TimeNs TapOrder::most(std::size_t input) const noexcept { return impl_->inputs[input].most; }

TimeNs TapOrder::on_the_way(std::size_t input, const Frame& frame) {
  open_frame(frame, impl_->opened);
  if (!taps::mark_of(impl_->opened, impl_->mark)) return 0;
  const Impl::Ways& ways = impl_->inputs[input].ways;
  const auto way = ways.find(impl_->mark.route);
  return way == ways.end() ? 0 : way->second.at(impl_->mark.up ? 1 : 0);
}

bool TapOrder::cut() const noexcept { return impl_->cut; }

std::uint64_t TapOrder::packet(const Frame& frame) {
  open_frame(frame, impl_->opened);
  return taps::mark_of(impl_->opened, impl_->mark) ? impl_->mark.packet : 0;
}

}  // namespace rpcrdma::trace
