// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/taps/tally.hpp"
#include "trace/spans.hpp"
#include "trace/taps/together.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace rpcrdma::trace::taps {

Pair::Pair(const TapPair& pair, const std::vector<TapClock>& clocks)
    : pair_(pair), clocks_{clocks[pair.reference], clocks[pair.input]} {
  constexpr TimeNs jitter = 100'000;
  // The clock that was compared last knows least.
  slack_ = jitter;
  for (const TapClock& clock : clocks_) {
    const auto allow = [&](const Line& line) {
      slack_ = std::max(slack_, jitter + static_cast<TimeNs>(std::llround(line.uncertainty.value_or(0))));
    };
    allow(clock.ahead);
    for (const Stretch& step : clock.steps) allow(step.ahead);
  }
}

Pair::Times Pair::ran(std::size_t input) const noexcept {
  const TapClock& clock = clocks_[input == pair_.input ? 1 : 0];
  if (!clock.first || !clock.last) return {1, 0};
  const TimeNs around = plus(plus(slack_, change_of_places), pair_.one_way);
  return {minus(clock.corrected_first(), around), plus(clock.corrected_last(), around)};
}

bool Pair::packet(std::size_t input, const Mark& mark, FrameRef ref, OneWays& one_ways) {
  const auto side = pair_.low_is_near.find(mark.route);
  if (side == pair_.low_is_near.end()) return false;  // never seen by both
  give_up(ref.time);
  Route& route = routes_[mark.route];
  if (route.low.kind == Address::Kind::none) {
    route.low = mark.low;
    route.high = mark.high;
    route.low_is_near = side->second;
  }
  const bool second = input == pair_.input;
  // The tap nearer to its sender sees a packet first.
  const bool first_tap_first = mark.up == route.low_is_near;
  const std::size_t direction = mark.up ? 1 : 0;
  Flow* flow = flow_of(mark.flow, mark.route);
  bool cut_anew = false;
  if (flow != nullptr && mark.octets != 0) {
    Cover& mine = flow->covers[second ? 1 : 0][direction];
    const Cover& others = flow->covers[second ? 0 : 1][direction];
    cut_anew = !mine.has(mark.sequence, mark.octets) && others.has(mark.sequence, mark.octets);
    mine.add(mark.sequence, mark.octets);
  }
  std::vector<Packet>& here = packets_[mark.place];
  Packet* partner = nullptr;
  TimeNs took = 0;
  for (Packet& p : here) {
    const bool same = p.packet == mark.packet;
    if (p.second == second || !same) {
      // Of segments that are cut anew on the way one may well lie where another lay.
      if (p.second == second || mark.octets == 0) p.again = true;
      continue;
    }
    const TimeNs apart = second == first_tap_first ? minus(ref.time, p.ref.time) : minus(p.ref.time, ref.time);
    if (apart < -slack_ || (partner != nullptr && apart >= took)) continue;
    partner = &p;
    took = apart;
  }
  if (partner == nullptr && cut_anew) {
    if (here.empty()) packets_.erase(mark.place);
    ++flow->paths[direction].recut;
    return true;
  }
  if (partner == nullptr) {
    if (here.size() >= most_in_place) {
      alone(here.front());
      here.erase(here.begin());
    }
    here.push_back(
        {mark.packet, ref, mark.flow, mark.route, mark.sequence, mark.octets, second, mark.up, mark.bare, false});
    waiting_.push_back({mark.place, ref});
    return false;
  }
  route.one_way[direction].add(static_cast<double>(took));
  one_ways.add(partner->ref.number, took, second != first_tap_first);
  if (flow != nullptr) ++flow->paths[direction].both;
  if (here.size() == 1) {
    packets_.erase(mark.place);
  } else {
    *partner = here.back();
    here.pop_back();
  }
  return true;
}

Pair::Flow* Pair::flow_of(std::uint64_t flow, std::uint64_t route) {
  const auto known = flows_.find(flow);
  if (known != flows_.end()) return &known->second;
  if (flows_.size() >= most_flows) return nullptr;
  Flow& fresh = flows_[flow];
  fresh.route = route;
  return &fresh;
}

void Pair::give_up(TimeNs now) {
  while (!waiting_.empty() && (waiting_.size() > most_waiting || minus(now, waiting_.front().ref.time) > window)) {
    const Waiting oldest = waiting_.front();
    waiting_.pop_front();
    const auto at = packets_.find(oldest.place);
    if (at == packets_.end()) continue;
    for (Packet& p : at->second) {
      if (p.ref.number != oldest.ref.number) continue;
      alone(p);
      p = at->second.back();
      at->second.pop_back();
      break;
    }
    if (at->second.empty()) packets_.erase(at);
  }
}

void Pair::alone(const Packet& packet) {
  const Route& route = routes_[packet.route];
  const std::size_t direction = packet.up ? 1 : 0;
  const bool first_tap_first = packet.up == route.low_is_near;
  const bool by_nearer = packet.second != first_tap_first;
  // Was the other capture running when it passed there?
  const double least = route.one_way[direction].min();
  const TimeNs there = plus(packet.ref.time, std::llround(by_nearer ? least : -least));
  const TapClock& other = clocks_[packet.second ? 0 : 1];
  if (!other.first || there < other.corrected_first() || there > other.corrected_last()) return;
  Flow* flow = flow_of(packet.flow, packet.route);
  if (flow == nullptr) return;
  TapPath& path = flow->paths[direction];
  const Cover& others = flow->covers[packet.second ? 0 : 1][direction];
  if (packet.octets != 0 && !packet.again && others.has(packet.sequence, packet.octets)) {
    ++path.recut;
  } else if (!by_nearer) {
    ++path.missed_near;
  } else if (packet.bare) {
    ++path.missed_far_bare;
  } else if (packet.again) {
    ++path.lost;
  } else {
    ++path.missed_far;
  }
}

