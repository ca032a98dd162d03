// SPDX-License-Identifier: GPL-2.0-or-later
// One epoch of a connection and its two directions ("legs").
//
// RC packets name only their destination queue pair. A leg is what goes from one address to one queue pair of another;
// two legs make a connection. What a connection does is told to the sink from its announcement on; what comes before
// (roles or partner unknown, handshake incomplete) waits in the legs.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trace/ib/early_packets.hpp"
#include "trace/ib/epoch_before.hpp"
#include "trace/ib/flow_key.hpp"
#include "trace/ib/roles.hpp"
#include "trace/ib/stream.hpp"
#include "trace/ib/waiting_packets.hpp"
#include "trace/networks_seen.hpp"
#include "trace/packet.hpp"
#include "trace/proven_order.hpp"
#include "trace/spans.hpp"
#include "wire/cm.hpp"

namespace rpcrdma::trace::ib {

/// Two addresses, in either order.
struct PairKey {
  Address low;
  Address high;

  PairKey(const Address& a, const Address& b) noexcept : low(a), high(b) {
    if (std::pair(b.kind, b.octets) < std::pair(a.kind, a.octets)) std::swap(low, high);
  }
  friend bool operator==(const PairKey&, const PairKey&) = default;
  friend auto operator<=>(const PairKey&, const PairKey&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

struct Connection;

/// An RPC message, as far as it tells who talks to whom. What is offered to be read may be a Call or a Reply.
struct ExchangePart {
  std::uint32_t xid = 0;
  bool call = false;
  bool reply = false;
};

struct Leg {
  explicit Leg(Budget& budget) : waiting(budget) {}

  FlowKey key;
  std::uint32_t number = 0;  ///< of those that ever waited for a partner
  Transport transport = Transport::rocev2;
  Connection* connection = nullptr;  ///< nullptr: an orphan, its partner unknown
  Side sender = Side::active;        ///< meaningful with a connection
  unsigned crc_checked = 0;
  NetworksSeen networks;

  FrameRef first;
  WaitingPackets waiting;
  bool requests_seen = false;
  Evidence evidence;                             ///< that the sender opened the connection
  std::vector<std::pair<Leg*, unsigned>> votes;  ///< legs that may be the other direction
  std::vector<std::uint32_t> noted_requests;     ///< PSNs in the pair's index
  std::vector<std::uint32_t> noted_responses;
  std::vector<ExchangePart> noted_messages;  ///< in the pair's index by XID
  std::list<Leg*>::iterator place;           ///< among the orphans
};

/// Private data kept until its event can be sent.
struct SavedArea {
  std::vector<std::uint8_t> octets;
  std::uint32_t wire_length = 0;

  [[nodiscard]] PrivateDataArea area() const noexcept { return {octets, wire_length, false}; }
};

struct CommKey {
  Address owner;  ///< whose communication ID this is
  Address peer;
  std::uint32_t id = 0;

  friend bool operator==(const CommKey&, const CommKey&) = default;
  friend auto operator<=>(const CommKey&, const CommKey&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

struct Connection {
  Connection(EventSink& sink, Budget& budget, Transport t, const Address& client, const Address& server);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Shared shared;
  std::array<Stream, 2> streams;  ///< by the side whose requests they are
  std::array<Leg*, 2> legs{};     ///< by sender
  Transport transport;
  std::array<Address, 2> addresses;  ///< by side
  std::list<std::unique_ptr<Connection>>::iterator place;
  std::optional<std::list<Connection*>::iterator> to_rest;  ///< among the closed ones that are not yet at rest
  std::optional<std::list<Connection*>::iterator> at_rest;  ///< among those that are
  std::optional<std::list<Connection*>::iterator> unsaid;   ///< among the closed ones of which something still waits
  FrameRef last_used;
  Moment opened;  ///< when it was put into the table

  // The handshake, as far as seen
  FrameRef first;  ///< first frame of the connection
  std::optional<ConnectRequest> request;
  SavedArea request_area;
  std::optional<ConnectReply> reply;
  SavedArea reply_area;
  std::optional<RequestReceipt> receipt;
  std::optional<RequestUndelivered> undelivered;
  std::optional<ConnectReady> ready_message;
  SavedArea ready_area;
  struct RepeatedMessage {
    Side side = Side::active;
    FrameRef frame;
    Repeated::Kind kind = Repeated::Kind::handshake;
  };
  std::vector<RepeatedMessage> repeated_messages;  ///< CM messages that came again before the announcement
  std::uint64_t transaction = 0;                   ///< of the REQ
  std::optional<std::uint32_t> request_psn;
  std::array<std::optional<std::uint32_t>, 2> qpns;  ///< by side
  std::array<std::optional<CommKey>, 2> comm;        ///< by side
  std::array<bool, 2> first_psn_told{};              ///< by requester: the handshake says where its requests begin
  std::array<std::optional<EpochBefore>, 2> before;  ///< by sender

  bool roles_known = false;
  bool announced = false;
  bool ready = false;
  bool closed = false;  ///< REJ, DREQ or DREP seen
  std::uint64_t closed_in = 0;
  bool rejected = false;
  std::array<bool, 2> dreq_seen{};  ///< by sender
  std::array<bool, 2> drep_seen{};

  /// The REQ, or the REP, sent again while it is not answered.
  struct HandshakeCopies {
    std::uint64_t count = 0;
    FrameRef last;
  };
  std::array<NetworksSeen, 2> networks;                                 ///< of handshake messages, by sender
  std::array<bool, 2> received{};                                       ///< an MRA says so of this side's REQ or REP
  std::array<HandshakeCopies, 2> handshake_copies{};                    ///< by sender
  static constexpr std::size_t message_kinds = 7;                       ///< of a connection: REQ to DREP
  std::array<std::array<FrameRef, message_kinds>, 2> newest_message{};  ///< by sender and kind
  bool liveness_told = false;

  [[nodiscard]] bool handshake() const noexcept { return request.has_value() || reply.has_value(); }
  /// As far as can be told here: the client has said something, and the server nothing since.
  [[nodiscard]] bool answer_due() const noexcept {
    return shared.spoke[index(Side::active)] > shared.spoke[index(Side::passive)];
  }
  /// Data of this side, or its word that data came: it has the connection. What it rejects then is something else.
  [[nodiscard]] bool took_part(Side side) const noexcept {
    return shared.packets[index(side)].seen != 0 || shared.acknowledging[index(side)].frame().number != 0;
  }
  [[nodiscard]] bool both_legs() const noexcept { return legs[0] != nullptr && legs[1] != nullptr; }

  /// Its REP is there, and its REQ may only be late.
  [[nodiscard]] bool request_may_come(FrameRef now) const noexcept {
    return reply && !request && !passed(reply->frame.time, now.time, ProvenOrder::patience);
  }
  /// Its REQ is there, and its REP may only be late: the client had it before its RTU.
  [[nodiscard]] bool reply_may_come(FrameRef now) const noexcept {
    const FrameRef since = ready_message ? ready_message->frame : first;
    return request && !reply && !passed(since.time, now.time, ProvenOrder::patience);
  }
  /// As long as the clock is near to what came of it.
  [[nodiscard]] bool handshake_may_come(FrameRef now) const noexcept {
    const FrameRef since = reply ? reply->frame : ready_message ? ready_message->frame : first;
    return !passed(now.time, since.time, ProvenOrder::patience) && (request_may_come(now) || reply_may_come(now));
  }
  /// Data of this connection stands behind this frame, as far as the handshake tells.
  [[nodiscard]] std::uint64_t data_after() const noexcept {
    if (ready_message) return ready_message->frame.number;
    return reply ? reply->frame.number : first.number;
  }

  /// Tells the sink about the connection, and then what has waited in its legs, in file order.
  void announce(ConnectionNumbers& numbers);
  void emit_reply();
  /// Both sides as they are, once: before the connection ends.
  void tell_liveness(FrameRef frame);
  /// A CM message of this side came. Returns the one before of the same kind; number 0: there was none.
  FrameRef hears(Side sender, const IbPacket& packet, wire::CmKind kind);
  /// A CM message that was seen before, `before` the newest time.
  void repeated_message(Side side, FrameRef ref, FrameRef before);
  /// What has waited in legs that came after the announcement.
  void replay();
  void deliver(Side sender, const Captured& packet);
  /// Nothing that it has said waits.
  [[nodiscard]] bool all_said() const noexcept {
    return liveness_told && farewells_.empty() && early_[0].empty() && early_[1].empty();
  }
  [[nodiscard]] bool long_quiet(FrameRef now) const noexcept {
    return passed(last_used.time, now.time, Stream::patience);
  }
  /// As it is when nobody has said anything of it for long after its end, whether its memory was given back meanwhile
  /// or not. To be called with whatever comes of it.
  void rest_if_over(FrameRef now) noexcept {
    if (closed && all_said() && long_quiet(now)) rest();
  }
  void rest() noexcept {
    for (Stream& s : streams) s.rest();
  }
  /// After a long silence packets count from elsewhere: the queue pairs may belong to another connection, whose
  /// handshake is not in the capture, and nothing agreed before binds that.
  [[nodiscard]] bool foreign(const Leg& leg, FrameRef ref, const wire::IbHeader& header) const noexcept;
  /// By the clock of all frames, after its end: what has not come until now is missing.
  void time_passed(FrameRef now);
  /// The first DREQ or the first DREP of this side. What the side said before may still wait: then this does, too.
  void says_farewell(Side side, Disconnect::How how, FrameRef ref, SavedArea area);
  void finish(FrameRef last);

 private:
  friend ProvenOrder;

  struct Farewell {
    Side side = Side::active;
    Disconnect::How how = Disconnect::How::request;
    FrameRef frame;
    SavedArea private_data;
  };

  [[nodiscard]] bool of_epoch_before(Side sender, const wire::IbHeader& header, FrameRef ref) const noexcept;
  void pass(Side sender, const Captured& packet);
  void pass_in_turn(Side sender, const EarlyPackets::Held& held);
  [[nodiscard]] bool come(Side sender, const wire::IbHeader& header) const noexcept;
  // For ProvenOrder; directions are by sender.
  [[nodiscard]] const EarlyPackets& early(int direction) const noexcept {
    return direction == 0 ? early_[0] : early_[1];
  }
  [[nodiscard]] bool front_come(int direction) const noexcept;
  [[nodiscard]] bool front_given_up(int direction, FrameRef now);
  [[nodiscard]] bool awaited_waits(int direction) const noexcept;
  void release(int direction);
  void release_proven(FrameRef now);
  [[nodiscard]] bool may_say_more(Side side, FrameRef farewell, FrameRef now) const noexcept;
  void hear_out(Farewell farewell);
  void tell_farewells(bool all, FrameRef now);

  std::array<EarlyPackets, 2> early_;     ///< by sender
  std::array<bool, 2> start_known_{};     ///< by requester: its first packets waited for the announcement
  std::array<bool, 2> waited_in_vain_{};  ///< by sender: for the first requests of its peer
  std::vector<Farewell> farewells_;

  void choose_roles();
  void announce_adopted();
  void find_start(Side side);
  [[nodiscard]] FrameRef unanswered_handshake(Side side) const noexcept;
};

}  // namespace rpcrdma::trace::ib
