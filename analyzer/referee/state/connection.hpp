// SPDX-License-Identifier: GPL-2.0-or-later
// One epoch of one connection: everything the rules look at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/state/attempt.hpp"
#include "referee/state/case.hpp"
#include "referee/state/doubt.hpp"
#include "referee/state/kept_message.hpp"
#include "referee/state/latency.hpp"
#include "referee/state/ledger.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/offers.hpp"
#include "referee/state/side.hpp"
#include "referee/state/side_names.hpp"
#include "referee/state/suspect.hpp"
#include "referee/state/transactions.hpp"
#include "referee/state/version2.hpp"
#include "trace/events.hpp"
#include "trace/recent.hpp"
#include "wire/nfs_items.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

using trace::Recent;

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

struct Procedure {
  std::uint64_t calls = 0;
  LatencyHistogram latency;  ///< of the client's Calls
  LatencyHistogram reverse;  ///< of the server's
  static constexpr std::size_t most_operations = 128;
  std::vector<std::uint64_t> operations;  ///< of an NFSv4 COMPOUND, by number; 0: the illegal one
};

/// What RDMA_ERRORs and versions are held against (groups J and K).
struct ErrorDiary {
  struct Sent {
    std::uint32_t xid = 0;
    Side side = Side::active;
    FrameRef frame;
  };
  Recent<Sent, 64> errors;      ///< RDMA_ERRORs
  Recent<Sent, 64> undirected;  ///< messages that nobody can tell to be a Call or a Reply, and that may be refused
  /// A version, and the message that settled or refused it.
  struct Version {
    std::uint32_t version = 0;
    Side by = Side::active;
    FrameRef frame;
    FrameRef call;
    std::uint64_t ordinal = 0;  ///< of that message
  };
  std::optional<Version> settled;             ///< by the first Call that got a Reply
  std::array<Recent<Version, 8>, 2> refused;  ///< by ERR_VERS, by requester
  /// The newest refusal of that version; null: there was none.
  [[nodiscard]] const Version* refusal(Side requester, std::uint32_t version) const {
    return refused[index(requester)].newest([&](const Version& each) { return each.version == version; });
  }
};

/// Has the client's upper layer agreed to take calls (RFC 8167 section 6)?
class BackChannel {
 public:
  FrameRef agreed;    ///< first CREATE_SESSION or BIND_CONN_TO_SESSION; number 0: none seen
  bool nfs4 = false;  ///< the client speaks NFSv4 here

  /// Neither its procedure nor what the client agrees to with it is known: cut, or pulled later by RDMA Read.
  void could_not_read(FrameRef call) {
    if (agreed.number != 0 || std::find(unread_.begin(), unread_.end(), call.number) != unread_.end()) return;
    if (unread_.size() < most_unread) {
      unread_.push_back(call.number);
    } else if (beyond_ == 0) {
      beyond_ = call.number;
    }
  }
  /// What could not be read of it before, may be now.
  void read_again(FrameRef call) { std::erase(unread_, call.number); }
  /// The frame of a Call of the client that was not read to its end; 0: there is none.
  [[nodiscard]] std::uint64_t not_read() const noexcept { return unread_.empty() ? beyond_ : unread_.front(); }

 private:
  static constexpr std::size_t most_unread = 16;
  std::vector<std::uint64_t> unread_;  ///< their frames
  std::uint64_t beyond_ = 0;  ///< the first one for which there was no room, and which counts as unread for good
};

/// An RDMA Write into a Reply chunk of which more packets are to be kept; `left` 0: none.
struct BodyWrite {
  std::uint64_t op = 0;
  TransactionId call;
  std::uint64_t at = 0;    ///< of the next octet, in the message
  std::uint64_t left = 0;  ///< octets of the segment behind it
};

/// A finding about an answer and its Call. What its requester sent next shows that nothing is missing between, or that
/// something is: then the Call that was answered may be another one.
struct AboutAnswer {
  HeldFinding finding;
  RuleId rule = RuleId{};
  Side requester = Side::active;
  std::optional<Side> accused;
  std::uint64_t answer = 0;          ///< offending frame
  std::uint64_t frame = 0;           ///< newest of its frames
  std::uint64_t responder_gaps = 0;  ///< until then
};

/// Calls that were open when the connection was closed, and what was said of them: an answer may have crossed with the
/// DREQ.
struct LeftOpen {
  struct Call {
    Side requester = Side::active;
    std::uint32_t xid = 0;
    FrameRef frame;
    HeldFinding unanswered;
  };
  std::vector<Call> calls;  ///< the oldest first
  HeldFinding lost;         ///< said of all of them
  FrameRef end;
  bool by_client = false;  ///< it closed the connection
};

