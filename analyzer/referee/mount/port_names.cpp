// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/port_names.hpp"

#include <utility>

namespace rpcrdma::referee {

bool PortNames::learn(const trace::Endpoint& client, const trace::Endpoint& server) {
  if (client.fabric.empty() && server.fabric.empty()) return false;
  if (port(client) == port(server)) return false;  // of one port nothing tells which end is which
  const bool in_order = port(client) < port(server);
  const trace::Endpoint& low = in_order ? client : server;
  const trace::Endpoint& high = in_order ? server : client;
  Ports ports{port(low), port(high), low.network};
  if (const auto known = known_.find(ports); known != known_.end()) {
    Names& names = known->second;
    if (names.low.address != low.address || names.high.address != high.address) names.agreed = false;
    return false;
  }
  if (known_.size() >= room_) return false;
  known_.emplace(std::move(ports), Names{low, high});
  return true;
}

void PortNames::name(trace::Endpoint& client, trace::Endpoint& server) const {
  if (known_.empty() || !client.fabric.empty() || !server.fabric.empty()) return;
  const bool in_order = client.address < server.address;
  trace::Endpoint& low = in_order ? client : server;
  trace::Endpoint& high = in_order ? server : client;
  const auto known = known_.find({low.address, high.address, low.network});
  if (known == known_.end() || !known->second.agreed) return;
  put(low, known->second.low);
  put(high, known->second.high);
}

}  // namespace rpcrdma::referee
