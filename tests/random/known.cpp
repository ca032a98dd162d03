// SPDX-License-Identifier: GPL-2.0-or-later
#include "known.hpp"

#include <algorithm>

#include "report/names.hpp"

namespace talk {

const std::vector<Known>& known_faults() {
  static const std::vector<Known> table{};
  return table;
}

bool matches(const Wrong& wrong, const rpcrdma::referee::Finding& finding) {
  const std::string_view party = finding.violator ? rpcrdma::report::name(*finding.violator) : "nobody";
  return rpcrdma::referee::rule(finding.rule).name == wrong.rule && (wrong.party.empty() || party == wrong.party) &&
         finding.message.find(wrong.says) != std::string::npos;
}

bool is_known(const rpcrdma::referee::Report& report, const rpcrdma::referee::Finding& finding,
              const std::string& fault, const std::set<std::string>& met) {
  for (const Known& known : known_faults()) {
    // (a story may have a variant: the talk knows the first part of its name)
    const bool happened =
        std::any_of(met.begin(), met.end(), [&](const std::string& each) { return known.story.rfind(each, 0) == 0; });
    if (known.fault.empty() ? !happened : known.fault != fault) continue;
    const auto said = [&](const rpcrdma::referee::Finding& each) {
      return std::any_of(known.wrong.begin(), known.wrong.end(),
                         [&](const Wrong& wrong) { return matches(wrong, each); });
    };
    if (said(finding)) return true;
    if (known.spreads && std::any_of(report.findings.begin(), report.findings.end(), said)) return true;
  }
  return false;
}

}  // namespace talk
