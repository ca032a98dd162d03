// SPDX-License-Identifier: GPL-2.0-or-later
// Version 2: headers that cannot be decoded, and how its checks speak.
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"

namespace rpcrdma::referee::v2 {

namespace {

void leave_unsaid(const Witness& witness, const Case& waited) {
  witness.unchecked(waited.rule, "a message that it rests on may be missing");
}

void say_it(const Witness& witness, const Case& waited) {
  if (!all_seen(witness.connection)) return leave_unsaid(witness, waited);
  const Case::Said& said = *waited.is<Case::Said>();
  witness.conclude(waited, {.frames = {waited.frame, waited.evidence},
                            .by = waited.accused,
                            .as = said.as,
                            .xid = waited.xid,
                            .at_most = waited.severity,
                            .what = said.what});
}

void settle_said(const Witness& witness, const Case& waited) {
  if (waited.proven()) {
    say_it(witness, waited);
  } else {
    leave_unsaid(witness, waited);
  }
}

/// Nothing that comes behind a side's last properties changes them.
void settle_by_properties(const Witness& witness, const Case& waited) {
  const FrameRef last = witness.connection.v2.of(other(waited.accused)).announced.final;
  const bool by_the_last = last.number != 0 && last.number == waited.evidence.number;
  if (by_the_last) {
    say_it(witness, waited);
  } else {
    settle_said(witness, waited);
  }
}

}  // namespace

bool all_seen(const Connection& connection) noexcept {
  return connection.facts.handshake_seen && connection.whole() && connection.sides[0].gaps == 0 &&
         connection.sides[1].gaps == 0;
}

HeldFinding Turn::say(RuleId rule, std::initializer_list<FrameRef> frames, std::string message,
                      Severity at_most) const {
  std::optional<Role> role;
  if (send.call()) role = Role::requester;
  if (send.reply()) role = Role::responder;
  // Also of a message that is too short for a header.
  std::optional<std::uint32_t> shown;
  if (event.octets.size() >= 4) shown = wire::load_be32(event.octets.data());
  return Witness::say(
      rule, {.frames = frames, .by = side(), .as = role, .xid = shown, .at_most = at_most, .what = std::move(message)});
}

Case Turn::case_of(RuleId rule, FrameRef evidence, std::string&& message, Severity severity) const {
  std::optional<Role> as;
  if (send.call()) as = Role::requester;
  if (send.reply()) as = Role::responder;
  return {.rule = rule,
          .accused = side(),
          .frame = event.frame,
          .evidence = evidence,
          .xid = xid(),
          .severity = severity,
          .about = Case::Said{as, std::move(message)},
          .settle = settle_said};
}

void Turn::say_when_heard(RuleId rule, FrameRef evidence, std::string message, Severity severity) const {
  wait(case_of(rule, evidence, std::move(message), severity));
}

void Turn::say_by_properties(RuleId rule, std::string message, Severity severity) const {
  Case accusation = case_of(rule, theirs().announced.final, std::move(message), severity);
  accusation.settle = settle_by_properties;
  wait(std::move(accusation));
}

void judge_undecodable(const Turn& turn, const wire::DecodeError& error) {
  const trace::Send& event = turn.event;
  if (error.fault == wire::Fault::truncated || event.holes) {
    turn.unchecked(RuleId::xdr_malformed, fmt::format("frame {} was cut inside the header", event.frame.number));
    turn.connection.distrust(kept_finished, Doubt::cut_message);
    turn.mine().lose_track();
    return;
  }
  if (error.fault == wire::Fault::unsupported) {
    judge_unknown_type(turn);
    return;
  }
  if (event.wire_length < 16) {
    turn.say(RuleId::header_too_short, {event.frame},
             fmt::format("The {} sent {}; the prefix alone takes 16. The receiver drops such a message without "
                         "a word.",
                         name(event.side), counted(event.wire_length, "octet")));
    return;
  }
  const bool owed = judge_sequence_of_malformed(turn);
  if (wire::is_connprop(turn.type())) {
    judge_bad_properties(turn, error);
    return;
  }
  const bool word = error.field == "list discriminator";
  HeldFinding finding =
      turn.say(word ? RuleId::xdr_bool_invalid : RuleId::xdr_malformed, {event.frame},
               fmt::format("The {}'s {} cannot be decoded: {} at octet {} of {}.", name(event.side),
                           wire::htype_name_v2(turn.header.fixed.proc), error.field, error.offset, event.wire_length));
  doubt_memory(turn.connection, event, std::move(finding));
  if (wire::is_call(turn.type()) && !owed) owe_refusal(turn, Due::Wrong::message);
}

}  // namespace rpcrdma::referee::v2
