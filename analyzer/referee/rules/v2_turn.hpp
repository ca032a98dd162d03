// SPDX-License-Identifier: GPL-2.0-or-later
// One message of version 2 in the hands of the checks, and the checks themselves. Sections are those of
// draft-ietf-nfsv4-rpcrdma-version-two.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "referee/docket/turn.hpp"
#include "referee/rules/checks.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::referee::v2 {

struct Turn : TurnOf<wire::HeaderV2> {
  [[nodiscard]] State& state() const noexcept { return connection.v2; }
  [[nodiscard]] SideFacts& mine() const noexcept { return connection.v2.of(event.side); }
  [[nodiscard]] SideFacts& theirs() const noexcept { return connection.v2.of(other(event.side)); }
  [[nodiscard]] wire::HeaderType type() const noexcept { return header.type(); }

  /// A finding about the sender of this message; its frame has to stand first.
  using Witness::say;
  HeldFinding say(RuleId rule, std::initializer_list<FrameRef> frames, std::string message,
                  Severity at_most = Severity::error) const;
  /// The same for what rests on messages of the other side: once something later of it has come, and no hole before.
  void say_when_heard(RuleId rule, FrameRef evidence, std::string message, Severity severity = Severity::error) const;
  /// Likewise for what rests on the other side's properties alone: its last ones are enough.
  void say_by_properties(RuleId rule, std::string message, Severity severity = Severity::error) const;

 private:
  [[nodiscard]] Case case_of(RuleId rule, FrameRef evidence, std::string&& message, Severity severity) const;
};

/// The start of the connection is in the capture, and so is everything since.
[[nodiscard]] bool all_seen(const Connection& connection) noexcept;

// --- rules/v2_header.cpp
/// The header could not be decoded.
void judge_undecodable(const Turn& turn, const wire::DecodeError& error);

// --- rules/v2_credits.cpp
/// One RDMA2_GRANT may be sent when nothing else may.
enum class CountedAs : std::uint8_t { message, grant };
/// Counts the Send, and judges whether it was allowed.
void count_send(const Witness& witness, const trace::Send& event, CountedAs what, RecentSend& send);
/// rdma_credit of a message: the limit of the other side.
void take_limit(const Witness& witness, const trace::Send& event, std::uint32_t value);
/// Ahead of the next message: what has arrived until then tells whether a lowered limit holds.
void note_starvation(Connection& connection);
/// Who waits at the end was starving until then.
enum class Watched : std::uint8_t { meanwhile, to_the_end };
void watch_starvation(const Witness& witness, FrameRef now, Watched until);
/// A Send above the limit that found no Receive: fills what is told of it.
void name_overrun(const trace::Refusal& refusal, const RecentSend& send, Suspect& suspect);
/// A Send within its limit found no Receive: in words.
[[nodiscard]] std::string unbacked(Side refuser, FrameRef refused, std::uint64_t limit);
/// RNR NAK.
void judge_missing_receive(const Witness& witness, const trace::Refusal& refusal, RecentSend* send, Suspect& suspect);

/// RDMA2_GRANT: it has neither XID nor body.
void judge_grant(const Turn& turn);

// --- rules/v2_properties.cpp
void judge_size(const Turn& turn);
/// A Send that was refused before it was complete is too large already.
void judge_refused_part(const Witness& witness, const trace::Send& event, RecentSend& send);
/// The peer refused this Send: what is still waiting to be said of its size need not wait any more.
void conclude_refused_size(const Witness& witness, Side sender, std::uint64_t ordinal);
void take_properties(const Turn& turn);
/// RDMA2_CONNPROP that cannot be decoded.
void judge_bad_properties(const Turn& turn, const wire::DecodeError& error);
/// What an error is about.
enum class Refused : std::uint8_t {
  something_else,
  properties,
  reply,  ///< or another message that is no Call
  not_known
};
/// Of the other side's properties only those apply that the error is not about. `owed_to_another`: with its XID an
/// error was owed for a message that is no RDMA2_CONNPROP.
Refused refuse_properties(const Turn& refusal, bool owed_to_another);
void judge_missing_final(const Witness& witness, FrameRef now);