/// An offer without RDMA_DONE when the connection was closed, and what was said of it: the same.
struct LeftOffer {
  Side requester = Side::active;
  std::uint32_t xid = 0;
  HeldFinding missing;
};

struct Mount;

struct Connection {
  Mount* mount = nullptr;  ///< between whose addresses it lies; null: too many of them
  ConnectionFacts facts;   ///< counts are kept here as they come
  enum class Kind : std::uint8_t { undecided, rpcrdma, other } kind = Kind::undecided;
  std::array<SideState, 2> sides;
  std::array<Ledger, 2> credits;               ///< by requester
  Transactions transactions;                   ///< the newest generation of each XID
  std::deque<TransactionId> finished;          ///< answered ones, oldest first: bounded memory of the past
  std::deque<TransactionId> answered_in_part;  ///< not all of their copies: the rest may be long in coming
  std::deque<Offer> offers;
  struct Done {
    std::uint32_t xid = 0;
    Side side = Side::active;
    FrameRef frame;
    std::uint32_t generation = 0;  ///< of the newest Call in front of it
  };
  Recent<Done, 64> dones;
  ErrorDiary diary;
  BackChannel back_channel;
  std::vector<Case> cases;
  static constexpr std::size_t most_about_answers = 256;
  std::vector<AboutAnswer> about_answers;  ///< may still be withdrawn
  LeftOpen left_open;
  std::vector<LeftOffer> left_offers;
  /// What was concluded from the order in the file, and nothing else.
  struct ByFileOrder {
    HeldFinding finding;
    RuleId rule = RuleId{};
    std::uint64_t times = 1;
  };
  static constexpr std::size_t most_by_file_order = 64;
  std::vector<ByFileOrder> by_file_order;  ///< may still be withdrawn
  std::set<RuleId> given_up;               ///< rules whose accusations found no room in `cases`
  static constexpr std::size_t most_suspects = 64;
  std::vector<Suspect> suspects;
  enum class Stage : std::uint8_t {
    open,
    leaving,  ///< a FIN or DREQ behind what was repeated in vain: the end, once the other side is heard again
    rejected,
    over  ///< closed: nothing that follows is judged
  } stage = Stage::open;
  /// Do packets stand in the file in the order of the wire? Where some do not, others need not either, and may not show
  /// it.
  enum class FileOrder : std::uint8_t {
    unquestioned,
    swapped,  ///< some of one side changed places
    skewed,   ///< some of one side stand behind what the other side answered to them
    shuffled  ///< and of one side an acknowledgement need not stand where it was sent either
  } file_order = FileOrder::unquestioned;
  std::optional<Side> fault;          ///< whose fault ended it, where that is proven
  std::optional<Side> asked_in_vain;  ///< who asked whether the other is still there, until that ended it
  bool ready_seen = false;
  bool reliable_reply = false;  ///< pull completion is judged by the reliable-reply column
  v2::State v2;
  std::uint64_t handshake_repeats = 0;
  /// Of the server's REP behind the client's RTU, while nothing is sent: what confirms it has not come to the server.
  struct AcceptedAgain {
    FrameRef last;
    std::uint64_t times = 0;
  } accepted_again;
  FrameRef request_frame;
  FrameRef receipt;      ///< MRA of the server, in front of its answer
  FrameRef undelivered;  ///< ICMP about the request, in front of its answer
  FrameRef reply_frame;
  FrameRef ready_by_data;  ///< the client's first data, without an RTU so far; number 0: there was one, or none is due
  FrameRef last_frame;
  FrameRef last_answer;                   ///< newest first Reply to a Call of the client
  FrameRef answer_before;                 ///< the one before it
  std::uint64_t passed_over = 0;          ///< Sends that came before it could be told what this connection carries
  std::unique_ptr<KeptMessage> unproven;  ///< of these the one that looks like RPC-over-RDMA: the next one may say so
  std::uint64_t implausible = 0;
  std::uint64_t weakly_plausible = 0;
  std::uint64_t messages = 0;
  std::uint64_t messages_read = 0;    ///< those whose header and direction could be read
  std::uint64_t messages_cut = 0;     ///< those that the capture cut before that
  std::uint64_t completed = 0;        ///< transactions answered
  std::uint64_t trusted_from = 0;     ///< `completed` count from which "never seen" proves something again
  std::uint64_t untrusted_since = 0;  ///< `completed` count at the newest gap
  /// Of the Calls whose answers may be what the capture lacks, all are known, or only the newest.
  enum class PerhapsOpen : std::uint8_t { all, newest } perhaps_open = PerhapsOpen::all;
  TimeNs doubted_at = 0;                ///< newest time at which that began anew
  Doubt doubt = Doubt::frames_missing;  ///< why, while it is not trusted
  std::uint32_t generation = 0;
  std::array<Cost, 2> long_calls;  ///< by requester
  Cost reply_chunks;
  Cost unreported;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Procedure> procedures;
  wire::Compound newest_compound;  ///< kept for its capacity
  LatencyHistogram other_latency;  ///< of the client's Calls that no procedure counts
  ChunkScratch scratch;
  std::array<BodyWrite, 2> body_writes;  ///< by writer

