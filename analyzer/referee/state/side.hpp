// SPDX-License-Identifier: GPL-2.0-or-later
// What the wire has shown of one side of a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/operations.hpp"
#include "trace/events.hpp"
#include "trace/recent.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::referee {

using trace::Recent;

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

/// A message of which it is not certain what memory it names: whoever acts on it may have read its chunks in it.
struct Doubtful {
  static constexpr std::size_t kept = 512;
  FrameRef frame;
  std::vector<std::uint8_t> octets;  ///< the first of its header, at most `kept`
  bool more = false;                 ///< what lies behind them is not kept
  bool to_be_read = false;           ///< whatever it is, nobody may write into the memory that it names
  std::uint32_t xid = 0;
  bool settled = false;  ///< refused by RDMA_ERROR, or read after all: nobody acts on what it seems to name
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

enum class Direction : std::uint8_t { unknown, call, reply };

struct RecentSend {
  std::uint64_t ordinal = 0;
  FrameRef frame;
  std::uint32_t wire_length = 0;
  std::uint32_t xid = 0;
  Direction direction = Direction::unknown;  ///< an RDMA_ERROR for an open Call counts as a Reply
  bool guessed = false;                      ///< the direction is not certain
  enum class Extent : std::uint8_t {
    whole,
    holes,   ///< the capture lacks packets of it
    partial  ///< refused before its last packet was seen: wire_length is the least that it can be
  } extent = Extent::whole;
  [[nodiscard]] std::optional<std::uint32_t> known_xid() const noexcept {
    return extent == Extent::partial ? std::nullopt : std::optional(xid);
  }
  /// Whether in_flight and limit say what the receiver had to be ready for.
  enum class Credits : std::uint8_t {
    known,
    uncertain,          ///< how many were outstanding, or allowed, when it was sent
    above_own_request,  ///< that more than the sender asked for must be received is open
    above_one_grant     ///< so is that none of the grants which it may have known was lower
  } credits = Credits::known;
  [[nodiscard]] bool credits_known() const noexcept { return credits == Credits::known; }
  std::uint64_t unanswered = 0;  ///< Ledger::unanswered of its sender when it was sent
  [[nodiscard]] bool call() const noexcept { return direction == Direction::call; }
  [[nodiscard]] bool reply() const noexcept { return direction == Direction::reply; }
  /// Of its sender; nullopt: what cannot be decoded is neither.
  [[nodiscard]] std::optional<Role> role() const noexcept {
    if (call()) return Role::requester;
    return reply() ? std::optional(Role::responder) : std::nullopt;
  }
  HeldFinding size_finding;  ///< the threshold finding, when it is over
  HeldFinding invalidate_finding;
  std::uint64_t in_flight = 0;  ///< Calls: outstanding including this one
  std::uint64_t limit = 0;
  TransactionId exchange;  ///< generation 0: none is known
  /// Of a Reply: its Call had been answered. Perhaps it has another one, which has not come yet.
  enum class Answers : std::uint8_t { open_call, answered_call } answers = Answers::open_call;
  std::optional<std::uint32_t> version;  ///< rdma_vers; nullopt: not decoded
  std::uint32_t htype = 0;               ///< rdma_proc or rdma_htype
};

/// Per side, what the wire has shown.
struct SideState {
  PeerPrivateData private_data;
  trace::Depths depths;
  std::uint8_t mpa_revision = 0;
  MemoryMap memory;        ///< what this side exposed
  std::uint64_t gaps = 0;  ///< how often frames of this side were found missing
  std::uint64_t gap_amount = 0;
  FrameRef newest_gap;     ///< where the newest of them was noticed
  FrameRef unseen_asked;   ///< newest answer of the other side to what it may have sent where nothing is seen of it
  FrameRef reply_missing;  ///< shows that the other side had a Reply which the capture lacks; number 0: nothing does
  FrameRef end_missing;    ///< newest answer to what this side may have said last and the capture lacks; number 0: none
  FrameRef last_event;     ///< newest frame of this side that was delivered
  FrameRef first_event;
  static constexpr std::size_t most_lists_unknown = 1024;
  static constexpr std::size_t forgotten_at_once = 64;  ///< of these, the oldest, where there is no room
  std::vector<std::uint64_t> lists_unknown;  ///< keys of its newest Calls whose chunk lists the capture does not show
  void lists_not_read(std::uint64_t call) {
    if (lists_unknown.size() >= most_lists_unknown)
      lists_unknown.erase(lists_unknown.begin(), lists_unknown.begin() + forgotten_at_once);
    lists_unknown.push_back(call);
  }
  FrameRef unread;      ///< newest message that the capture cut before it says what it is; number 0: none
  FrameRef last_words;  ///< the same, if it may be a Call and the other side has sent no message since
  void cannot_be_read(FrameRef message, bool perhaps_call = true) {
    unread = message;
    last_words = perhaps_call ? message : FrameRef{};
  }
  std::uint64_t events = 0;
  FrameRef farewell;          ///< its first FIN, RST, DREQ or DREP; number 0: none yet
  std::uint64_t repeats = 0;  ///< rounds of retransmission since the other side last showed a sign of life
  FrameRef first_repeat;
  FrameRef last_repeat;
  std::optional<trace::Liveness> liveness;  ///< told at the connection's end
  std::uint64_t sent = 0;                   ///< ordinal of its newest Send
  unsigned untold = 0;                      ///< of its messages wait until it can be told what they are
  std::uint64_t acknowledged = 0;    ///< ordinal of the newest Send that the other side is proven to have received
  FrameRef acknowledged_in;          ///< what proves it
  std::uint64_t taken = 0;           ///< what it was when the other side last sent something
  std::uint64_t judged_partial = 0;  ///< ordinal of a Send that was refused, and judged, before it was complete
  Recent<RecentSend, 128> sends;     ///< Linux has so many slots
  Recent<JudgedOp, 256> ops;
  bool unknown_ops = false;  ///< at least one of them was accused of using an unknown handle
  ReadsInFlight reads;
  InvalidatedHandles invalidated;  ///< of the memory this side owns
  static constexpr std::size_t most_doubtful = 4;
  Recent<Doubtful, most_doubtful> doubtful;  ///< messages of this side
  std::size_t doubtful_count = 0;