// --- rules/v2_sequences.cpp
/// Before the message is looked at: does it interrupt something? True: a refusal is owed for that.
bool judge_sequence(const Turn& turn);
/// The same for a message whose header is broken. As the last piece it ends its sequence all the same.
bool judge_sequence_of_malformed(const Turn& turn);
/// Where the message stands in a sequence of pieces.
struct Piece {
  bool first = true;          ///< the RPC message begins here
  bool known = true;          ///< false: whether it does cannot be told
  TransactionId transaction;  ///< of the earlier pieces; generation 0: none
  std::uint64_t payload = 0;  ///< of this and all earlier pieces
  bool continued = false;     ///< this is the last of several
};
[[nodiscard]] Piece take_piece(const Turn& turn);
/// What the error ends may have been half sent.
void end_pieces(const Turn& error, Refused about);
/// The exchange that the pieces belong to has been found.
void remember_transaction(const Turn& turn, TransactionId id);
/// What stands behind a header to which no message belongs.
void judge_rest(const Turn& turn);
void judge_rpc_start(const Turn& turn, const Piece& piece);
/// Keeps a piece of an RPC message in the Transaction's body, the last one as well.
void keep_piece(const Turn& turn, const Piece& piece, MessageBody& body);
/// The RPC message that this inline message ends; `body`: its pieces, if there are several.
[[nodiscard]] RpcStream inline_stream(const Turn& turn, const MessageBody& body, const Piece& piece);

// --- rules/v2_chunks.cpp
void judge_call_chunks(const Turn& turn, Transaction& call, const Piece& piece);
enum class Came : std::uint8_t { in_one, in_pieces };
void judge_reverse_form(const Turn& turn, const Transaction& call, Came came);
/// RDMA2_REPLY_EXTERNAL has a Reply chunk, whatever it answers. `call`: the open one; null: there is none.
void judge_external_reply(const Turn& turn, const Transaction* call);
/// False: the returned chunks are not those of the Call, or too long.
bool judge_reply_chunks(const Turn& turn, const Transaction& call, const Piece& piece);
void judge_invalidated(const Turn& turn, const Transaction* call);

// --- rules/v2_header_types.cpp
void judge_unknown_type(const Turn& turn);
/// RDMA2_ERR_INVAL_HTYPE for a message of a type that is not assigned: no Call ends with it, whatever XID it had.
[[nodiscard]] bool refuses_unknown_type(const Turn& turn);
/// A refused header type: from now on its sender knows.
void note_refused_type(const Turn& turn);
/// Did the peer refuse the header type of this message before?
void judge_repeated_type(const Turn& turn);

// --- rules/v2_errors.cpp
inline constexpr std::uint32_t error_type = 4;
/// What the error refuses: the newest message of the other side with that XID; nullptr: none. Errors are not refused.
[[nodiscard]] RecentSend* refused_by(const Turn& turn);
[[nodiscard]] Refused judge_error(const Turn& turn);
/// An RDMA2_ERROR of another version, which is that of the message that it refuses.
[[nodiscard]] bool repeats_refused_version(const Turn& turn);
/// Any other message of another version on a connection of version 2. True: it ends `answered`, the open Call of its
/// XID; nullptr: there is none.
[[nodiscard]] bool judge_other_version(const Turn& turn, const Transaction* answered);
/// `interrupted`: the message that this one broke into.
void owe_refusal(const Turn& turn, Due::Wrong wrong, const Continuation* interrupted = nullptr);
/// A Reply is malformed, or broken into: its receiver may refuse it, and need not.
void allow_refusal(const Turn& turn, const Continuation* interrupted = nullptr);
void count_for_dues(Connection& connection, Side sender);
void judge_dues(const Witness& witness, FrameRef now);
/// The server refused version 2. `whole`: the error is not cut. False: this is no such answer.
[[nodiscard]] bool note_refusal(const Turn& turn, bool whole);
void judge_after_refusal(const Turn& turn);

/// The versions that an ERR_VERS names.
struct Range {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
/// The server refused version 2. `range`: not known when the error is cut.
void remember_refusal(Connection& connection, const trace::Send& event, std::optional<Range> range);
/// What a refused client had begun in version 2: neither pieces nor properties are to be continued, or are over.
void forget_begun(Connection& connection);
/// ERR_VERS that says version 1, for a probe of version 2. False: this is no such answer.
bool refuse_in_version_1(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header);
/// The connection, or the capture, has ended.
void judge_end(const Witness& witness, FrameRef now);

}  // namespace rpcrdma::referee::v2