  [[nodiscard]] SideState& of(Side side) noexcept { return sides[index(side)]; }
  [[nodiscard]] const SideState& of(Side side) const noexcept { return sides[index(side)]; }
  [[nodiscard]] Ledger& ledger(Side requester) noexcept { return credits[index(requester)]; }
  /// No further Call can belong to the reported episode of too many Calls: its finding is settled.
  void settle_episode(Side requester) {
    Ledger& of = ledger(requester);
    if (of.over || !of.episode_finding) return;
    const auto more = [&](const Case& waited) {
      return waited.is<Case::CallsAboveGrant>() != nullptr && waited.accused == requester;
    };
    if (std::none_of(cases.begin(), cases.end(), more)) of.episode_finding.reset();
  }
  void keep(const trace::Liveness& told) {
    of(told.side).repeats_unheard(told);
    std::optional<trace::Liveness>& kept = of(told.side).liveness;
    kept = told;
    kept->networks.clear();  // they are the connection's
    for (const std::string& network : told.networks) {
      if (std::find(facts.networks.begin(), facts.networks.end(), network) == facts.networks.end()) {
        facts.networks.push_back(network);
      }
    }
  }
  /// TCP repeats its FIN, and is answered when the path is there again. Nobody repeats a DREQ for long.
  [[nodiscard]] bool left_unanswered() const noexcept {
    return stage == Stage::leaving && facts.transport != trace::Transport::iwarp;
  }
  [[nodiscard]] bool request_seen() const noexcept { return request_frame.number != 0; }
  [[nodiscard]] bool reply_seen() const noexcept { return reply_frame.number != 0; }  ///< REP, MPA Reply
  /// The request has got no answer, and nothing else shows that there was one.
  [[nodiscard]] bool awaits_answer() const noexcept {
    return (stage == Stage::open || stage == Stage::leaving) && request_seen() && !reply_seen() && !ready_seen &&
           messages == 0;
  }
  /// The server repeats that it accepts, for as long as counts, and neither an RTU nor data shows that the client has
  /// heard it.
  [[nodiscard]] bool accepts_in_vain() const noexcept {
    const std::optional<trace::Liveness>& sent = of(Side::passive).liveness;
    return sent && request_seen() && reply_seen() && !ready_seen && messages == 0 &&
           repeats_count(sent->copies, sent->first_copy, sent->last_copy);
  }
  /// Likewise, though the client has confirmed it: whether any copy of the RTU came to the server is not known.
  [[nodiscard]] bool perhaps_unconfirmed() const noexcept {
    return messages == 0 && repeats_count(accepted_again.times, reply_frame, accepted_again.last);
  }
  /// What stands first of the two sides need not have been first.
  [[nodiscard]] bool order_lost() const noexcept { return file_order >= FileOrder::skewed; }
  /// What a side sent behind an acknowledgement of its own it sent knowing of what that acknowledges.
  [[nodiscard]] bool acknowledgements_in_order() const noexcept { return file_order != FileOrder::shuffled; }
  /// What the peer of `sender` sends now it sends knowing of that Send.
  [[nodiscard]] bool heard(Side sender, std::uint64_t ordinal) const noexcept {
    return acknowledgements_in_order() && of(sender).acknowledged >= ordinal;
  }
  [[nodiscard]] bool over() const noexcept { return stage == Stage::over; }
  [[nodiscard]] bool rejected() const noexcept { return stage == Stage::rejected; }
  [[nodiscard]] ConnectionId id() const noexcept { return facts.id; }
  [[nodiscard]] bool rpcrdma() const noexcept { return kind == Kind::rpcrdma; }
  /// The first message that was understood is of version 1, and no ERR_VERS has refused it.
  [[nodiscard]] bool settled_on_version_1() const {
    return facts.version == 1 && diary.refusal(Side::active, 1) == nullptr;
  }
  /// Version 2 was seen, and is not refused: version 1's rules stand back.
  [[nodiscard]] bool version2() const noexcept {
    using Version = v2::State::Version;
    return v2.version != Version::unsettled && v2.version != Version::refused;
  }
  /// ... in a form that is only counted.
  [[nodiscard]] bool unjudged() const noexcept { return version2() && v2.version != v2::State::Version::two; }
  void speaks(v2::State::Version now) noexcept {
    v2.version = now;
    if (version2()) {
      facts.version = 2;
    } else if (facts.version == 2) {
      facts.version.reset();
    }
  }

