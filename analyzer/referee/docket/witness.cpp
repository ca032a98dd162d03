// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/witness.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::optional<Party> named(std::optional<Side> side) noexcept {
  return side ? std::optional(party(*side)) : std::nullopt;
}

[[nodiscard]] bool met(const Needs& needs, const Connection& connection) noexcept {
  switch (needs.past) {
    case Needs::Past::nothing:
      return true;
    case Needs::Past::trusted:
      return connection.trusted();
    case Needs::Past::whole:
      return connection.whole();
  }
  return true;
}

}  // namespace

bool Witness::may(RuleId id) const {
  if (met(rule(id).needs, connection)) return true;
  unchecked(id, connection.why_not_whole());
  return false;
}

HeldFinding Witness::say(RuleId id, const Statement& statement) const {
  if (!may(id)) return {};
  return context.book.add({id, connection.id(), statement.frames, statement.what, statement.at_most, statement.xid,
                           named(statement.by), statement.as, statement.habit});
}

bool Witness::again(RuleId id, FrameRef frame, std::optional<Side> by) const {
  return context.book.fold_again(id, connection.id(), frame, named(by));
}

void Witness::unchecked(RuleId id, std::string_view why) const { context.book.unchecked(id, connection.id(), why); }

}  // namespace rpcrdma::referee
