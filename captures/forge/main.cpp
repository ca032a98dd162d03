// SPDX-License-Identifier: GPL-2.0-or-later
// forge: scenarios become a capture file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "capture_file.hpp"
#include "play.hpp"

namespace {

/// Which frame of the file belongs to which step, and to which part of it. `number`: of the last frame before.
nlohmann::json map_of(const forge::Film& film, std::size_t first, std::size_t count, std::uint64_t& number) {
  nlohmann::json steps = nlohmann::json::object();
  nlohmann::json spoken = nlohmann::json::array();
  nlohmann::json shots = nlohmann::json::array();
  const std::uint64_t before = number;
  for (std::size_t i = first; i < first + count; ++i) {
    const forge::Shot& shot = film.shots.at(i);
    if (!shot.captured) continue;
    ++number;
    steps[shot.step].push_back(number);
    steps[shot.step + "/" + shot.part].push_back(number);
    if (shot.spoken) spoken.push_back(number);
    shots.push_back({{"from", shot.from == forge::Side::client ? "client" : "server"}, {"part", shot.part}});
  }
  return {{"frames", number - before}, {"steps", steps}, {"rpcrdma_frames", spoken}, {"shots", shots}};
}

nlohmann::json map_of(const forge::Reel& reel, const std::vector<std::string>& paths) {
  nlohmann::json stories = nlohmann::json::array();
  nlohmann::json left_out = nlohmann::json::array();
  std::uint64_t number = 0;
  for (const forge::Reel::Part& part : reel.parts) {
    const std::uint64_t first = number + 1;
    nlohmann::json map = map_of(reel.film, part.first, part.count, number);
    map["scenario"] = paths.at(part.story);
    map["first"] = first;
    stories.push_back(std::move(map));
  }
  for (const auto& [story, why] : reel.left_out) left_out.push_back({{"scenario", paths.at(story)}, {"why", why}});
  return {{"frames", number}, {"stories", stories}, {"left_out", left_out}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text << '\n';
  file.close();
  if (!file) throw forge::Mistake(path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Turns scenarios into a capture file"};
  std::vector<std::string> paths;
  std::string transport = "rocev2";
  std::string out;
  std::string map;
  bool pcapng = false;
  bool erf = false;
  bool wrap = false;
  bool list = false;
  app.add_option("scenario", paths, "scenarios (YAML); several stand one after the other in the file");
  app.add_option("--transport", transport, "fabric to play them on");
  app.add_option("--out", out, "capture file to write");
  app.add_option("--map", map, "JSON file that says which frames belong to which step");
  app.add_flag("--pcapng", pcapng, "pcapng instead of pcap");
  app.add_flag("--erf", erf, "native ERF (transport infiniband only)");
  app.add_flag("--wrap", wrap, "start sequence numbers just below their wrap");
  app.add_flag("--list-transports", list, "name the transports and leave");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const forge::Transport& each : forge::transports()) std::cout << each.name << '\n';
    return 0;
  }
  try {
    if (paths.empty() || out.empty()) throw forge::Mistake("a scenario and --out FILE are needed");
    const forge::Transport& chosen = forge::transport(transport);
    forge::FileOptions options;
    options.format = erf ? forge::FileFormat::erf : pcapng ? forge::FileFormat::pcapng : forge::FileFormat::pcap;
    options.infiniband = chosen.fabric.link == forge::Link::infiniband;
    nlohmann::json told;
    if (paths.size() == 1) {
      const forge::Film film = forge::play(forge::read_scenario(paths.front()), chosen, wrap);
      forge::write_capture(film, options, out);
      std::uint64_t number = 0;
      told = map_of(film, 0, film.shots.size(), number);
    } else {
      std::vector<forge::Scenario> scenarios;
      scenarios.reserve(paths.size());
      for (const std::string& path : paths) scenarios.push_back(forge::read_scenario(path));
      const forge::Reel reel = forge::play_all(scenarios, chosen, wrap);
      forge::write_capture(reel.film, options, out);
      told = map_of(reel, paths);
    }
    if (!map.empty()) write_text(map, told.dump(1));
  } catch (const std::exception& e) {
    std::cerr << "forge: " << e.what() << '\n';
    return 2;
  }
  return 0;
}
