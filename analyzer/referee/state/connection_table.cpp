// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/connection_table.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::referee {

Connection* ConnectionTable::open(const trace::EventBase& event) {
  if (connections_.size() >= turned_away_.room) {
    turned_away_.add(event.frame);
    return nullptr;
  }
  auto connection = std::make_unique<Connection>();
  connection->facts.id = event.connection;
  for (SideState& side : connection->sides) side.memory.share_room(regions_);
  newest_ = connection.get();
  connections_[event.connection] = std::move(connection);
  return newest_;
}

Connection* ConnectionTable::keep_newest(const Connection& over) {
  std::deque<ConnectionId>& order = over.rejected() ? rejected_ : closed_;
  order.push_back(over.id());
  if (order.size() <= (over.rejected() ? most_rejected : most_closed)) return nullptr;
  Connection* oldest = find(order.front());
  order.pop_front();
  return oldest != nullptr && oldest->stage == over.stage ? oldest : nullptr;
}

void ConnectionTable::drop(ConnectionId id) {
  if (newest_ != nullptr && newest_->facts.id == id) newest_ = nullptr;
  connections_.erase(id);
}

void ConnectionTable::drop_all() {
  newest_ = nullptr;
  connections_.clear();
}

std::vector<ConnectionId> ConnectionTable::ids() const {
  std::vector<ConnectionId> ids;
  ids.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace rpcrdma::referee
