// SPDX-License-Identifier: GPL-2.0-or-later
// Transport properties of version 2 (section 5), and the sizes that follow from them (section 4.2.2). When a property
// takes effect is not written; only what is too large in every reading is an error.
#include <algorithm>

#include <fmt/format.h>

#include "referee/pending.hpp"
#include "referee/v2/turn.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::PropertyId;
constexpr std::uint32_t standard = 4096;
constexpr std::uint32_t first_message = 1024;
constexpr std::uint32_t most_reverse_level = 3;
constexpr std::uint32_t unlimited = UINT32_MAX;

[[nodiscard]] std::optional<std::uint32_t> announced(const Announced& side, PropertyId id) noexcept {
  return side.values[static_cast<std::size_t>(id)];
}

struct Bound {
  std::uint32_t strict = standard;    ///< by the resolved reading: properties count once both FINALs were sent
  std::uint32_t generous = standard;  ///< by the most generous one
};

[[nodiscard]] Bound bound_of(Connection& connection, Side sender) {
  const Announced& mine = connection.v2.of(sender).announced;
  const Announced& theirs = connection.v2.of(other(sender)).announced;
  const std::uint32_t receive = announced(theirs, PropertyId::receive_size).value_or(standard);
  const bool both = mine.final.number != 0 && theirs.final.number != 0;
  Bound bound;
  if (both) {
    bound.strict = std::min(announced(mine, PropertyId::send_size).value_or(standard), receive);
    bound.generous = bound.strict;
    // A lower value binds only who is proven to know it.
    const bool arrived = connection.of(other(sender)).acknowledged >= theirs.final_ordinal;
    if (!arrived && bound.strict < standard) bound = {};
    return bound;
  }
  const std::uint32_t send =
      announced(mine, PropertyId::send_size).value_or(mine.final.number != 0 ? standard : unlimited);
  bound.generous = std::max(standard, std::min(send, receive));
  return bound;
}

void renew_thresholds(Connection& connection) {
  Thresholds& thresholds = connection.facts.thresholds;
  // Before the server has answered, it may still turn out to speak version 1, where the private data counts.
  if (!connection.facts.handshake_seen || connection.v2.version != State::Version::two) return;
  const bool both =
      connection.v2.sides[0].announced.final.number != 0 && connection.v2.sides[1].announced.final.number != 0;
  const auto value = [&](Side sender) {
    const auto send = announced(connection.v2.of(sender).announced, PropertyId::send_size);
    const auto receive = announced(connection.v2.of(other(sender)).announced, PropertyId::receive_size);
    return both ? std::min(send.value_or(standard), receive.value_or(standard)) : standard;
  };
  thresholds.client_to_server = value(Side::active);
  thresholds.server_to_client = value(Side::passive);
  thresholds.basis = both ? Basis::negotiated : Basis::default_;
}

[[nodiscard]] std::string size_message(Connection& connection, Side sender, std::uint64_t size, const Bound& bound,
                                       bool partial = false) {
  const Announced& mine = connection.v2.of(sender).announced;
  const Announced& theirs = connection.v2.of(other(sender)).announced;
  return fmt::format(
      "The {} sent {}{} octets inline; the threshold in this direction is {} (the smaller of its own Maximum Send "
      "Size {} and its peer's Receive Buffer Size {}{}).",
      name(sender), partial ? "at least " : "", size, bound.strict,
      announced(mine, PropertyId::send_size).value_or(standard),
      announced(theirs, PropertyId::receive_size).value_or(standard),
      mine.final.number != 0 && theirs.final.number != 0 ? ""
                                                         : ", which apply once both sides have sent their last one");
}

