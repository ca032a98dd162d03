// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "trace/taps.hpp"
#include "trace/taps/mark.hpp"
#include "trace/taps/sketch.hpp"

namespace rpcrdma::trace {
namespace {

using taps::Bound;
using taps::Sketch;

/// Two taps that saw a packet.
struct Common {
  TimeNs time = 0;   ///< by the later input's own clock
  TimeNs ahead = 0;  ///< of that clock, and how long the packet took, or less
  bool up = false;
};

/// The nearer tap sees a packet first: whose packets make the second clock seem farther ahead? Nothing: they all go one
/// way.
[[nodiscard]] std::optional<bool> low_is_near(std::vector<Common>& commons) {
  std::sort(commons.begin(), commons.end(), [](const Common& a, const Common& b) { return a.time < b.time; });
  // Neighbours, so that the drift of the clocks does not matter.
  std::vector<TimeNs> apart;
  for (std::size_t i = 1; i < commons.size(); ++i) {
    if (commons[i].up == commons[i - 1].up) continue;
    const Common& up = commons[commons[i].up ? i : i - 1];
    const Common& down = commons[commons[i].up ? i - 1 : i];
    apart.push_back(up.ahead - down.ahead);
  }
  if (apart.empty()) return std::nullopt;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return *middle >= 0;
}

}  // namespace

TimeNs TapClock::corrected(TimeNs own) const noexcept {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(own) - static_cast<std::uint64_t>(ahead.at(own)));
}

struct TapSurvey::Impl {
  static constexpr std::size_t most_ways = 4096;
  static constexpr std::size_t most_references = 8;
  static constexpr std::ptrdiff_t least_share = 8;
  static constexpr std::ptrdiff_t many = 64;
  static constexpr std::uint64_t few = 3;  ///< positions may meet by chance: the same hosts at another time

  using Entries = std::vector<const Sketch::Entry*>;
  using Routes = std::map<std::uint64_t, std::vector<Common>>;
  struct Way {
    std::uint32_t queue_pair = 0;
    bool several = false;
  };

  void frame(std::size_t input, const Frame& frame) {
    if (frame.ref.time == 0) return;  // no time
    TapClock& clock = all.at(input);
    clock.first = std::min(clock.first.value_or(frame.ref.time), frame.ref.time);
    clock.last = std::max(clock.last.value_or(frame.ref.time), frame.ref.time);
    open_frame(frame, opened);
    taps::Mark mark;
    if (!taps::mark_of(opened, mark)) return;
    packets.see(mark.packet, mark.route, mark.up, input, false, frame.ref.time);
    if (mark.queue_pair != 0 && mark.carries != 0) remember(mark);
    if (mark.carries != 0) arrivals.see(mark.carries, mark.route, mark.up, input, false, frame.ref.time);
    if (mark.acknowledges != 0) arrivals.see(mark.acknowledges, mark.route, !mark.up, input, true, frame.ref.time);
  }

  /// PSNs of several queue pairs between the same hosts cannot be told apart in one of their directions.
  void remember(const taps::Mark& mark) {
    const auto key = std::pair(mark.route, mark.up);
    const auto known = ways.find(key);
    if (known != ways.end()) {
      known->second.several = known->second.several || known->second.queue_pair != mark.queue_pair;
    } else if (ways.size() < most_ways) {
      ways[key] = {mark.queue_pair, false};
    }
  }
  [[nodiscard]] bool several(std::uint64_t route, bool up) const {
    const auto known = ways.find({route, up});
    return known != ways.end() && known->second.several;
  }

  /// What each input saw itself, so that two of them are compared by what one of them holds.
  static void sort_by_input(const Sketch& sketch, std::vector<Entries>& into) {
    for (const auto& [key, entry] : sketch.entries()) {
      std::size_t last = into.size();
      for (const Sketch::Seen& seen : entry.seen) {
        if (seen.input != last) into[seen.input].push_back(&entry);
        last = seen.input;
      }
    }
  }
  /// The first inputs before this one that saw something of the same.
  [[nodiscard]] static std::set<std::size_t> references(const Entries& mine, std::size_t input) {
    std::set<std::size_t> found;
    for (const Sketch::Entry* entry : mine) {
      for (std::size_t i = 0; i < std::min(entry->seen.size(), most_references); ++i) {
        if (entry->seen[i].input < input) found.insert(entry->seen[i].input);
      }
      while (found.size() > most_references) found.erase(std::prev(found.end()));
    }
    return found;
  }

  /// A packet that was sent again looks like its first copy, and that two captures hold one each does not make them two
  /// taps: these have a good part of what they saw in common. More is asked of captures that follow on each other, as
  /// the files of one capture do.
  [[nodiscard]] bool too_few(std::size_t reference, std::size_t input, const Routes& common) const {
    const auto on_these = [&](std::size_t of) {
      const auto counts = [&](const Sketch::Entry* e) {
        return e->of(of, false) != nullptr && common.contains(e->route);
      };
      return std::count_if(packets_of[of].begin(), packets_of[of].end(), counts);
    };
    std::ptrdiff_t both = 0;
    for (const auto& [route, commons] : common) both += static_cast<std::ptrdiff_t>(commons.size());
    const auto [fewer, more] = std::minmax({on_these(reference), on_these(input)});
    const TapClock& one = all[reference];
    const TapClock& other = all[input];
    const bool one_after_the_other = one.last <= other.first || other.last <= one.first;
    if (!one_after_the_other || both * 2 >= more) return both * least_share < fewer;
    return both < many || both * 2 < fewer;
  }

