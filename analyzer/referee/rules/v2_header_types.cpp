// SPDX-License-Identifier: GPL-2.0-or-later
// Header types of version 2 that the draft does not assign, and those that a peer refused (sections 6.1 and 7.1.3).
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "referee/state/lifetime.hpp"

namespace rpcrdma::referee::v2 {

namespace {

using wire::ErrorCode;
constexpr std::size_t most_odd_types = 64;

[[nodiscard]] std::uint32_t bit_of(std::uint32_t htype) noexcept {
  return wire::known_htype(htype) ? std::uint32_t{1} << htype : 0;
}

/// The assigned header types of all messages that the error may refuse.
[[nodiscard]] std::uint32_t assigned_types_of(const Turn& turn) {
  std::uint32_t types = 0;
  for (const RecentSend& s : turn.connection.of(other(turn.side())).sends) {
    if (s.version == 2 && s.xid == turn.xid() && s.htype != error_type) types |= bit_of(s.htype);
  }
  return types;
}

}  // namespace

void note_refused_type(const Turn& turn) {
  std::vector<OddType>& types = turn.theirs().odd_types;
  const auto open = [](const OddType& type) { return type.refused.number == 0; };
  auto at = std::find_if(types.rbegin(), types.rend(),
                         [&](const OddType& type) { return open(type) && type.xid == turn.xid(); });
  if (at == types.rend()) at = std::find_if(types.rbegin(), types.rend(), open);
  OddType* type = at == types.rend() ? nullptr : &*at;
  if (type == nullptr) {
    const RecentSend* refused = refused_by(turn);
    if (refused == nullptr || types.size() >= most_odd_types) return;
    if (!all_seen(turn.connection)) {
      turn.unchecked(RuleId::v2_htype_repeated, "the message that was refused may be missing from the capture");
      return;
    }
    types.push_back({refused->htype, refused->xid, refused->frame, {}, {}, 0, assigned_types_of(turn), 0});
    type = &types.back();
  }
  type->refused = turn.event.frame;
  type->refused_ordinal = turn.event.ordinal;
  if (!type->finding) return;
  turn.context.book.at(type->finding).severity = Severity::error;
  turn.context.book.evidence(type->finding, turn.event.frame);
}

const Row rows::v2_htype_repeated{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two section 7.1.3",
    .who = "sender",
    .title = "A refused header type was sent again",
    .explanation =
        "After RDMA2_ERR_INVAL_HTYPE the sender knows that its peer does not take that "
        "type, and must not send it again on the connection.",
    .evidence =
        "A Send of a type that the peer had refused, after the refusal had arrived; where messages of several types "
        "had the XID of the refusal, once all of them were sent again. Not decided without an acknowledgement of the "
        "refusal, or when packets are missing.",
    .next = "See how the sender remembers what its peer refused."};

void judge_repeated_type(const Turn& turn) {
  const std::uint32_t htype = turn.header.fixed.proc;
  const std::uint32_t bit = bit_of(htype);
  for (OddType& type : turn.mine().odd_types) {
    const bool concerned = bit != 0 ? (type.may_be & bit) != 0 : type.htype == htype;
    if (type.refused.number == 0 || !concerned) continue;
    if (!turn.connection.heard(other(turn.side()), type.refused_ordinal)) {
      turn.unchecked(RuleId::v2_htype_repeated, "the refusal may not have arrived by then");
      return;
    }
    if (turn.connection.of(turn.side()).newest_lack().number >= type.frame.number) {
      turn.unchecked(RuleId::v2_htype_repeated, "the message that was refused may be missing");
      return;
    }
    const bool one_of_several = type.may_be != bit;
    const bool told = one_of_several && type.again == type.may_be;
    type.again |= bit;
    if (told || type.again != type.may_be) continue;  // it may be another one that was refused
    turn.say(RuleId::v2_htype_repeated,
             {.frames = {turn.event.frame, type.refused, type.frame},
              .by = turn.side(),
              .as = Role::requester,
              .xid = turn.xid(),
              .what = one_of_several
                          ? fmt::format("The {} has sent every header type again of which its peer had refused one "
                                        "(frame {}); the last is {}.",
                                        name(turn.side()), type.refused.number, htype)
                          : fmt::format("The {} sent header type {} again after its peer had refused it (frame {}).",
                                        name(turn.side()), htype, type.refused.number)});
    return;
  }
}

const Row rows::v2_unknown_htype{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::v2,
    .source = "draft-ietf-nfsv4-rpcrdma-version-two sections 6.1, 7.1.3",
    .who = "sender",
    .title = "A header type that the draft does not assign",
    .explanation =
        "Receivers answer an unknown header type with RDMA2_ERR_INVAL_HTYPE and take nothing of the message. "
        "Extensions may define new ones; one that nobody refuses is taken for such and only noted.",
    .evidence = "rdma_htype below 4 or above 13. An error once the peer has answered RDMA2_ERR_INVAL_HTYPE.",
    .next = "If an extension was meant, see how it is negotiated; if not, whether the sender mixes versions."};

void judge_unknown_type(const Turn& turn) {
  const std::uint32_t htype = turn.header.fixed.proc;
  judge_repeated_type(turn);
  std::vector<OddType>& types = turn.mine().odd_types;
  HeldFinding finding = turn.say(
      RuleId::v2_unknown_htype, {turn.event.frame},
      fmt::format("The {} sent header type {}, which the draft does not assign (4 to 13).", name(turn.side()), htype),
      Severity::note);
  doubt_memory(turn.connection, turn.event, finding, Lends::anything);  // an extension's Call may lend some
  if (types.size() >= most_odd_types) types.erase(types.begin());
  types.push_back({htype, turn.xid(), turn.event.frame, std::move(finding), {}, 0});
}

bool refuses_unknown_type(const Turn& turn) {
  if (turn.header.error != static_cast<std::uint32_t>(ErrorCode::inval_htype)) return false;
  // A newer message, even a Call, may have the same XID: the odd one is known to need its refusal.
  const std::vector<OddType>& types = turn.theirs().odd_types;
  const bool noted = std::any_of(types.begin(), types.end(), [&](const OddType& type) {
    return type.refused_ordinal == turn.event.ordinal && type.refused.number == turn.event.frame.number &&
           type.xid == turn.xid() && !wire::known_htype(type.htype);
  });
  if (noted) return true;
  const RecentSend* refused = refused_by(turn);
  return refused != nullptr && refused->version == 2 && !wire::known_htype(refused->htype);
}

}  // namespace rpcrdma::referee::v2
