// SPDX-License-Identifier: GPL-2.0-or-later
#include "expectations.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "playback/verdict.hpp"
#include "report/names.hpp"

namespace scenarios {
namespace {

using forge::Mistake;
using rpcrdma::referee::Finding;
using rpcrdma::referee::MountFacts;
using rpcrdma::referee::Owes;
using rpcrdma::referee::Report;
using rpcrdma::referee::Severity;

std::string_view rule_name(rpcrdma::referee::RuleId id) { return rpcrdma::referee::rule(id).name; }

std::string party(const std::optional<rpcrdma::referee::Party>& party) {
  return party ? std::string(rpcrdma::report::name(*party)) : "nobody";
}

void only(const YAML::Node& node, const std::set<std::string>& words, const std::string& path) {
  for (const auto& pair : node) {
    const auto word = pair.first.as<std::string>();
    if (words.count(word) == 0) {
      throw Mistake(fmt::format("{}:{}: the word '{}' has no meaning here", path, node.Mark().line + 1, word));
    }
  }
}

std::optional<std::string> text(const YAML::Node& node) {
  return node.IsDefined() ? std::optional(node.as<std::string>()) : std::nullopt;
}

/// One value, or a list of them.
std::vector<std::string> texts(const YAML::Node& node) {
  if (!node.IsDefined()) return {};
  if (node.IsNull()) return {"nobody"};
  return node.IsSequence() ? node.as<std::vector<std::string>>() : std::vector{node.as<std::string>()};
}

std::set<std::string> names(const YAML::Node& node) {
  const std::vector<std::string> all = node.IsDefined() && !node.IsNull() ? texts(node) : std::vector<std::string>();
  return {all.begin(), all.end()};
}

std::optional<Severity> severity(const YAML::Node& node) {
  if (!node.IsDefined()) return std::nullopt;
  const auto word = node.as<std::string>();
  for (const Severity each : {Severity::note, Severity::warning, Severity::error}) {
    if (word == rpcrdma::referee::text(each)) return each;
  }
  throw Mistake("no severity is called '" + word + "'");
}

Want read_want(const YAML::Node& node, const std::string& path) {
  only(node, {"rule", "violator", "step", "severity", "at_least", "at_most", "times", "says", "fabric"}, path);
  Want want;
  YAML::Emitter emitter;
  emitter.SetMapFormat(YAML::Flow);
  emitter << node;
  want.text = emitter.c_str();
  want.rule = node["rule"].as<std::string>();
  want.violator = text(node["violator"]);
  want.steps = texts(node["step"]);
  want.severity = severity(node["severity"]);
  want.at_least = severity(node["at_least"]);
  want.at_most = severity(node["at_most"]);
  if (node["times"]) want.times = node["times"].as<std::size_t>();
  want.says = text(node["says"]);
  want.fabric = text(node["fabric"]);
  return want;
}

CauseWant read_cause(const YAML::Node& node, const std::string& path) {
  only(node, {"connection", "rule", "confidence", "how", "by", "step", "fabric"}, path);
  CauseWant want;
  if (node["connection"]) want.connection = node["connection"].as<std::uint32_t>();
  want.rules = texts(node["rule"]);
  want.confidences = texts(node["confidence"]);
  want.hows = texts(node["how"]);
  want.parties = texts(node["by"]);
  want.step = text(node["step"]);
  want.fabric = text(node["fabric"]);
  return want;
}

using NamedState = std::pair<std::string_view, MountFacts::State>;
constexpr std::array<NamedState, 6> states{{{"unknown", MountFacts::State::unknown},
                                            {"never-up", MountFacts::State::never_up},
                                            {"down", MountFacts::State::down},
                                            {"closed", MountFacts::State::closed},
                                            {"waiting", MountFacts::State::waiting},
                                            {"working", MountFacts::State::working}}};
using NamedOwes = std::pair<std::string_view, Owes>;
constexpr std::array<NamedOwes, 6> owing{{{"nobody", Owes::nobody},
                                          {"server", Owes::server},
                                          {"client", Owes::client},
                                          {"server-unreachable", Owes::server_unreachable},
                                          {"client-unreachable", Owes::client_unreachable},
                                          {"unknown", Owes::unknown}}};

/// The names of the contract, read and written here: a report that mixes them up must not agree with itself.
template <typename Names>
auto named(const Names& names, const std::string& name) {
  for (const auto& each : names) {
    if (each.first == name) return each.second;
  }
  throw Mistake("nothing is called '" + name + "' here");
}
template <typename Names, typename Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& each : names) {
    if (each.second == value) return each.first;
  }
  return "?";
}

