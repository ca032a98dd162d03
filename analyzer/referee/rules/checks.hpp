// SPDX-License-Identifier: GPL-2.0-or-later
// The checks, by file. Each is called at a defined moment with the connection's state and speaks through the witness.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "referee/docket/witness.hpp"
#include "referee/state/attempt.hpp"
#include "referee/state/connection.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

struct Ending;
struct Unheard;
enum class Lists : std::uint8_t;

/// Octets inline that everybody takes: of version 1 (RFC 8166 section 3.3.3), and of version 2 (draft section 4.2.2).
inline constexpr std::uint32_t default_threshold = 1024;
inline constexpr std::uint32_t v2_default_threshold = 4096;

/// A Call this old and unanswered may have been given up by the application that made it.
inline constexpr trace::TimeNs stale_call = 5'000'000'000;

/// An RPC message as far as known: inline, pulled, written, or put together from pieces.
struct RpcStream {
  wire::Bytes octets;           ///< from the XID on; may be cut
  std::size_t wire_length = 0;  ///< of the (reduced) message
  bool more = false;            ///< cut because not all of a message is kept, which may have been captured
};

// --- private_data.cpp: group A, and the thresholds that follow from it
void judge_private_data(const Witness& witness, Side side, const trace::PrivateDataArea& area, FrameRef frame);
/// RTU, REJ, DREQ, DREP: no place for it.
void judge_stray_private_data(const Witness& witness, Side side, const trace::PrivateDataArea& area, FrameRef frame);
void settle_thresholds(Connection& connection);

// --- thresholds.cpp: group B
/// Sets send.size_finding when the Send is larger than its receiver takes.
void judge_send_size(const Witness& witness, const trace::Send& event, RecentSend& send);
void judge_call_form(const Witness& witness, const trace::Send& event, Transaction& call);
void judge_reply_form(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                      const Transaction& call);
void judge_error_reply(const Witness& witness, const trace::Send& event, const Transaction& call);
/// The refused Send was too large: true when that explains the refusal.
bool judge_refused_size(const Witness& witness, const trace::Refusal& refusal, RecentSend& send);

// --- credits.cpp: group C
void credit_call(const Witness& witness, const trace::Send& event, Transaction& call, RecentSend& send);
/// RDMA_DONE: it takes a Receive and gets no answer.
void credit_done(const Witness& witness, const trace::Send& event, std::uint32_t xid);
enum class Granted : std::uint8_t {
  surely,
  perhaps,  ///< its receiver may drop the message, and the grant with it
  in_words  ///< of a message whose words of credit mean none: it may be taken for a grant, and is none
};
void credit_answer(const Witness& witness, const trace::Send& event, Side requester, std::optional<std::uint32_t> grant,
                   Granted how = Granted::surely);
/// An RDMA_ERROR for a message that is not counted as a Call: it is an answer as well.
void credit_refusal(Connection& connection, const trace::Send& event, Side requester,
                    std::optional<std::uint32_t> grant, Granted how = Granted::perhaps);
void credit_acknowledged(Connection& connection, const trace::Acknowledged& event);
void credit_stall_check(const Witness& witness, Ledger& ledger, FrameRef now);

// --- missing_receive.cpp: group C
void judge_rnr(const Witness& witness, const trace::Refusal& refusal, RecentSend* send);

// --- header.cpp: group D
/// The finding about it; none when it was cut.
HeldFinding judge_undecodable(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                              const wire::DecodeError& error);
void judge_version(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed);
void judge_xid(const Witness& witness, const trace::Send& event, std::uint32_t header_xid, std::uint32_t rpc_xid);
void judge_xid_by_rdma(const Witness& witness, FrameRef frame, Side violator, std::optional<Role> role,
                       std::uint32_t header_xid, std::uint32_t rpc_xid, FrameRef data,
                       const Transaction* call = nullptr);

/// What the type and the lists say against each other and against what follows. True when the message is ill-formed.
bool judge_form(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, Direction direction,
                bool guessed, const std::optional<wire::RpcStart>& rpc);
void judge_msgp(const Witness& witness, const trace::Send& event, std::uint32_t xid, Direction direction);
/// `type`: second word of the RPC message that was pulled or written, with the right XID in front of it.
void judge_direction_by_rdma(const Witness& witness, FrameRef frame, const Transaction& call, Role role,
                             std::uint32_t type, FrameRef data);

