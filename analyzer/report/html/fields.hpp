// SPDX-License-Identifier: GPL-2.0-or-later
// Where each field of a message stands in its octets: what a drawing of the octets needs. What the fields are called
// and mean is wire's; a message gives only kinds and places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/fields.hpp"

namespace rpcrdma::report::page {

enum class Form : std::uint8_t {
  number,  ///< big-endian, decimal
  hex,     ///< big-endian, hexadecimal
  flag,    ///< a word that is 0 or 1
  opaque,  ///< octets without a number
  size,    ///< RFC 8797: (octet + 1) * 1024 octets
  bits     ///< RFC 8797's flags octet
};

using wire::Field;

/// How the page writes a field's value.
[[nodiscard]] Form form(Field field) noexcept;

struct Placed {
  Field field = Field::xid;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

/// The fields of a message of which `octets` were kept, in order and without overlap; stops at what cannot be decoded.
/// `wire_length`: of the whole message.
void place_message(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out);
/// The fields of a handshake message's consumer private data (RFC 8797), wherever they are found in it.
void place_private_data(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out);

}  // namespace rpcrdma::report::page
