// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/closes.hpp"

#include <algorithm>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

void rests_on_close(const Witness& witness, RuleId rule, Side lacking, const HeldFinding& held) {
  const Connection& connection = witness.connection;
  if (connection.mount == nullptr || connection.facts.transport == trace::Transport::iwarp || !held) return;
  std::vector<TrustedClose>& all = connection.mount->trusted_closes;
  if (all.size() >= Mount::most_trusted_closes) all.erase(all.begin());
  const std::uint64_t closed = std::max(connection.sides[0].farewell.number, connection.sides[1].farewell.number);
  all.push_back({held, rule, connection.id(), connection.of(lacking).newest_send(), closed});
}

void doubt_closes_beside(const Witness& witness, Side side, FrameRef frame) {
  const Connection& connection = witness.connection;
  if (connection.mount == nullptr || connection.mount->trusted_closes.empty()) return;
  const std::uint64_t behind = connection.of(side).newest_send();
  std::erase_if(connection.mount->trusted_closes, [&](const TrustedClose& close) {
    const bool beside = close.connection != connection.id() && frame.number > close.seen_until && behind < close.closed;
    if (!beside) return false;
    witness.context.book.withdraw(close.finding);
    witness.context.book.unchecked(close.rule, close.connection,
                                   "the last messages of the peer may be missing from the capture");
    return true;
  });
}

}  // namespace rpcrdma::referee
