// SPDX-License-Identifier: GPL-2.0-or-later
// Conversations by chance, forged and judged: the legal ones accuse nobody, the others the one who is at fault.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fault.hpp"
#include "known.hpp"
#include "playback/registered.hpp"
#include "playback/verdict.hpp"
#include "report/names.hpp"
#include "talk.hpp"

namespace talk {
namespace {

using rpcrdma::referee::Finding;
using rpcrdma::referee::Report;
using rpcrdma::referee::Severity;

std::string program;  ///< to be run again
std::uint64_t first_seed = 1;
std::uint64_t conversations = 100;
bool show = false;

std::string party(const Finding& finding) {
  return finding.violator ? std::string(rpcrdma::report::name(*finding.violator)) : "nobody";
}
std::string rule_name(const Finding& finding) { return std::string(rpcrdma::referee::rule(finding.rule).name); }

Report judged(const std::string& story, const std::string& fabric) {
  const forge::Scenario scenario = forge::parse_scenario(story, "the conversation");
  const forge::Transport& transport = forge::transport(fabric);
  const forge::Film film = forge::play(scenario, transport);
  return playback::judge(playback::recorded(film, transport).frames);
}

/// What is wrong with a conversation: the rule first, then what it said.
struct Complaint {
  std::string rule;
  std::string text;
};

/// What a conversation does that is felt and not forbidden: no delegation is ever returned, and a server may say
/// "later" again and again. A fault may be felt in any way; then only who is accused counts.
bool felt(const Finding& finding, const Fault* fault) {
  if (rpcrdma::referee::kind(finding.rule) != rpcrdma::referee::FindingKind::symptom) return false;
  const std::string rule = rule_name(finding);
  return fault != nullptr || rule == "recall-unanswered" || rule == "server-asks-to-wait";
}

/// Who is accused, and should not be.
void unexpected(const Report& report, const Fault* fault, const std::set<std::string>& met,
                std::vector<Complaint>& complaints) {
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::note || felt(finding, fault) ||
        is_known(report, finding, fault == nullptr ? "" : fault->name, met))
      continue;
    const std::string rule = rule_name(finding);
    const std::string accused = party(finding);
    if (fault != nullptr) {
      const auto& rules = fault->rules;
      if (accused == fault->culprit && std::find(rules.begin(), rules.end(), rule) != rules.end()) continue;
      if (std::any_of(fault->implied.begin(), fault->implied.end(),
                      [&](const Implied& each) { return each.rule == rule && each.party == accused; })) {
        continue;
      }
    }
    complaints.push_back({rule, "accuses falsely: " + playback::told(finding)});
  }
}

/// The fault has to be found, or to be declared unchecked.
void missed(const Report& report, const Fault& fault, const std::set<std::string>& met,
            std::vector<Complaint>& complaints) {
  const auto one_of = [&](std::string_view rule) {
    return std::find(fault.rules.begin(), fault.rules.end(), rule) != fault.rules.end();
  };
  for (const Finding& finding : report.findings) {
    if (one_of(rule_name(finding)) && party(finding) == fault.culprit) return;
  }
  for (const Finding& finding : report.findings) {
    if (is_known(report, finding, fault.name, met)) return;  // what the referee misread it cannot find
  }
  const auto& known = known_faults();
  if (std::any_of(known.begin(), known.end(),
                  [&](const Known& each) { return each.spreads && met.count(each.story) != 0; })) {
    return;
  }
  for (const auto& unchecked : report.unchecked) {
    if (one_of(rpcrdma::referee::rule(unchecked.rule).name)) return;
  }
  std::vector<std::string> said;
  for (const Finding& finding : report.findings) {
    if (one_of(rule_name(finding))) said.push_back(playback::told(finding));
  }
  complaints.push_back({"missed", fmt::format("{} by the {} is not found; {}", fmt::join(fault.rules, " or "),
                                              fault.culprit, fmt::join(said, "; "))});
}

std::vector<Complaint> complaints_of(const Plan& plan, std::string& story) {
  std::vector<Complaint> complaints;
  try {
    Talk talk(plan);
    story = talk.direct();
    const Report report = judged(story, plan.fabric);
    unexpected(report, plan.fault, talk.met(), complaints);
    if (plan.fault != nullptr) missed(report, *plan.fault, talk.met(), complaints);
  } catch (const std::exception& mistake) {
    complaints.push_back({"mistake", mistake.what()});
  }
  return complaints;
}

bool still_fails(const Plan& plan, const std::set<std::string>& rules) {
  std::string story;
  const auto complaints = complaints_of(plan, story);
  return std::any_of(complaints.begin(), complaints.end(),
                     [&](const Complaint& each) { return rules.count(each.rule) != 0; });
}

