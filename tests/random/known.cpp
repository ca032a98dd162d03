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
        {"rdma-done-sent", "client", "nothing had been offered"}},
       true},
      {"done-from-the-side-that-offers",
       "done-by-the-server",
       {{"rdma-done-sent", "server", "nothing had been offered"},
        {"rdma-done-sent", "client", "nothing had been offered"},
        {"done-without-pending-chunk", "server", "for which no Read chunk is waiting"}},
       true},
      // A Long Call with the number of an open Call of the other side is taken for the Reply to that one as soon as
      // something else comes before its first octets are read, and is judged as if that were certain.
      {"long-call-with-the-xid-of-an-open-call",
       "",
       {{"write-list-not-returned", "", "each has to be returned"},
        {"rdma-unknown-handle", "", "on this connection ever named"}},
       true},
      {"long-call-with-the-xid-of-an-open-call-with-a-reply-chunk",
       "",
       {{"reply-chunk-not-returned", "", "does not return the Reply chunk"},
        {"pull-offer-unneeded", "", "although the Call's Reply chunk had room"}},
       true},
      {"long-call-with-the-xid-of-an-open-call-that-is-being-read",
       "",
       {{"rdma-read-after-reply", "", "after its Reply"}},
       true},
      {"long-call-with-the-xid-of-an-open-call-and-of-an-earlier-callback",
       "",
       {{"duplicate-reply", "", "a second time"}},
       true},
      // What was said with a number long ago counts as the answer to a later Call that has the number again.
      {"error-before-a-callback-of-its-xid",
       "error-from-the-requester",
       {{"duplicate-reply", "client", "a second time"}}},
      {"reply-in-pieces-with-the-xid-of-an-interrupted-call",
       "v2-call-between-pieces",
       {{"xid-duplicate-outstanding", "server", "a different Call"}}},
      {"second-reply-before-a-call-of-its-xid",
       "",
       {{"rdma-read-after-reply", "server", "after its Reply"},
        {"rdma-write-after-reply", "server", "after its Reply"}},
       true},
      {"second-reply-before-a-call-of-its-xid-of-version-1",
       "",
       {{"rdma-done-sent", "client", "nothing had been offered"}},
       true},
  };
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
