// SPDX-License-Identifier: GPL-2.0-or-later
// An RPC Call and what became of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/message_body.hpp"
#include "referee/state/side_names.hpp"
#include "referee/state/version2.hpp"
#include "wire/nfs_steps.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

using ProcedureId = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< program, version, procedure

/// What a Call that was sent again, with the same XID, is known by.
struct Likeness {
  std::optional<std::uint32_t> payload;  ///< hash of the RPC message, where it was inline
  bool reduced = false;                  ///< some of it was in Read chunks
  std::optional<ProcedureId> procedure;
};

/// An RPC Call and what became of it.
struct Transaction {
  TransactionId id;
  std::uint32_t xid = 0;
  Side requester = Side::active;
  FrameRef call;  ///< first frame of the Call
  FrameRef call_last;
  // The same Call on other connections of the mount; number 0: there is none
  FrameRef first_copy;         ///< the first, on an earlier one
  FrameRef unheard_copy;       ///< one whose connection ended with no proof that its client had taken the answer
  FrameRef sent_again;         ///< a later one, for whose answer its requester waits now
  FrameRef answered_as;        ///< another one, which was answered first: what its own answer is, nobody waits for
  FrameRef slot_copy;          ///< the newest with its number in its slot of its session; number 0: there is none
  FrameRef refused_answer;     ///< what came as the answer to an earlier one, and was refused
  std::string_view operation;  ///< by the name that mountstats uses; empty: not read
  std::uint64_t call_ordinal = 0;
  std::uint32_t version = 1;
  std::uint32_t credit = 0;
  std::uint32_t wire_length = 0;  ///< of the Call's Send
  std::uint32_t copies = 1;       ///< the Call was sent so often on this connection
  std::uint32_t answers = 0;      ///< Replies and RDMA_ERRORs
  std::uint32_t outstanding =
      0;                    ///< so many of its copies count against the requester's credits: none behind an answer
  bool lists_known = true;  ///< false: the chunk lists are not (all) in the capture
  /// The capture may have cut it before it says that it is a Call; an answer shows that it is.
  enum class SaysCall : std::uint8_t { yes, cut } says_call = SaysCall::yes;
  /// Of the Call. An RDMA_ERROR is a right answer to all but the sound ones, and to RDMA_MSGP.
  enum class Form : std::uint8_t {
    sound,
    ill_formed,  ///< it decodes, but breaks a rule of form
    malformed    ///< its header is broken
  } form = Form::sound;
  /// The end that sent the Call. Where it is the server, or which of them is the client is a guess, the message may be
  /// a Reply that is offered to be read.
  enum class From : std::uint8_t { client, perhaps_server } from = From::perhaps_server;
  bool avoidable = false;  ///< a Long Call that would have fitted inline
  /// Of an earlier Call with its XID: what counts as its answer may have been a Long Call. An answer may be about it.
  enum class Earlier : std::uint8_t { over, perhaps_open } earlier = Earlier::over;
  enum class Refusal : std::uint8_t {
    not_due,
    due,          ///< the responder has to answer with RDMA_ERROR
    due_for_msgp  ///< it should: RDMA_MSGP
  } refusal = Refusal::not_due;
  struct Payload {
    std::uint32_t hash = 0;
    std::uint64_t length = 0;
    friend bool operator==(const Payload&, const Payload&) = default;
  };
  std::optional<Payload> payload;  ///< the inline RPC message, when it is in the capture as a whole
  std::vector<wire::ReadSegment> reads;
  std::vector<wire::WriteChunk> writes;
  std::optional<wire::WriteChunk> reply_chunk;
  std::vector<std::uint32_t> handles_of_copies;  ///< of memory that it named when it was sent again
  std::optional<ProcedureId> procedure;
  std::optional<wire::StateId> asked_of;       ///< the copy that an OFFLOAD_STATUS asks about
  std::optional<std::uint64_t> file;           ///< a hash of its handle; read where the server has asked to wait
  std::optional<wire::Protection> protection;  ///< RPCSEC_GSS; not known until the Call has been read
  /// How the client makes itself known with it. Behind the latter two, once the server agrees, what it had before may
  /// be gone.
  enum class Introduces : std::uint8_t {
    nobody,
    user,      ///< by a context of RPCSEC_GSS, which is asked for with NULL
    client,    ///< EXCHANGE_ID
    confirmed  ///< SETCLIENTID_CONFIRM
  } introduces = Introduces::nobody;
  /// Of an EXCHANGE_ID: its owner; of a CREATE_SESSION: for which client it is. Nothing: it was not read.
  std::optional<std::uint64_t> client;
  std::uint64_t verifier = 0;              ///< of an EXCHANGE_ID whose owner was read
  std::optional<wire::SessionId> session;  ///< that it names first; nothing: none, or it was not read
  /// NULL: does it take leave of a context of RPCSEC_GSS (RFC 2203 section 5.4)? Not known until it has been read.
  enum class Leaves : std::uint8_t { nothing, context, not_read } leaves = Leaves::not_read;
  bool watched = false;                ///< its results matter to who waits (NfsWatch)
  std::optional<std::uint32_t> minor;  ///< version of its COMPOUND; nothing: it has none, or it was not read
  std::optional<bool> wrapped;         ///< RPCSEC_GSS integrity or privacy; not known until the Call has been read
  std::optional<std::size_t> wanted;   ///< how many results may come in Write chunks (RFC 8267), once known
  FrameRef reply;                      ///< first frame of the first Reply; number 0: none yet
  FrameRef perhaps_answered;           ///< what has its XID, and may be about an earlier Call; number 0: nothing
  FrameRef broken_reply;               ///< a Reply that cannot be decoded; number 0: none
  enum class Answer : std::uint8_t {
    plain,
    inferred,  ///< see answer_uncertain
    refusal,   ///< RDMA_ERROR ERR_CHUNK to a sound header
    perhaps,   ///< an RDMA2_ERROR that may be about something else with the XID of the Call
    dropped    ///< what its requester must not take: none so far
  } answer = Answer::plain;
  /// What ended it: an RDMA_ERROR or RDMA2_ERROR is no Reply, and the mount has no time of one.
  enum class EndedBy : std::uint8_t { reply, error } ended_by = EndedBy::reply;
  /// What its first Reply came to (Outcomes).
  enum class Outcome : std::uint8_t { unread, told } outcome = Outcome::unread;
  /// Behind a doubt about the past, once trust has returned.
  enum class Awaits : std::uint8_t {
    answer,
    uncounted_answer,  ///< it counts against no credits: whether all answers in front of the doubt were seen is not
                       ///< known
    perhaps_nothing    ///< its answer may be what the capture lacks
  } awaits = Awaits::answer;
  std::uint64_t completed_before = 0;  ///< transactions completed on the connection when the Call came
  std::uint64_t responder_gaps = 0;    ///< gaps of the responder's direction when the Call came
  FrameRef pulled;                     ///< newest answer to a READ of its Position-Zero Read chunk
  FrameRef last_pulled;                ///< newest end of an RDMA Read of its memory
  FrameRef first_pushed;               ///< first packet of RDMA Write into its memory
  std::uint64_t moved = 0;             ///< octets, both ways
  FrameRef reply_written;              ///< first packet of RDMA Write into its Reply chunk
  FrameRef fetching;  ///< newest Read of its offered Reply, which has no answer to the end; number 0: none
  // The beginning of a payload that travels by RDMA (Position-Zero Read chunk, Reply chunk) or in pieces
  MessageBody call_body;
  MessageBody reply_body;
  std::uint64_t body_length = 0;  ///< octets of its Position-Zero Read chunk; 0: there is none
  v2::CallFacts v2;

