// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of version 2 (section 7) and versions (section 4.3): who refused what, what has to be refused, and which
// version holds.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::ErrorCode;
constexpr std::size_t most_dues = 64;
constexpr TimeNs patience = 1'000'000'000;
constexpr std::uint64_t messages_enough = 2;

[[nodiscard]] bool of_connprop(const RecentSend& send) noexcept {
  return send.version == 2 && (send.htype == 6 || send.htype == 7);
}

}  // namespace

RecentSend* refused_by(const Turn& turn) {
  auto& sends = turn.connection.of(other(turn.side())).sends;
  const auto may_be = [&](const RecentSend& s) { return s.version && s.xid == turn.xid() && s.htype != error_type; };
  // RDMA2_GRANT has the XID 0, and properties may have it too; a bad one is only in these.
  if (turn.header.error == static_cast<std::uint32_t>(ErrorCode::bad_propval)) {
    RecentSend* properties = sends.newest([&](const RecentSend& s) { return may_be(s) && of_connprop(s); });
    if (properties != nullptr) return properties;
  }
  return sends.newest(may_be);
}

namespace {

void settle_stray_error(const Witness& witness, const Case& waited) {
  Connection& connection = witness.connection;
  const bool answers_something = connection.of(other(waited.accused)).sends.newest([&](const RecentSend& s) {
    return s.version && s.xid == waited.xid && s.htype != error_type;
  }) != nullptr;
  if (answers_something) return;  // which was delivered late
  const bool to_error = waited.rule == RuleId::error_to_error;
  const std::string nothing = fmt::format("The {}'s RDMA2_ERROR has XID {:#010x}, with which nothing was sent to it.",
                                          name(waited.accused), waited.xid);
  witness.conclude(waited, {.frames = {waited.frame, waited.evidence},
                            .by = waited.accused,
                            .as = when(waited.rule == RuleId::reply_without_call, Role::responder),
                            .xid = waited.xid,
                            .at_most = waited.at_most(),
                            .what = to_error ? fmt::format("The {} answered an error (frame {}) with an error.",
                                                           name(waited.accused), waited.evidence.number)
                                    : waited.rule == RuleId::reply_without_call
                                        ? nothing
                                        : fmt::format("The {}'s RDMA2_ERROR has XID {:#010x}, which no message of its "
                                                      "peer had: nobody learns that the one in frame {} was refused.",
                                                      name(waited.accused), waited.xid, waited.evidence.number)});
  if (waited.rule != RuleId::error_fields) return;
  witness.say(RuleId::reply_without_call, {.frames = {waited.frame},
                                           .by = waited.accused,
                                           .as = Role::responder,
                                           .xid = waited.xid,
                                           .at_most = waited.at_most(),
                                           .what = nothing});
}

void stray_later(const Turn& turn, RuleId rule, FrameRef evidence) {
  turn.wait({.rule = rule,
             .accused = turn.side(),
             .frame = turn.event.frame,
             .evidence = evidence,
             .xid = turn.xid(),
             .about = Case::StrayError{},
             .settle = settle_stray_error});
}

/// What has to be refused, and was not, but by this error of another XID; number 0: nothing.
[[nodiscard]] FrameRef meant_by(const Turn& error) {
  const auto& due = error.state().due;
  const auto owed =
      std::find_if(due.begin(), due.end(), [&](const Due& d) { return d.side == other(error.side()) && d.owed; });
  if (owed != due.end()) return owed->frame;
  const auto& types = error.theirs().odd_types;
  const auto odd = std::find_if(types.begin(), types.end(),
                                [&](const OddType& type) { return type.refused.number == error.event.frame.number; });
  return odd != types.end() ? odd->frame : FrameRef{};
}

/// The error answers nothing that the other side has sent.
void judge_stray(const Turn& turn) {
  if (!all_seen(turn.connection)) {
    turn.unchecked(RuleId::reply_without_call, "the message that the error refuses may be missing from the capture");
    return;
  }
  const RecentSend* error = turn.connection.of(other(turn.side())).sends.newest([&](const RecentSend& s) {
    return s.version == 2 && s.htype == error_type && s.xid == turn.xid();
  });
  if (error != nullptr) {
    stray_later(turn, RuleId::error_to_error, error->frame);
    return;
  }
  const FrameRef meant = meant_by(turn);
  stray_later(turn, meant.number != 0 ? RuleId::error_fields : RuleId::reply_without_call, meant);
}

void judge_fields(const Turn& turn, const RecentSend& refused) {
  if (refused.version == turn.header.fixed.version) return;
  const RecentSend* same = turn.connection.of(other(turn.side())).sends.newest([&](const RecentSend& s) {
    return s.xid == turn.xid() && s.version == turn.header.fixed.version;
  });
  if (same != nullptr) return;
  turn.say(RuleId::error_fields, {turn.event.frame, refused.frame},
           fmt::format("The {}'s RDMA2_ERROR says version {}; it has to repeat that of the refused message (frame {}), "
                       "which is {}.",
                       name(turn.side()), turn.header.fixed.version, refused.frame.number, *refused.version));
}

void judge_range(const Turn& turn, const RecentSend* refused) {
  const std::uint32_t low = turn.header.vers_low;
  const std::uint32_t high = turn.header.vers_high;
  const bool contains = refused != nullptr && low <= *refused->version && *refused->version <= high;
  if (low <= high && !contains) return;
  turn.say(RuleId::err_vers_range_invalid, {turn.event.frame, refused != nullptr ? refused->frame : FrameRef{}},
           fmt::format("The {}'s error says that it speaks versions {} to {}{}.", name(turn.side()), low, high,
                       contains ? fmt::format(", among them {}, which it refuses", *refused->version)
                                : std::string(": the lower is above the upper")));
}

/// From now on its sender knows. (Of version 2 itself: remember_refusal.)
void note_refused_version(const Turn& turn, const RecentSend& refused) {
  const std::uint32_t version = *refused.version;
  if (version == 2 || !turn.header.range_lacks(version)) return;
  turn.connection.diary.refused[index(other(turn.side()))].add(
      {version, turn.side(), turn.event.frame, refused.frame, turn.event.ordinal});
}

}  // namespace

