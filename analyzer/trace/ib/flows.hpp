// SPDX-License-Identifier: GPL-2.0-or-later
// All legs and connections of one trace: finding the one a packet belongs to, their lifetime, and the pairing of legs
// whose handshake is not in the capture (docs/design/ib-flows.md).
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "trace/ib/connection.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace::ib {

class Flows {
 public:
  static constexpr std::size_t max_connections = 8192;
  static constexpr std::size_t max_rested = 512;  ///< closed ones, in case that something of them comes late
  static constexpr std::size_t max_orphans = 1024;

  Flows(const Options& options, ConnectionNumbers& numbers, EventSink& sink)
      : options_(options), numbers_(numbers), sink_(sink), budget_(options.room(Budget::usual)) {}

  void packet(const IbPacket& packet, const wire::IbHeader& header);
  /// A packet that was here before, by another way to the capture.
  void copy(const IbPacket& packet, const wire::IbHeader& header);
  /// What its sender got of this connection met congestion: it is there.
  void notified(const IbPacket& packet, const wire::IbHeader& header);
  /// By the clock of all frames, in front of this one: a connection that was closed while a part of its handshake, or
  /// what its last words answer, could still come waits no longer than it may, whoever speaks meanwhile.
  void time_passed(FrameRef now);
  void finish(FrameRef last);

  // For the handshake
  [[nodiscard]] Connection& open(Transport transport, const Address& client, const Address& server, FrameRef first);
  [[nodiscard]] Connection* by_comm(const CommKey& key) const;
  void set_comm(Connection& connection, Side side, const CommKey& key);
  /// Any leg, also an orphan: then it is settled first. nullptr when nothing goes there.
  [[nodiscard]] Connection* by_leg(const FlowKey& key);
  /// The connection's `sender` sends to this queue pair; an older epoch that did is ended.
  void attach(Connection& connection, Side sender, const FlowKey& key, FrameRef ref);
  /// The handshake says with which PSN this side's requests begin.
  static void begins(Connection& connection, Side requester, std::uint32_t psn);
  /// Both queue pairs are known, or it cannot wait: announces it with the legs that can be found.
  void settle(Connection& connection);
  /// Announces it with the legs it has.
  void announce(Connection& connection);
  /// REJ, DREQ or DREP in this frame: nothing but stragglers is to come.
  void close(Connection& connection, FrameRef ref);

 private:
  using ConnectionList = std::list<std::unique_ptr<Connection>>;
  /// Legs between two addresses that wait for their partner, and what they sent.
  struct Pair {
    std::array<std::map<std::uint32_t, Leg*>, 2> requests;  ///< by direction, by PSN; nullptr: ambiguous
    std::array<std::map<std::uint32_t, Leg*>, 2> responses;
    struct Speaker {
      Leg* leg = nullptr;  ///< nullptr: ambiguous
      FrameRef frame;
    };
    std::array<std::map<std::uint32_t, Speaker>, 2> calls;  ///< by direction, by XID
    std::array<std::map<std::uint32_t, Speaker>, 2> replies;
    std::vector<Leg*> orphans;
    std::vector<Connection*> incomplete;  ///< not yet announced
  };

  // Table
  [[nodiscard]] Leg* find(const FlowKey& key) noexcept;
  void say_limit(FrameRef now);
  [[nodiscard]] Leg& new_orphan(const FlowKey& key, Transport transport, FrameRef first);
  [[nodiscard]] bool crc_bad(const IbPacket& packet, Leg& leg) const;
  void attach_leg(Connection& connection, Side sender, const FlowKey& key, FrameRef ref);
  void join(Connection& connection, Side sender, Leg& leg);
  void end(const Connection& connection, FrameRef ref, Disconnect::How how);
  void retire(Connection& connection, FrameRef ref, Disconnect::How how);
  void erase_leg(Leg& leg);
  void drop_comm(Connection& connection, Side side);
  void erase(Connection& connection);
  void make_room(FrameRef ref);
  void await_rest(Connection& connection);
  /// A capture of many short connections must not cost what each of them had in use.
  void rest_closed(FrameRef now);

  // Pairing
  void wait(Leg& leg, const IbPacket& packet, const wire::IbHeader& header, bool crc_bad);
  void tell_waiting(const FlowKey& key, const IbPacket& packet, const wire::IbHeader& header);
  void hand_over(Leg& leg);
  void relieve(FlowKey newest, FrameRef now);
  void note(Leg& leg, const wire::IbHeader& header, FrameRef frame);
  void forget(Leg& leg);
  void vote(Leg& a, Leg& b);
  [[nodiscard]] bool alone(const Leg& a, const Leg& b);
  bool marry(Leg& a, Leg& b);
  void progress(Connection& connection);
  void settle_orphan(Leg& leg);
  void adopt_one_way(Leg& leg);
  [[nodiscard]] Leg* only_candidate(const Connection& connection, Side sender);
  [[nodiscard]] Connection* only_incomplete(const Leg& leg);
  [[nodiscard]] Leg* partner_of(const Leg& leg);
  void note_message(Pair& pair, Leg& leg, const wire::IbHeader& header, FrameRef frame);
  [[nodiscard]] Leg* answered_by(const Leg& leg);
  [[nodiscard]] static Leg* best_vote(const Leg& leg);

  const Options& options_;
  ConnectionNumbers& numbers_;
  EventSink& sink_;
  Budget budget_;  ///< outlives the connections
  std::map<FlowKey, std::unique_ptr<Leg>> legs_;
  std::array<Leg*, 256> cache_{};  ///< legs used lately
  ConnectionList connections_;
  std::map<CommKey, Connection*> by_comm_;
  std::map<PairKey, Pair> pairs_;
  EpochsBefore epochs_before_;
  std::list<Leg*> orphans_;        ///< oldest first
  std::list<Connection*> closed_;  ///< and not yet at rest
  std::list<Connection*> unsaid_;  ///< closed, and something of them still waits for what may come late
  std::list<Connection*> rested_;  ///< closed and at rest, the oldest first
  std::uint32_t orphans_ever_ = 0;
  bool finishing_ = false;  ///< nothing new comes: the bounds are met
};

}  // namespace rpcrdma::trace::ib