/// Everything that can be left out of it, one part after the other.
std::vector<Plan> smaller(const Plan& plan) {
  std::vector<Plan> all;
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    if (plan.lines.size() == 1 || (plan.fault != nullptr && i == 0)) continue;
    Plan less = plan;
    less.lines.erase(less.lines.begin() + static_cast<std::ptrdiff_t>(i));
    for (LinePlan& line : less.lines) {
      if (line.after == i) line.after.reset();
      if (line.after && *line.after > i) --*line.after;
    }
    all.push_back(less);
  }
  const auto changed = [&](auto change) {
    Plan less = plan;
    change(less);
    all.push_back(less);
  };
  if (!plan.plain) changed([](Plan& less) { less.plain = true; });
  if (plan.wrap) changed([](Plan& less) { less.wrap = false; });
  if (plan.mtu != 4096) changed([](Plan& less) { less.mtu = 4096; });
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    const LinePlan& line = plan.lines[i];
    if (line.parallel > 1) changed([i](Plan& less) { less.lines[i].parallel = 1; });
    if (line.probes) changed([i](Plan& less) { less.lines[i].probes = false; });
    for (std::size_t k = 0; k < line.exchanges.size(); ++k) {
      if (line.exchanges[k].kind == ExchangePlan::Kind::fault) continue;
      changed([i, k](Plan& less) {
        auto& exchanges = less.lines[i].exchanges;
        exchanges.erase(exchanges.begin() + static_cast<std::ptrdiff_t>(k));
      });
    }
  }
  return all;
}

Plan shrunk(Plan plan, const std::set<std::string>& rules) {
  for (bool again = true; again;) {
    again = false;
    for (const Plan& less : smaller(plan)) {
      if (!still_fails(less, rules)) continue;
      plan = less;
      again = true;
      break;
    }
  }
  return plan;
}

void converse(const std::string& test, const Fault* fault) {
  constexpr int enough = 3;
  int failed = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + conversations && failed < enough; ++seed) {
    const Plan plan = draw(seed, fault);
    std::string story;
    auto complaints = complaints_of(plan, story);
    if (show) std::cout << story;
    if (complaints.empty()) continue;
    ++failed;
    std::set<std::string> rules;
    for (const Complaint& each : complaints) rules.insert(each.rule);
    const Plan small = shrunk(plan, rules);
    complaints = complaints_of(small, story);
    std::string text;
    for (const Complaint& each : complaints) text += each.text + "\n";
    ADD_FAILURE() << text << "seed " << seed << ", " << plan.fabric
                  << "\nas small as leaving out makes it, for build/forge STORY.yaml:\n"
                  << story << "alone: " << program << " --gtest_filter=" << test << " --seed " << seed
                  << " --conversations 1";
  }
}

/// A known fault of the referee has to be there still.
void still_known(const Known& known) {
  const std::string path = std::string(RPCRDMA_SOURCE_DIR "/tests/random/known/") + known.story + ".yaml";
  const forge::Scenario scenario = forge::read_scenario(path);
  for (const Wrong& wrong : known.wrong) {
    bool said = false;
    for (const forge::Transport& transport : forge::transports()) {
      if (!forge::allows(scenario, transport)) continue;
      const forge::Film film = forge::play(scenario, transport);
      for (const Finding& finding : playback::judge(playback::recorded(film, transport).frames).findings) {
        said = said || matches(wrong, finding);
      }
    }
    EXPECT_TRUE(said) << path << ": " << wrong.rule << " by the " << wrong.party
                      << " is not said any more, and has to go from known.cpp";
  }
}

}  // namespace
}  // namespace talk

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace talk;
  program = argv[0];
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc || (option != "--seed" && option != "--conversations" && option != "--show")) {
      std::cerr << "random [--gtest_filter=SUITE.NAME] [--seed N] [--conversations M] [--show yes]\n";
      return 2;
    }
    if (option == "--seed") first_seed = std::stoull(argv[i + 1]);
    if (option == "--conversations") conversations = std::stoull(argv[i + 1]);
    if (option == "--show") show = std::string_view(argv[i + 1]) == "yes";
  }
  playback::add_test("Legal", "conversations", [] { converse("Legal.conversations", nullptr); });
  for (const Fault& fault : faults()) {
    playback::add_test("Fault", fault.name, [&fault] { converse("Fault." + fault.name, &fault); });
  }
  for (const Known& known : known_faults()) {
    playback::add_test("Known", known.story, [&known] { still_known(known); });
  }
  return playback::run_chosen();
}