const Row rows::v2_error_detail{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 7.3",
    .who = "responder",
    .title = "The numbers in an RDMA2_ERROR do not fit the call",
    .explanation =
        "Some errors say what would have been enough: how many chunks or segments, which chunk was too short, how much "
        "is needed. Numbers that the Call already satisfies mislead a requester that tries again.",
    .evidence =
        "The numbers of the error against the chunks of the Call that it answers. Not decided when the Call is "
        "missing.",
    .next = "Look at how the responder fills in the error; an index counts from 1, and 0 means not known."};

namespace {

void judge_detail(const Turn& turn, const Transaction& call) {
  if (!turn.may(RuleId::v2_error_detail, call)) return;
  const wire::HeaderV2& error = turn.header;
  const auto say = [&](std::string what, Severity severity = Severity::error) {
    turn.say(RuleId::v2_error_detail,
             {.frames = {turn.event.frame, call.call},
              .by = turn.side(),
              .as = Role::responder,
              .xid = turn.xid(),
              .call = &call,
              .at_most = severity,
              .what = fmt::format("The {}'s {} {}.", name(turn.side()), wire::error_name_v2(error.error), what)});
  };
  const std::size_t writes = call.v2.write_chunk_lengths.size();
  // A client that takes no chunks in reverse calls says so with either, whatever kind the chunks are of
  // (section 4.6.4).
  const bool none_at_all = call.requester == Side::passive && error.most == 0 && call.v2.segments > 0;
  switch (static_cast<ErrorCode>(error.error)) {
    case ErrorCode::read_chunks:
      if (error.most >= call.v2.read_chunks && !none_at_all) {
        say(fmt::format("allows {}; the Call has {}", counted(error.most, "Read chunk"), call.v2.read_chunks));
      }
      break;
    case ErrorCode::write_chunks:
      if (error.most >= writes + (call.reply_chunk ? 1 : 0) && !none_at_all) {
        say(fmt::format("allows {}; the Call has {}{}", counted(error.most, "Write chunk"), writes,
                        call.reply_chunk ? " and a Reply chunk" : ""));
      }
      break;
    case ErrorCode::segments:
      if (error.most >= call.v2.segments) {
        say(fmt::format("allows {}; the Call has {}", counted(error.most, "segment"), call.v2.segments));
      }
      break;
    case ErrorCode::write_resource:
      if (error.chunk_index > writes) {
        say(fmt::format("speaks of Write chunk {}; the Call has {}", error.chunk_index, writes));
      } else if (error.chunk_index != 0 && error.length_needed <= call.v2.write_chunk_lengths[error.chunk_index - 1]) {
        say(fmt::format("needs {} in Write chunk {}, which has {}", counted(error.length_needed, "octet"),
                        error.chunk_index, call.v2.write_chunk_lengths[error.chunk_index - 1]));
      } else if (writes == 0) {
        say("speaks of a Write chunk; the Call has none");
      }
      break;
    case ErrorCode::reply_resource: {
      // Whether the number is all that is needed or what is missing, the draft does not say.
      const std::uint64_t room = call.reply_chunk ? wire::chunk_length(*call.reply_chunk) : 0;
      if (error.length_needed <= room) {
        say(fmt::format("needs {}; the Reply chunk has {}", counted(error.length_needed, "octet"), room),
            Severity::note);
      }
      break;
    }
    default:
      break;
  }
}

/// Whose XID stands in RDMA2_ERR_INVAL_CONT, that of what intruded or of what was broken into, the draft leaves open.
/// True: with this XID an error was owed for a message that is no RDMA2_CONNPROP.
bool pay_dues(const Turn& turn) {
  const bool inval_cont = turn.header.error == static_cast<std::uint32_t>(ErrorCode::inval_cont);
  const auto& properties = turn.theirs().announced.messages;
  bool of_another = false;
  std::erase_if(turn.state().due, [&](const Due& due) {
    if (due.side != other(turn.side())) return false;
    if (due.xid != turn.xid())
      return due.wrong == Due::Wrong::sequence && (inval_cont || due.interrupted == turn.xid());
    of_another = of_another || std::none_of(properties.begin(), properties.end(), [&](const PropertyMessage& message) {
                   return message.frame.number == due.frame.number;
                 });
    return true;
  });
  return of_another;
}

}  // namespace

