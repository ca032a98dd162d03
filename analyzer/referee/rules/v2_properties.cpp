// SPDX-License-Identifier: GPL-2.0-or-later
// Transport properties of version 2 (section 5), and the sizes that follow from them (section 4.2.2). When a property
// takes effect is not written; only what is too large in every reading is an error.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::PropertyId;
constexpr std::uint32_t standard = v2_default_threshold;
constexpr std::uint32_t most_reverse_level = 3;
constexpr std::uint32_t unlimited = UINT32_MAX;

struct Bound {
  std::uint32_t strict = standard;    ///< by the resolved reading: properties count once both FINALs were sent
  std::uint32_t generous = standard;  ///< by the most generous one
};

[[nodiscard]] Bound bound_of(Connection& connection, Side sender) {
  const Announced& mine = connection.v2.of(sender).announced;
  const Announced& theirs = connection.v2.of(other(sender)).announced;
  const bool both = mine.final.number != 0 && theirs.final.number != 0;
  Bound bound;
  if (both) {
    bound.strict = std::min(mine.properties.last(PropertyId::send_size).value_or(standard),
                            theirs.properties.last(PropertyId::receive_size).value_or(standard));
    bound.generous = std::min(mine.properties.largest(PropertyId::send_size).value_or(standard),
                              theirs.properties.largest(PropertyId::receive_size).value_or(standard));
    // A lower value binds only who is proven to know it.
    const bool arrived = connection.heard(other(sender), theirs.final_ordinal);
    if (!arrived && bound.strict < standard) bound = {standard, std::max(standard, bound.generous)};
    return bound;
  }
  const std::uint32_t send =
      mine.properties.largest(PropertyId::send_size).value_or(mine.final.number != 0 ? standard : unlimited);
  const std::uint32_t most = theirs.properties.largest(PropertyId::receive_size).value_or(standard);
  bound.generous = std::max(standard, std::min(send, most));
  return bound;
}

void renew_thresholds(Connection& connection) {
  Thresholds& thresholds = connection.facts.thresholds;
  // Before the server has answered, it may still turn out to speak version 1, where the private data counts.
  if (!connection.facts.handshake_seen || connection.v2.version != State::Version::two) return;
  const bool both =
      connection.v2.sides[0].announced.final.number != 0 && connection.v2.sides[1].announced.final.number != 0;
  const auto value = [&](Side sender) {
    const auto send = connection.v2.of(sender).announced.properties.last(PropertyId::send_size);
    const auto receive = connection.v2.of(other(sender)).announced.properties.last(PropertyId::receive_size);
    return both ? std::min(send.value_or(standard), receive.value_or(standard)) : standard;
  };
  thresholds.client_to_server = value(Side::active);
  thresholds.server_to_client = value(Side::passive);
  thresholds.basis = both ? Basis::negotiated : Basis::default_;
}

/// Which properties hold is not known: a refusal may have been about any of several messages.
[[nodiscard]] bool unsure_of_size(Connection& connection, Side sender) {
  const Announced& mine = connection.v2.of(sender).announced;
  const Announced& theirs = connection.v2.of(other(sender)).announced;
  return mine.unsure_of_final() || theirs.unsure_of_final() || mine.unsure_of(PropertyId::send_size) ||
         theirs.unsure_of(PropertyId::receive_size);
}

constexpr const char* refused_unknown = "which properties its peer refused is not known";

[[nodiscard]] std::string size_message(Connection& connection, Side sender, std::uint64_t size, const Bound& bound,
                                       bool partial = false) {
  const Announced& mine = connection.v2.of(sender).announced;
  const Announced& theirs = connection.v2.of(other(sender)).announced;
  return fmt::format(
      "The {} sent {}{} octets inline; the threshold in this direction is {} (the smaller of its own Maximum Send "
      "Size {} and its peer's Receive Buffer Size {}{}).",
      name(sender), partial ? "at least " : "", grouped(size), grouped(bound.strict),
      grouped(mine.properties.last(PropertyId::send_size).value_or(standard)),
      grouped(theirs.properties.last(PropertyId::receive_size).value_or(standard)),
      mine.final.number != 0 && theirs.final.number != 0 ? ""
                                                         : ", which apply once both sides have sent their last one");
}

}  // namespace

const Row rows::v2_propval_bad{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 5.1, 7.2.2",
    .who = "sender",
    .title = "A transport property that cannot be decoded",
    .explanation =
        "A known property whose data is too short, or that runs past its message, is answered with "
        "RDMA2_ERR_BAD_PROPVAL, and nothing of the whole message applies.",
    .evidence =
        "The lengths in RDMA2_CONNPROP against the message and the property's type. More octets than the type needs, "
        "or a level that does not exist, are warnings. Not decided when the message was cut.",
    .next = "Look at the sender's encoder: numbers take 4 octets in network order."};

