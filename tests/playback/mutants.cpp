// SPDX-License-Identifier: GPL-2.0-or-later
#include "playback/mutants.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace playback {
namespace {

using rpcrdma::trace::Frame;
using rpcrdma::trace::LinkType;
using What = Carries::What;

/// The next to nothing that has to be known of a frame: not with the decoders that are tested.
struct Ipv4Frame {
  static constexpr std::size_t shortest = 60;
  const Frame& frame;

  [[nodiscard]] std::size_t at(std::size_t place) const { return frame.octets[place]; }
  [[nodiscard]] bool opened() const {
    return frame.link == LinkType::ethernet && frame.octets.size() >= shortest && at(12) == 0x08 && at(13) == 0x00 &&
           at(14) == 0x45;
  }
  [[nodiscard]] bool roce_v2() const { return at(23) == 17 && at(36) == 0x12 && at(37) == 0xB7; }
  /// Not an acknowledgement, a CNP or a management datagram.
  [[nodiscard]] bool roce_request_or_response() const {
    constexpr std::size_t acknowledge = 0x11;
    const std::size_t queue_pair = at(47) << 16U | at(48) << 8U | at(49);
    return at(42) < 0x18 && at(42) != acknowledge && queue_pair > 1;
  }
  [[nodiscard]] bool tcp_data() const {
    const std::size_t length = at(16) << 8U | at(17);
    return at(23) == 6 && (at(47) & 0x07U) == 0 && length > 20 + (at(46) >> 4U) * 4;  // no SYN, FIN, RST
  }
  [[nodiscard]] std::string sender() const { return {frame.octets.begin() + 26, frame.octets.begin() + 30}; }
};

std::size_t any(std::mt19937& chance, std::size_t bound) { return chance() % std::max<std::size_t>(bound, 1); }

std::vector<std::size_t> numbers(const std::set<std::size_t>& frames) {
  constexpr std::size_t most = 12;
  std::vector<std::size_t> all;
  for (const std::size_t frame : frames) {
    if (all.size() < most) all.push_back(frame + 1);
  }
  return all;
}

}  // namespace

std::vector<Carries> carried(const forge::Film& film) {
  static const std::set<std::string> numbered{"send", "write", "read", "response"};
  std::vector<Carries> found;
  for (const forge::Shot& shot : film.shots) {
    if (!shot.captured) continue;
    const What what = numbered.count(shot.part) != 0 ? What::numbered
                      : shot.part == "ack"           ? What::acknowledgement
                                                     : What::other;
    found.push_back({what, shot.from == forge::Side::client ? "client" : "server"});
  }
  return found;
}

std::vector<Carries> carried(const Take& take) {
  std::vector<Carries> found(take.size());
  for (std::size_t i = 0; i < take.size(); ++i) {
    const Ipv4Frame frame{take[i]};
    if (!frame.opened()) continue;
    const bool numbered = frame.roce_v2() ? frame.roce_request_or_response() : frame.tcp_data();
    if (numbered) found[i] = {What::numbered, frame.sender()};
  }
  return found;
}

Take without(const Take& take, const std::set<std::size_t>& gone) {
  Take left;
  for (std::size_t i = 0; i < take.size(); ++i) {
    if (gone.count(i) == 0) left.push_back(take[i]);
  }
  return left;
}

Take twice(const Take& take, const std::set<std::size_t>& again) {
  Take more;
  for (std::size_t i = 0; i < take.size(); ++i) {
    more.push_back(take[i]);
    if (again.count(i) != 0) more.push_back(take[i]);
  }
  return more;
}

Take from(const Take& take, std::size_t first) {
  return {take.begin() + static_cast<std::ptrdiff_t>(first), take.end()};
}