  /// How far the clock of `input` is ahead of that of `reference`, which is corrected already.
  [[nodiscard]] bool by_packets(std::size_t reference, std::size_t input) {
    Routes routes;
    std::uint64_t proofs = 0;
    for (const Sketch::Entry* entry : packets_of[input]) {
      const Sketch::Seen* one = entry->of(reference, false);
      const Sketch::Seen* other = entry->of(input, false);
      // Seen more often by one than by the other: which belongs to which?
      if (one == nullptr || other == nullptr || one->times != other->times) continue;
      if (!routes.contains(entry->route) && routes.size() >= most_ways) continue;
      routes[entry->route].push_back({other->first, other->first - all[reference].corrected(one->first), entry->up});
      ++proofs;
    }
    if (routes.empty() || too_few(reference, input, routes)) return false;
    std::vector<Bound> least;
    std::vector<Bound> most;
    TapClock& clock = all[input];
    std::vector<Bound> unplaced;
    for (auto& [route, commons] : routes) {
      const std::optional<bool> low = low_is_near(commons);
      if (low) clock.low_is_near[route] = *low;
      for (const Common& c : commons) (!low ? unplaced : c.up == *low ? most : least).push_back({c.time, c.ahead});
    }
    if (most.empty() && least.empty()) {
      // All go one way, and nobody knows past which tap first: as if past the reference, where no acknowledgement says
      // otherwise.
      for (const auto& [route, commons] : routes) clock.low_is_near[route] = commons.front().up;
      most = std::move(unplaced);
      proven(reference, input, least, most);
    }
    return settle(clock, TapClock::Basis::packets, reference, proofs, std::move(least), std::move(most));
  }

  /// What acknowledges was sent after that had arrived.
  std::uint64_t proven(std::size_t reference, std::size_t input, std::vector<Bound>& least, std::vector<Bound>& most) {
    std::uint64_t proofs = 0;
    for (const Sketch::Entry* entry : arrivals_of[input]) {
      if (several(entry->route, true) || several(entry->route, false)) continue;
      const auto use = [&](std::size_t of, std::size_t by, std::vector<Bound>& into) {
        const Sketch::Seen* thing = entry->of(of, false);
        const Sketch::Seen* answer = entry->of(by, true);
        if (thing == nullptr || answer == nullptr || thing->times != 1) return;
        const Sketch::Seen* mine = of == input ? thing : answer;
        const Sketch::Seen* others = of == input ? answer : thing;
        into.push_back({mine->first, mine->first - all[reference].corrected(others->first)});
        ++proofs;
      };
      use(reference, input, most);
      use(input, reference, least);
    }
    return proofs;
  }

  /// A peer may think as long as it likes before it answers: what lies between such bounds is no measurement. The parts
  /// of one capture have one clock.
  static void keep_if_possible(taps::Line& line) {
    const auto farthest = static_cast<double>(std::max(std::abs(line.at(line.from)), std::abs(line.at(line.to))));
    if (farthest > line.room) return;
    line.uncertainty = line.room + farthest;
    line.base = 0;
    line.offset = line.drift = 0;
  }

  [[nodiscard]] bool settle(TapClock& clock, TapClock::Basis basis, std::size_t reference, std::uint64_t proofs,
                            std::vector<Bound> least, std::vector<Bound> most) const {
    auto line = taps::line_between(std::move(least), std::move(most));
    if (!line) return false;
    if (basis == TapClock::Basis::acknowledgements) keep_if_possible(*line);
    clock.basis = basis;
    clock.reference = reference;
    clock.proofs = proofs;
    clock.ahead = *line;
    if (clock.ahead.room > 0) clock.one_way = static_cast<TimeNs>(clock.ahead.room);
    if (clock.ahead.uncertainty) *clock.ahead.uncertainty += all[reference].ahead.uncertainty.value_or(0);
    return true;
  }

  void compare() {
    packets_of.resize(all.size());
    arrivals_of.resize(all.size());
    sort_by_input(packets, packets_of);
    sort_by_input(arrivals, arrivals_of);
    for (std::size_t i = 1; i < all.size(); ++i) compare(i);
  }
  void compare(std::size_t input) {
    for (const std::size_t reference : references(packets_of[input], input)) {
      if (by_packets(reference, input)) return;
    }
    for (const std::size_t reference : references(arrivals_of[input], input)) {
      std::vector<Bound> least;
      std::vector<Bound> most;
      const std::uint64_t proofs = proven(reference, input, least, most);
      // One after the other, as of a ring: what one lacks is acknowledged in the next, and never the other way round.
      if (least.empty() || most.empty() || proofs < few) continue;
      if (settle(all[input], TapClock::Basis::acknowledgements, reference, proofs, std::move(least), std::move(most))) {
        return;
      }
    }
  }

  std::vector<TapClock> all;
  Sketch packets;
  Sketch arrivals;
  std::vector<Entries> packets_of;
  std::vector<Entries> arrivals_of;
  std::map<std::pair<std::uint64_t, bool>, Way> ways;
  Opened opened;
};

TapSurvey::TapSurvey(std::size_t inputs) : impl_(std::make_unique<Impl>()) { impl_->all.resize(inputs); }
TapSurvey::~TapSurvey() = default;

void TapSurvey::frame(std::size_t input, const Frame& frame) { impl_->frame(input, frame); }

std::vector<TapClock> TapSurvey::clocks() {
  impl_->compare();
  return impl_->all;
}

}  // namespace rpcrdma::trace
