// SPDX-License-Identifier: GPL-2.0-or-later
// Every scenario through forge, trace and referee in one process: verdicts on each fabric, mutants, and whether each
// rule has a scenario that misses it. See README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expectations.hpp"
#include "playback/mutants.hpp"
#include "playback/registered.hpp"
#include "playback/verdict.hpp"

namespace scenarios {
namespace {

using playback::Mutant;
using rpcrdma::referee::Report;
using rpcrdma::referee::Rule;
using rpcrdma::referee::Severity;

const std::filesystem::path captures = RPCRDMA_SOURCE_DIR "/captures";
std::string program;      ///< to be run again
std::string only_fabric;  ///< --fabric
std::string only_mutant;  ///< --mutant
std::string table_path;   ///< --table

struct Told {
  std::string name;
  std::string path;
  forge::Scenario scenario;
  Expectations expectations;
};

std::vector<Told> read_all() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(captures / "scenarios")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Told> all;
  for (const std::string& path : paths) {
    all.push_back(
        {std::filesystem::path(path).stem().string(), path, forge::read_scenario(path), read_expectations(path)});
  }
  return all;
}

/// Those are also played with sequence numbers just below their wrap.
bool in_every_way(const forge::Transport& transport) { return transport.name == "rocev2" || transport.name == "iwarp"; }

std::vector<std::pair<const forge::Transport*, bool>> plays(const forge::Scenario& scenario) {
  std::vector<std::pair<const forge::Transport*, bool>> all;
  for (const forge::Transport& transport : forge::transports()) {
    if (!forge::allows(scenario, transport) || (!only_fabric.empty() && only_fabric != transport.name)) continue;
    all.emplace_back(&transport, false);
    if (in_every_way(transport)) all.emplace_back(&transport, true);
  }
  return all;
}

std::string again(std::string_view suite, const Told& told, const forge::Transport& transport,
                  std::string_view mutant = {}) {
  std::string command = fmt::format("{} --gtest_filter={}.{} --fabric {}", program, suite, told.name, transport.name);
  if (!mutant.empty()) command += fmt::format(" --mutant '{}'", mutant);
  return command;
}

void verdicts(const Told& told) {
  for (const auto& [transport, wrap] : plays(told.scenario)) {
    try {
      const forge::Film film = forge::play(told.scenario, *transport, wrap);
      const Report report = playback::judge(playback::recorded(film, *transport).frames);
      for (const std::string& line : complaints(told.expectations, *transport, frames_of_steps(film), report)) {
        ADD_FAILURE() << told.name << ", " << transport->name << (wrap ? " --wrap" : "") << ": " << line
                      << "\nalone: " << again("Verdict", told, *transport);
      }
    } catch (const forge::Mistake& mistake) {
      ADD_FAILURE() << told.name << ", " << transport->name << ": " << mistake.what();
    }
  }
}

std::map<std::string, std::size_t> mutants_tested;  ///< by scenario

/// Nobody may become guilty who was not: a mutant may lose findings, and gain what names nobody.
void mutants(const Told& told) {
  for (const auto& [transport, wrap] : plays(told.scenario)) {
    if (wrap) continue;
    const forge::Film film = forge::play(told.scenario, *transport);
    const playback::Recording recording = playback::recorded(film, *transport);
    const playback::Accusations known = playback::accusations(playback::judge(recording.frames));
    playback::each_mutant(recording.frames, playback::carried(film), [&, &transport = transport](const Mutant& mutant) {
      if (!only_mutant.empty() && only_mutant != mutant.name) return;
      ++mutants_tested[told.name];
      const std::string name = fmt::format("{}, {}, {}", told.name, transport->name, mutant.name);
      const Report report = playback::judge(mutant.take);
      for (const std::string& line : roles_made_up(report)) {
        ADD_FAILURE() << name << ": " << line << "\nalone: " << again("Mutants", told, *transport, mutant.name);
      }
      for (const auto& finding : report.findings) {
        const bool accuses = finding.severity != Severity::note && finding.violator;
        if (!accuses || known.count({finding.rule, finding.violator}) != 0 ||
            told.expectations.allow.count(std::string(rpcrdma::referee::rule(finding.rule).name)) != 0) {
          continue;
        }
        ADD_FAILURE() << name << ": " << playback::told(finding)
                      << "\nalone: " << again("Mutants", told, *transport, mutant.name);
      }
    });
  }
}

/// Without the rule, one of its own scenarios has to notice, on each family of fabrics on which it is triggered.
void removal(const std::vector<Told>& all, const Rule& rule) {
  std::set<std::string> triggered;
  std::set<std::string> noticed;
  rpcrdma::referee::Options options;
  options.without = rule.id;
  for (const Told& told : all) {
    for (const Want& want : told.expectations.expect) {
      if (want.rule != rule.name) continue;
      for (const auto& [transport, wrap] : plays(told.scenario)) {
        const std::string family = forge::family(*transport);
        if (wrap || !speaks_of(want.fabric, *transport) || noticed.count(family) != 0) continue;
        triggered.insert(family);
        const forge::Film film = forge::play(told.scenario, *transport);
        const Report report = playback::judge(playback::recorded(film, *transport).frames, options);
        std::set<std::string> missing;
        static_cast<void>(complaints(told.expectations, *transport, frames_of_steps(film), report, &missing));
        if (missing.count(want.rule) != 0) noticed.insert(family);
      }
    }
  }
  EXPECT_FALSE(triggered.empty()) << rule.name << ": no scenario triggers it";
  EXPECT_EQ(noticed, triggered) << rule.name << ": without it no scenario fails"
                                << "\nalone: " << program << " --gtest_filter=Removal." << rule.name;
}

/// What tests hold against a rule.
struct Held {
  std::size_t triggers = 0, near = 0, mutants = 0;
  std::set<std::string> fabrics, near_fabrics;
};

std::map<std::string, Held> held_against(const std::vector<Told>& all) {
  std::map<std::string, Held> rules;
  for (const Told& told : all) {
    for (const auto& [transport, wrap] : plays(told.scenario)) {
      for (const Want& want : told.expectations.expect) {
        if (speaks_of(want.fabric, *transport)) rules[want.rule].fabrics.insert(transport->name);
      }
      for (const std::string& rule : told.expectations.near) rules[rule].near_fabrics.insert(transport->name);
    }
    std::set<std::string> wanted;
    for (const Want& want : told.expectations.expect) wanted.insert(want.rule);
    for (const std::string& rule : wanted) {
      ++rules[rule].triggers;
      const auto found = mutants_tested.find(told.name);
      rules[rule].mutants += found == mutants_tested.end() ? 0 : found->second;
    }
    for (const std::string& rule : told.expectations.near) ++rules[rule].near;
  }
  return rules;
}

/// A trigger and a near miss for each rule, and no rule named that does not exist.
void coverage(const std::vector<Told>& all) {
  const std::map<std::string, Held> held = held_against(all);
  std::ofstream table(table_path.empty() ? "/dev/null" : table_path);
  table << "rule\ttriggers\tfabrics\tnear misses\ttheir fabrics\tmutants\n";
  std::size_t triggered = 0;
  std::size_t near = 0;
  for (const Rule& rule : rpcrdma::referee::all_rules()) {
    const auto found = held.find(std::string(rule.name));
    const Held mine = found == held.end() ? Held() : found->second;
    triggered += mine.triggers != 0 ? 1 : 0;
    near += mine.near != 0 ? 1 : 0;
    EXPECT_NE(mine.triggers, 0U) << rule.name << ": no scenario triggers it";
    EXPECT_NE(mine.near, 0U) << rule.name << ": no scenario nearly triggers it";
    table << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", rule.name, mine.triggers, mine.fabrics.size(), mine.near,
                         mine.near_fabrics.size(), mine.mutants);
  }
  for (const Told& told : all) {
    std::set<std::string> named = told.expectations.near;
    named.insert(told.expectations.never.begin(), told.expectations.never.end());
    named.insert(told.expectations.allow.begin(), told.expectations.allow.end());
    for (const UncheckedWant& want : told.expectations.unchecked) named.insert(want.rule);
    named.insert(told.expectations.checked.begin(), told.expectations.checked.end());
    for (const Want& want : told.expectations.expect) named.insert(want.rule);
    for (const std::string& rule : named) {
      EXPECT_NE(rpcrdma::referee::find_rule(rule), nullptr)
          << told.name << " names " << rule << ", and no rule is called so";
    }
  }
  std::cout << rpcrdma::referee::all_rules().size() << " rules, " << triggered << " triggered by scenarios, " << near
            << " with a near miss\n";
}

}  // namespace
}  // namespace scenarios

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace scenarios;
  program = argv[0];
  for (int i = 1; i < argc; i += 2) {
    const std::map<std::string_view, std::string*> options{
        {"--fabric", &only_fabric}, {"--mutant", &only_mutant}, {"--table", &table_path}};
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc) {
      std::cerr << "scenarios [--gtest_filter=SUITE.NAME] [--fabric NAME] [--mutant NAME] [--table FILE]\n";
      return 2;
    }
    *option->second = argv[i + 1];
  }
  try {
    const std::vector<Told> all = read_all();
    for (const Told& told : all) playback::add_test("Verdict", told.name, [&told] { verdicts(told); });
    for (const Told& told : all) playback::add_test("Mutants", told.name, [&told] { mutants(told); });
    for (const Rule& rule : rpcrdma::referee::all_rules()) {
      playback::add_test("Removal", std::string(rule.name), [&all, &rule] { removal(all, rule); });
    }
    playback::add_test("Coverage", "everyRule", [&all] { coverage(all); });
    return playback::run_chosen();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
