// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/resting.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

namespace {

void keep(Mount& mount, Resting resting) {
  if (mount.resting.size() >= Mount::most_resting) mount.resting.erase(mount.resting.begin());
  mount.resting.push_back(std::move(resting));
}

/// May what is missing of `side` be what the finding rests on?
[[nodiscard]] bool concerns(const Resting& resting, const Connection& connection, Side side, FrameRef frame) {
  if (connection.of(side).newest_send() >= resting.before) return false;
  switch (resting.on) {
    case Resting::On::close:
      return frame.number > resting.behind && (resting.connection != connection.id() || side == resting.side);
    case Resting::On::first_copy:
      return connection.facts.opened.number < resting.behind && (side == resting.side || !connection.roles_known());
  }
  return false;
}

[[nodiscard]] std::string_view why(Resting::On on) noexcept {
  return on == Resting::On::close ? "the last messages of the peer may be missing from the capture"
                                  : "an earlier copy of the call may be missing from the capture";
}

}  // namespace

void rests_on_close(const Witness& witness, RuleId rule, Side lacking, const HeldFinding& held) {
  const Connection& connection = witness.connection;
  if (connection.mount == nullptr || connection.facts.transport == trace::Transport::iwarp || !held) return;
  const std::uint64_t closed = std::max(connection.sides[0].farewell.number, connection.sides[1].farewell.number);
  keep(*connection.mount,
       {held, rule, connection.id(), Resting::On::close, lacking, connection.of(lacking).newest_send(), closed});
}

void rests_on_first_copy(const Witness& witness, RuleId rule, const Transaction& call, const HeldFinding& held) {
  const Connection& connection = witness.connection;
  if (connection.mount == nullptr || !held || !in_time_to_repeat(connection)) return;
  const std::uint64_t opened = connection.facts.opened.number;
  const bool any_earlier = std::any_of(connection.mount->alive.begin(), connection.mount->alive.end(),
                                       [&](const auto& other) { return other.second->facts.opened.number < opened; });
  if (!any_earlier) return;
  keep(*connection.mount,
       {held, rule, connection.id(), Resting::On::first_copy, Side::active, opened, call.call.number + 1});
}

void take_back_what_rests(const Witness& witness, Side side, FrameRef frame) {
  const Connection& connection = witness.connection;
  if (connection.mount == nullptr || connection.mount->resting.empty()) return;
  std::erase_if(connection.mount->resting, [&](const Resting& resting) {
    if (!concerns(resting, connection, side, frame)) return false;
    witness.context.book.withdraw(resting.finding);
    witness.context.book.unchecked(resting.rule, resting.connection, why(resting.on));
    return true;
  });
}

}  // namespace rpcrdma::referee