namespace {

/// Both sides may use an XID at once: is it a Call of the other side that is refused, or something else of it?
[[nodiscard]] Refused call_or_reply(const Turn& turn) {
  const auto code = static_cast<ErrorCode>(turn.header.error);
  const bool any_fault = code == ErrorCode::system || wire::error_name_v2(turn.header.error).empty();
  if (!any_fault && code != ErrorCode::bad_xdr && code != ErrorCode::inval_cont) return Refused::something_else;
  bool call = false;
  bool reply = false;
  const auto may_be = [&](Due::Of message) { (message == Due::Of::call ? call : reply) = true; };
  for (const Due& due : turn.state().due) {
    if (due.side != other(turn.side())) continue;
    if (!any_fault && (due.wrong == Due::Wrong::sequence) != (code == ErrorCode::inval_cont)) continue;
    if (due.xid == turn.xid()) may_be(due.message);
    if (due.interrupted == turn.xid()) may_be(due.broken);
  }
  if (call && reply) return Refused::not_known;
  if (call) return Refused::something_else;
  if (reply) return Refused::reply;
  // Nothing is known to be wrong with either.
  const RecentSend* sound_reply = turn.connection.of(other(turn.side())).sends.newest([&](const RecentSend& s) {
    return s.version == 2 && s.xid == turn.xid() && s.htype != error_type && s.reply();
  });
  return sound_reply != nullptr ? Refused::not_known : Refused::something_else;
}

}  // namespace

Refused judge_error(const Turn& turn) {
  refused_doubtful(turn.connection, other(turn.side()), turn.xid());
  Connection& connection = turn.connection;
  const std::uint32_t code = turn.header.error;
  turn.send.direction = Direction::reply;
  if (wire::error_name_v2(code).empty()) {
    turn.say(RuleId::error_code_unknown,
             {.frames = {turn.event.frame},
              .xid = turn.xid(),
              .what = fmt::format("The {}'s RDMA2_ERROR has code {}, which the draft does not assign.",
                                  name(turn.side()), code)});
  } else if (!turn.event.holes && turn.behind() > 0) {
    turn.say(RuleId::error_fields, {turn.event.frame},
             fmt::format("The {}'s {} has {} behind its body.", name(turn.side()), wire::error_name_v2(code),
                         counted(turn.behind(), "octet")));
  }
  const Refused kind = call_or_reply(turn);
  const bool owed_to_another = pay_dues(turn);
  const auto known = static_cast<ErrorCode>(code);
  RecentSend* refused = refused_by(turn);
  if (refused != nullptr) judge_fields(turn, *refused);
  if (known == ErrorCode::vers) judge_range(turn, refused);
  if (known == ErrorCode::vers && refused != nullptr) note_refused_version(turn, *refused);
  if (known == ErrorCode::inval_htype) note_refused_type(turn);
  const Refused about = refuse_properties(turn, owed_to_another);
  if (about == Refused::properties) return about;
  end_pieces(turn, kind);
  if (kind == Refused::reply) return kind;
  Transaction* call = connection.find(other(turn.side()), turn.xid());
  if (call != nullptr && !call->answered()) {
    judge_detail(turn, *call);
  } else if (refused == nullptr && call == nullptr) {
    judge_stray(turn);
  }
  return about == Refused::not_known ? about : kind;
}

