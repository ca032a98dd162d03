// SPDX-License-Identifier: GPL-2.0-or-later
#include "known.hpp"

#include <algorithm>

#include "report/names.hpp"

namespace talk {

const std::vector<Known>& known_faults() {
  static const std::vector<Known> table{};
  return table;
}

bool matches(const Known& known, const rpcrdma::referee::Finding& finding) {
  const std::string_view party = finding.violator ? rpcrdma::report::name(*finding.violator) : "nobody";
  return finding.severity != rpcrdma::referee::Severity::note &&
         rpcrdma::referee::rule(finding.rule).name == known.rule && party == known.party &&
         finding.message.find(known.says) != std::string::npos;
}

bool is_known(const rpcrdma::referee::Finding& finding) {
  const auto& all = known_faults();
  return std::any_of(all.begin(), all.end(), [&](const Known& each) { return matches(each, finding); });
}

}  // namespace talk