void judge_property(const Turn& turn, const wire::Property& property, bool& bad) {
  using Form = wire::Property::Form;
  const FrameRef frame = turn.event.frame;
  if (property.form == Form::unknown) {
    if (!turn.context.book.fold_again(RuleId::v2_property_unknown, turn.connection.id(), frame)) {
      turn.context.book.fold({RuleId::v2_property_unknown,
                              turn.connection.id(),
                              {frame},
                              fmt::format("The {} announces property {}, which the draft does not assign; its peer "
                                          "passes it over.",
                                          name(turn.side()), property.id),
                              std::nullopt,
                              std::nullopt,
                              std::nullopt,
                              std::nullopt});
    }
    return;
  }
  if (property.form == Form::too_short) {
    bad = true;
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s property {} ({}) has {} octets of data; it takes 4.", name(turn.side()), property.id,
                         wire::property_name(property.id), property.length));
  } else if (property.form == Form::too_long) {
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s property {} ({}) has {} octets of data; it takes 4.", name(turn.side()), property.id,
                         wire::property_name(property.id), property.length),
             Severity::warning);
  } else if (property.id == static_cast<std::uint32_t>(PropertyId::reverse) && property.number > most_reverse_level) {
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s Reverse-Direction Support is {}; levels 0 to 3 exist.", name(turn.side()),
                         property.number),
             Severity::warning);
  }
}

}  // namespace

void judge_size(const Turn& turn) {
  const trace::Send& event = turn.event;
  Connection& connection = turn.connection;
  if (event.holes) {
    turn.unchecked(RuleId::inline_threshold_exceeded,
                   fmt::format("packets of the message in frame {} are missing", event.frame.number));
    return;
  }
  const bool first = turn.mine().messages == 1 && event.side == Side::active && connection.v2.settled.number == 0;
  if (first && event.wire_length > first_message) {
    if (all_seen(connection)) {
      turn.say(RuleId::v2_first_message_too_large, {event.frame},
               fmt::format("The client's first message is {} octets long; as long as the server may speak version 1 "
                           "only, 1024 is the most.",
                           event.wire_length));
    } else {
      turn.unchecked(RuleId::v2_first_message_too_large, "the start of the connection is not in the capture");
    }
  }
  if (wire::is_connprop(turn.type())) {
    if (event.wire_length <= standard) return;
    const bool final = turn.type() == wire::HeaderType::connprop_final;
    turn.say(RuleId::v2_connprop_too_large, {event.frame},
             fmt::format("The {} sent its properties in {} octets; the default threshold is {}.", name(event.side),
                         event.wire_length, standard),
             final ? std::nullopt : std::optional(Severity::warning));
    return;
  }
  const Bound bound = bound_of(connection, event.side);
  if (event.wire_length <= bound.strict) return;
  if (!all_seen(connection)) {
    turn.unchecked(RuleId::inline_threshold_exceeded, "the properties of both sides may not be in the capture");
    return;
  }
  Pending pending;
  pending.kind = Pending::Kind::v2_size;
  pending.rule = RuleId::inline_threshold_exceeded;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.xid = turn.xid();
  pending.length = event.wire_length;
  pending.severity = event.wire_length > bound.generous ? Severity::error : Severity::warning;
  pending.op = event.ordinal;
  hold_back(connection, std::move(pending));
}

void judge_refused_part(Context& context, Connection& connection, const trace::Send& event, RecentSend& send) {
  const Bound bound = bound_of(connection, event.side);
  if (!all_seen(connection) || event.wire_length <= bound.generous) return;
  send.size_finding = context.book.add({RuleId::inline_threshold_exceeded,
                                        connection.id(),
                                        {event.frame},
                                        size_message(connection, event.side, event.wire_length, bound, send.partial),
                                        std::nullopt,
                                        send.xid == 0 ? std::nullopt : std::optional(send.xid),
                                        party(event.side),
                                        std::nullopt});
}

void settle_size(Context& context, Connection& connection, const Pending& pending, bool proven) {
  const Bound bound = bound_of(connection, pending.side);
  const Announced& mine = connection.v2.of(pending.side).announced;
  const Announced& theirs = connection.v2.of(other(pending.side)).announced;
  // By the newest properties it fits, and they were on their way: the last of them stands close behind in the file.
  const bool disordered = pending.length <= bound.generous && theirs.final.number > pending.frame.number &&
                          theirs.final.time <= pending.frame.time;
  if (disordered) return;
  const Severity severity = proven ? pending.severity : std::min(pending.severity, Severity::warning);
  HeldFinding finding = context.book.add({pending.rule,
                                          connection.id(),
                                          {pending.frame, mine.final, theirs.final},
                                          size_message(connection, pending.side, pending.length, bound),
                                          severity,
                                          pending.xid,
                                          party(pending.side),
                                          std::nullopt});
  RecentSend* send =
      connection.of(pending.side).sends.newest([&](const RecentSend& s) { return s.ordinal == pending.op; });
  if (send != nullptr) send->size_finding = std::move(finding);
}

