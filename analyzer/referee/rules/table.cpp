// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/rules/table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "referee/rules/rows_a_c.hpp"
#include "referee/rules/rows_d_g.hpp"
#include "referee/rules/rows_e.hpp"
#include "referee/rules/rows_h_i.hpp"
#include "referee/rules/rows_j_k.hpp"
#include "referee/rules/rows_l_m.hpp"
#include "referee/rules/rows_v2.hpp"

namespace rpcrdma::referee {
namespace {

constexpr std::size_t rule_count = static_cast<std::size_t>(RuleId::count_);

constexpr std::size_t row_count = std::size(rows::a_to_c) + std::size(rows::d_to_g) + std::size(rows::e) +
                                  std::size(rows::h_to_i) + std::size(rows::j_to_k) + std::size(rows::l_to_m) +
                                  std::size(rows::v2);
static_assert(row_count == rule_count, "every RuleId has one row");

/// Each row to its place, whichever file it stands in.
template <std::size_t n>
constexpr void place(std::array<Rule, rule_count>& all, const Rule (&rows)[n]) {
  for (const Rule& row : rows) all[static_cast<std::size_t>(row.id)] = row;
}

constexpr std::array<Rule, rule_count> join() {
  std::array<Rule, rule_count> all{};
  place(all, rows::a_to_c);
  place(all, rows::d_to_g);
  place(all, rows::e);
  place(all, rows::h_to_i);
  place(all, rows::j_to_k);
  place(all, rows::l_to_m);
  place(all, rows::v2);
  return all;
}

constexpr std::array<Rule, rule_count> rules = join();

constexpr bool every_row_at_its_index() {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (static_cast<std::size_t>(rules[i].id) != i) return false;
  }
  return true;
}
static_assert(every_row_at_its_index(), "no RuleId has two rows or none");

}  // namespace

std::span<const Rule> all_rules() noexcept { return rules; }

const Rule& rule(RuleId id) noexcept {
  const auto index = static_cast<std::size_t>(id);
  return rules[index < rules.size() ? index : 0];
}

const Rule* find_rule(std::string_view name) noexcept {
  const auto* found = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.name == name; });
  return found == rules.end() ? nullptr : found;
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