MountWant read_mount(const YAML::Node& node, const std::string& path) {
  only(node, {"number", "state", "owes", "since", "says", "next", "fabric"}, path);
  MountWant want;
  if (node["number"]) want.number = node["number"].as<std::uint32_t>();
  if (node["state"]) want.state = named(states, node["state"].as<std::string>());
  for (const std::string& name : texts(node["owes"])) want.owes.push_back(named(owing, name));
  want.since = texts(node["since"]);
  want.says = texts(node["says"]);
  want.next = texts(node["next"]);
  want.fabric = text(node["fabric"]);
  return want;
}

/// Empty, or why this finding is not the wanted one.
std::string unlike(const Want& want, const Finding& finding, const StepFrames& frames) {
  if (rule_name(finding.rule) != want.rule) return "other rule";
  if (want.violator && party(finding.violator) != *want.violator) {
    return fmt::format("violator {}, not {}", party(finding.violator), *want.violator);
  }
  const auto level = rpcrdma::referee::text(finding.severity);
  if (want.severity && finding.severity != *want.severity) return fmt::format("severity {}", level);
  if (want.at_least && finding.severity < *want.at_least) return fmt::format("severity {}, too low", level);
  if (want.at_most && finding.severity > *want.at_most) return fmt::format("severity {}, too high", level);
  if (want.says && finding.message.find(*want.says) == std::string::npos) {
    return fmt::format("says '{}'", finding.message);
  }
  if (want.steps.empty()) return {};
  std::set<std::uint64_t> allowed;
  for (const std::string& step : want.steps) {
    if (const auto found = frames.find(step); found != frames.end()) {
      allowed.insert(found->second.begin(), found->second.end());
    }
  }
  if (allowed.empty()) return fmt::format("no captured frame belongs to the step '{}'", want.steps.front());
  if (finding.frames.empty() || allowed.count(finding.frames.front()) == 0) {
    return fmt::format("frames {}, none of {} ({})", finding.frames, allowed, fmt::join(want.steps, " or "));
  }
  return {};
}

bool among(const std::vector<std::string>& wanted, std::string_view found) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), found) != wanted.end();
}

/// Empty, or what is wrong with how and why a connection ended.
std::string wrong_cause(const CauseWant& want, const StepFrames& frames, const Report& report) {
  const auto& all = report.connections;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.id == want.connection; });
  if (found == all.end() || !found->closed) return fmt::format("connection {} did not end", want.connection);
  const rpcrdma::referee::Closed& closed = *found->closed;
  const auto& cause = closed.cause;
  const auto differs = [&](std::string_view what, const std::vector<std::string>& wanted, std::string_view got) {
    return among(wanted, got) ? std::string()
                              : fmt::format("connection {} ended with {} {}, not {}", want.connection, what, got,
                                            fmt::join(wanted, " or "));
  };
  const std::string_view confidence = !cause ? "none" : cause->proven ? "proven" : "probable";
  for (const std::string& complaint :
       {differs("rule", want.rules, cause ? rule_name(cause->rule) : "none"),
        differs("confidence", want.confidences, confidence),
        differs("how", want.hows, rpcrdma::report::name(closed.how)), differs("by", want.parties, party(closed.by))}) {
    if (!complaint.empty()) return complaint;
  }
  if (!want.step) return {};
  const auto step = frames.find(*want.step);
  if (step == frames.end()) return fmt::format("no captured frame belongs to the step '{}'", *want.step);
  const std::set<std::uint64_t> steps(step->second.begin(), step->second.end());
  const bool named = cause && std::any_of(cause->frames.begin(), cause->frames.end(),
                                          [&](std::uint64_t frame) { return steps.count(frame) != 0; });
  return named ? std::string() : fmt::format("the cause names none of the frames of step '{}'", *want.step);
}

