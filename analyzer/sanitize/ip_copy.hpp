// SPDX-License-Identifier: GPL-2.0-or-later
// Headers of IP, TCP and ICMP in the copy: other addresses, and of options only those that name nobody.
#pragma once

#include <cstddef>

#include "sanitize/copied_frame.hpp"
#include "sanitize/pseudonyms.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::sanitize {

/// IPv4 or IPv6, with options or extension headers; nothing of what is neither.
void copy_ip(CopiedFrame& frame, wire::Bytes ip, Pseudonyms& pseudonyms);
/// Options become fillers, but for those that every TCP has.
void copy_tcp(CopiedFrame& frame, wire::Bytes tcp);
/// What stands behind the header is kept of neighbour discovery alone.
void copy_icmp(CopiedFrame& frame, wire::Bytes icmp, bool v4, Pseudonyms& pseudonyms);

/// Octets of the header; 0: none that can be.
[[nodiscard]] std::size_t ip_header(wire::Bytes ip) noexcept;
/// Where the address stands that the packet is for in the end, and that checksums are made with.
[[nodiscard]] std::size_t destination_at(wire::Bytes ip) noexcept;

}  // namespace rpcrdma::sanitize
