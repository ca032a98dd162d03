// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/version2.hpp"

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
constexpr std::uint32_t rdma2_error = 4;
constexpr std::uint32_t err_vers_code = 1;

[[nodiscard]] bool sent_version_2(Connection& connection, Side side, std::uint32_t xid) {
  return connection.of(side).sends.newest([&](const RecentSend& s) { return s.version == 2 && s.xid == xid; }) !=
         nullptr;
}

/// An ERR_VERS of the server without version 2 in its range: what it refuses stands behind it in the file, or not in
/// it.
[[nodiscard]] bool refuses_unseen(const Connection& connection, const trace::Send& event, std::uint32_t xid) {
  wire::HeaderV2 error;
  if (event.side != Side::passive || !wire::decode_header_v2(event.octets, event.wire_length, error)) return false;
  const bool without = error.vers_low <= error.vers_high && (error.vers_low > 2 || error.vers_high < 2);
  if (error.error != err_vers_code || !without || connection.find(Side::active, xid) != nullptr) return false;
  return connection.of(Side::active).sends.newest([&](const RecentSend& s) { return s.xid == xid; }) == nullptr;
}

[[nodiscard]] bool ours(Connection& connection, const trace::Send& event, const Decoded<wire::FixedWords>& fixed) {
  State& state = connection.v2;
  if (state.version == Version::two || state.version == Version::earlier) return true;
  if (!fixed || fixed->version != 2) return false;
  const bool error = fixed->proc == rdma2_error;
  if (state.version == Version::refused) {
    if (error) return sent_version_2(connection, other(event.side), fixed->xid);
    return wire::known_htype(fixed->proc);
  }
  // Where directions are apart, Calls of version 1 may stand in front of what made their sender speak it.
  const bool refuses_probe = error && event.side == Side::passive && state.probe.number != 0 &&
                             connection.diary.settled.version == 0 &&
                             sent_version_2(connection, Side::active, fixed->xid);
  if (refuses_probe) return true;
  if (connection.settled_on_version_1()) return false;  // an odd message among those of version 1
  // Any other error without a probe answers something in the layout of version 1.
  if (error) return state.probe.number != 0 || refuses_unseen(connection, event, fixed->xid);
  if (fixed->proc >= rdma2_error) return true;
  return wire::earlier_draft(event.octets, event.wire_length);
}

void count_name(Connection& connection, std::uint32_t htype, bool earlier) {
  std::string name(earlier ? wire::earlier_htype_name(htype) : wire::htype_name_v2(htype));
  if (name.empty()) name = "unknown header type";
  ++connection.facts.messages.v2[name];
}

void settle(Connection& connection, const trace::Send& event) {
  State& state = connection.v2;
  state.version = Version::two;
  state.settled = event.frame;
  state.settled_ordinal = event.ordinal;
  connection.facts.negotiation.answer = event.frame;
  connection.facts.version = 2;
  connection.version2 = true;
  Thresholds& thresholds = connection.facts.thresholds;
  thresholds = {};
  if (!connection.facts.handshake_seen) return;
  thresholds.client_to_server = thresholds.server_to_client = v2_default_threshold;
  thresholds.basis = Basis::default_;
}

/// Something of the earlier drafts: named and counted, nothing more.
void take_earlier(const Witness& witness, const trace::Send& event, const Decoded<wire::FixedWords>& fixed) {
  Connection& connection = witness.connection;
  connection.v2.version = Version::earlier;
  connection.version2 = true;
  connection.facts.version = 2;
  connection.facts.thresholds = {};
  if (fixed) count_name(connection, fixed->proc, true);
  witness.unchecked(RuleId::v2_unknown_htype,
                    fmt::format("frame {} follows an early draft of version 2 (00 to 02): such connections are "
                                "counted, not judged",
                                event.frame.number));
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

}  // namespace

bool take(const Witness& witness, const trace::Send& event, RecentSend& send, MessageSeen::Kind& kind,
          const wire::HeaderV2*& readable) {
  Connection& connection = witness.connection;
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!ours(connection, event, fixed)) return false;
  State& state = connection.v2;
  if (fixed) {
    send.xid = fixed->xid;
    send.version = fixed->version;
    send.htype = fixed->proc;
  }
  if (state.version == Version::earlier ||
      (state.version == Version::unsettled && wire::earlier_draft(event.octets, event.wire_length))) {
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
  const Turn turn{witness, event, header, send};

  // Its refusal came before it in the file: directions are apart.
  const bool late_probe = version_2 && event.side == Side::active && state.refused_unseen == fixed->xid;
  if (late_probe) {
    state.refused_unseen.reset();
    if (connection.whole()) lose_order(witness, Connection::FileOrder::skewed);
  }
  if (state.version != Version::two && version_2) {
    const bool error = fixed->proc == rdma2_error;
    if (error && header.error == err_vers_code && take_refusal(turn, decoded.has_value())) {
      kind = MessageSeen::Kind::error;
      return true;  // counted as the RDMA_ERROR of a server that speaks version 1
    }
    if (event.side == Side::active && state.probe.number == 0) {
      state.probe = event.frame;
      connection.facts.negotiation.probe = event.frame;
      connection.facts.negotiation.probe_type = wire::htype_name_v2(fixed->proc);
    }
    // The client may still be probing; an error that was cut may be the refusal.
    const bool server_speaks =
        event.side == Side::passive && wire::known_htype(fixed->proc) && !(error && header.error == 0);
    if (state.version == Version::unsettled && server_speaks) settle(connection, event);
    if (state.version == Version::refused && event.side == Side::active && !late_probe) judge_after_refusal(turn);
  }
  if (known) count_name(connection, fixed->proc, false);
  SideFacts& mine = turn.mine();
  forget_pieces_at_gaps(connection, event.side);
  if (mine.messages++ == 0) mine.first = event.frame;
  count_for_dues(connection, event.side);
  const bool may_be_grant = !fixed || (version_2 && fixed->proc == static_cast<std::uint32_t>(wire::HeaderType::grant));
  note_starvation(connection);
  count_send(witness, event, may_be_grant, send);
  if (version_2) take_limit(witness, event, fixed->credit);

  if (fixed && !version_2 && (decoded || !repeats_refused_version(turn))) {
    take_other_version(turn);
  } else if (!decoded) {
    judge_undecodable(turn, decoded.error());
  } else {
    kind = take_decoded(turn);
  }
  if (late_probe) forget_begun(connection);
  watch_starvation(witness, event.last, false);
  return true;
}

bool count_late(Connection& connection, const trace::Send& event) {
  const auto fixed = wire::decode_fixed_words(event.octets, event.wire_length);
  if (!fixed || fixed->version != 2 || connection.v2.version != Version::two) return false;
  ++connection.messages;
  count_name(connection, fixed->proc, false);
  if (wire::known_htype(fixed->proc)) {
    const auto type = static_cast<wire::HeaderType>(fixed->proc);
    const bool reply = wire::is_reply(type) && !wire::is_middle(type);
    if (reply) end_wait_behind_close(connection, other(event.side), fixed->xid, event.frame);
  }
  return true;
}

}  // namespace rpcrdma::referee::v2
