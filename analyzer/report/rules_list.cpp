// SPDX-License-Identifier: GPL-2.0-or-later
// --list-rules as a table.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "report/layout.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {
namespace {

/// A source short enough for a column: "RFC 8166 3.3.2, 4.2.4; v2 draft 4.2.2". --explain has the long form.
std::string shortened(std::string_view source) {
  std::string out(source);
  const std::pair<std::string_view, std::string_view> words[] = {
      {" sections ", " "}, {" section ", " "}, {" and ", ", "}, {"version 2 draft", "v2 draft"}};
  for (const auto& [from, to] : words) {
    for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

}  // namespace

std::string list_rules_text(bool color) {
  std::size_t name_width = 4;
  std::size_t source_width = 6;
  for (const auto& rule : referee::all_rules()) {
    name_width = std::max(name_width, width(rule.name));
    source_width = std::max(source_width, width(shortened(rule.source)));
  }
  const auto row = [&](std::string_view name, std::string_view severity, std::string_view versions,
                       std::string_view source, std::string_view title) {
    return fmt::format("{:<{}}  {:<8}  {:<8}  {:<{}}  {}", name, name_width, severity, versions, source, source_width,
                       title);
  };
  Page page(color);
  page.line(row("NAME", "SEVERITY", "VERSIONS", "SOURCE", "TITLE"), Ink::bold);
  for (const auto& rule : referee::all_rules()) {
    page.line(
        row(rule.name, referee::text(rule.severity), referee::text(rule.versions), shortened(rule.source), rule.title));
  }
  return page.take();
}

}  // namespace rpcrdma::report
