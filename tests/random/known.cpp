// SPDX-License-Identifier: GPL-2.0-or-later
#include "known.hpp"

#include <algorithm>

#include "report/names.hpp"

namespace talk {

const std::vector<Known>& known_faults() {
  // Behind a Reply that offers itself to be read, whatever its sender says next with the same XID counts as a proof
  // that it was a Call - also what is said of another Call with the same number in the other direction, or RDMA_DONE.
  static const std::vector<Known> table{
      {"offer-with-the-xid-of-a-later-callback",
       "",
       {{"credit-initial-exceeded", "server", "before the first Reply"},
        {"rdma-done-sent", "client", "nothing had been offered"}}},
      {"done-from-the-side-that-offers",
       "done-by-the-server",
       {{"rdma-done-sent", "client", "nothing had been offered"}}},
  };
  return table;
}

bool matches(const Wrong& wrong, const rpcrdma::referee::Finding& finding) {
  const std::string_view party = finding.violator ? rpcrdma::report::name(*finding.violator) : "nobody";
  return finding.severity != rpcrdma::referee::Severity::note &&
         rpcrdma::referee::rule(finding.rule).name == wrong.rule && party == wrong.party &&
         finding.message.find(wrong.says) != std::string::npos;
}

bool is_known(const rpcrdma::referee::Finding& finding, const std::string& fault) {
  const auto& all = known_faults();
  return std::any_of(all.begin(), all.end(), [&](const Known& each) {
    return (each.fault.empty() || each.fault == fault) &&
           std::any_of(each.wrong.begin(), each.wrong.end(),
                       [&](const Wrong& wrong) { return matches(wrong, finding); });
  });
}

}  // namespace talk
