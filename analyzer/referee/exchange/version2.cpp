// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/version2.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/exchange/version2_exchanges.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using Version = State::Version;
using wire::Decoded;

[[nodiscard]] bool sent_version_2(Connection& connection, Side side, std::uint32_t xid) {
  return connection.of(side).sends.newest([&](const RecentSend& s) { return s.version == 2 && s.xid == xid; }) !=
         nullptr;
}

/// An ERR_VERS of the server without version 2 in its range: what it refuses stands behind it in the file, or not in
/// it.
[[nodiscard]] bool refuses_unseen(const Connection& connection, const trace::Send& event, std::uint32_t xid) {
  wire::HeaderV2 error;
  if (event.side != Side::passive || !wire::decode_header_v2(event.octets, event.wire_length, error)) return false;
  if (error.error != wire::err_vers || !error.range_lacks(2) || connection.find(Side::active, xid) != nullptr)
    return false;
  return connection.of(Side::active).sends.newest([&](const RecentSend& s) { return s.xid == xid; }) == nullptr;
}

/// Cut before its code, or before the versions that it names, an error may refuse a version.
[[nodiscard]] bool may_refuse_version(const trace::Send& error) {
  constexpr std::size_t versions_end = 28;
  if (error.octets.size() >= std::min<std::size_t>(versions_end, error.wire_length)) return false;
  return error.octets.size() < wire::error_code_at + 4 ||
         wire::load_be32(error.octets.data() + wire::error_code_at) == wire::err_vers;
}

/// In which words a message is to be read.
enum class Words : std::uint8_t {
  version_1,
  version_2,
  astray,   ///< version 2 on a connection of version 1: judged alone, it changes nothing (RFC 8797 section 4)
  unjudged  ///< an error of version 2 of which nothing tells what it refuses
};

/// RDMA_ERROR looks alike in both versions, and repeats the version of what it refuses: that tells whose it is. What it
/// refuses may stand behind it in the file, or not be in it.
[[nodiscard]] Words words_of_error(Connection& connection, const trace::Send& event, std::uint32_t xid) {
  const State& state = connection.v2;
  const bool settled_on_1 = connection.settled_on_version_1();
  if (state.version == Version::refused) {
    if (sent_version_2(connection, other(event.side), xid)) return Words::version_2;
  } else if (state.probe.number != 0) {
    // Where directions are apart, Calls of version 1 may stand in front of what made their sender speak it.
    const bool refuses_probe =
        event.side == Side::passive && !connection.diary.settled && sent_version_2(connection, Side::active, xid);
    if (refuses_probe || !settled_on_1) return Words::version_2;
  } else if (!settled_on_1 && refuses_unseen(connection, event, xid)) {
    return Words::version_2;
  }
  if (state.version != Version::glimpsed) {
    if (connection.open_call(other(event.side), xid) != nullptr) return Words::version_1;
    if (may_refuse_version(event)) return Words::version_1;
  }
  return settled_on_1 ? Words::astray : Words::unjudged;
}

[[nodiscard]] Words words_of(Connection& connection, const trace::Send& event, const Decoded<wire::FixedWords>& fixed) {
  const State& state = connection.v2;
  if (state.version == Version::two || state.version == Version::earlier) return Words::version_2;
  if (!fixed || fixed->version != 2) return Words::version_1;
  if (fixed->proc == error_type) return words_of_error(connection, event, fixed->xid);
  const bool known = wire::known_htype(fixed->proc);
  if (state.version == Version::refused) return known ? Words::version_2 : Words::version_1;
  if (connection.settled_on_version_1()) return known ? Words::astray : Words::version_1;
  if (fixed->proc > error_type || wire::earlier_draft(event.octets, event.wire_length)) return Words::version_2;
  return Words::version_1;
}

void count_name(Connection& connection, std::uint32_t htype, bool earlier) {
  std::string name(earlier ? wire::earlier_htype_name(htype) : wire::htype_name_v2(htype));
  if (name.empty()) name = "unknown header type";
  ++connection.facts.messages.v2[name];
}

void settle(Connection& connection, const trace::Send& event) {
  State& state = connection.v2;
  // What was done to memory meanwhile has been looked at by no rule.
  if (state.version == Version::glimpsed) connection.distrust(kept_finished, Doubt::unrecognised);
  connection.speaks(Version::two);
  state.settled = event.frame;
  state.settled_ordinal = event.ordinal;
  connection.facts.negotiation.answer = event.frame;
  Thresholds& thresholds = connection.facts.thresholds;
  thresholds = {};
  if (!connection.facts.handshake_seen) return;
  thresholds.client_to_server = thresholds.server_to_client = v2_default_threshold;
  thresholds.basis = Basis::default_;
}

