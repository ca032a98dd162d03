// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "trace/spans.hpp"
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
  std::uint64_t position = 0;  ///< in the later input, and in the other
  std::uint64_t other_position = 0;
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
    apart.push_back(minus(up.ahead, down.ahead));
  }
  if (apart.empty()) return std::nullopt;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return *middle >= 0;
}

}  // namespace

std::vector<TimeNs> TapClock::steps_by() const {
  std::vector<TimeNs> out;
  const taps::Line* before = &ahead;
  for (const taps::Stretch& step : steps) {
    out.push_back(minus(step.ahead.at(step.ahead.from), before->at(before->to)));
    before = &step.ahead;
  }
  return out;
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

  /// What a capture tells of its clock without the others.
  struct Own {
    struct SetBack {
      std::uint64_t position = 0;  ///< of the first packet behind it
      TimeNs by = 0;
    };
    static constexpr std::size_t most_set_back = 64;

    void see(TimeNs time, std::uint64_t position) {
      constexpr TimeNs out_of_order = 100'000;
      const TimeNs before = std::exchange(last, time);
      if (before == 0 || time >= before - out_of_order || set_back.size() >= most_set_back) return;
      set_back.push_back({position, before - time});
    }

    std::uint64_t packets = 0;
    TimeNs last = 0;
    std::vector<SetBack> set_back;
  };

  void frame(std::size_t input, const Frame& frame) {
    const std::uint64_t position = ++own.at(input).packets;
    if (frame.ref.time == 0) return;  // no time
    TapClock& clock = all.at(input);
    own[input].see(frame.ref.time, position);
    clock.first = std::min(clock.first.value_or(frame.ref.time), frame.ref.time);
    clock.last = std::max(clock.last.value_or(frame.ref.time), frame.ref.time);
    open_frame(frame, opened);
    taps::Mark mark;
    if (!taps::mark_of(opened, mark)) return;
    if (frame.wire_length > frame.octets.size()) clock.lacks += frame.wire_length - frame.octets.size();
    packets.see(mark.packet, mark.route, mark.up, input, false, frame.ref.time, position);
    if (mark.queue_pair != 0 && mark.carries != 0) remember(mark);
    if (mark.carries != 0) arrivals.see(mark.carries, mark.route, mark.up, input, false, frame.ref.time, position);
    if (mark.acknowledges != 0)
      arrivals.see(mark.acknowledges, mark.route, !mark.up, input, true, frame.ref.time, position);
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
  /// With which others an input is compared: for each of the two the first ones that saw something of the same.
  using Others = std::vector<std::set<std::size_t>>;
  [[nodiscard]] static Others others(const std::vector<Entries>& of) {
    Others all(of.size());
    for (std::size_t input = 0; input < of.size(); ++input) {
      std::set<std::size_t> found;
      for (const Sketch::Entry* entry : of[input]) {
        for (std::size_t i = 0; i < std::min(entry->seen.size(), most_references + 1); ++i) {
          if (entry->seen[i].input != input) found.insert(entry->seen[i].input);
        }
        while (found.size() > most_references) found.erase(std::prev(found.end()));
      }
      for (const std::size_t other : found) {
        all[input].insert(other);
        all[other].insert(input);
      }
    }
    return all;
  }

  /// As the files of one capture are. By the clock of the reference, so far as what both saw tells of the other's: the
  /// time until a packet was sent again makes two files seem to overlap, but not by a good part of what they hold.
  [[nodiscard]] bool one_after_the_other(std::size_t reference, std::size_t input, const Routes& common) const {
    std::vector<TimeNs> ahead;
    for (const auto& [route, commons] : common) {
      for (const Common& c : commons) ahead.push_back(c.ahead);
    }
    const auto middle = ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() / 2);
    std::nth_element(ahead.begin(), middle, ahead.end());
    const TapClock& one = all[reference];
    const TapClock& other = all[input];
    const TimeNs one_first = one.corrected_first();
    const TimeNs one_last = one.corrected_last();
    const TimeNs other_first = minus(*other.first, *middle);
    const TimeNs other_last = minus(*other.last, *middle);
    const TimeNs together = minus(std::min(one_last, other_last), std::max(one_first, other_first));
    return together <= std::min(minus(one_last, one_first), minus(other_last, other_first)) / least_share;
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
    if (!one_after_the_other(reference, input, common) || both * 2 >= more) return both * least_share < fewer;
    return both < many || both * 2 < fewer;
  }

  /// What both saw, with the clock of `input` as it is, or corrected as that of `reference` is already.
  [[nodiscard]] Routes common(std::size_t reference, std::size_t input, bool corrected, std::uint64_t& proofs) const {
    Routes routes;
    for (const Sketch::Entry* entry : packets_of[input]) {
      const Sketch::Seen* one = entry->of(reference, false);
      const Sketch::Seen* other = entry->of(input, false);
      // Seen more often by one than by the other: which belongs to which?
      if (one == nullptr || other == nullptr || one->times != other->times) continue;
      if (!routes.contains(entry->route) && routes.size() >= most_ways) continue;
      const TimeNs time = corrected ? all[input].corrected(other->first, other->position) : other->first;
      const TimeNs here = all[reference].corrected(one->first, one->position);
      routes[entry->route].push_back({time, minus(time, here), entry->up, other->position, one->position});
      ++proofs;
    }
    return routes;
  }

  /// Around a step: the last packet before it that both hold, and the first one behind.
  struct Around {
    std::optional<Common> before;
    std::optional<Common> first;
  };
  [[nodiscard]] static Around around(const taps::Stretch& step, const Routes& routes) {
    Around found;
    for (const auto& [route, commons] : routes) {
      for (const Common& c : commons) {
        if (c.position == step.before) found.before = c;
        if (c.position == step.first) found.first = c;
      }
    }
    return found;
  }

  /// Did the times of the root of all go back there? Then the input's clock was not set forward, but the root's back.
  [[nodiscard]] std::optional<taps::Stretch> set_back(std::size_t root, const Around& step, TimeNs by) const {
    const std::uint64_t from = step.before ? step.before->other_position : 0;
    const std::uint64_t to = step.first ? step.first->other_position : UINT64_MAX;
    const std::vector<taps::Stretch>& before = all[root].steps;
    for (const Own::SetBack& back : own[root].set_back) {
      const bool there = back.position > from && back.position <= to;
      const bool known = !before.empty() && before.back().first >= back.position;
      // Time went on meanwhile, so that the times go back by less.
      if (!there || known || back.by > plus(by, by / 8)) continue;
      taps::Stretch set;
      set.before = back.position - 1;
      set.first = back.position;
      return set;
    }
    return std::nullopt;
  }

  /// The input's clock seems to be set back, and its times went on: the root's may have been set forward as well. No
  /// more time is proven to have passed than the one says that saw less of it.
  [[nodiscard]] std::optional<taps::Stretch> set_forward(std::size_t root, std::size_t input, const Around& step,
                                                         TimeNs by) const {
    if (!step.before || !step.first || step.first->time < step.before->time) return std::nullopt;
    const auto goes_back = [&](const Own::SetBack& back) {
      return back.position > step.before->position && back.position <= step.first->position;
    };
    if (std::any_of(own[input].set_back.begin(), own[input].set_back.end(), goes_back)) return std::nullopt;
    const std::vector<taps::Stretch>& before = all[root].steps;
    taps::Stretch set;
    set.before = step.before->other_position;
    set.first = step.first->other_position;
    if (set.first <= set.before || (!before.empty() && before.back().first > set.before)) return std::nullopt;
    // `ahead` is by the root's clock as it is corrected so far.
    set.before_time = minus(step.before->time, step.before->ahead);
    set.first_time = minus(minus(step.first->time, step.first->ahead), by);
    return set;
  }

  /// The clock of the input seems to have been set: or was that of the root of all? True: it was, and is corrected now.
  [[nodiscard]] bool root_was_set(std::size_t reference, std::size_t input, const Routes& routes) {
    constexpr std::size_t most_steps = 16;
    TapClock& root = all[reference];
    if (root.basis != TapClock::Basis::none || root.steps.size() >= most_steps) return false;
    const std::vector<TimeNs> by = all[input].steps_by();
    for (std::size_t i = 0; i < by.size(); ++i) {
      const Around step = around(all[input].steps[i], routes);
      auto set = by[i] < 0 ? set_forward(reference, input, step, minus(0, by[i])) : set_back(reference, step, by[i]);
      if (!set) continue;
      set->ahead.base = minus(root.steps.empty() ? 0 : root.steps.back().ahead.base, by[i]);
      root.steps.push_back(*set);
      return true;
    }
    return false;
  }

  /// How far the clock of `input` is ahead of that of `reference`, which is corrected already.
  [[nodiscard]] bool by_packets(std::size_t reference, std::size_t input) {
    const bool known = compare_packets(reference, input);
    if (known && !all[input].steps.empty()) {
      std::uint64_t proofs = 0;
      while (root_was_set(reference, input, common(reference, input, false, proofs))) {
        pairs.pop_back();
        static_cast<void>(compare_packets(reference, input));
      }
    }
    return known;
  }

  [[nodiscard]] bool compare_packets(std::size_t reference, std::size_t input) {
    std::uint64_t proofs = 0;
    Routes routes = common(reference, input, false, proofs);
    if (routes.empty() || too_few(reference, input, routes)) return false;
    TapPair pair{reference, input, {}, 0};
    std::vector<Bound> least;
    std::vector<Bound> most;
    std::vector<Bound> unplaced;
    for (auto& [route, commons] : routes) {
      const std::optional<bool> low = low_is_near(commons);
      if (low) pair.low_is_near[route] = *low;
      for (const Common& c : commons)
        (!low ? unplaced : c.up == *low ? most : least).push_back({c.time, c.ahead, c.position});
    }
    if (most.empty() && least.empty()) {
      // All go one way, and nobody knows past which tap first: as if past the reference, where no acknowledgement says
      // otherwise.
      for (const auto& [route, commons] : routes) pair.low_is_near[route] = commons.front().up;
      most = std::move(unplaced);
      proven(reference, input, least, most);
    }
    if (!settle(all[input], TapClock::Basis::packets, reference, proofs, least, most)) return false;
    double room = all[input].ahead.room;
    for (const taps::Stretch& step : all[input].steps) {
      if (step.ahead.uncertainty) room = std::min(room, step.ahead.room);
    }
    pair.one_way = static_cast<TimeNs>(std::max(0.0, room));
    pairs.push_back(std::move(pair));
    return true;
  }

  /// Both clocks are known by those of others: which of the two is nearer to whom?
  [[nodiscard]] bool pair_up(std::size_t reference, std::size_t input) {
    std::uint64_t proofs = 0;
    Routes routes = common(reference, input, true, proofs);
    if (routes.empty() || too_few(reference, input, routes)) return false;
    TapPair pair{reference, input, {}, 0};
    std::optional<TimeNs> least;
    std::optional<TimeNs> most;
    for (auto& [route, commons] : routes) {
      const auto later = [](const Common& c) { return c.ahead >= 0; };
      const bool low = low_is_near(commons).value_or(commons.front().up == later(commons.front()));
      pair.low_is_near[route] = low;
      for (const Common& c : commons) {
        if (c.up == low) {
          most = std::min(most.value_or(c.ahead), c.ahead);
        } else {
          least = std::max(least.value_or(c.ahead), c.ahead);
        }
      }
    }
    if (least && most) pair.one_way = std::max(TimeNs{0}, minus(*most, *least) / 2);
    pairs.push_back(std::move(pair));
    return true;
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
        into.push_back(
            {mine->first, mine->first - all[reference].corrected(others->first, others->position), mine->position});
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
                            const std::vector<Bound>& least, const std::vector<Bound>& most) const {
    std::vector<taps::Stretch> stretches = taps::stretches_between(least, most);
    if (stretches.empty()) return false;
    if (basis == TapClock::Basis::acknowledgements && stretches.size() == 1) keep_if_possible(stretches.front().ahead);
    clock.basis = basis;
    clock.reference = reference;
    clock.proofs = proofs;
    for (taps::Stretch& stretch : stretches) {
      if (stretch.ahead.uncertainty) *stretch.ahead.uncertainty += all[reference].ahead.uncertainty.value_or(0);
    }
    clock.ahead = stretches.front().ahead;
    clock.steps.assign(stretches.begin() + 1, stretches.end());
    return true;
  }

  /// One after the other, as of a ring: what one lacks is acknowledged in the next, and never the other way round.
  [[nodiscard]] bool by_acknowledgements(std::size_t reference, std::size_t input) {
    std::vector<Bound> least;
    std::vector<Bound> most;
    const std::uint64_t proofs = proven(reference, input, least, most);
    if (least.empty() || most.empty() || proofs < few) return false;
    return settle(all[input], TapClock::Basis::acknowledgements, reference, proofs, least, most);
  }

  /// From the first input on, each is compared with one whose clock is known already, in whatever order they were
  /// named: a tree. What has nothing in common with any of them begins another one. At last every two that saw the same
  /// packets, wherever they stand.
  void compare() {
    packets_of.resize(all.size());
    arrivals_of.resize(all.size());
    sort_by_input(packets, packets_of);
    sort_by_input(arrivals, arrivals_of);
    const Others by_packet = others(packets_of);
    const Others by_arrival = others(arrivals_of);
    std::vector<bool> known(all.size());
    std::set<std::pair<std::size_t, std::size_t>> paired;
    std::set<std::pair<std::size_t, std::size_t>> asked;
    std::vector<std::size_t> tree;
    const auto grow = [&](std::size_t from) {
      for (std::size_t next = from; next < tree.size(); ++next) {
        for (const std::size_t other : by_packet[tree[next]]) {
          if (known[other] || !paired.insert(std::minmax(tree[next], other)).second) continue;
          known[other] = by_packets(tree[next], other);
          if (known[other]) tree.push_back(other);
        }
      }
    };
    const auto reached_by_acknowledgements = [&] {
      for (const std::size_t one : tree) {
        for (const std::size_t other : by_arrival[one]) {
          if (known[other] || !asked.insert({one, other}).second || !by_acknowledgements(one, other)) continue;
          known[other] = true;
          tree.push_back(other);
          return true;
        }
      }
      return false;
    };
    for (std::size_t root = 0; root < all.size(); ++root) {
      if (known[root]) continue;
      known[root] = true;
      tree.assign(1, root);
      grow(0);
      while (reached_by_acknowledgements()) grow(tree.size() - 1);
    }
    std::vector<std::size_t> partners(all.size());
    for (const TapPair& pair : pairs) ++partners[pair.reference], ++partners[pair.input];
    for (std::size_t one = 0; one < all.size(); ++one) {
      for (const std::size_t other : by_packet[one]) {
        if (other < one || partners[one] >= most_references || partners[other] >= most_references) continue;
        if (paired.insert({one, other}).second && pair_up(one, other)) ++partners[one], ++partners[other];
      }
    }
  }

  std::vector<TapClock> all;
  std::vector<Own> own;  // by input
  std::vector<TapPair> pairs;
  Sketch packets;
  Sketch arrivals;
  std::vector<Entries> packets_of;
  std::vector<Entries> arrivals_of;
  std::map<std::pair<std::uint64_t, bool>, Way> ways;
  Opened opened;
};

TapSurvey::TapSurvey(std::size_t inputs) : impl_(std::make_unique<Impl>()) {
  impl_->all.resize(inputs);
  impl_->own.resize(inputs);
}
TapSurvey::~TapSurvey() = default;

void TapSurvey::frame(std::size_t input, const Frame& frame) { impl_->frame(input, frame); }

TapClocks TapSurvey::compared() {
  impl_->compare();
  return {std::move(impl_->all), std::move(impl_->pairs)};
}

}  // namespace rpcrdma::trace
