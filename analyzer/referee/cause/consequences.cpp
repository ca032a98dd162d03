// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/cause/causes.hpp"

namespace rpcrdma::referee {

void Consequences::hear(const Finding& finding) {
  if (rule(finding.rule).consequence) {
    followers_.push_back(heard_);
  } else if (finding.severity != Severity::note && kind(finding.rule) == FindingKind::violation &&
             !finding.frames.empty()) {
    Accusation& gravest = accused_[{finding.connection, finding.frames.front()}];
    if (finding.severity > gravest.severity) gravest = {finding.rule, finding.severity};
  }
  ++heard_;
}

void Consequences::link(PackedList<Finding>& findings) const {
  if (accused_.empty()) return;
  Finding finding;
  for (const std::size_t index : followers_) {
    findings.read(index, finding);
    for (const std::uint64_t frame : finding.frames) {
      const auto at = accused_.find({finding.connection, frame});
      if (at == accused_.end()) continue;
      finding.follows = Finding::Follows{at->second.rule, frame};
      findings.set(index, finding);
      break;
    }
  }
}

}  // namespace rpcrdma::referee