// --- chunk_lists.cpp: group E, the lists of a Call by themselves
void judge_call_lists(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                      Transaction& call);
/// What both versions share of it, once it is known whether the Positions make sense (call.ill_formed). `length`:
/// octets of the reduced message, if known; `stream`: it came with the Call.
void judge_call_spans(const Witness& witness, const trace::Send& event, Transaction& call,
                      std::optional<std::uint64_t> length, const std::optional<RpcStream>& stream);

// --- returned_lists.cpp: group E, the lists of a Reply against those of its Call
/// May what a Reply returns be held against what its Call gave? Where not, each rule that would have something to judge
/// is unchecked.
[[nodiscard]] bool returned_lists_known(const Witness& witness, const wire::HeaderV1& header, const Transaction& call);
/// False when they are so different that what is in the chunks cannot be judged.
bool judge_reply_lists(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                       const Transaction& call);
/// Of a Reply that has no Call, or whose Call was answered before: it is inline, and says that it is not.
void judge_stray_reply_chunk(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header);

// --- reduction.cpp: group E, what was moved into the chunks (RFC 8267)
/// `frame`: the message with the chunk lists. `evidence`: what else brought the Call (its first piece, the newest
/// answer to a READ of it); number 0: nothing else.
void judge_call_items(const Witness& witness, Transaction& call, const RpcStream& stream, FrameRef frame,
                      FrameRef evidence);
/// The same for a Long Call, whose items can be judged when an answer shows that all of it was pulled.
void judge_pulled_call(const Witness& witness, Transaction& call, FrameRef answer);
/// Where the RPC Reply is, if it is in the capture. Not for a Reply in pieces.
[[nodiscard]] std::optional<RpcStream> reply_stream(const trace::Send& event, const wire::HeaderV1& header,
                                                    const Transaction& call);
void judge_reply_items(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                       Transaction& call, const std::optional<RpcStream>& stream);

// --- memory.cpp: group F
void judge_write(const Witness& witness, const trace::Write& event);
void judge_read(const Witness& witness, const trace::ReadRequest& event);
/// It changes eight octets, and so needs what a Write needs.
void judge_atomic_access(const Witness& witness, const trace::Atomic& event);
void judge_read_response(const Witness& witness, const trace::ReadResponse& event);
void judge_returned_lengths(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                            Transaction& call);
/// A Call names memory that its responder was accused of not knowing, or may name it. `lists`: of its message.
void judge_early_access(const Witness& witness, const trace::Send& event, const Transaction& call, Lists lists);

// --- opcodes.cpp: group F, what is never used
void judge_immediate(const Witness& witness, const trace::Quality& event);
void judge_atomic(const Witness& witness, const trace::Atomic& event);

// --- reads.cpp: group F, how many Reads at once, and whether all was read
void read_asked(const Witness& witness, const trace::ReadRequest& event);
void read_answered(const Witness& witness, const trace::ReadResponse& event);
/// A READ was refused as an invalid request: too many of them may be why.
void judge_refused_read(const Witness& witness, const trace::Refusal& refusal);
/// `stream`: the Reply's RPC message; empty: not in the capture.
void judge_pulled(const Witness& witness, const trace::Send& event, const Transaction& call,
                  const std::optional<RpcStream>& stream);

// --- invalidation.cpp: group G
/// Why a message with a hole is not blamed for Send With Invalidate.
inline constexpr std::string_view last_packet_of_another =
    "a packet of the message is missing: the last one, which invalidates, may be another message's";
void judge_invalidation(const Witness& witness, const trace::Send& event, const Transaction& call, RecentSend& send);
/// Send With Invalidate on anything but a Reply; `what`: "a Call".
HeldFinding say_misplaced_invalidation(const Witness& witness, Side sender, FrameRef frame, std::uint32_t handle,
                                       std::uint32_t xid, const char* what);
void judge_misplaced_invalidation(const Witness& witness, const trace::Send& event, std::uint32_t xid, const char* what,
                                  RecentSend& send);

// --- handles.cpp: group G, how long a handle is in whose hands
void judge_offered_memory(const Witness& witness, const trace::Send& event, const Transaction& call);
void judge_live_chunks(const Witness& witness, FrameRef close);

