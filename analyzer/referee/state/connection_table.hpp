// SPDX-License-Identifier: GPL-2.0-or-later
// The connections whose state is kept, by number.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "referee/state/connection.hpp"
#include "referee/state/region_room.hpp"
#include "referee/state/turned_away.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// Those that may go on, and the newest of those that are over: what still comes of them is counted, and judged no
/// more. The numbers are hostile, and so is how many there are.
class ConnectionTable {
 public:
  static constexpr std::size_t most_closed = 64;
  static constexpr std::size_t most_rejected = 1024;

  /// Of connections, and of regions of memory in all of them.
  struct Room {
    std::size_t connections = 0;
    std::size_t regions = 0;
  };
  explicit ConnectionTable(Room room) : turned_away_{room.connections, 0, {}}, regions_(room.regions) {}

  /// Null: it is not kept (any more).
  [[nodiscard]] Connection* find(ConnectionId id) {
    if (newest_ != nullptr && newest_->facts.id == id) return newest_;
    const auto at = connections_.find(id);
    if (at == connections_.end()) return nullptr;
    newest_ = at->second.get();
    return newest_;
  }
  [[nodiscard]] const Connection* find(ConnectionId id) const {
    const auto at = connections_.find(id);
    return at == connections_.end() ? nullptr : at->second.get();
  }
  /// A new one, in place of what had its number. Null: there is no room, which is counted.
  [[nodiscard]] Connection* open(const trace::EventBase& event);
  /// This one was closed or rejected. Returns the oldest of its kind if that has to go for it, or null.
  [[nodiscard]] Connection* keep_newest(const Connection& over);
  void drop(ConnectionId id);
  void drop_all();
  /// In their order.
  [[nodiscard]] std::vector<ConnectionId> ids() const;

  [[nodiscard]] const TurnedAway& turned_away() const noexcept { return turned_away_; }
  [[nodiscard]] const TurnedAway& regions_turned_away() const noexcept { return regions_.turned_away(); }

 private:
  TurnedAway turned_away_;
  RegionRoom regions_;  // outlives the connections
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::deque<ConnectionId> closed_, rejected_;  // the oldest first
  Connection* newest_ = nullptr;                // that was asked for
};

}  // namespace rpcrdma::referee
