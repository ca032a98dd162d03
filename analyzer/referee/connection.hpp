// SPDX-License-Identifier: GPL-2.0-or-later
// One epoch of one connection: everything the rules look at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/latency.hpp"
#include "referee/memory_map.hpp"
#include "referee/message_body.hpp"
#include "referee/v2/state.hpp"
#include "trace/events.hpp"
#include "wire/nfs_items.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

using trace::Side;

[[nodiscard]] constexpr std::size_t index(Side side) noexcept { return static_cast<std::size_t>(side); }
[[nodiscard]] constexpr Party party(Side side) noexcept { return side == Side::active ? Party::client : Party::server; }

[[nodiscard]] constexpr const char* name(Side side) noexcept { return side == Side::active ? "client" : "server"; }

/// What is known of one side's private data. `not_captured` and `cut` make thresholds unknown (U1, U3).
struct PeerPrivateData {
  enum class Status : std::uint8_t { not_captured, cut, absent, unusable, valid } status = Status::not_captured;
  std::optional<PrivateData> fields;  ///< only when valid
  FrameRef frame;                     ///< the handshake message
  [[nodiscard]] bool known() const noexcept { return status != Status::not_captured && status != Status::cut; }
  /// R, as the peer has to take it (absent means 0). nullopt when not known.
  [[nodiscard]] std::optional<bool> remote_invalidation() const noexcept {
    if (!known()) return std::nullopt;
    return fields && fields->remote_invalidation;
  }
};

/// An RPC Call and what became of it.
struct Transaction {
  TransactionId id;
  std::uint32_t xid = 0;
  Side requester = Side::active;
  FrameRef call;  ///< first frame of the Call
  FrameRef call_last;
  std::uint64_t call_ordinal = 0;
  std::uint32_t version = 1;
  std::uint32_t credit = 0;
  std::uint32_t wire_length = 0;  ///< of the Call's Send
  std::uint32_t copies = 1;       ///< the Call was sent so often on this connection
  std::uint32_t answers = 0;      ///< Replies and RDMA_ERRORs
  bool lists_known = true;        ///< false: the chunk lists are not (all) in the capture
  bool malformed = false;         ///< the Call's header is broken: an RDMA_ERROR is the right answer
  bool msgp = false;              ///< RDMA_MSGP: an RDMA_ERROR is a right answer
  bool ill_formed = false;        ///< it decodes, but breaks a rule of form: an RDMA_ERROR is a right answer
  bool avoidable = false;         ///< a Long Call that would have fitted inline
  bool refusal_due = false;       ///< the responder has to answer with RDMA_ERROR
  bool payload_known = false;
  std::uint64_t payload_hash = 0;  ///< of the inline RPC message
  std::uint64_t payload_length = 0;
  std::vector<wire::ReadSegment> reads;
  std::vector<wire::WriteChunk> writes;
  std::optional<wire::WriteChunk> reply_chunk;
  std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> procedure;  // program, version, procedure
  std::optional<bool> wrapped;         ///< RPCSEC_GSS integrity or privacy; not known until the Call has been read
  std::optional<std::size_t> wanted;   ///< how many results may come in Write chunks (RFC 8267), once known
  FrameRef reply;                      ///< first frame of the first Reply; number 0: none yet
  FrameRef broken_reply;               ///< a Reply that cannot be decoded; number 0: none
  bool refused_by_error = false;       ///< answered by RDMA_ERROR ERR_CHUNK
  bool reply_inferred = false;         ///< what counts as its Reply may be a Long Call of its responder
  std::uint64_t completed_before = 0;  ///< transactions completed on the connection when the Call came
  std::uint64_t responder_gaps = 0;    ///< gaps of the responder's direction when the Call came
  FrameRef pulled;                     ///< newest answer to a READ of its Position-Zero Read chunk
  FrameRef reply_written;              ///< first packet of RDMA Write into its Reply chunk
  // The beginning of a payload that travels by RDMA (Position-Zero Read chunk, Reply chunk) or in pieces
  MessageBody call_body;
  MessageBody reply_body;
  std::uint64_t body_length = 0;  ///< octets of its Position-Zero Read chunk; 0: there is none
  bool items = false;             ///< arguments or results may have been moved
  v2::CallFacts v2;