Take up_to(const Take& take, std::size_t last) {
  return {take.begin(), take.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

Take exchanged(const Take& take, std::size_t first) {
  Take changed = take;
  std::swap(changed.at(first), changed.at(first + 1));
  std::swap(changed[first].ref.time, changed[first + 1].ref.time);
  return changed;
}

Take cut(const Take& take, std::uint32_t snap) {
  Take changed = take;
  for (Frame& frame : changed) {
    if (frame.octets.size() > snap) frame.octets = frame.octets.first(snap);
  }
  return changed;
}

Recording damaged(const Take& take, std::mt19937& chance) {
  Recording changed;
  for (const Frame& frame : take) {
    std::vector<std::uint8_t> octets(frame.octets.begin(), frame.octets.end());
    if (!octets.empty() && any(chance, 5) == 0) {
      const std::size_t kept = octets.size() / 4;
      for (std::size_t count = 1 + any(chance, 4); count > 0; --count) {
        octets[kept + any(chance, octets.size() - kept)] = static_cast<std::uint8_t>(chance());
      }
    }
    changed.add(std::move(octets), frame);
  }
  return changed;
}

void each_mutant(const Take& take, const std::vector<Carries>& carries, const Visit& visit) {
  for (std::size_t i = 0; i < take.size(); ++i) {
    visit({fmt::format("without frame {}", i + 1), without(take, {i})});
    visit({fmt::format("frame {} twice", i + 1), twice(take, {i})});
    if (i + 1 == take.size()) break;
    const Carries& one = carries[i];
    const Carries& next = carries[i + 1];
    const bool of_one_sender = one.sender == next.sender && next.what == What::numbered;
    // Two taps: an acknowledgement stands before what it acknowledges.
    const bool acknowledged = one.sender != next.sender && next.what == What::acknowledgement;
    if (one.what == What::numbered && (of_one_sender || acknowledged)) {
      visit({fmt::format("frames {} and {} exchanged", i + 1, i + 2), exchanged(take, i)});
    }
    visit({fmt::format("from frame {} on", i + 2), from(take, i + 1)});
    visit({fmt::format("up to frame {}", i + 1), up_to(take, i)});
  }
  for (const std::uint32_t snap : {60U, 80U, 96U, 110U, 128U, 160U, 200U, 256U}) {
    visit({fmt::format("cut to {} octets", snap), cut(take, snap)});
  }
}

void some_mutants(const Take& take, const std::vector<Carries>& carries, std::uint32_t seed, const Visit& visit) {
  std::mt19937 chance(seed);
  const std::size_t count = take.size();
  const auto lose = [&](const std::set<std::size_t>& gone) {
    visit({fmt::format("without frames {}", numbers(gone)), without(take, gone)});
  };
  lose({any(chance, count)});
  lose(one_in_a_hundred(count, chance));
  // A tap loses bursts under load. In a capture of a few frames a burst takes whole exchanges with all that would show
  // it.
  if (count >= 200) {
    std::set<std::size_t> gone;
    const std::size_t first = any(chance, count / 2);
    for (std::size_t i = first, end = first + 2 + any(chance, 11); i < end; ++i) gone.insert(i);
    lose(gone);
  }
  const std::size_t begin = 1 + any(chance, count - 1);
  visit({fmt::format("from frame {} on", begin + 1), from(take, begin)});
  const std::size_t end = any(chance, count - 1);
  visit({fmt::format("up to frame {}", end + 1), up_to(take, end)});
  static constexpr std::array<std::uint32_t, 11> snaps{60, 70, 80, 96, 110, 128, 150, 180, 256, 400, 700};
  const std::uint32_t snap = snaps.at(any(chance, snaps.size()));
  visit({fmt::format("cut to {} octets", snap), cut(take, snap)});
  std::set<std::size_t> again;
  for (std::size_t i = 0; i < count; ++i) {
    if (any(chance, 5) == 0) again.insert(i);
  }
  visit({fmt::format("frames {} and more twice", numbers(again)), twice(take, again)});

  std::vector<std::size_t> places;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (carries[i].what == What::numbered && carries[i + 1].what == What::numbered &&
        carries[i].sender == carries[i + 1].sender) {
      places.push_back(i);
    }
  }
  std::set<std::size_t> chosen;
  for (unsigned i = 0; i < 3 && !places.empty(); ++i) {
    const std::size_t place = places[any(chance, places.size())];
    if (chosen.count(place) + chosen.count(place - 1) + chosen.count(place + 1) == 0) chosen.insert(place);
  }
  Take changed = take;
  for (const std::size_t place : chosen) changed = exchanged(changed, place);
  visit({fmt::format("frames {} exchanged with their successors", numbers(chosen)), changed});
}

std::set<std::size_t> one_in_a_hundred(std::size_t frames, std::mt19937& chance) {
  std::set<std::size_t> gone;
  const std::size_t wanted = std::min(frames, std::max<std::size_t>(1, frames / 100));
  while (gone.size() < wanted) gone.insert(any(chance, frames));
  return gone;
}

std::uint32_t seed_of(const std::string& text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return hash;
}

}  // namespace playback