const Row rows::v2_property_unknown{
    .group = 'K',
    .severity = Severity::note,
    .versions = Versions::v2,
    .repetition = Repetition::once,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 5.1",
    .who = "nobody",
    .title = "A transport property that the draft does not assign",
    .explanation = "Unknown properties are passed over without an error, so that extensions can be tried.",
    .evidence = "A property id other than 1 to 6.",
    .next = "Nothing to do, unless the peer was expected to know the property."};

namespace {

void judge_property(const Turn& turn, const wire::Property& property, bool& bad) {
  using Form = wire::Property::Form;
  const FrameRef frame = turn.event.frame;
  if (property.form == Form::unknown) {
    if (!turn.again(RuleId::v2_property_unknown, frame)) {
      turn.say(RuleId::v2_property_unknown,
               {.frames = {frame},
                .what = fmt::format("The {} announces property {}, which the draft does not assign; its peer "
                                    "passes it over.",
                                    name(turn.side()), property.id)});
    }
    return;
  }
  if (property.form == Form::too_short) {
    bad = true;
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s property {} ({}) has {} of data; it takes 4.", name(turn.side()), property.id,
                         wire::property_name(property.id), counted(property.length, "octet")));
  } else if (property.form == Form::too_long) {
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s property {} ({}) has {} of data; it takes 4.", name(turn.side()), property.id,
                         wire::property_name(property.id), counted(property.length, "octet")),
             Severity::warning);
  } else if (property.id == static_cast<std::uint32_t>(PropertyId::reverse) && property.number > most_reverse_level) {
    turn.say(RuleId::v2_propval_bad, {frame},
             fmt::format("The {}'s Reverse-Direction Support is {}; levels 0 to 3 exist.", name(turn.side()),
                         property.number),
             Severity::warning);
  }
}

}  // namespace

const Row rows::v2_first_message_too_large{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 4.3",
    .who = "client",
    .title = "The client's first version 2 message is larger than 1024 octets",
    .explanation =
        "Until the server has answered, it may be one that speaks version 1 only, with receive buffers of 1024 octets. "
        "A larger first message may find no room, and the connection is lost instead of negotiated.",
    .evidence =
        "The first Send of a connection whose start is in the capture, with version 2, longer than 1024 octets. Not "
        "decided when the start or a packet is missing.",
    .next = "Let the client begin with RDMA2_CONNPROP and keep it short; properties can follow in a second message."};

const Row rows::v2_connprop_too_large{
    .group = 'B',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.3, 6.3.4",
    .who = "sender",
    .title = "Transport properties in a message above the default threshold",
    .explanation =
        "Properties are exchanged before larger thresholds are agreed, so their messages have to fit the default of "
        "4096 octets. The draft says so of RDMA2_CONNPROP_FINAL; of RDMA2_CONNPROP_MIDDLE it follows from its purpose, "
        "so there it is a warning.",
    .evidence = "The length of the Send. Not decided when packets of it are missing.",
    .next = "Spread the properties over several RDMA2_CONNPROP_MIDDLE messages."};