bool repeats_refused_version(const Turn& turn) {
  const wire::FixedWords& fixed = turn.header.fixed;
  return fixed.proc == error_type && refused_by(turn) != nullptr && refused_by(turn)->version == fixed.version;
}

bool judge_other_version(const Turn& turn, const Transaction* answered) {
  const wire::FixedWords& fixed = turn.header.fixed;
  Connection& connection = turn.connection;
  if (!connection.trusted()) {
    turn.unchecked(RuleId::version_changed, "the message that it belongs to may be missing from the capture");
    return false;
  }
  if (fixed.version == 1) {
    const bool arrived = turn.side() == Side::passive || turn.mine().messages > 1 ||
                         connection.heard(Side::passive, connection.v2.settled_ordinal);
    if (arrived) {
      std::string message = fmt::format("The {} sent version 1 on a connection that had settled version 2 (frame {}).",
                                        name(turn.side()), connection.v2.settled.number);
      if (answered != nullptr) {
        turn.say(RuleId::version_changed, {turn.event.frame, connection.v2.settled}, std::move(message));
      } else {  // or it answers a Call that is not in the capture
        turn.say_when_heard(RuleId::version_changed, connection.v2.settled, std::move(message));
      }
    } else {
      turn.unchecked(RuleId::version_changed, "the message may have been sent before the version was settled");
    }
  }
  if (answered != nullptr) {
    if (fixed.version > 2) judge_version(turn, turn.event, fixed);
    judge_reply_version(turn, turn.event, fixed.version, *answered);
    return true;
  }
  if (fixed.proc != error_type) judge_refused_version(turn, turn.event, fixed);
  doubt_memory(connection, turn.event, {});
  turn.say_when_heard(RuleId::bad_version, connection.v2.settled,
                      fmt::format("The {}'s header says version {}; this connection speaks version 2.",
                                  name(turn.side()), fixed.version));
  owe_refusal(turn, Due::Wrong::message);
  return false;
}

namespace {

void remember_due(const Turn& turn, Due fault, const Continuation* interrupted) {
  std::vector<Due>& due = turn.state().due;
  if (turn.event.holes) return;
  if (due.size() >= most_dues) {
    const auto needless = std::find_if(due.begin(), due.end(), [](const Due& d) { return !d.owed; });
    if (needless == due.end()) return;
    due.erase(needless);
  }
  fault.side = turn.side();
  fault.xid = turn.xid();
  fault.frame = turn.event.frame;
  fault.ordinal = turn.event.ordinal;
  const bool reply = wire::known_htype(turn.header.fixed.proc) && wire::is_reply(turn.type());
  fault.message = reply ? Due::Of::reply : Due::Of::call;
  if (interrupted != nullptr) {
    fault.interrupted = interrupted->xid;
    fault.broken = interrupted->call ? Due::Of::call : Due::Of::reply;
  }
  due.push_back(fault);
}

}  // namespace

void owe_refusal(const Turn& turn, Due::Wrong wrong, const Continuation* interrupted) {
  Due fault;
  fault.wrong = wrong;
  remember_due(turn, fault, interrupted);
}

void allow_refusal(const Turn& turn, const Continuation* interrupted) {
  Due fault;
  if (interrupted != nullptr) fault.wrong = Due::Wrong::sequence;
  fault.owed = false;
  remember_due(turn, fault, interrupted);
}

void count_for_dues(Connection& connection, Side sender) {
  for (Due& due : connection.v2.due) {
    if (due.side != sender) ++due.peer_messages;
  }
}

const Row rows::v2_inval_cont_missing{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 7.1.4",
    .who = "receiver",
    .title = "A broken sequence of pieces was not refused",
    .explanation =
        "A receiver that drops a message because of a broken sequence has to say so with RDMA2_ERR_INVAL_CONT. "
        "Otherwise the sender waits for a reply that never comes.",
    .evidence =
        "A broken sequence, and its receiver goes on for 1 s and two messages without RDMA2_ERROR. Not decided when "
        "packets are missing.",
    .next = "See what the receiver made of the pieces; it may have joined parts of two messages."};