// --- performance.cpp: what legal habits cost; groups B, C and F
void performance_at_end(const Witness& witness);

// --- pull_completion.cpp: group H
/// A Reply with a Read list. Whose exchange its offer is: that of its Call, or one of its own where it has none, or
/// where RDMA_DONE has ended what was offered before. `inferred`: it may be a Long Call.
TransactionId judge_offer(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                          const Transaction* call, Side requester, bool inferred);
/// An RDMA_DONE, which may have waited for its offer.
struct DoneSeen {
  Side side = Side::active;
  FrameRef frame;
  std::uint32_t xid = 0;
  std::uint64_t ordinal = 0;  ///< of the Send
  std::optional<std::uint32_t> invalidated;
};
/// Once it is certain whether its offer has been seen. The finding about the handle that it invalidates, if there is
/// one.
HeldFinding settle_done(const Witness& witness, const DoneSeen& event);
void judge_done(const Witness& witness, const trace::Send& event, RecentSend& send);
/// True when an answer with this XID, for which no Call is open, answers an RDMA_DONE.
bool judge_answer_to_done(const Witness& witness, const trace::Send& event, std::uint32_t xid);
/// What was read of an offer: its XID has to be that of the RDMA_NOMSG; its message type may tell that it is a Reply.
void offer_content(const Witness& witness, Offer& offer, const trace::ReadResponse& event);
/// What may have been a Long Call turned out to be an offered Reply: it is judged as one.
void prove_reply(const Witness& witness, Offer& offer);
void offer_read_answered(const Witness& witness, Offer& offer, FrameRef frame);
/// Has RDMA_DONE to come? Not where it is forbidden (RFC 8166 section 4.6.2), as after an offer in a form that nothing
/// allows, and not once a Read of it was refused, which is the end of the connection.
[[nodiscard]] bool done_is_due(const Witness& witness, const Offer& offer) noexcept;
void offers_overdue(const Witness& witness, Side requester, FrameRef now);
void offers_at_end(const Witness& witness, const Ending& end);
/// RDMA_DONE that crossed with the close.
void judge_done_behind_close(const Witness& witness, const trace::Send& event, std::uint32_t xid);
/// The capture may lack it: frames of `lossy` are missing behind the close, or nothing of the requester is seen there.
void doubt_left_offers(const Witness& witness, std::optional<Side> lossy);

// --- offers_at_once.cpp: group H
/// A Call with the XID of one that has its Reply.
void judge_xid_reuse(const Witness& witness, const trace::Send& event, const Transaction& old,
                     const Transaction& fresh);
/// A Reply that is offered, before its memory counts as exposed.
void judge_offers_at_once(const Witness& witness, Offer& offer);
/// Likewise those that were not known to be Replies then, and are now.
void judge_shared_offers(const Witness& witness);

// --- transactions.cpp: group I
/// Is it, as far as its header and its payload tell, that Call once more? Empty: not all of both is in the capture.
[[nodiscard]] std::optional<bool> sent_once_more(const trace::Send& event, const Transaction& old,
                                                 const Transaction& fresh);
/// A Call with the XID of one that was refused: is it that Call once more?
void judge_retry(const Witness& witness, const trace::Send& event, const Transaction& old, const Transaction& fresh);
void judge_repeated_call(const Witness& witness, const trace::Send& event, Transaction& old, const Transaction& fresh);
/// The Call comes again on a later connection: `before`.
void judge_sent_again(const Witness& witness, const Transaction& call, const Unheard& before);
void judge_reply_version(const Witness& witness, const trace::Send& event, std::uint32_t version,
                         const Transaction& call);
/// A second answer. Held back: the Call that it answers may still be on its way.
void judge_duplicate(const Witness& witness, const trace::Send& event, const Transaction& call);
/// RDMA_ERROR from the client without a reverse Call. Held back for the same reason.
void judge_error_later(const Witness& witness, const trace::Send& event, std::uint32_t xid);
/// What an answer is by its own account.
enum class AnswerIs : std::uint8_t {
  reply,       ///< its RPC message, or its header type, says so
  by_its_form  ///< RDMA_ERROR, or a Reply for want of anything else
};
/// An answer for which no Call is open.
void judge_orphan(const Witness& witness, const trace::Send& event, Side requester, std::uint32_t xid, AnswerIs is);
void judge_open_calls(const Witness& witness, const Ending& ending);
/// A Reply behind the end of its connection: was its Call not open then, after all?
void judge_answer_behind_close(const Witness& witness, Side requester, std::uint32_t xid, FrameRef reply);

