// SPDX-License-Identifier: GPL-2.0-or-later
// Captures and scenarios as a tap, a mirror, a switch or a ring would have kept them. Whatever is missing, cut, twice
// or late: no error and no warning that the whole does not have, and nobody accused of what another one did.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>
#include <CLI/CLI.hpp>

#include "damage/judgements.hpp"
#include "damage/kinds.hpp"
#include "damage/numbers.hpp"
#include "damage/seamless.hpp"
#include "playback/mutants.hpp"
#include "playback/verdict.hpp"
#include "random/plan.hpp"
#include "random/talk.hpp"

namespace damage {
namespace {

using rpcrdma::referee::Finding;
using rpcrdma::referee::FindingKind;
using rpcrdma::referee::Party;
using rpcrdma::referee::RuleId;
using rpcrdma::referee::Severity;

const std::filesystem::path captures = RPCRDMA_SOURCE_DIR "/captures";

struct Asked {
  std::string only, kind, variant, write;
  bool everything = false;
  bool numbers = false;             ///< each variant that counts something else is told
  std::size_t each = 1;             ///< variants of each kind and capture
  std::uint64_t conversations = 0;  ///< legal ones, drawn by chance, instead of captures and stories
  std::uint64_t seed = 1;           ///< of the first
};

/// Accusations that the whole does not have.
struct Count {
  std::size_t wrong = 0;     ///< over copies that show that something is missing
  std::size_t seamless = 0;  ///< over copies that show nothing of it
  friend bool operator==(const Count& a, const Count& b) noexcept = default;
};

struct Told {
  Asked asked;
  std::string program;
  std::map<std::string, std::size_t> tried;  ///< by kind
  Count all;                                 ///< of one damage
  Count more;
  std::size_t tried_apart = 0;    ///< variants that are counted apart
  std::size_t other_numbers = 0;  ///< copies that lack nothing, and count something else than the whole
  std::map<std::pair<std::string, std::string>, Count> accusations;  ///< by kind and rule
};

void look(Source& source) {
  for (const auto& frame : source.recording.frames) source.glances.push_back(glance(frame));
}

/// What may be said of less than the whole.
struct Known {
  playback::Accusations accusations;  ///< of the whole
  std::set<RuleId> notes;             ///< of the whole
  /// When which side broke a rule, in the whole. What is missing may be what tells which rule.
  std::set<std::pair<rpcrdma::trace::TimeNs, Party>> offences;
  std::string numbers;            ///< of the whole
  bool in_order = true;           ///< the frames of the whole, by time: what is put in order by that keeps its own
  std::set<std::string> allowed;  ///< by who wrote the scenario: as long as something is not in the capture