/// What differs between a mount and what became of it.
std::vector<std::string> wrong_mount(const MountWant& want, const StepFrames& frames, const Report& report) {
  const auto& all = report.mounts;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.id == want.number; });
  if (found == all.end()) return {fmt::format("there is no mount {}", want.number)};
  const MountFacts& mount = *found;
  const std::string who = fmt::format("mount {} (\"{}\")", mount.id, mount.sentence);
  std::vector<std::string> lines;
  if (want.state && mount.state != *want.state) {
    lines.push_back(fmt::format("{} is {}, not {}", who, name_of(states, mount.state), name_of(states, *want.state)));
  }
  if (!want.owes.empty() && std::find(want.owes.begin(), want.owes.end(), mount.owes) == want.owes.end()) {
    lines.push_back(
        fmt::format("{}: {} owes, not {}", who, name_of(owing, mount.owes), name_of(owing, want.owes.front())));
  }
  if (!want.since.empty()) {
    std::set<std::uint64_t> allowed;
    for (const std::string& step : want.since) {
      if (const auto entry = frames.find(step); entry != frames.end()) {
        allowed.insert(entry->second.begin(), entry->second.end());
      }
    }
    const std::uint64_t since = mount.since ? mount.since->number : 0;
    if (allowed.empty()) {
      lines.push_back(fmt::format("no captured frame belongs to the step '{}'", want.since.front()));
    } else if (allowed.count(since) == 0) {
      lines.push_back(fmt::format("{} since frame {}, none of {}", who, since, allowed));
    }
  }
  for (const std::string& words : want.says) {
    if (mount.sentence.find(words) == std::string::npos)
      lines.push_back(fmt::format("{} does not say '{}'", who, words));
  }
  for (const std::string& words : want.next) {
    if (mount.next.find(words) == std::string::npos)
      lines.push_back(fmt::format("{} advises \"{}\", without '{}'", who, mount.next, words));
  }
  return lines;
}

bool names_a_role(std::string_view text) {
  static const std::regex word("\\b(client|server)('s)?\\b", std::regex::icase);
  return std::regex_search(text.begin(), text.end(), word);
}

}  // namespace

std::vector<std::string> roles_made_up(const Report& report) {
  std::set<std::uint32_t> nameless;
  std::vector<std::string> lines;
  const auto look = [&](std::string_view where, std::string_view text) {
    if (names_a_role(text)) lines.push_back(fmt::format("nothing tells who is the client, and {}: {}", where, text));
  };
  for (const auto& connection : report.connections) {
    if (connection.roles_from != rpcrdma::trace::RolesFrom::unknown) continue;
    nameless.insert(connection.id);
    if (connection.closed && connection.closed->cause) look("the cause says", connection.closed->cause->message);
  }
  const auto has_roles = [&](const MountFacts& mount) {
    return mount.attempts.made != 0 ||
           std::any_of(mount.connections.begin(), mount.connections.end(),
                       [&](std::uint32_t connection) { return nameless.count(connection) == 0; });
  };
  std::set<std::uint32_t> in_named_mounts;
  bool any_roles = report.mounts.empty();
  for (const MountFacts& mount : report.mounts) {
    if (has_roles(mount)) {
      any_roles = true;
      in_named_mounts.insert(mount.connections.begin(), mount.connections.end());
      continue;
    }
    look("the mount says", mount.sentence);
    look("the advice is", mount.next);
    if (mount.owes != Owes::nobody && mount.owes != Owes::unknown) {
      lines.push_back(fmt::format("nothing tells who is the client, and {} owes", name_of(owing, mount.owes)));
    }
  }
  if (!any_roles) look("the verdict is", report.verdict.sentence);
  for (const Finding& finding : report.findings) {
    const bool of_mount = rpcrdma::referee::kind(finding.rule) == rpcrdma::referee::FindingKind::symptom;
    if (nameless.count(finding.connection) == 0) continue;
    if (of_mount && in_named_mounts.count(finding.connection) != 0) continue;
    look(rule_name(finding.rule), finding.message);
    if (finding.violator) lines.push_back(fmt::format("{} names {}", rule_name(finding.rule), party(finding.violator)));
  }
  for (const auto& unchecked : report.unchecked) {
    if (nameless.count(unchecked.connection) != 0) look(rule_name(unchecked.rule), unchecked.reason);
  }
  return lines;
}

