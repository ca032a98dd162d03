// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "referee/cause/causes.hpp"

namespace rpcrdma::referee {

void link_consequences(std::vector<Finding>& findings) {
  // The gravest accusation about each frame, the first of them where several are as grave.
  std::map<std::pair<ConnectionId, std::uint64_t>, const Finding*> accused;
  for (const Finding& finding : findings) {
    const bool accuses = finding.severity != Severity::note && kind(finding.rule) == FindingKind::violation;
    if (!accuses || rule(finding.rule).consequence || finding.frames.empty()) continue;
    const Finding*& gravest = accused[{finding.connection, finding.frames.front()}];
    if (gravest == nullptr || finding.severity > gravest->severity) gravest = &finding;
  }
  if (accused.empty()) return;
  for (Finding& finding : findings) {
    if (!rule(finding.rule).consequence) continue;
    for (const std::uint64_t frame : finding.frames) {
      const auto at = accused.find({finding.connection, frame});
      if (at == accused.end()) continue;
      finding.follows = Finding::Follows{at->second->rule, frame};
      break;
    }
  }
}

}  // namespace rpcrdma::referee
