// SPDX-License-Identifier: GPL-2.0-or-later
// --explain RULE: one row of the table as a page.
#include <fmt/format.h>

#include <algorithm>

#include "report/ladder_text.hpp"
#include "report/layout.hpp"
#include "report/pages.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {
namespace {

std::string_view spoken(referee::Versions versions) {
  switch (versions) {
    case referee::Versions::v1:
      return "1";
    case referee::Versions::v2:
      return "2";
    case referee::Versions::both:
      return "1 and 2";
  }
  return "1 and 2";
}

void section(Page& page, std::string_view heading, std::string_view text) {
  page.line();
  page.line(heading, Ink::bold);
  page.paragraph("  ", text, 2);
}

void drawing(Page& page, const referee::Rule& rule, bool ascii) {
  const auto drawings = rule_drawings();
  const auto found =
      std::find_if(drawings.begin(), drawings.end(), [&](const RuleDrawing& each) { return each.rule == rule.name; });
  if (found == drawings.end()) return;
  section(page, "What it looks like", fmt::format("The story captures/scenarios/{}.yaml:", found->scenario));
  page.drawn(ascii ? in_ascii(found->drawing) : std::string(found->drawing));
}

}  // namespace

std::optional<std::string> explain(std::string_view rule_name, bool color, bool ascii, std::size_t width) {
  const referee::Rule* rule = referee::find_rule(rule_name);
  if (rule == nullptr) return std::nullopt;
  Page page(color, width);
  page.line(fmt::format("{} ({} at most)", rule->name, referee::text(rule->severity)), ink(rule->severity));
  page.paragraph("  ", rule->title, 2);
  section(page, "What it means", rule->explanation);
  section(page, "Who is held to it",
          fmt::format("{}; protocol version {}", rule->who == "nobody" ? "nobody: an observation" : rule->who,
                      spoken(rule->versions)));
  section(page, "Where it is written", rule->source);
  section(page, "What proves it", rule->evidence);
  drawing(page, *rule, ascii);
  section(page, "What to look at next", rule->next);
  section(page, "Where to read on", fmt::format("{}, {}", rule_page(*rule), lesson(*rule)));
  return page.take();
}

}  // namespace rpcrdma::report
