// SPDX-License-Identifier: GPL-2.0-or-later
// forge: a scenario becomes a capture file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "capture_file.hpp"
#include "story.hpp"

namespace {

using forge::Fabric;
using forge::Link;

/// In the order in which they are listed.
const std::vector<std::pair<std::string, Fabric>>& transports() {
  static const std::vector<std::pair<std::string, Fabric>> table{
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

const Fabric& fabric(const std::string& name) {
  for (const auto& [each, fabric] : transports()) {
    if (each == name) return fabric;
  }
  throw forge::Mistake("no transport is called '" + name + "'; see --list-transports");
}

/// Which frame of the file belongs to which step, and to which part of it.
nlohmann::json map_of(const forge::Film& film) {
  nlohmann::json steps = nlohmann::json::object();
  nlohmann::json spoken = nlohmann::json::array();
  nlohmann::json shots = nlohmann::json::array();
  std::uint64_t number = 0;
  for (const forge::Shot& shot : film.shots) {
    if (!shot.captured) continue;
    ++number;
    steps[shot.step].push_back(number);
    steps[shot.step + "/" + shot.part].push_back(number);
    if (shot.spoken) spoken.push_back(number);
    shots.push_back({{"from", shot.from == forge::Side::client ? "client" : "server"}, {"part", shot.part}});
  }
  return {{"frames", number}, {"steps", steps}, {"rpcrdma_frames", spoken}, {"shots", shots}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text << '\n';
  file.close();
  if (!file) throw forge::Mistake(path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Turns a scenario into a capture file"};
  std::string scenario_path;
  std::string transport = "rocev2";
  std::string out;
  std::string map;
  bool pcapng = false;
  bool erf = false;
  bool wrap = false;
  bool list = false;
  app.add_option("scenario", scenario_path, "scenario (YAML)");
  app.add_option("--transport", transport, "fabric to play it on");
  app.add_option("--out", out, "capture file to write");
  app.add_option("--map", map, "JSON file that says which frames belong to which step");
  app.add_flag("--pcapng", pcapng, "pcapng instead of pcap");
  app.add_flag("--erf", erf, "native ERF (transport infiniband only)");
  app.add_flag("--wrap", wrap, "start sequence numbers just below their wrap");
  app.add_flag("--list-transports", list, "name the transports and leave");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const auto& [name, ignored] : transports()) std::cout << name << '\n';
    return 0;
  }
  try {
    if (scenario_path.empty() || out.empty()) throw forge::Mistake("a scenario and --out FILE are needed");
    const Fabric& chosen = fabric(transport);
    forge::Scenario scenario = forge::read_scenario(scenario_path);
    scenario.settings.wrap = scenario.settings.wrap || wrap;
    forge::Film film;
    forge::Story(scenario, chosen, film).play();
    forge::FileOptions options;
    options.format = erf ? forge::FileFormat::erf : pcapng ? forge::FileFormat::pcapng : forge::FileFormat::pcap;
    options.infiniband = chosen.link == Link::infiniband;
    options.snap = scenario.settings.snap;
    forge::write_capture(film, options, out);
    if (!map.empty()) write_text(map, map_of(film).dump(1));
  } catch (const std::exception& e) {
    std::cerr << "forge: " << e.what() << '\n';
    return 2;
  }
  return 0;
}