  /// What follows from the lists.
  void lists_changed() noexcept {
    body_length = 0;
    items = !writes.empty();
    for (const wire::ReadSegment& read : reads) {
      if (read.position == 0) {
        body_length += read.target.length;
      } else {
        items = true;
      }
    }
  }
};

/// A Read chunk offered in a Reply (pull completion, one for each transaction).
struct Offer {
  TransactionId transaction;
  std::uint32_t xid = 0;
  Side requester = Side::active;
  FrameRef frame;
  std::vector<wire::Segment> segments;
  std::uint64_t length = 0;
  bool proper = true;     ///< RDMA_NOMSG, all at Position 0
  bool inferred = false;  ///< it may be a Long Call, until what is read of it says REPLY
  std::uint64_t reads_outstanding = 0;
  std::uint64_t reads = 0;
  FrameRef last_read;
  FrameRef content;             ///< first answer that shows the beginning of the message; number 0: none yet
  FrameRef done;                ///< RDMA_DONE; number 0: none yet
  TimeNs waited = 0;            ///< without RDMA_DONE, while the requester worked on something else
  TimeNs counted_to = 0;        ///< `waited` is known up to here
  bool refused = false;         ///< a Read of it was refused before RDMA_DONE
  bool overdue = false;         ///< pull-completion-missing has been reported
  bool undecidable = false;     ///< frames are missing since the offer
  bool in_flight_said = false;  ///< done-with-reads-in-flight has been reported
};

/// What a legal habit costs: one folded finding, completed at the end of the connection.
struct Cost {
  HeldFinding finding;
  std::uint64_t times = 0;
  std::uint64_t timed = 0;  ///< those of which the time is known
  TimeNs total = 0;
  TimeNs longest = 0;
  std::uint64_t octets = 0;

  void took(TimeNs time) noexcept {
    if (time < 0) return;  // a clock step
    ++timed;
    total += time;
    longest = longest > time ? longest : time;
  }
};

/// One direction's credit ledger (RFC 8166 section 3.3.1); the index is the requester.
struct Ledger {
  std::optional<std::uint32_t> requested;
  std::optional<std::uint32_t> granted;  ///< newest grant seen
  struct Grant {
    std::uint64_t ordinal = 0;  ///< of the Reply that carried it
    std::uint32_t value = 0;
  };
  std::vector<Grant> grants;  ///< those that may still be in force: the newest acknowledged one and later
  std::uint64_t outstanding = 0;
  std::uint64_t peak = 0;
  bool answered = false;  ///< a Reply or RDMA_ERROR has been seen in this epoch
  /// Messages of this side since its peer's newest one that take a Receive and need not get an answer: broken ones,
  /// stray Replies, RDMA_DONE, RDMA_ERROR.
  std::uint64_t unanswered = 0;
  FrameRef first_call;
  FrameRef last_reply;
  bool over = false;  ///< inside an episode of too many Calls
  std::uint64_t episodes = 0;
  std::uint64_t reported_episode = 0;
  HeldFinding episode_finding;
  std::uint64_t stalls = 0;
  FrameRef full_since;  ///< in-flight equals the grant since then; number 0: it does not
  bool full_reported = false;
  Cost full;   ///< all times that it did, however short
  Cost stall;  ///< those that lasted

  /// The limit that the requester is bound by, giving it every benefit of the doubt. 0 counts as 1.
  [[nodiscard]] std::uint32_t limit() const noexcept;
};

/// An accusation that is held back until it is certain that nothing in the other direction is still to come that was
/// earlier on the wire.
struct Pending {
  enum class Kind : std::uint8_t {
    credits,
    reply_without_call,
    duplicate_reply,
    error_from_requester,
    unknown_handle,
    done,
    handle_reused,
    before_ready,
    access,
    v2_credits,
    v2_size,
    v2_said,
    v2_stray_error
  } kind = Kind::credits;
  RuleId rule = RuleId::credit_limit_exceeded;
  Side side = Side::active;  ///< the accused
  FrameRef frame;
  FrameRef evidence;
  FrameRef call;        ///< duplicate_reply: the Call
  FrameRef start;       ///< access: first packet of the operation, when it is another one
  std::string message;  ///< access
  std::optional<Role> role;
  TransactionId transaction;  ///< handle_reused: the Call that named it first
  std::uint32_t xid = 0;
  std::uint64_t excess = 0;  ///< credits: Calls above the limit
  std::uint64_t outstanding = 0;
  std::uint64_t limit = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool writing = false;
  std::optional<std::uint32_t> invalidated;  ///< done: the handle that it invalidates
  std::uint64_t op = 0;
  std::uint64_t episode = 0;  ///< credits: Calls above the limit without a pause are one finding
  Severity severity = Severity::error;
};