void take_properties(const Turn& turn) {
  SideFacts& mine = turn.mine();
  Announced& announcement = mine.announced;
  const FrameRef frame = turn.event.frame;
  const bool final = turn.type() == wire::HeaderType::connprop_final;
  if (announcement.first.number == 0) announcement.first = frame;
  bool bad = false;
  for (const wire::Property& property : turn.header.properties) judge_property(turn, property, bad);
  if (announcement.final.number != 0 && !all_seen(turn.connection)) {
    turn.unchecked(RuleId::v2_connprop_after_final, "the refusal of the first one may be missing from the capture");
    announcement.extra = true;
    return;
  }
  if (announcement.final.number != 0) {
    turn.say(RuleId::v2_connprop_after_final, {frame, announcement.final},
             fmt::format("The {} sent {} after its RDMA2_CONNPROP_FINAL (frame {}) had ended the exchange of "
                         "properties.",
                         name(turn.side()), wire::htype_name_v2(turn.header.fixed.proc), announcement.final.number));
    owe_refusal(turn, true);
    announcement.extra = true;
    return;
  }
  announcement.extra = false;
  announcement.middle = final ? FrameRef{} : frame;
  if (bad) {
    owe_refusal(turn, false);
    return;
  }
  announcement.before = announcement.values;
  for (const wire::Property& property : turn.header.properties) {
    if (property.numeric() && property.id < announcement.values.size()) {
      announcement.values[property.id] = property.number;
    }
  }
  if (!final) return;
  announcement.final = frame;
  announcement.final_ordinal = turn.event.ordinal;
  renew_thresholds(turn.connection);
}

void judge_bad_properties(const Turn& turn, const wire::DecodeError& error) {
  turn.say(RuleId::v2_propval_bad, {turn.event.frame},
           fmt::format("The {}'s {} cannot be decoded: {} at octet {} of {}.", name(turn.side()),
                       wire::htype_name_v2(turn.header.fixed.proc), error.field, error.offset, turn.event.wire_length));
  Announced& announcement = turn.mine().announced;
  if (announcement.first.number == 0) announcement.first = turn.event.frame;
  if (turn.type() == wire::HeaderType::connprop_final) announcement.middle = {};
  owe_refusal(turn, false);
}

void withdraw_properties(Connection& connection, Side side) {
  Announced& announcement = connection.v2.of(side).announced;
  if (announcement.extra) {  // what was refused came too late anyway
    announcement.extra = false;
    return;
  }
  announcement.values = announcement.before;
  announcement.final = {};
  announcement.middle = {};
  renew_thresholds(connection);
}

void judge_missing_final(Context& context, Connection& connection, FrameRef now) {
  if (!connection.facts.handshake_seen) return;
  for (const Side side : {Side::active, Side::passive}) {
    const SideFacts& facts = connection.v2.of(side);
    if (facts.messages == 0 || facts.announced.first.number != 0) continue;
    if (!all_seen(connection)) {
      context.book.unchecked(RuleId::v2_connprop_final_missing, connection.id(), "packets are missing");
      continue;
    }
    context.book.add({RuleId::v2_connprop_final_missing,
                      connection.id(),
                      {facts.first, now},
                      fmt::format("The {} sent no RDMA2_CONNPROP_FINAL: the defaults hold for what it receives and "
                                  "sends.",
                                  name(side)),
                      std::nullopt,
                      std::nullopt,
                      std::nullopt,
                      std::nullopt});
  }
}

}  // namespace rpcrdma::referee::v2