void Pair::finish() {
  for (const auto& [place, here] : packets_) {
    for (const Packet& p : here) alone(p);
  }
  packets_.clear();
  waiting_.clear();
  for (auto& [key, flow] : flows_) flow.covers = {};
}

void Pair::routes(const std::set<std::uint64_t>& rdma, std::vector<TapRoute>& into) const {
  const auto add = [](TapPath& to, const TapPath& path) {
    to.both += path.both;
    to.recut += path.recut;
    to.lost += path.lost;
    to.missed_far += path.missed_far;
    to.missed_far_bare += path.missed_far_bare;
    to.missed_near += path.missed_near;
  };
  std::map<std::uint64_t, TapRoute> of_rdma;
  for (const auto& [key, flow] : flows_) {
    if (rdma.count(key) == 0) continue;
    const std::size_t out = routes_.at(flow.route).low_is_near ? 1 : 0;
    TapRoute& r = of_rdma[flow.route];
    add(r.out, flow.paths[out]);
    add(r.back, flow.paths[1 - out]);
  }
  for (auto& [number, r] : of_rdma) {
    if (r.out.both + r.back.both == 0) continue;
    const Route& route = routes_.at(number);
    const std::size_t out = route.low_is_near ? 1 : 0;
    r.near = pair_.reference;
    r.far = pair_.input;
    r.apart = pair_.one_way != 0;
    r.address = (route.low_is_near ? route.low : route.high).text();
    r.peer = (route.low_is_near ? route.high : route.low).text();
    r.out.one_way = route.one_way[out].spread();
    r.back.one_way = route.one_way[1 - out].spread();
    into.push_back(std::move(r));
  }
}

}  // namespace rpcrdma::trace::taps

namespace rpcrdma::trace {

struct TapTally::Impl {
  static constexpr std::size_t most_rdma = std::size_t{1} << 16U;
  struct End {
    TimeNs time = 0;
    std::size_t pair = 0;
  };

  explicit Impl(const TapClocks& compared) : of_route(compared.clocks.size()) {
    for (const TapPair& pair : compared.pairs) add({pair, compared.clocks});
    std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.time < b.time; });
  }

  void add(taps::Pair pair) {
    const std::size_t a = pair.inputs().reference;
    const std::size_t b = pair.inputs().input;
    const taps::Pair::Times of_a = pair.ran(a);
    const taps::Pair::Times of_b = pair.ran(b);
    if (of_a.from > of_b.to || of_b.from > of_a.to) return;
    std::vector<std::uint64_t> too_many;
    for (const auto& [route, near] : pair.inputs().low_is_near) {
      taps::Together& with_a = of_route[a][route];
      taps::Together& with_b = of_route[b][route];
      if (with_a.full(of_b.from, of_b.to) || with_b.full(of_a.from, of_a.to)) {
        too_many.push_back(route);
        continue;
      }
      with_a.add(of_b.from, of_b.to, pairs.size());
      with_b.add(of_a.from, of_a.to, pairs.size());
    }
    for (const std::uint64_t route : too_many) pair.leave_out(route);
    left_out += too_many.size();
    if (pair.inputs().low_is_near.empty()) return;
    ends.push_back({std::min(of_a.to, of_b.to), pairs.size()});
    pairs.push_back(std::move(pair));
  }

  /// What waits for a capture that is over waits in vain, and takes room.
  void finish_before(TimeNs now) {
    for (; over < ends.size() && ends[over].time < now; ++over) pairs[ends[over].pair].finish();
  }

  std::vector<taps::Pair> pairs;
  std::vector<std::map<std::uint64_t, taps::Together>> of_route;  ///< by input
  std::vector<End> ends;                                          ///< by time
  std::size_t left_out = 0;
  std::size_t over = 0;          ///< so many of them
  std::set<std::uint64_t> rdma;  ///< flows
  taps::OneWays one_ways;
  taps::Mark mark;
};

TapTally::TapTally(const TapClocks& compared) : impl_(std::make_unique<Impl>(compared)) {}
TapTally::~TapTally() = default;

bool TapTally::packet(std::size_t input, FrameRef ref, const Opened& opened) {
  impl_->mark.flow = 0;
  if (impl_->pairs.empty() || !taps::mark_of(opened, impl_->mark)) return false;
  const auto& of_route = impl_->of_route[input];
  const auto others = of_route.find(impl_->mark.route);
  if (others == of_route.end()) return false;
  impl_->finish_before(ref.time);
  bool shown = false;
  for (const std::size_t pair : others->second.at(ref.time)) {
    shown = impl_->pairs[pair].packet(input, impl_->mark, ref, impl_->one_ways) || shown;
  }
  return shown;
}

void TapTally::rdma() {
  if (impl_->mark.flow != 0 && impl_->rdma.size() < Impl::most_rdma) impl_->rdma.insert(impl_->mark.flow);
}

void TapTally::finish() {
  for (taps::Pair& pair : impl_->pairs) pair.finish();
}

std::vector<TapRoute> TapTally::routes() const {
  std::vector<TapRoute> out;
  for (const taps::Pair& pair : impl_->pairs) pair.routes(impl_->rdma, out);
  std::sort(out.begin(), out.end(), [](const TapRoute& a, const TapRoute& b) {
    return std::tie(a.far, a.near, a.address, a.peer) < std::tie(b.far, b.near, b.address, b.peer);
  });
  return out;
}

std::size_t TapTally::left_out() const noexcept { return impl_->left_out; }

std::optional<TapWay> TapTally::way(std::uint64_t frame) const noexcept { return impl_->one_ways.of(frame); }

}  // namespace rpcrdma::trace