// --- reverse.cpp: group J
/// A Call of the server. Held back: the client's consent may still be on its way here.
void judge_reverse_call(const Witness& witness, const trace::Send& event, const Transaction& call);

// --- errors.cpp: group K
/// Did the peer refuse this version before, of a message that is neither RDMA_ERROR nor Reply?
void judge_refused_version(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed);
/// Every message but RDMA_ERROR, before anything else is made of it. Neither Call nor Reply: Direction::unknown.
void judge_version_constancy(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                             Direction direction);
/// A Call got a Reply: the version is settled.
void settle_version(Connection& connection, const trace::Send& event, std::uint32_t version, const Transaction& call);
/// The numbers and the size of an RDMA_ERROR; `call` is nullptr when it is not known.
void judge_error_fields(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                        const Transaction* call);
void judge_error_code(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                      std::uint32_t code);
/// True when an RDMA_ERROR for which no Call is open answers an RDMA_ERROR, or a Reply.
bool judge_answer_to_answer(const Witness& witness, const trace::Send& event, std::uint32_t xid);
void judge_msgp_answer(const Witness& witness, const trace::Send& event, const Transaction& call);
/// Calls that had to be refused and were not.
void judge_missing_errors(const Witness& witness, const Ending& end);
/// The RPC Reply itself, as far as it is known.
void judge_rpc_status(const Witness& witness, FrameRef reply, Side responder, wire::Bytes message,
                      std::size_t wire_length, const Transaction& call);

// --- handshake.cpp: group L, how a connection comes about
void judge_service_port(const Witness& witness, FrameRef request);
/// `first`: data of the client that stands where an RTU was due.
void judge_missing_ready(const Witness& witness, FrameRef first);
/// At the end of the capture: a request that nobody answered.
HeldFinding judge_unanswered_request(const Witness& witness, FrameRef last);
/// At the end of the capture: a REP that the server repeats in vain.
HeldFinding judge_unconfirmed_reply(const Witness& witness);
void judge_handshake(const Witness& witness);
/// What a REJ, or an MPA Reply with the reject flag, makes of the attempt to connect.
[[nodiscard]] Attempt::Outcome outcome_of(const Connection& connection, const trace::ConnectReject& event);
/// iWARP: the server ends TCP, and nothing that it may have said before is missing.
[[nodiscard]] bool closed_in_place_of_reply(const Connection& connection, const trace::Disconnect& event);
HeldFinding judge_close_in_place_of_reply(const Witness& witness, const trace::Disconnect& event);
/// The client ended TCP in place of waiting for the MPA Reply: notes that.
[[nodiscard]] bool give_up_over_tcp(Connection& connection, const trace::Disconnect& event);
/// `outcome`: as outcome_of() says. The finding may be amended when the client tries again.
HeldFinding judge_reject(const Witness& witness, const trace::ConnectReject& event, Attempt::Outcome outcome);

// --- capture.cpp: group M
/// The first message of a connection whose handshake is not in the capture.
void judge_missing_start(const Witness& witness, FrameRef frame);
/// `seen`: the only side that the capture has.
void judge_one_way(const Witness& witness, Side seen);
void judge_other_protocol(const Witness& witness, FrameRef frame);
void judge_gap(const Witness& witness, const trace::Gap& event);
/// Shown by what stands behind the close: what is missing may have been sent in front of it.
void judge_gap_behind_close(const Witness& witness, const trace::Gap& event);
/// A DREP whose DREQ is not in the capture.
void judge_missing_farewell(const Witness& witness, const trace::Disconnect& answer);
/// Why the answer to a Call, or the use of memory, that nobody seems to have asked for is not judged.
inline constexpr std::string_view unseen_call =
    "what the capture lacks, from before its beginning or in a gap, may be a Call that was still open";
/// What stands in front of that frame could not be read: either side may have sent anything.
void lose_input(const Witness& witness, FrameRef behind);
void judge_quality(Context& context, Connection* connection, const trace::Quality& event);
void judge_repeat(const Witness& witness, const trace::Repeated& event);

}  // namespace rpcrdma::referee