  [[nodiscard]] bool accuses(RuleId rule) const {
    return std::any_of(accusations.begin(), accusations.end(), [&](const auto& one) { return one.first == rule; });
  }
  [[nodiscard]] bool allows(const Finding& finding, bool weakened, rpcrdma::trace::TimeNs later) const {
    if (accusations.count({finding.rule, finding.violator}) != 0) return true;
    if (finding.violator && (offences.count({finding.time, *finding.violator}) != 0 ||
                             offences.count({finding.time - later, *finding.violator}) != 0)) {
      return true;
    }
    if (allowed.count(std::string(rpcrdma::referee::rule(finding.rule).name)) != 0) return true;
    // A refusal or a loss that the whole mends later is one all the same, and names nobody.
    if (finding.violator) return false;
    return weakened || (finding.severity == Severity::warning && notes.count(finding.rule) != 0);
  }
};

/// One finding may tell of several messages: of all that its violator sent.
void note_offences(const Source& source, const Finding& finding, Known& known) {
  known.offences.insert({finding.time, *finding.violator});
  const std::string& sender = source.glances.at(finding.frames.front() - 1).sender;
  for (const std::uint64_t frame : finding.frames) {
    if (source.glances.at(frame - 1).sender != sender) continue;
    known.offences.insert({source.recording.frames.at(frame - 1).ref.time, *finding.violator});
  }
}

bool in_order(const playback::Recording& recording) {
  return std::is_sorted(recording.frames.begin(), recording.frames.end(),
                        [](const auto& a, const auto& b) { return a.ref.time < b.ref.time; });
}

Known known_of(const Source& source, const std::filesystem::path& story = {}) {
  const rpcrdma::referee::Report whole = playback::judge(source.recording.frames);
  Known known{playback::accusations(whole), {}, {}, numbers(whole), in_order(source.recording), {}};
  for (const Finding& finding : whole.findings) {
    if (finding.severity == Severity::note) {
      known.notes.insert(finding.rule);
    } else if (finding.violator) {
      note_offences(source, finding, known);
    }
  }
  if (story.empty()) return known;
  for (const YAML::Node& rule : YAML::LoadFile(story.string())["allow"]) known.allowed.insert(rule.as<std::string>());
  return known;
}

std::string alone(const Source& source, const Kind& kind, const Variant& variant, const Told& told) {
  return fmt::format("    alone: {} --only '{}' --everything --kind '{}' --variant '{}'\n", told.program, source.name,
                     kind.name, variant.name);
}

/// Nothing is missing: as many Calls, Replies, operations, repeats and holes as the whole has.
void compare_numbers(const Source& source, const Kind& kind, const Variant& variant, const Known& known,
                     const std::string& now, Told& told) {
  if (now == known.numbers) return;
  ++told.accusations[{std::string(kind.name), "other numbers"}].wrong;
  ++told.other_numbers;
  if (told.asked.numbers) {
    std::cout << fmt::format("NUMBERS {}: {}: {}:\n    {}\n    {}\n{}", source.name, kind.name, variant.name,
                             known.numbers, now, alone(source, kind, variant, told));
  }
}

void try_variant(const Source& source, const Kind& kind, const Variant& variant, const Known& known,
                 Judgements& judgements, Told& told) {
  if (!told.asked.variant.empty() && told.asked.variant != variant.name) return;
  ++told.tried[std::string(kind.name)];
  if (kind.damages == Kind::Damages::more) ++told.tried_apart;
  if (!told.asked.write.empty()) playback::write(variant.recording.frames, told.asked.write);
  const bool counts = kind.holds == Kind::Holds::everything && known.in_order;
  using Asks = Judgements::Asks;
  const Judgement& judged = judgements.of(variant, counts ? Asks::numbers_too : Asks::accusations);
  if (counts) compare_numbers(source, kind, variant, known, judged.numbers.value(), told);
  for (const Finding& finding : judged.accusing) {
    // What is told from silence is one of the symptoms, though its rule is in another group.
    const bool silence =
        (finding.rule == RuleId::connection_lost && !finding.violator) || finding.rule == RuleId::v2_credit_starved;
    const bool symptom = silence || rpcrdma::referee::kind(finding.rule) == FindingKind::symptom;
    // In a story one thing happens, and then it ends: whether it was answered may be lost with the answer.
    const bool story = !source.other.frames.empty();
    const bool other_waits =
        kind.waits == Kind::Waits::different || (kind.waits == Kind::Waits::may_be_hidden && story);
    if (symptom && other_waits) continue;
    // Where the whole has somebody to blame, less than the whole may have nobody.
    const bool weakened =
        finding.severity == Severity::warning ? !known.accusations.empty() : known.accuses(finding.rule);
    if (known.allows(finding, weakened, variant.later)) continue;
    // One connection that was refused and given up is none; the same an hour later is the second.
    if (finding.rule == RuleId::version_negotiation_loop && variant.later != 0) continue;
    const bool no_loss_shown = kind.holds == Kind::Holds::less && seamless(variant.recording.frames);
    Count& count = told.accusations[{std::string(kind.name), std::string(rpcrdma::referee::rule(finding.rule).name)}];
    ++(no_loss_shown ? count.seamless : count.wrong);
    Count& all = kind.damages == Kind::Damages::one ? told.all : told.more;
    ++(no_loss_shown ? all.seamless : all.wrong);
    std::cout << fmt::format("{} {}: {}: {}: {}\n{}",
                             no_loss_shown               ? "SEAMLESS"
                             : known.accusations.empty() ? "WRONG HEALTHY"
                                                         : "WRONG",
                             source.name, kind.name, variant.name, playback::told(finding),
                             alone(source, kind, variant, told));
  }
}

void try_kind(const Source& source, const Kind& kind, std::size_t most, const Known& known, Judgements& judgements,
              Told& told) {
  if (!told.asked.kind.empty() && told.asked.kind != kind.name) return;
  const std::size_t count = kind.count(source);
  if (told.asked.everything || count <= most) {
    for (std::size_t i = 0; i < count; ++i) try_variant(source, kind, kind.make(source, i), known, judgements, told);
    return;
  }
  std::mt19937 chance(playback::seed_of(fmt::format("{} {}", source.name, kind.name)));
  std::set<std::size_t> chosen;
  while (chosen.size() < most) chosen.insert(chance() % count);
  for (const std::size_t i : chosen) try_variant(source, kind, kind.make(source, i), known, judgements, told);
}

void try_capture(const std::filesystem::path& path, Told& told) {
  Source source{path.stem().string(), playback::read(path.string(), playback::End::anywhere), {}, {}};
  look(source);
  const Known known = known_of(source);
  Judgements judgements;
  for (const Kind& kind : kinds()) try_kind(source, kind, told.asked.each, known, judgements, told);
}

void try_scenario(const std::filesystem::path& path, Told& told) {
  const forge::Scenario scenario = forge::read_scenario(path.string());
  std::mt19937 chance(playback::seed_of(path.stem().string()));
  std::vector<const forge::Transport*> fabrics;
  for (const forge::Transport& transport : forge::transports()) {
    if (forge::allows(scenario, transport)) fabrics.push_back(&transport);
  }
  if (fabrics.empty()) return;
  if (!told.asked.everything) fabrics = {fabrics[chance() % fabrics.size()]};
  for (const forge::Transport* transport : fabrics) {
    const std::string name = fmt::format("{}, {}", path.stem().string(), transport->name);
    if (!told.asked.only.empty() && name.find(told.asked.only) == std::string::npos) continue;
    Source source{name,
                  playback::recorded(forge::play(scenario, *transport), *transport),
                  playback::recorded(forge::play(scenario, *transport, true), *transport),
                  {}};
    look(source);
    const Known known = known_of(source, path);
    Judgements judgements;
    if (told.asked.everything) {
      for (const Kind& kind : kinds()) try_kind(source, kind, 0, known, judgements, told);
    } else {
      try_kind(source, kinds()[chance() % kinds().size()], told.asked.each, known, judgements, told);
    }
  }
}

/// A legal conversation: whatever is missing of it, nobody is at fault.
void try_conversation(std::uint64_t seed, Told& told) {
  const talk::Plan plan = talk::draw(seed);
  const forge::Scenario scenario = forge::parse_scenario(talk::Talk(plan).direct(), "the conversation");
  const forge::Transport& transport = forge::transport(plan.fabric);
  Source source{fmt::format("conversation {}, {}", seed, plan.fabric),
                playback::recorded(forge::play(scenario, transport), transport),
                playback::recorded(forge::play(scenario, transport, true), transport),
                {}};
  look(source);
  const Known known = known_of(source);
  Judgements judgements;
  for (const Kind& kind : kinds()) try_kind(source, kind, told.asked.each, known, judgements, told);
}

std::vector<std::filesystem::path> files(const std::filesystem::path& folder, const std::set<std::string>& endings) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (endings.count(entry.path().extension().string()) != 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// As many as known.tsv says, of each kind and rule: more are wrong, and where there are fewer it has to say so.
bool as_known(const Told& told) {
  std::map<std::pair<std::string, std::string>, Count> known;
  std::ifstream file(RPCRDMA_SOURCE_DIR "/tests/damage/known.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    std::array<std::string, 6> field;
    for (std::string& each : field) std::getline(fields, each, '\t');
    const std::size_t first = told.asked.everything ? 3 : 2;
    const Count count{std::stoul(field.at(first)), std::stoul(field.at(first + 2))};
    if (count != Count{}) known[{field[0], field[1]}] = count;
  }
  bool same = true;
  std::set<std::pair<std::string, std::string>> all;
  for (const auto& [what, count] : known) all.insert(what);
  for (const auto& [what, count] : told.accusations) all.insert(what);
  for (const auto& what : all) {
    const auto found = told.accusations.find(what);
    const Count now = found == told.accusations.end() ? Count{} : found->second;
    if (now == known[what]) continue;
    same = false;
    std::cout << fmt::format("known.tsv: {}: {}: {} and {} seamless, known {} and {}\n", what.first, what.second,
                             now.wrong, now.seamless, known[what].wrong, known[what].seamless);
  }
  return same;
}

void try_all(Told& told) {
  const std::string& only = told.asked.only;
  for (const char* room : {"kernel", "peers"}) {
    for (const auto& path : files(captures / room, {".pcap", ".pcapng"})) {
      if (only.empty() || path.stem().string().find(only) != std::string::npos) try_capture(path, told);
    }
  }
  for (const auto& path : files(captures / "scenarios", {".yaml"})) {
    if (only.empty() || only.find(path.stem().string()) != std::string::npos ||
        path.stem().string().find(only) != std::string::npos) {
      try_scenario(path, told);
    }
  }
}

int run(Told& told) {
  const Asked& asked = told.asked;
  for (std::uint64_t i = 0; i < asked.conversations; ++i) try_conversation(asked.seed + i, told);
  if (asked.conversations == 0) try_all(told);
  std::size_t all = 0;
  for (const auto& [kind, count] : told.tried) {
    std::cout << fmt::format("{:24} {:7}\n", kind, count);
    all += count;
  }
  std::cout << fmt::format("{} copies that lack nothing count otherwise than the whole\n", told.other_numbers);
  std::cout << fmt::format("{} with two damages at once, {} false accusations; {} more of copies that show no loss\n",
                           told.tried_apart, told.more.wrong, told.more.seamless);
  std::cout << fmt::format("{} variants, {} false accusations; {} more of copies that show no loss\n",
                           all - told.tried_apart, told.all.wrong, told.all.seamless);
  if (asked.conversations != 0) return told.all.wrong == 0 && all != 0 ? 0 : 1;
  if (!asked.only.empty() || !asked.kind.empty() || asked.each != 1) {
    return told.all == Count{} && told.more == Count{} && all != 0 ? 0 : 1;
  }
  return all != 0 && as_known(told) ? 0 : 1;
}

}  // namespace
}  // namespace damage

int main(int argc, char** argv) {
  damage::Told told;
  CLI::App options("Damaged copies of captures and scenarios: nobody may become guilty who was not.");
  options.add_option("--only", told.asked.only, "captures and scenarios with this in their name");
  options.add_option("--kind", told.asked.kind, "only this kind of damage");
  options.add_option("--variant", told.asked.variant, "only the variant of this name");
  options.add_option("--each", told.asked.each, "how many variants of each kind and capture");
  options.add_option("--conversations", told.asked.conversations, "so many legal ones, drawn by chance, instead");
  options.add_option("--seed", told.asked.seed, "of the first conversation");
  options.add_option("--write", told.asked.write, "the variant as a capture file, to be looked at");
  options.add_flag("--numbers", told.asked.numbers, "tell of each variant that lacks nothing and counts otherwise");
  options.add_flag("--everything", told.asked.everything, "every variant there is");
  CLI11_PARSE(options, argc, argv);
  told.program = argv[0];
  return damage::run(told);
}
