// SPDX-License-Identifier: GPL-2.0-or-later
// Where nothing tells which end is the client nobody may be called so: ends are called by their addresses.
#pragma once

#include <string>
#include <string_view>

#include "trace/events.hpp"

namespace rpcrdma::referee {

/// What to call whoever was taken for the client, and for the server. Where both would be called the same: "one end"
/// and "the other end".
struct EndNames {
  std::string client;
  std::string server;
};

/// By address; with the port, or the queue pair, where both have the same address.
[[nodiscard]] EndNames names_of_ends(const trace::Endpoint& client, const trace::Endpoint& server);

/// `text` with these names instead of "the client" and "the server". What is said of clients in general stays.
[[nodiscard]] std::string without_roles(std::string_view text, const EndNames& names);

}  // namespace rpcrdma::referee