/// A client probes, and with what a server says in version 2 it has agreed.
void negotiate(const Turn& turn, std::uint32_t htype) {
  Connection& connection = turn.connection;
  State& state = connection.v2;
  if (turn.side() == Side::active && state.probe.number == 0) {
    state.probe = turn.event.frame;
    connection.facts.negotiation.probe = turn.event.frame;
    connection.facts.negotiation.probe_type = wire::htype_name_v2(htype);
  }
  // An error that was cut may be the refusal.
  const bool may_refuse = htype == error_type && turn.header.error == 0;
  const bool server_speaks = turn.side() == Side::passive && wire::known_htype(htype) && !may_refuse;
  if (state.undecided() && server_speaks) settle(connection, turn.event);
}

/// Something of the earlier drafts: named and counted, nothing more.
void take_earlier(const Witness& witness, const trace::Send& event, const Decoded<wire::FixedWords>& fixed) {
  Connection& connection = witness.connection;
  connection.speaks(Version::earlier);
  connection.facts.thresholds = {};
  if (fixed) count_name(connection, fixed->proc, true);
  witness.unchecked(RuleId::v2_unknown_htype,
                    fmt::format("frame {} follows an early draft of version 2 (00 to 02): such connections are "
                                "counted, not judged",
                                event.frame.number));
}

/// The client's upper layer may agree to reverse Calls in it.
void note_unread_call(const Turn& turn) {
  const Transaction* call = turn.connection.find(turn.send.exchange);
  const bool read = call != nullptr && call->procedure;
  if (turn.side() == Side::active && !read) turn.connection.back_channel.could_not_read(turn.event.frame);
}

MessageSeen::Kind take_decoded(const Turn& turn) {
  const wire::HeaderType type = turn.type();
  judge_repeated_type(turn);
  judge_sequence(turn);
  judge_size(turn);
  judge_rest(turn);
  if (!wire::is_reply(type)) judge_invalidated(turn, nullptr);
  switch (type) {
    case wire::HeaderType::error:
      take_error(turn);
      return MessageSeen::Kind::error;
    case wire::HeaderType::grant:
      judge_grant(turn);
      return MessageSeen::Kind::other;
    case wire::HeaderType::connprop_middle:
    case wire::HeaderType::connprop_final:
      take_properties(turn);
      return MessageSeen::Kind::other;
    case wire::HeaderType::call_external:
    case wire::HeaderType::call_middle:
    case wire::HeaderType::call_inline:
      take_call(turn);
      note_unread_call(turn);
      return MessageSeen::Kind::call;
    case wire::HeaderType::reply_external:
    case wire::HeaderType::reply_middle:
    case wire::HeaderType::reply_inline:
      take_reply(turn);
      return MessageSeen::Kind::reply;
  }
  return MessageSeen::Kind::other;
}

/// Packets are missing: what was half sent cannot be followed.
void forget_pieces_at_gaps(Connection& connection, Side side) {
  SideFacts& facts = connection.v2.of(side);
  const std::uint64_t gaps = connection.of(side).gaps;
  // The REQ says with which packet the server begins, the REP with which one the client does. MPA says it of the
  // sender.
  const bool iwarp = connection.facts.transport == trace::Transport::iwarp;
  const Side told_by_reply = iwarp ? Side::passive : Side::active;
  const bool begins = connection.facts.handshake_seen && (side != told_by_reply || connection.reply_seen());
  if (gaps == facts.gaps && (facts.messages != 0 || begins)) return;
  facts.gaps = gaps;
  facts.lose_track();
}

/// Whatever it says: for its credit, and for what is due to it.
void count_message(const Turn& turn, const Decoded<wire::FixedWords>& fixed) {
  Connection& connection = turn.connection;
  const trace::Send& event = turn.event;
  forget_pieces_at_gaps(connection, event.side);
  SideFacts& mine = turn.mine();
  if (mine.messages++ == 0) mine.first = event.frame;
  count_for_dues(connection, event.side);
  note_starvation(connection);
  const bool version_2 = fixed && fixed->version == 2;
  const bool may_be_grant = !fixed || (version_2 && fixed->proc == static_cast<std::uint32_t>(wire::HeaderType::grant));
  count_send(turn, event, may_be_grant ? CountedAs::grant : CountedAs::message, turn.send);
  if (version_2) take_limit(turn, event, fixed->credit);
}