inline std::uint32_t Ledger::limit() const noexcept {
  std::uint32_t best = 1;  // RFC 8166 section 3.3.3: one until the first Reply
  for (const Grant& grant : grants) best = grant.value > best ? grant.value : best;
  return best;
}

/// How a recent RDMA operation was judged, for telling who is to blame when it is refused.
struct JudgedOp {
  std::uint64_t op = 0;
  FrameRef frame;
  bool writing = false;
  /// misled: it follows what its owner's doubtful message says.
  enum class State : std::uint8_t { inside, guilty, undecided, misled } state = State::undecided;
  RuleId rule = RuleId::remote_access_error;
  HeldFinding finding;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  TransactionId transaction;
  bool offer = false;
};

/// What may explain the end of the connection; the newest decisive one wins.
struct Suspect {
  RuleId rule = RuleId::connection_lost;
  bool proven = false;
  std::optional<Party> culprit;
  std::vector<std::uint64_t> frames;
  std::string message;
  Closed::How how = Closed::How::nak;
  FrameRef refused;  ///< the first of `frames`, when it is a Send that was refused
  FrameRef frame;
  std::optional<Party> by;
  std::uint64_t refused_ordinal = 0;  ///< RNR: no longer a suspect once this Send of `sender` is acknowledged
  Side sender = Side::active;
  HeldFinding finding;          ///< raised to an error when this is what ended the connection
  std::uint64_t completed = 0;  ///< transactions answered by then: what goes on afterwards was not ended by it
  std::uint64_t gaps = 0;       ///< gaps of both sides by then
};

/// READ Requests of one side that wait for their answer, and when there were too many of them.
struct ReadsInFlight {
  static constexpr std::size_t most = 4096;
  struct Read {
    std::uint64_t op = 0;
    FrameRef frame;
  };
  /// Held back until each of the Reads that were counted has shown its answer.
  struct Excess {
    FrameRef frame;
    std::uint64_t first = 0;  ///< op of the oldest and of the newest Read that were counted
    std::uint64_t last = 0;
    std::uint64_t open = 0;
  };
  std::vector<Read> open;
  std::vector<Excess> excess;

  void clear() noexcept {
    open.clear();
    excess.clear();
  }
};

/// Handles of one side that its peer invalidated, by registration: the low octet is a key that changes.
class InvalidatedHandles {
 public:
  static constexpr std::size_t most = 65536;
  void invalidated(std::uint32_t handle, FrameRef frame) {
    if (newest_.size() < most || newest_.contains(handle >> 8U)) newest_[handle >> 8U] = {handle, frame};
  }
  /// Offered again: the frame that invalidated exactly this value, or number 0.
  FrameRef offered(std::uint32_t handle) {
    const auto at = newest_.find(handle >> 8U);
    if (at == newest_.end() || at->second.frame.number == 0) return {};
    const FrameRef frame = at->second.handle == handle ? at->second.frame : FrameRef{};
    at->second.frame = {};
    return frame;
  }
  [[nodiscard]] bool empty() const noexcept { return newest_.empty(); }

 private:
  struct Newest {
    std::uint32_t handle = 0;
    FrameRef frame;
  };
  std::unordered_map<std::uint32_t, Newest> newest_;
};

/// Room for judging chunk lists, so that no message needs new memory.
struct ChunkScratch {
  wire::NfsItems items;
  std::vector<wire::ReadChunk> reads;
  std::vector<std::uint64_t> lengths;
  struct Range {
    wire::Segment segment;
    bool writable = false;
  };
  std::vector<Range> ranges;
};

