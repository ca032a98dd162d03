// SPDX-License-Identifier: GPL-2.0-or-later
// A requester and a responder of version 1 (RFC 8166), and the stories in which one of them does what kernels never do.
#pragma once

#include <string>

#include "chunks.hpp"
#include "rpc.hpp"

namespace lab {

enum class Proc1 : std::uint32_t { msg = 0, nomsg = 1, done = 3, error = 4 };

struct Message1 {
  std::uint32_t xid = 0;
  std::uint32_t version = 1;
  std::uint32_t credits = 16;
  Proc1 procedure = Proc1::msg;
  ChunkLists chunks;
  Octets rpc;  // for an error: what follows the fixed words
};
Octets encoded(const Message1& message);
Message1 decoded1(const Octets& octets);

// RFC 8797: magic, version 1, R bit, sizes in units of 1024 octets less one.
Octets private_data(std::size_t send_size, std::size_t receive_size, bool remote_invalidation);

// Both throw std::runtime_error for a story that they do not know. The status is that of the program.
int client1(const std::string& host, const std::string& port, const std::string& story);
int server1(const std::string& port, const std::string& story);

}  // namespace lab