void judge_dues(const Witness& witness) {
  Connection& connection = witness.connection;
  for (const Due& due : connection.v2.due) {
    if (!due.owed) continue;
    const bool of_sequence = due.wrong == Due::Wrong::sequence;
    const RuleId rule = of_sequence ? RuleId::v2_inval_cont_missing : RuleId::error_missing;
    if (!all_seen(connection)) {
      witness.unchecked(rule, "the refusal may be missing from the capture");
      continue;
    }
    const bool arrived = connection.of(due.side).acknowledged >= due.ordinal;
    const FrameRef until = connection.of(other(due.side)).last_event;
    if (!arrived || due.peer_messages < messages_enough || until.time - due.frame.time < patience) {
      witness.unchecked(rule, "the connection, or the capture, ended before a refusal was due");
      continue;
    }
    witness.say(rule, {.frames = {due.frame, until},
                       .by = other(due.side),
                       .xid = due.xid,
                       .what = fmt::format(
                           "The {} went on for {:.1f} s after the {} in frame {} and never sent RDMA2_ERROR for "
                           "it.",
                           name(other(due.side)), static_cast<double>(until.time - due.frame.time) / 1e9,
                           of_sequence ? "broken sequence" : "broken message", due.frame.number)});
  }
  connection.v2.due.clear();
}

void remember_refusal(Connection& connection, const trace::Send& event, std::optional<Range> range) {
  State& state = connection.v2;
  if (state.refusal.number == 0) {
    state.refusal = event.frame;
    state.refusal_ordinal = event.ordinal;
    Negotiation& story = connection.facts.negotiation;
    story.answer = event.frame;
    story.refused = true;
    if (range) {
      story.lowest = range->low;
      story.highest = range->high;
    }
  }
  connection.speaks(State::Version::refused);
  forget_begun(connection);
}

void forget_begun(Connection& connection) {
  SideFacts& client = connection.v2.of(Side::active);
  client.continuation = {};
  client.interrupted.reset();
  client.announced = {};
}

bool refuse_in_version_1(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header) {
  Connection& connection = witness.connection;
  if (event.side != Side::passive || header.fixed.version != 1 || header.error != wire::err_vers) return false;
  if (connection.version2()) return false;
  const RecentSend* probe = connection.of(Side::active).sends.newest([&](const RecentSend& s) {
    return s.version == 2 && s.xid == header.fixed.xid && s.htype != error_type;
  });
  if (probe == nullptr) return false;
  witness.say(RuleId::error_fields,
              {.frames = {event.frame, probe->frame},
               .by = Side::passive,
               .as = Role::responder,
               .xid = header.fixed.xid,
               .what = fmt::format("The server's ERR_VERS says version 1; it has to repeat the version that it refuses "
                                   "(frame {}), which is 2.",
                                   probe->frame.number)});
  remember_refusal(connection, event, Range{header.vers_low, header.vers_high});
  return true;
}

bool note_refusal(const Turn& turn, bool whole) {
  if (turn.side() != Side::passive) return false;
  Connection& connection = turn.connection;
  RecentSend* refused = refused_by(turn);
  const bool unseen = refused == nullptr && turn.state().probe.number == 0;
  // Of another XID than the probe, it still says that its sender does not speak version 2.
  const bool by_range = refused == nullptr && !unseen && whole && turn.header.range_lacks(2);
  if (!unseen && !by_range && (refused == nullptr || refused->version != 2)) return false;
  if (by_range) judge_stray(turn);
  if (whole && refused != nullptr) judge_range(turn, refused);
  if (unseen) {
    turn.state().refused_unseen = turn.xid();
    turn.unchecked(RuleId::reply_without_call,
                   "what the server's ERR_VERS refuses is not in the capture, or behind it");
  }
  turn.send.direction = Direction::reply;
  ++connection.facts.messages.rdma_error;
  // Version 1, with which the client goes on, begins with an answer. What its credit word means in a message that says
  // version 2 is open: it may let the client send more, and is no grant that others are held against.
  const std::uint32_t credit = turn.header.fixed.credit;
  credit_refusal(connection, turn.event, Side::active, when(credit != 0, credit), Granted::in_words);
  remember_refusal(connection, turn.event, when(whole, Range{turn.header.vers_low, turn.header.vers_high}));
  return true;
}

void judge_after_refusal(const Turn& turn) {
  const State& state = turn.state();
  if (!turn.connection.heard(Side::passive, state.refusal_ordinal)) {
    turn.unchecked(RuleId::version_after_refusal, "the refusal may not have arrived by then");
    return;
  }
  turn.say(RuleId::version_after_refusal, {turn.event.frame, state.refusal, state.probe},
           fmt::format("The client sent version 2 again after the server's ERR_VERS (frame {}) had refused it.",
                       state.refusal.number));
}

void judge_end(const Witness& witness, FrameRef now) {
  Connection& connection = witness.connection;
  if (connection.v2.version != State::Version::two) return;
  watch_starvation(witness, now, Watched::to_the_end);
  judge_missing_final(witness, now);
  judge_dues(witness);
}

}  // namespace rpcrdma::referee::v2