namespace {

void settle_size(const Witness& witness, const Case& waited) {
  const Case::Size& size = *waited.is<Case::Size>();
  Connection& connection = witness.connection;
  if (unsure_of_size(connection, waited.accused)) {
    witness.unchecked(RuleId::inline_threshold_exceeded, refused_unknown);
    return;
  }
  const Bound bound = bound_of(connection, waited.accused);
  const Announced& mine = connection.v2.of(waited.accused).announced;
  const Announced& theirs = connection.v2.of(other(waited.accused)).announced;
  // By the newest properties it fits, and they were on their way: the last of them stands close behind in the file.
  const bool disordered = size.length <= bound.generous && theirs.final.number > waited.frame.number &&
                          theirs.final.time <= waited.frame.time;
  if (disordered) return;
  // Only properties that the capture lacks may have promised more room, and none come behind the last ones.
  const bool all_announced = theirs.final.number != 0;
  RecentSend* send =
      connection.of(waited.accused).sends.newest([&](const RecentSend& s) { return s.ordinal == size.ordinal; });
  HeldFinding finding =
      witness.conclude(waited, {.frames = {waited.frame, mine.final, theirs.final},
                                .by = waited.accused,
                                .as = send != nullptr ? send->role() : std::nullopt,
                                .xid = waited.xid,
                                .at_most = all_announced ? waited.severity : waited.at_most(),
                                .what = size_message(connection, waited.accused, size.length, bound)});
  if (send != nullptr && !send->size_finding) send->size_finding = std::move(finding);
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
  if (first && event.wire_length > default_threshold) {
    if (all_seen(connection)) {
      turn.send.size_finding = turn.say(
          RuleId::v2_first_message_too_large, {event.frame},
          fmt::format("The client's first message is {} octets long; as long as the server may speak version 1 "
                      "only, 1024 is the most.",
                      grouped(event.wire_length)));
    } else {
      turn.unchecked(RuleId::v2_first_message_too_large, "the start of the connection is not in the capture");
    }
  }
  if (wire::is_connprop(turn.type())) {
    if (event.wire_length <= standard) return;
    const bool final = turn.type() == wire::HeaderType::connprop_final;
    HeldFinding finding = turn.say(RuleId::v2_connprop_too_large, {event.frame},
                                   fmt::format("The {} sent its properties in {} octets; the default threshold is {}.",
                                               name(event.side), grouped(event.wire_length), grouped(standard)),
                                   final ? Severity::error : Severity::warning);
    if (!turn.send.size_finding) turn.send.size_finding = std::move(finding);
    return;
  }
  if (event.wire_length > standard && unsure_of_size(connection, event.side)) {
    turn.unchecked(RuleId::inline_threshold_exceeded, refused_unknown);
    return;
  }
  const Bound bound = bound_of(connection, event.side);
  if (event.wire_length <= bound.strict) return;
  if (!all_seen(connection)) {
    turn.unchecked(RuleId::inline_threshold_exceeded, "the properties of both sides may not be in the capture");
    return;
  }
  turn.wait({.rule = RuleId::inline_threshold_exceeded,
             .accused = event.side,
             .frame = event.frame,
             .xid = turn.xid(),
             .severity = event.wire_length > bound.generous ? Severity::error : Severity::warning,
             .about = Case::Size{event.wire_length, event.ordinal},
             .settle = settle_size});
}

void judge_refused_part(const Witness& witness, const trace::Send& event, RecentSend& send) {
  Connection& connection = witness.connection;
  const Bound bound = bound_of(connection, event.side);
  if (!all_seen(connection) || event.wire_length <= bound.generous || unsure_of_size(connection, event.side)) return;
  send.size_finding = witness.say(RuleId::inline_threshold_exceeded,
                                  {.frames = {event.frame},
                                   .by = event.side,
                                   .as = send.role(),
                                   .xid = when(send.xid != 0, send.xid),
                                   .what = size_message(connection, event.side, event.wire_length, bound,
                                                        send.extent == RecentSend::Extent::partial)});
}

void conclude_refused_size(const Witness& witness, Side sender, std::uint64_t ordinal) {
  std::vector<Case>& cases = witness.connection.cases;
  const auto at = std::find_if(cases.begin(), cases.end(), [&](const Case& waited) {
    const auto* size = waited.is<Case::Size>();
    return size != nullptr && waited.accused == sender && size->ordinal == ordinal;
  });
  if (at == cases.end()) return;
  Case waited = std::move(*at);
  cases.erase(at);
  waited.order = Case::Order::proven;  // it arrived, and did not fit
  waited.settled_by = Case::SettledBy::refusal;
  waited.settle(witness, waited);
}

const Row rows::v2_connprop_after_final{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.4",
    .who = "sender",
    .title = "Properties after the last ones",
    .explanation =
        "RDMA2_CONNPROP_FINAL ends the exchange of properties for the connection: what comes later is refused with "
        "RDMA2_ERR_INVAL_CONT. A correction after a refused one is accepted here, since the draft does not say.",
    .evidence =
        "A second RDMA2_CONNPROP message after a FINAL that was not refused. Not decided when packets are missing.",
    .next = "To change properties, open a new connection."};

namespace {

using Applied = PropertyMessage::State;

/// What holds after some message was taken, or refused.
void renew_properties(Connection& connection, Side side) {
  Announced& announcement = connection.v2.of(side).announced;
  announcement.properties = announcement.before;
  announcement.final = {};
  announcement.final_ordinal = 0;
  for (const PropertyMessage& message : announcement.messages) {
    if (message.state != Applied::applies) continue;
    announcement.properties.lay_over(message.properties);
    if (!message.final) continue;
    announcement.final = message.frame;
    announcement.final_ordinal = message.ordinal;
  }
  renew_thresholds(connection);
}

PropertyMessage& remember_properties(const Turn& turn, Applied state) {
  Announced& announcement = turn.mine().announced;
  std::vector<PropertyMessage>& messages = announcement.messages;
  const bool final = turn.type() == wire::HeaderType::connprop_final;
  if (final && announcement.completed.number == 0) announcement.completed = turn.event.frame;
  if (messages.size() >= Announced::most_messages) {
    // FINAL stays: it is the one that the others are measured by.
    const auto oldest = std::find_if(messages.begin(), messages.end(), [&](const PropertyMessage& message) {
      return message.frame.number != announcement.final.number;
    });
    if (oldest != messages.end()) {
      if (oldest->state == Applied::applies) announcement.before.lay_over(oldest->properties);
      messages.erase(oldest);
    }
  }
  messages.push_back({turn.event.ordinal, turn.event.frame, turn.xid(), final, state, {}});
  return messages.back();
}

/// Bit n: the message sets property n; bit 0: it is FINAL.
[[nodiscard]] std::uint32_t bits_of(const PropertyMessage& message) noexcept {
  std::uint32_t bits = message.final ? 1 : 0;
  const PropertyValues::List& values = message.properties.values;
  for (std::size_t id = 1; id < values.size(); ++id) {
    if (values[id]) bits |= std::uint32_t{1} << id;
  }
  return bits;
}

}  // namespace

void take_properties(const Turn& turn) {
  SideFacts& mine = turn.mine();
  Announced& announcement = mine.announced;
  const FrameRef frame = turn.event.frame;
  const bool final = turn.type() == wire::HeaderType::connprop_final;
  bool bad = false;
  for (const wire::Property& property : turn.header.properties) judge_property(turn, property, bad);
  // A FINAL that may have been refused may be corrected.
  const bool after_final = announcement.final.number != 0;
  const bool late = after_final && !announcement.unsure_of_final();
  if (after_final && !late) turn.unchecked(RuleId::v2_connprop_after_final, refused_unknown);
  PropertyMessage& message = remember_properties(turn, late ? Applied::late : bad ? Applied::bad : Applied::applies);
  for (const wire::Property& property : turn.header.properties) {
    if (property.numeric() && property.id < message.properties.values.size()) {
      message.properties.add(property.id, property.number);
    }
  }
  if (late && !all_seen(turn.connection)) {
    turn.unchecked(RuleId::v2_connprop_after_final, "the refusal of the first one may be missing from the capture");
    return;
  }
  if (late) {
    // What its peer sends next shows whether a refusal of the first one is missing.
    turn.say_when_heard(
        RuleId::v2_connprop_after_final, announcement.final,
        fmt::format("The {} sent {} after its RDMA2_CONNPROP_FINAL (frame {}) had ended the exchange of properties.",
                    name(turn.side()), wire::htype_name_v2(turn.header.fixed.proc), announcement.final.number),
        Severity::error);
    owe_refusal(turn, Due::Wrong::sequence);
    return;
  }
  announcement.middle = final ? FrameRef{} : frame;
  if (bad) {
    owe_refusal(turn, Due::Wrong::message);
    return;
  }
  announcement.unsure &= ~bits_of(message);
  renew_properties(turn.connection, turn.side());
}

void judge_bad_properties(const Turn& turn, const wire::DecodeError& error) {
  turn.say(RuleId::v2_propval_bad, {turn.event.frame},
           fmt::format("The {}'s {} cannot be decoded: {} at octet {} of {}.", name(turn.side()),
                       wire::htype_name_v2(turn.header.fixed.proc), error.field, error.offset, turn.event.wire_length));
  remember_properties(turn, Applied::bad);
  if (turn.type() == wire::HeaderType::connprop_final) turn.mine().announced.middle = {};
  owe_refusal(turn, Due::Wrong::message);
}

namespace {

/// Of the last properties and those behind them the peer refused either. It may have been the last ones: then those
/// behind them correct them.
void excuse_late_properties(const Turn& refusal) {
  const Side side = other(refusal.side());
  const std::size_t excused = std::erase_if(refusal.connection.cases, [&](const Case& waited) {
    return waited.rule == RuleId::v2_connprop_after_final && waited.accused == side;
  });
  if (excused != 0) refusal.unchecked(RuleId::v2_connprop_after_final, refused_unknown);
}

/// A message that is no RDMA2_CONNPROP, has the XID of the refusal, and may be what it is about.
[[nodiscard]] bool others_refusable(const Turn& refusal) {
  constexpr std::uint32_t grant = 5;
  Connection& connection = refusal.connection;
  const Side side = other(refusal.side());
  const Transaction* call = connection.open_call(side, refusal.xid());
  const RecentSend* other_message = connection.of(side).sends.newest([&](const RecentSend& s) {
    if (s.version != 2 || s.xid != refusal.xid() || s.htype <= grant || wire::is_connprop(wire::HeaderType{s.htype})) {
      return false;
    }
    return !s.call() || call != nullptr;
  });
  return other_message != nullptr;
}

/// That one, and no other, was refused.
void withdraw(Announced& announcement, PropertyMessage& message) {
  const bool last = message.state == Applied::applies && message.final;
  message.state = Applied::refused;
  if (announcement.middle.number == message.frame.number) announcement.middle = {};
  if (!last) return;
  // What came behind it corrects it.
  for (PropertyMessage& late : announcement.messages) {
    if (late.state == Applied::late) late.state = Applied::applies;
  }
}

}  // namespace

Refused refuse_properties(const Turn& refusal, bool owed_to_another) {
  using wire::ErrorCode;
  const auto code = static_cast<ErrorCode>(refusal.header.error);
  const bool of_properties = code == ErrorCode::bad_propval || code == ErrorCode::bad_xdr ||
                             code == ErrorCode::inval_cont || code == ErrorCode::system;
  if (!of_properties) return Refused::something_else;
  const Side side = other(refusal.side());
  Announced& announcement = refusal.connection.v2.of(side).announced;
  std::vector<PropertyMessage*> possible;
  bool any = false;
  for (PropertyMessage& message : announcement.messages) {
    if (message.xid != refusal.xid()) continue;
    any = true;
    if (message.state != Applied::refused) possible.push_back(&message);
  }
  if (!any) return Refused::something_else;
  // The oldest of those that this error has to be about.
  const Applied due = code == ErrorCode::inval_cont ? Applied::late : Applied::bad;
  const auto known = std::find_if(possible.begin(), possible.end(),
                                  [&](const PropertyMessage* message) { return message->state == due; });
  // Nothing else that is whole stands in a wrong place.
  const bool of_place = code == ErrorCode::inval_cont && known != possible.end();
  const bool others = code != ErrorCode::bad_propval && (owed_to_another || (!of_place && others_refusable(refusal)));
  if (possible.empty()) return others ? Refused::something_else : Refused::properties;
  const bool of_broken = code == ErrorCode::bad_xdr || code == ErrorCode::inval_cont;
  if (owed_to_another && of_broken && known == possible.end()) return Refused::something_else;
  if (!others && code != ErrorCode::system && known != possible.end()) {
    withdraw(announcement, **known);
    return Refused::properties;
  }
  const bool final = std::any_of(possible.begin(), possible.end(), [](const PropertyMessage* message) {
    return message->final && message->state == Applied::applies;
  });
  if (final) excuse_late_properties(refusal);
  if (!others && possible.size() == 1) {
    withdraw(announcement, *possible.front());
    renew_properties(refusal.connection, side);
    return Refused::properties;
  }
  for (const PropertyMessage* message : possible) {
    if (message->state != Applied::bad) announcement.unsure |= bits_of(*message);
  }
  announcement.middle = {};
  return others ? Refused::not_known : Refused::properties;
}

const Row rows::v2_connprop_final_missing{
    .group = 'K',
    .severity = Severity::note,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.4",
    .who = "sender",
    .title = "The last transport properties were not sent",
    .explanation =
        "Each side is expected to send RDMA2_CONNPROP_FINAL once, even without properties. Without it the defaults "
        "hold: 4096 octets each way, 16 segments of 1 MiB, no reverse calls.",
    .evidence =
        "No such message of that side until the connection, or the capture, ends, whether RDMA2_CONNPROP_MIDDLE came "
        "or not. Not said when the start is missing.",
    .next = "If larger thresholds were expected, see why the side does not announce them."};

void judge_missing_final(const Witness& witness, FrameRef now) {
  Connection& connection = witness.connection;
  if (!connection.facts.handshake_seen) return;
  for (const Side side : {Side::active, Side::passive}) {
    const SideFacts& facts = connection.v2.of(side);
    const Announced& announced = facts.announced;
    if (facts.messages == 0 || announced.completed.number != 0) continue;
    if (!all_seen(connection)) {
      witness.unchecked(RuleId::v2_connprop_final_missing, "packets are missing");
      continue;
    }
    const bool some = std::any_of(announced.properties.values.begin(), announced.properties.values.end(),
                                  [](const auto& value) { return value.has_value(); });
    witness.say(RuleId::v2_connprop_final_missing,
                {.frames = {facts.first, now},
                 .what = fmt::format("The {} sent no RDMA2_CONNPROP_FINAL: {}.", name(side),
                                     some ? "the properties that it did send are not complete"
                                          : "the defaults hold for what it receives and sends")});
  }
}

}  // namespace rpcrdma::referee::v2
