// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "referee/cause/causes.hpp"

namespace rpcrdma::referee {

void link_consequences(PackedList<Finding>& findings) {
  // The gravest accusation about each frame, the first of them where several are as grave.
  struct Accusation {
    RuleId rule = RuleId{};
    Severity severity = Severity::note;
  };
  std::map<std::pair<ConnectionId, std::uint64_t>, Accusation> accused;
  for (const Finding& finding : findings) {
    const bool accuses = finding.severity != Severity::note && kind(finding.rule) == FindingKind::violation;
    if (!accuses || rule(finding.rule).consequence || finding.frames.empty()) continue;
    Accusation& gravest = accused[{finding.connection, finding.frames.front()}];
    if (finding.severity > gravest.severity) gravest = {finding.rule, finding.severity};
  }
  if (accused.empty()) return;
  Finding finding;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    findings.read(i, finding);
    if (!rule(finding.rule).consequence) continue;
    for (const std::uint64_t frame : finding.frames) {
      const auto at = accused.find({finding.connection, frame});
      if (at == accused.end()) continue;
      finding.follows = Finding::Follows{at->second.rule, frame};
      findings.set(i, finding);
      break;
    }
  }
}

}  // namespace rpcrdma::referee