/// A message of which it is not certain what memory it names: whoever acts on it may have read its chunks in it.
struct Doubtful {
  static constexpr std::size_t kept = 512;
  FrameRef frame;
  std::vector<std::uint8_t> octets;  ///< the first of its header, at most `kept`
  bool more = false;                 ///< what lies behind them is not kept
  std::uint32_t xid = 0;
  bool refused = false;  ///< by RDMA_ERROR
  HeldFinding finding;   ///< what is wrong with it, if that was found
  /// Could someone have taken this handle out of it?
  [[nodiscard]] bool may_name(std::uint32_t handle) const noexcept {
    if (more) return true;
    for (std::size_t at = 0; at + 4 <= octets.size(); at += 4) {
      if (wire::load_be32(octets.data() + at) == handle) return true;
    }
    return false;
  }
};

struct RecentSend {
  std::uint64_t ordinal = 0;
  FrameRef frame;
  std::uint32_t wire_length = 0;
  std::uint32_t xid = 0;
  bool call = false;
  bool reply = false;
  bool guessed = false;  ///< which of them is not certain
  bool holes = false;
  bool partial = false;          ///< refused before its last packet was seen: wire_length is the least that it can be
  bool credits_known = true;     ///< false: other messages of the time were delivered out of file order
  std::uint64_t unanswered = 0;  ///< Ledger::unanswered of its sender when it was sent
  HeldFinding size_finding;      ///< the threshold finding, when it is over
  HeldFinding invalidate_finding;
  std::uint64_t in_flight = 0;  ///< Calls: outstanding including this one
  std::uint64_t limit = 0;
  TransactionId exchange;     ///< generation 0: none is known
  std::uint32_t version = 0;  ///< rdma_vers; 0: not decoded
  std::uint32_t htype = 0;    ///< rdma_proc or rdma_htype
};

/// The newest `most` of something; grows only as far as it is used.
template <class T, std::size_t most>
class Recent {
 public:
  T& add(T&& value) {
    if (items_.size() < most) {
      items_.push_back(std::move(value));
      return items_.back();
    }
    T& slot = items_[next_];
    next_ = (next_ + 1) % most;
    slot = std::move(value);
    return slot;
  }
  /// The newest one for which `wanted` holds.
  template <class Predicate>
  [[nodiscard]] T* newest(Predicate wanted) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::size_t at = (next_ + items_.size() - 1 - i) % items_.size();
      if (wanted(items_[at])) return &items_[at];
    }
    return nullptr;
  }

 private:
  std::vector<T> items_;
  std::size_t next_ = 0;  // the oldest, once full
};

struct Procedure {
  std::uint64_t calls = 0;
  LatencyHistogram latency;
  std::map<std::uint32_t, std::uint64_t> operations;  ///< of an NFSv4 COMPOUND, by number
};

/// Per side, what the wire has shown.
struct SideState {
  PeerPrivateData private_data;
  trace::Depths depths;
  std::uint8_t mpa_revision = 0;
  MemoryMap memory;        ///< what this side exposed
  std::uint64_t gaps = 0;  ///< how often frames of this side were found missing
  std::uint64_t gap_amount = 0;
  FrameRef last_event;  ///< newest frame of this side that was delivered
  FrameRef first_event;
  std::uint64_t events = 0;
  std::uint64_t repeats = 0;  ///< rounds of retransmission since the other side last showed a sign of life
  FrameRef first_repeat;
  FrameRef last_repeat;
  std::uint64_t acknowledged = 0;    ///< ordinal of the newest Send that the other side is proven to have received
  std::uint64_t judged_partial = 0;  ///< ordinal of a Send that was refused, and judged, before it was complete
  Recent<RecentSend, 64> sends;
  Recent<JudgedOp, 128> ops;
  bool unknown_ops = false;  ///< at least one of them was accused of using an unknown handle
  ReadsInFlight reads;
  InvalidatedHandles invalidated;  ///< of the memory this side owns
  static constexpr std::size_t most_doubtful = 4;
  Recent<Doubtful, most_doubtful> doubtful;  ///< messages of this side
  std::size_t doubtful_count = 0;
};

/// What RDMA_ERRORs and versions are held against (groups J and K).
struct ErrorDiary {
  struct Sent {
    std::uint32_t xid = 0;
    Side side = Side::active;
    FrameRef frame;
  };
  Recent<Sent, 64> errors;  ///< RDMA_ERRORs
  /// A version, and the message that settled or refused it.
  struct Version {
    std::uint32_t version = 0;  ///< 0: none
    Side by = Side::active;
    FrameRef frame;
    FrameRef call;
    std::uint64_t ordinal = 0;  ///< of that message
  };
  Version settled;                 ///< by the first Call that got a Reply
  std::array<Version, 2> refused;  ///< newest refusal by ERR_VERS, by requester
};

