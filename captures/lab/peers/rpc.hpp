// SPDX-License-Identifier: GPL-2.0-or-later
// ONC RPC (RFC 5531) with a handful of NFSv3 procedures (RFC 1813), enough to have something to carry; and for the
// kernel's server two calls of NFSv4.0 that need no MOUNT protocol.
#pragma once

#include <cstdint>
#include <optional>

#include "octets.hpp"

namespace lab {

enum class Nfs3 : std::uint32_t { null = 0, getattr = 1, readlink = 5, read = 6, write = 7, readdir = 16 };

// A call without its transport header. `data` of a write is left out of the octets when `reduced`, and its place is
// `position`.
struct Call {
  std::uint32_t xid = 0;
  Nfs3 procedure = Nfs3::null;
  std::uint32_t count = 0;  // read, write, readdir, readlink: octets asked for or sent
  bool reduced = false;
};
Octets encoded(const Call& call);
// Where the data of a write stands in the message that is not reduced; it is its last item.
std::size_t data_position(const Call& call);
// Throws std::out_of_range or std::runtime_error on anything that is not one of ours.
Call decoded_call(const Octets& message, bool reduced);

// The reply to it. The data of a read is left out when `reduced`.
Octets reply_to(const Call& call, bool reduced);

// NULL and PUTROOTFH+GETATTR for a Linux server.
Octets nfs4_null(std::uint32_t xid);
Octets nfs4_root_attributes(std::uint32_t xid);

}  // namespace lab