  /// In front of it something of this side may be missing from the capture; number 0: nothing is known to be.
  [[nodiscard]] FrameRef newest_lack() const noexcept {
    FrameRef newest = newest_gap;
    keep_later(newest, unseen_asked);
    keep_later(newest, reply_missing);
    return newest;
  }
  /// Number of its frame; 0: it has sent none.
  [[nodiscard]] std::uint64_t newest_send() const {
    const RecentSend* const send = sends.newest([](const RecentSend&) { return true; });
    return send != nullptr ? send->frame.number : 0;
  }
  /// A Send that is told late: what the newest one behind it knew of credits is not certain.
  void doubt_credits(FrameRef late) {
    if (late.number >= last_event.number) return;
    RecentSend* send = sends.newest([&](const RecentSend& s) { return s.frame.number > late.number; });
    if (send != nullptr) send->credits = RecentSend::Credits::uncertain;
  }
  void leaves(FrameRef frame) noexcept {
    if (farewell.number == 0) farewell = frame;
  }
  /// The other side showed itself. What is told late, of a frame before the repeats, answers none of them.
  void answered_by(FrameRef frame) noexcept {
    if (frame.number < first_repeat.number) return;
    repeats = 0;
    first_repeat = {};
  }
  /// Nor is a stale acknowledgement an event, or what stands in the capture once more, and may be a sign of life.
  void repeats_unheard(const trace::Liveness& told) noexcept {
    const trace::Liveness::Unheard& unheard = told.unheard;
    const bool heard_between = unheard.behind.number > first_repeat.number;
    if (!heard_between || first_repeat.number == 0 || unheard.first_repeat.number <= first_repeat.number) return;
    repeats = unheard.copies;
    first_repeat = unheard.first_repeat;
    last_repeat = told.last_copy;
  }
};

}  // namespace rpcrdma::referee
