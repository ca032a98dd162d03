// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {
namespace {

constexpr std::size_t rule_count = static_cast<std::size_t>(RuleId::count_);

/// The name outside: with hyphens.
template <std::size_t n>
struct Hyphened {
  consteval Hyphened(
      const char (&name)[n]) {  // NOLINT(google-explicit-constructor): so that a template takes a literal
    for (std::size_t i = 0; i < n; ++i) text[i] = name[i] == '_' ? '-' : name[i];
  }
  std::array<char, n> text{};  ///< with its NUL
};

template <Hyphened name>
constexpr std::string_view outside{name.text.data(), name.text.size() - 1};

std::array<Rule, rule_count> join() {
#define RPCRDMA_RULE(name) Rule{rows::name, RuleId::name, outside<#name>},
#define RPCRDMA_RULE_V2(name) Rule{v2::rows::name, RuleId::name, outside<#name>},
  return {{RPCRDMA_RULES_OF_VERSION_1_AND_BOTH(RPCRDMA_RULE) RPCRDMA_RULES_OF_VERSION_2(RPCRDMA_RULE_V2)
               RPCRDMA_RULES_OF_PEERS(RPCRDMA_RULE) RPCRDMA_RULES_OF_MOUNTS(RPCRDMA_RULE)}};
#undef RPCRDMA_RULE
#undef RPCRDMA_RULE_V2
}

}  // namespace

std::span<const Rule> all_rules() noexcept {
  static const std::array<Rule, rule_count> rules = join();
  return rules;
}

const Rule& rule(RuleId id) noexcept {
  const std::span<const Rule> rules = all_rules();
  const auto index = static_cast<std::size_t>(id);
  return rules[index < rules.size() ? index : 0];
}

const Rule* find_rule(std::string_view name) noexcept {
  const std::span<const Rule> rules = all_rules();
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

FindingKind kind(RuleId id) noexcept {
  const Rule& row = rule(id);
  if (row.group == 'N') return FindingKind::symptom;
  if (row.group == 'M') return FindingKind::capture;
  return row.severity == Severity::note ? FindingKind::habit : FindingKind::violation;
}

std::string_view text(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "note";
}

std::string_view text(Versions versions) noexcept {
  switch (versions) {
    case Versions::v1:
      return "1";
    case Versions::v2:
      return "2";
    case Versions::both:
      return "1, 2";
  }
  return "1, 2";
}

}  // namespace rpcrdma::referee