/// Has the client's upper layer agreed to take calls (RFC 8167 section 6)?
struct BackChannel {
  FrameRef agreed;             ///< first CREATE_SESSION or BIND_CONN_TO_SESSION; number 0: none seen
  std::uint64_t not_read = 0;  ///< a Call of the client that was not read to its end: its frame
  bool nfs4 = false;           ///< the client speaks NFSv4 here
};

/// An RDMA Write into a Reply chunk of which more packets are to be kept; `left` 0: none.
struct BodyWrite {
  std::uint64_t op = 0;
  TransactionId call;
  std::uint64_t at = 0;    ///< of the next octet, in the message
  std::uint64_t left = 0;  ///< octets of the segment behind it
};

/// Why what was never seen may have been sent all the same.
enum class Doubt : std::uint8_t {
  began_before,    ///< the capture begins in the middle of the connection
  cut_handshake,   ///< where the packets of a side begin is not known
  frames_missing,  ///< a gap
  framing_lost,    ///< FPDUs can no longer be told apart
  cut_message,     ///< by the capture: what it named is not known
  direction,       ///< of a message cannot be told
  unrecognised,    ///< messages came before it was known what the connection carries
  bound            ///< more than is kept
};
[[nodiscard]] std::string_view text(Doubt doubt) noexcept;

struct Connection {
  ConnectionFacts facts;  ///< counts are kept here as they come
  enum class Kind : std::uint8_t { undecided, rpcrdma, other } kind = Kind::undecided;
  std::array<SideState, 2> sides;
  std::array<Ledger, 2> credits;                                ///< by requester
  std::unordered_map<std::uint64_t, Transaction> transactions;  ///< by key(requester, XID), the newest generation
  std::deque<TransactionId> finished;  ///< answered ones, oldest first: bounded memory of the past
  std::deque<Offer> offers;
  struct Done {
    std::uint32_t xid = 0;
    Side side = Side::active;
    FrameRef frame;
  };
  Recent<Done, 64> dones;
  ErrorDiary diary;
  BackChannel back_channel;
  std::vector<Pending> pending;
  std::set<RuleId> not_held;  ///< rules whose accusations found no room in `pending`
  static constexpr std::size_t most_suspects = 64;
  std::vector<Suspect> suspects;
  bool request_seen = false;
  bool reply_seen = false;  ///< REP / MPA Reply
  bool ready_seen = false;
  bool rejected = false;
  bool over = false;            ///< closed: nothing that follows is judged
  bool reliable_reply = false;  ///< pull completion is judged by the reliable-reply column
  bool version2 = false;        ///< version 2 messages were seen: version 1's rules stand back
  v2::State v2;
  bool handshake_judged = false;
  std::uint64_t handshake_repeats = 0;
  FrameRef request_frame;
  FrameRef reply_frame;
  FrameRef last_frame;
  bool skipped = false;  ///< Sends came before it could be told what this connection carries
  std::uint64_t implausible = 0;
  std::uint64_t weakly_plausible = 0;
  std::uint64_t messages = 0;
  std::uint64_t completed = 0;          ///< transactions answered
  std::uint64_t trusted_from = 0;       ///< `completed` count from which "never seen" proves something again
  std::uint64_t untrusted_since = 0;    ///< `completed` count at the newest gap
  Doubt doubt = Doubt::frames_missing;  ///< why, while it is not trusted
  std::uint32_t generation = 0;
  /// A message that is a Reply if its Call turns up right behind it in the file, and a reverse Call otherwise.
  struct Held {
    trace::Send event;
    std::vector<std::uint8_t> octets;
  };
  std::optional<Held> held;
  std::vector<std::uint32_t> repeated_xids;  ///< Calls that an earlier connection of the pair lost
  Cost long_calls;
  Cost reply_chunks;
  Cost unreported;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Procedure> procedures;
  LatencyHistogram latency;
  ChunkScratch scratch;
  std::array<BodyWrite, 2> body_writes;  ///< by writer