  /// It is, or was, in use, and of one side nothing is in the capture.
  void notice_one_way() noexcept {
    if (messages > 0 && (sides[0].events > 0) != (sides[1].events > 0)) facts.one_way = true;
  }
  /// From here on "never seen" proves nothing, until so many transactions have been answered.
  void distrust(std::uint64_t transactions, Doubt why) noexcept {
    untrusted_since = completed;
    doubt = why;
    doubted_at = last_frame.time;
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
  /// The Send that begins in this frame was refused, and that may have ended the connection.
  [[nodiscard]] bool refused(FrameRef send) const noexcept {
    return send.number != 0 && std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& s) {
             return s.refused.number == send.number && s.refused_ordinal == 0;
           });
  }
  [[nodiscard]] Transaction* find(Side requester, std::uint32_t xid) {
    return transactions.find(Transactions::key(requester, xid));
  }
  [[nodiscard]] const Transaction* find(Side requester, std::uint32_t xid) const {
    return transactions.find(Transactions::key(requester, xid));
  }
  /// One that still waits for an answer.
  [[nodiscard]] Transaction* open_call(Side requester, std::uint32_t xid) {
    Transaction* call = find(requester, xid);
    return call != nullptr && !call->answered() ? call : nullptr;
  }
  [[nodiscard]] const Transaction* open_call(Side requester, std::uint32_t xid) const {
    const Transaction* call = find(requester, xid);
    return call != nullptr && !call->answered() ? call : nullptr;
  }
  /// Those with an answer that are remembered.
  template <class Visit>
  void each_answered(Visit visit) const {
    for (const auto* ids : {&finished, &answered_in_part}) {
      for (const TransactionId& id : *ids) {
        const Transaction* const call = transactions.find(id.key);
        if (call != nullptr && call->id == id) visit(*call);
      }
    }
  }
  [[nodiscard]] Transaction* find(TransactionId id) {
    Transaction* call = transactions.find(id.key);
    return call == nullptr || call->id.generation != id.generation ? nullptr : call;
  }
  /// The start is in the capture and nothing is missing since: "never seen" proves "never sent" (not U2, not U4).
  /// A capture that begins in the middle is like one with a gap before its first frame: trust grows with what is seen.
  [[nodiscard]] bool whole() const noexcept { return !facts.one_way && trusted(); }
  [[nodiscard]] bool trusted() const noexcept { return completed >= trusted_from; }
  /// A Call that was not seen, or not read, may be as slow as that: others that are answered meanwhile prove nothing.
  [[nodiscard]] bool unseen_call_may_be_open(TimeNs now) const noexcept {
    constexpr TimeNs sent_again_after = 60'000'000'000;  // Linux clients send it again, or anew, by then
    return trusted_from != 0 && !trace::passed(doubted_at, now, sent_again_after);
  }
  /// The chunk lists of a Call that is open are not known.
  [[nodiscard]] bool unread_lists_open(Side requester) {
    std::vector<std::uint64_t>& keys = of(requester).lists_unknown;
    for (; !keys.empty(); keys.pop_back()) {
      const Transaction* const call = transactions.find(keys.back());
      if (call != nullptr && call->answers == 0 && !call->all_lists()) return true;
    }
    return false;
  }
  /// Why it is not whole, for the report.
  [[nodiscard]] std::string_view why_not_whole() const noexcept {
    return facts.one_way ? std::string_view("only one direction is in the capture") : text(doubt);
  }
  /// false: which of them is the client is a guess, and nobody is named.
  [[nodiscard]] bool roles_known() const noexcept { return facts.roles_from != trace::RolesFrom::unknown; }
  /// Whom to name for what `side` sent. Which end is the client may be a guess when the capture began in the middle.
  [[nodiscard]] std::optional<Side> accused(Side side) const noexcept {
    if (!facts.handshake_seen && !trusted()) return std::nullopt;
    return side;
  }
  /// The threshold that binds what `sender` sends (RFC 8797 section 4.2). nullopt: not known.
  [[nodiscard]] std::optional<std::uint32_t> threshold(Side sender) const noexcept {
    return sender == Side::active ? facts.thresholds.client_to_server : facts.thresholds.server_to_client;
  }
};

}  // namespace rpcrdma::referee
