// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/witness.hpp"

#include <algorithm>
#include <utility>

#include "referee/docket/cases.hpp"
#include "referee/docket/resting.hpp"
#include "referee/state/nameless.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::optional<Party> named(const Connection& connection, std::optional<Side> side) noexcept {
  return side && connection.roles_known() ? std::optional(party(*side)) : std::nullopt;
}

/// Where it is a guess who is the client nobody is called so.
[[nodiscard]] std::string worded(const Connection& connection, std::string_view text) {
  if (connection.roles_known()) return std::string(text);
  return without_roles(text, names_of_ends(connection.facts.client, connection.facts.server));
}

[[nodiscard]] bool known(Needs::Past past, const Connection& connection) noexcept {
  switch (past) {
    case Needs::Past::any:
      return true;
    case Needs::Past::trusted:
      return connection.trusted();
    case Needs::Past::whole:
      return connection.whole();
    case Needs::Past::from_start:
      return connection.facts.handshake_seen && connection.whole();
  }
  return true;
}

}  // namespace

bool Witness::may(RuleId id) const {
  const Needs& needs = rule(id).needs;
  if (needs.file_order && connection.file_order != Connection::FileOrder::unquestioned) {
    unchecked(id, "packets of the connection stand in the file in another order than on the wire");
    return false;
  }
  if (known(needs.past, connection)) return true;
  unchecked(id,
            connection.whole() ? std::string_view("the handshake is not in the capture") : connection.why_not_whole());
  return false;
}

bool Witness::may(RuleId id, const Transaction& call) const {
  const Needs& needs = rule(id).needs;
  const Needs::Call needed = needs.call;
  if (needed != Needs::Call::any && call.copies != 1) {
    unchecked(id, "a Call was sent more than once, and which of them is answered is not known");
    return false;
  }
  if (needed != Needs::Call::any && call.earlier == Transaction::Earlier::perhaps_open) {
    unchecked(id, "an earlier Call with the same XID may not have been answered, and which of them is, is not known");
    return false;
  }
  if (needs.lists && !call.all_lists()) {
    unchecked(id, "the chunk lists of the Call are not known");
    return false;
  }
  if (needed == Needs::Call::answered_whole && connection.of(other(call.requester)).gaps != call.responder_gaps) {
    unchecked(id, "frames of the responder are missing since the Call");
    return false;
  }
  return may(id);
}

HeldFinding Witness::say(RuleId id, const Statement& statement) const {
  const bool known = statement.call != nullptr ? may(id, *statement.call) : may(id);
  if (!known) return {};
  HeldFinding held = write(id, statement);
  if (statement.call != nullptr && statement.frames.size() != 0) {
    std::vector<AboutAnswer>& about = connection.about_answers;
    if (about.size() >= Connection::most_about_answers) about.erase(about.begin());
    const FrameRef newest = std::max(statement.frames, [](FrameRef a, FrameRef b) { return a.number < b.number; });
    const Side requester = statement.call->requester;
    about.push_back({held, id, requester, statement.by, statement.frames.begin()->number, newest.number,
                     connection.of(other(requester)).gaps});
  }
  return held;
}

namespace {

/// Where nothing but the order in the file proves it, it goes when that is lost.
void note_order(Connection& connection, const Case& waited, const HeldFinding& held) {
  if (!held || waited.order != Case::Order::of_file) return;
  std::vector<Connection::ByFileOrder>& all = connection.by_file_order;
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const Connection::ByFileOrder& each) { return each.finding == held; });
  if (same != all.end()) {
    ++same->times;
  } else if (all.size() < Connection::most_by_file_order) {
    all.push_back({held, waited.rule});
  }
}

/// Too many Calls, and memory that is misused or that nobody named: an answer, or a Call, would excuse it that need not
/// leave a gap where it is missing in front of a close.
void note_close(const Witness& witness, const Case& waited, const HeldFinding& held) {
  if (waited.settled_by != Case::SettledBy::end) return;
  const bool of_use = waited.use() != nullptr || waited.is<Case::SharedMemory>() != nullptr;
  if (!of_use && waited.is<Case::CallsAboveGrant>() == nullptr) return;
  rests_on_close(witness, waited.rule, other(waited.accused), held);
}

}  // namespace

HeldFinding Witness::conclude(const Case& waited, const Statement& statement) const {
  if (statement.at_most < std::min(waited.severity, rule(waited.rule).severity)) leave_unproven(*this, waited);
  HeldFinding held = write(waited.rule, statement);
  note_order(connection, waited, held);
  note_close(*this, waited, held);
  return held;
}

void Witness::conclude_as(const Case& waited, const HeldFinding& held) const {
  context.book.evidence(held, waited.frame);
  Finding& finding = context.book.at(held);
  finding.severity = std::max(finding.severity, std::min(waited.severity, rule(finding.rule).severity));
  ++finding.occurrences;
  note_order(connection, waited, held);
}

void Witness::wait(Case accusation, const Transaction* call) const {
  if (call != nullptr ? !may(accusation.rule, *call) : !may(accusation.rule)) return;
  // What its sender's peer acknowledges later it had then. Of RDMA operations, the next message tells.
  accusation.heard_by = connection.of(accusation.accused).sent + (accusation.use() != nullptr ? 1 : 0);
  if (connection.cases.size() < most_cases) {
    connection.cases.push_back(std::move(accusation));
  } else {
    connection.given_up.insert(accusation.rule);
  }
}

HeldFinding Witness::write(RuleId id, const Statement& statement) const {
  // Much that is wrong of a client is right of a server: where the roles are a guess nothing is certain.
  const Severity most = connection.roles_known() ? statement.at_most : std::min(statement.at_most, Severity::warning);
  return context.book.add({id, connection.id(), statement.frames, worded(connection, statement.what), most,
                           statement.xid, named(connection, statement.by), statement.as, statement.habit});
}

bool Witness::again(RuleId id, FrameRef frame, std::optional<Side> by) const {
  return context.book.fold_again(id, connection.id(), frame, named(connection, by));
}

void Witness::reword(Finding& finding, std::string_view what) const { finding.message = worded(connection, what); }

void Witness::unchecked(RuleId id, std::string_view why) const {
  if (connection.roles_known()) {
    context.book.unchecked(id, connection.id(), why);
  } else {
    context.book.unchecked(id, connection.id(), worded(connection, why));
  }
}

void word_cause(Connection& connection) {
  auto& closed = connection.facts.closed;
  if (closed && closed->cause) closed->cause->message = worded(connection, closed->cause->message);
}

}  // namespace rpcrdma::referee