  [[nodiscard]] SideState& of(Side side) noexcept { return sides[index(side)]; }
  [[nodiscard]] const SideState& of(Side side) const noexcept { return sides[index(side)]; }
  [[nodiscard]] Ledger& ledger(Side requester) noexcept { return credits[index(requester)]; }
  /// No further Call can belong to the reported episode of too many Calls: its finding is settled.
  void settle_episode(Side requester) {
    Ledger& of = ledger(requester);
    if (of.over || !of.episode_finding) return;
    const auto held_back = [&](const Pending& p) { return p.kind == Pending::Kind::credits && p.side == requester; };
    if (std::none_of(pending.begin(), pending.end(), held_back)) of.episode_finding.reset();
  }
  [[nodiscard]] ConnectionId id() const noexcept { return facts.id; }
  [[nodiscard]] bool rpcrdma() const noexcept { return kind == Kind::rpcrdma; }
  /// The first message that was understood is of version 1, and no ERR_VERS has refused it.
  [[nodiscard]] bool settled_on_version_1() const noexcept {
    return facts.version == 1 && diary.refused[index(Side::active)].version != 1;
  }
  /// Version 2 in a form that is only counted.
  [[nodiscard]] bool unjudged() const noexcept { return version2 && v2.version != v2::State::Version::two; }

  [[nodiscard]] static std::uint64_t key(Side requester, std::uint32_t xid) noexcept {
    return (static_cast<std::uint64_t>(index(requester)) << 32U) | xid;
  }
  /// From here on "never seen" proves nothing, until so many transactions have been answered.
  void distrust(std::uint64_t transactions, Doubt why) noexcept {
    untrusted_since = completed;
    doubt = why;
    if (trusted_from < completed + transactions) trusted_from = completed + transactions;
  }
  [[nodiscard]] std::uint64_t gaps() const noexcept { return sides[0].gaps + sides[1].gaps; }
  /// Notes what may explain an end of the connection.
  void suspect(Suspect&& what) {
    what.completed = completed;
    what.gaps = gaps();
    if (suspects.size() >= most_suspects) {
      // A proven one outlives others; of two, the newer one counts.
      const auto unproven = std::find_if(suspects.begin(), suspects.end(), [](const Suspect& s) { return !s.proven; });
      suspects.erase(unproven != suspects.end() ? unproven : suspects.begin());
    }
    suspects.push_back(std::move(what));
  }
  [[nodiscard]] Transaction* find(Side requester, std::uint32_t xid) {
    const auto at = transactions.find(key(requester, xid));
    return at == transactions.end() ? nullptr : &at->second;
  }
  /// One that still waits for an answer.
  [[nodiscard]] Transaction* open_call(Side requester, std::uint32_t xid) {
    Transaction* call = find(requester, xid);
    return call != nullptr && call->answers < call->copies ? call : nullptr;
  }
  [[nodiscard]] Transaction* find(TransactionId id) {
    const auto at = transactions.find(id.key);
    return at == transactions.end() || at->second.id.generation != id.generation ? nullptr : &at->second;
  }
  /// The start is in the capture and nothing is missing since: "never seen" proves "never sent" (not U2, not U4).
  /// A capture that begins in the middle is like one with a gap before its first frame: trust grows with what is seen.
  [[nodiscard]] bool whole() const noexcept { return !facts.one_way && trusted(); }
  [[nodiscard]] bool trusted() const noexcept { return completed >= trusted_from; }
  /// Why it is not whole, for the report.
  [[nodiscard]] std::string_view why_not_whole() const noexcept {
    return facts.one_way ? std::string_view("only one direction is in the capture") : text(doubt);
  }
  /// Whom to name for what `side` sent. Which end is the client may be a guess when the capture began in the middle.
  [[nodiscard]] std::optional<Party> accused(Side side) const noexcept {
    if (!facts.handshake_seen && !trusted()) return std::nullopt;
    return party(side);
  }
  /// The threshold that binds what `sender` sends (RFC 8797 section 4.2). nullopt: not known.
  [[nodiscard]] std::optional<std::uint32_t> threshold(Side sender) const noexcept {
    return sender == Side::active ? facts.thresholds.client_to_server : facts.thresholds.server_to_client;
  }
};

}  // namespace rpcrdma::referee