  void pushed(FrameRef frame, std::uint64_t octets) noexcept {
    if (first_pushed.number == 0) first_pushed = frame;
    moved += octets;
  }
  void pulled_to(FrameRef frame, std::uint64_t octets) noexcept {
    last_pulled = frame;
    moved += octets;
  }
  /// Each time that it was sent has got its answer.
  [[nodiscard]] bool answered() const noexcept { return answers >= copies; }
  /// It has no answer, and none can be missing.
  [[nodiscard]] bool surely_open() const noexcept { return answers == 0 && awaits != Awaits::perhaps_nothing; }
  [[nodiscard]] Likeness likeness() const {
    return {payload ? std::optional(payload->hash) : std::nullopt, !reads.empty(), procedure};
  }
  /// Its requester waits for, or has, the answer to a copy on another connection.
  [[nodiscard]] bool settled_elsewhere() const noexcept { return sent_again.number != 0 || answered_as.number != 0; }
  [[nodiscard]] bool answer_dropped() const noexcept { return answer == Answer::dropped && answers == 0; }
  /// What counts as its Reply may be a Long Call of its responder.
  [[nodiscard]] bool answer_uncertain() const noexcept { return answer == Answer::inferred; }
  /// Its chunk lists have been read, those of its last piece as well.
  [[nodiscard]] bool all_lists() const noexcept { return lists_known && !v2.incomplete; }
  /// What follows from the lists.
  void lists_changed() noexcept {
    body_length = 0;
    for (const wire::ReadSegment& read : reads) {
      if (read.position == 0) body_length += read.target.length;
    }
  }
  [[nodiscard]] bool malformed() const noexcept { return form == Form::malformed; }
  [[nodiscard]] bool ill_formed() const noexcept { return form != Form::sound; }
  void found_ill_formed() noexcept { form = form == Form::sound ? Form::ill_formed : form; }
  /// It looks like a Reply of the server that is offered to be read, and what was read of it does not say CALL.
  [[nodiscard]] bool may_be_offer() const noexcept {
    constexpr std::size_t type_at = 4;
    if (version != 1 || from == From::client || body_length == 0) return false;
    const wire::Bytes body = call_body.octets();
    return body.size() < type_at + 4 || wire::load_be32(body.data() + type_at) != 0;
  }
  [[nodiscard]] bool asks_context() const noexcept { return introduces == Introduces::user; }
  /// Some of its arguments are in Read chunks.
  [[nodiscard]] bool arguments_moved() const noexcept {
    return std::any_of(reads.begin(), reads.end(), [](const wire::ReadSegment& read) { return read.position != 0; });
  }
  /// Arguments or results may have been moved.
  [[nodiscard]] bool items() const noexcept { return !writes.empty() || arguments_moved(); }
};

}  // namespace rpcrdma::referee
