// SPDX-License-Identifier: GPL-2.0-or-later
#include "play.hpp"

#include <algorithm>
#include <iterator>

namespace forge {
namespace {

Film play_one(Scenario scenario, const Transport& transport, bool wrap, Film film, unsigned number) {
  scenario.settings.wrap = scenario.settings.wrap || wrap;
  Story(scenario, transport.fabric, film, number).play();
  return film;
}

}  // namespace

const std::vector<Transport>& transports() {
  static const std::vector<Transport> table{
      {"rocev2", {Link::ipv4, false, false, {}}},
      {"rocev2-ipv6", {Link::ipv6, false, false, {}}},
      {"rocev2-vlan", {Link::vlan, false, false, {}}},
      {"rocev1", {Link::rocev1, false, false, {}}},
      {"infiniband", {Link::infiniband, false, false, {}}},
      {"iwarp", {Link::ipv4, true, false, {2, false, false}}},
      {"iwarp-rev1-crc", {Link::ipv4, true, false, {1, true, false}}},
      {"iwarp-markers", {Link::ipv4, true, false, {2, true, true}}},
      {"iwarp-split", {Link::ipv6, true, true, {2, true, false}}},
  };
  return table;
}

const Transport& transport(const std::string& name) {
  for (const Transport& each : transports()) {
    if (each.name == name) return each;
  }
  throw Mistake("no transport is called '" + name + "'; see --list-transports");
}

std::string family(const Transport& transport) { return transport.fabric.iwarp ? "iwarp" : "ib"; }

bool allows(const Scenario& scenario, const Transport& transport) {
  const auto& named = scenario.transports;
  return named.empty() || std::any_of(named.begin(), named.end(), [&](const std::string& each) {
           return each == transport.name || each == family(transport);
         });
}

Film play(const Scenario& scenario, const Transport& transport, bool wrap) {
  return play_one(scenario, transport, wrap, Film(), 0);
}

Reel play_all(const std::vector<Scenario>& scenarios, const Transport& transport, bool wrap) {
  constexpr std::int64_t pause = 100'000'000'000;
  Reel reel;
  std::int64_t begin = Film().now();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (!allows(scenarios[i], transport)) {
      reel.left_out.emplace_back(i, "not for this transport");
      continue;
    }
    try {
      Film film = play_one(scenarios[i], transport, wrap, Film(begin), static_cast<unsigned>(i));
      reel.parts.push_back({i, reel.film.shots.size(), film.shots.size()});
      // (a story may set its clock back)
      for (const Shot& shot : film.shots) begin = std::max(begin, shot.time);
      begin = std::max(begin, film.now()) + pause;
      std::move(film.shots.begin(), film.shots.end(), std::back_inserter(reel.film.shots));
    } catch (const Mistake& mistake) {
      reel.left_out.emplace_back(i, mistake.what());
    }
  }
  return reel;
}

}  // namespace forge
