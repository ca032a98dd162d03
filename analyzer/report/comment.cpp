// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "report/encoding.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace rpcrdma::report {

std::string packet_comment(const referee::Finding& finding) {
  const referee::Rule& rule = referee::rule(finding.rule);
  // A symptom accuses nobody, and says so.
  const bool symptom = referee::kind(finding.rule) == referee::FindingKind::symptom;
  std::string out = fmt::format("{}{} {}: {}", referee::text(finding.severity), symptom ? ", symptom" : "", rule.name,
                                finding.message);
  if (finding.frames.size() > 1) {
    out += fmt::format(" Evidence: frame{} {}.", finding.frames.size() > 2 ? "s" : "",
                       fmt::join(finding.frames.begin() + 1, finding.frames.end(), ", "));
  }
  if (finding.occurrences > 1) out += fmt::format(" Seen {} times.", grouped(finding.occurrences));
  out += fmt::format(" {} (rpcrdma-analyzer, connection {})", rule.source, finding.connection);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return valid_utf8(out);
}

}  // namespace rpcrdma::report