StepFrames frames_of_steps(const forge::Film& film) {
  StepFrames frames;
  std::uint64_t number = 0;
  for (const forge::Shot& shot : film.shots) {
    if (!shot.captured) continue;
    ++number;
    frames[shot.step].push_back(number);
    frames[shot.step + "/" + shot.part].push_back(number);
  }
  return frames;
}

Expectations read_expectations(const std::string& path) {
  const YAML::Node root = YAML::LoadFile(path);
  Expectations expectations;
  for (const YAML::Node& node : root["expect"]) expectations.expect.push_back(read_want(node, path));
  for (const YAML::Node& node : root["causes"]) expectations.causes.push_back(read_cause(node, path));
  if (const YAML::Node mount = root["mount"]; mount.IsDefined() && mount.IsSequence()) {
    for (const YAML::Node& node : mount) expectations.mounts.push_back(read_mount(node, path));
  } else if (mount.IsDefined()) {
    expectations.mounts.push_back(read_mount(mount, path));
  }
  expectations.near = names(root["near"]);
  expectations.never = names(root["never"]);
  for (const YAML::Node& node : root["unchecked"]) {
    const bool bare = node.IsScalar();
    expectations.unchecked.push_back({bare ? node.as<std::string>() : node["rule"].as<std::string>(),
                                      bare ? "" : node["because"].as<std::string>()});
  }
  expectations.checked = names(root["checked"]);
  expectations.allow = names(root["allow"]);
  return expectations;
}

bool speaks_of(const std::optional<std::string>& fabric, const forge::Transport& transport) {
  return !fabric || *fabric == transport.name || *fabric == forge::family(transport);
}

std::vector<std::string> complaints(const Expectations& expectations, const forge::Transport& transport,
                                    const StepFrames& frames, const Report& report, std::set<std::string>* missing) {
  std::vector<std::string> lines = roles_made_up(report);
  const std::vector<Finding> findings = report.findings.all();
  std::vector<bool> explained(findings.size());
  for (const Want& want : expectations.expect) {
    if (!speaks_of(want.fabric, transport)) continue;
    std::size_t hits = 0;
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const std::string why = unlike(want, findings[i], frames);
      if (why.empty()) {
        ++hits;
        explained[i] = true;
      } else if (rule_name(findings[i].rule) == want.rule) {
        reasons.push_back(why);
      }
    }
    if (hits == 0) {
      lines.push_back(fmt::format("missing {}{}{}", want.text, reasons.empty() ? "" : ": ", fmt::join(reasons, "; ")));
      if (missing != nullptr) missing->insert(want.rule);
    } else if (want.times && hits != *want.times) {
      lines.push_back(fmt::format("{} {} times, not {}", want.rule, hits, *want.times));
    }
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const std::string rule(rule_name(finding.rule));
    const bool silent = expectations.near.count(rule) + expectations.never.count(rule) != 0;
    if (explained[i]) continue;
    if (silent) {
      lines.push_back("must not be said: " + playback::told(finding));
    } else if (finding.severity != Severity::note && expectations.allow.count(rule) == 0) {
      lines.push_back("accusation without ground: " + playback::told(finding));
    }
  }
  for (const UncheckedWant& want : expectations.unchecked) {
    const bool named = std::any_of(report.unchecked.begin(), report.unchecked.end(), [&](const auto& each) {
      return rule_name(each.rule) == want.rule && each.reason.find(want.because) != std::string::npos;
    });
    if (named) continue;
    lines.push_back(want.rule + " is not among the unchecked rules" +
                    (want.because.empty() ? "" : ", because " + want.because));
  }
  for (const auto& each : report.unchecked) {
    if (expectations.checked.count(std::string(rule_name(each.rule))) == 0) continue;
    lines.push_back(fmt::format("{} is unchecked: {}", rule_name(each.rule), each.reason));
  }
  for (const CauseWant& want : expectations.causes) {
    if (!speaks_of(want.fabric, transport)) continue;
    if (std::string complaint = wrong_cause(want, frames, report); !complaint.empty()) {
      lines.push_back(std::move(complaint));
    }
  }
  for (const MountWant& want : expectations.mounts) {
    if (!speaks_of(want.fabric, transport)) continue;
    for (std::string& complaint : wrong_mount(want, frames, report)) lines.push_back(std::move(complaint));
  }
  return lines;
}

}  // namespace scenarios
