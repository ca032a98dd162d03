// SPDX-License-Identifier: GPL-2.0-or-later
#include "damage/numbers.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace damage {

std::string numbers(const rpcrdma::referee::Report& report) {
  std::vector<std::string> lines;
  for (const auto& connection : report.connections) {
    const auto& m = connection.messages;
    const auto& o = connection.operations;
    lines.push_back(fmt::format(
        "calls {} replies {} back {} {} headers {} {} {} {} {} sends {} {} reads {} {} writes {} {} naks {} {} again "
        "{} "
        "lacks {} odd {}",
        m.calls, m.replies, m.reverse_calls, m.reverse_replies, m.rdma_msg, m.rdma_nomsg, m.rdma_msgp, m.rdma_done,
        m.rdma_error, o.sends, o.sends_with_invalidate, o.reads, o.read_bytes, o.writes, o.write_bytes, o.naks,
        o.rnr_naks, o.retransmitted, connection.gaps, connection.sends_unrecognised));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace damage