/// The exchange of which this is another piece; generation 0: of none.
[[nodiscard]] TransactionId begun_before(const Turn& turn) {
  const Continuation& open = turn.mine().continuation;
  const bool same = open.open && open.xid == turn.xid() && open.call == wire::is_call(turn.type());
  return same ? open.transaction : TransactionId{};
}

}  // namespace

bool take(const Witness& witness, const trace::Send& event, RecentSend& send, MessageSeen::Kind& kind,
          const wire::HeaderV2*& readable) {
  Connection& connection = witness.connection;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  const Words words = words_of(connection, event, fixed);
  if (words == Words::version_1) return false;
  if (words != Words::version_2) {
    count_name(connection, fixed->proc, false);
    if (words == Words::astray) return false;
    connection.speaks(Version::glimpsed);
  }
  State& state = connection.v2;
  if (fixed) {
    send.xid = fixed->xid;
    send.version = fixed->version;
    send.htype = fixed->proc;
  }
  if (words == Words::unjudged) return true;
  if (state.version == Version::earlier ||
      (state.undecided() && wire::earlier_draft(event.octets, event.wire_length))) {
    take_earlier(witness, event, fixed);
    return true;
  }

  if (!state.scratch) state.scratch = std::make_unique<wire::HeaderV2>();
  wire::HeaderV2& header = *state.scratch;
  const auto decoded = wire::decode_header_v2(event.octets, event.wire_length, header);
  const bool version_2 = fixed && fixed->version == 2;
  if (decoded && version_2) readable = &header;
  const bool known = version_2 && wire::known_htype(fixed->proc);
  if (known) {
    if (wire::is_call(header.type())) send.direction = Direction::call;
    if (wire::is_reply(header.type())) send.direction = Direction::reply;
  }
  const Turn turn{{witness, event, header, send}};

  // Its refusal came before it in the file: directions are apart.
  const bool late_probe = version_2 && event.side == Side::active && state.refused_unseen == fixed->xid;
  if (late_probe) {
    state.refused_unseen.reset();
    if (connection.whole()) lose_order(witness, Connection::FileOrder::skewed);
  }
  if (version_2 && state.version != Version::two) {
    if (fixed->proc == error_type && header.error == wire::err_vers && take_refusal(turn, decoded.has_value())) {
      kind = MessageSeen::Kind::error;
      return true;  // counted as the RDMA_ERROR of a server that speaks version 1
    }
    negotiate(turn, fixed->proc);
    if (state.version == Version::refused && event.side == Side::active && !late_probe) judge_after_refusal(turn);
  }
  if (known) count_name(connection, fixed->proc, false);
  count_message(turn, fixed);

  if (fixed && !version_2 && (decoded || !repeats_refused_version(turn))) {
    take_other_version(turn);
  } else if (!decoded) {
    const TransactionId pieces = known ? begun_before(turn) : TransactionId{};
    judge_undecodable(turn, decoded.error());
    const bool cut = decoded.error().fault == wire::Fault::truncated;
    if (cut && event.side == Side::active) connection.back_channel.could_not_read(event.frame);
    if (cut && known) kind = take_cut(turn, pieces);
    const bool unread = (cut || event.holes) && kind == MessageSeen::Kind::other;
    const bool perhaps_call = !version_2 || wire::may_be_call(fixed->proc);
    if (unread) connection.of(event.side).cannot_be_read(event.frame, perhaps_call);  // whatever it ends or answers
  } else {
    kind = take_decoded(turn);
  }
  if (late_probe) forget_begun(connection);
  watch_starvation(witness, event.last, Watched::meanwhile);
  return true;
}

bool count_late(const Witness& witness, const trace::Send& event) {
  Connection& connection = witness.connection;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed || fixed->version != 2 || connection.v2.version != Version::two) return false;
  ++connection.messages;
  count_name(connection, fixed->proc, false);
  if (wire::known_htype(fixed->proc)) {
    const auto type = static_cast<wire::HeaderType>(fixed->proc);
    const bool reply = wire::is_reply(type) && !wire::is_middle(type);
    if (reply) judge_answer_behind_close(witness, other(event.side), fixed->xid, event.frame);
  }
  return true;
}

}  // namespace rpcrdma::referee::v2
