// SPDX-License-Identifier: GPL-2.0-or-later
// Where each field of a message stands in its octets: what a drawing of the octets needs. The fields' names, meanings
// and sections are one table; a message gives only kinds and places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::report::page {

enum class Form : std::uint8_t {
  number,  ///< big-endian, decimal
  hex,     ///< big-endian, hexadecimal
  flag,    ///< a word that is 0 or 1
  opaque,  ///< octets without a number
  size,    ///< RFC 8797: (octet + 1) * 1024 octets
  bits     ///< RFC 8797's flags octet
};

enum class Field : std::uint8_t {
  // Fixed words and version 1
  xid,
  version,
  credit,
  proc,
  align,
  thresh,
  read_item,
  position,
  handle,
  length,
  offset,
  read_end,
  write_item,
  segment_count,
  write_end,
  reply_present,
  reply_absent,
  error_code,
  version_low,
  version_high,
  unexpected,
  // Version 2
  htype,
  flags2,
  error_code2,
  most_chunks,
  most_segments,
  chunk_index,
  length_needed,
  inv_handle,
  remaining,
  call_item,
  call_end,
  property_count,
  property_id,
  property_length,
  property_value,
  property_pad,
  // RPC
  rpc_xid,
  rpc_type,
  rpc_version,
  program,
  program_version,
  procedure,
  credential_flavor,
  credential_length,
  credential,
  verifier_flavor,
  verifier_length,
  verifier,
  arguments,
  reply_state,
  accept_state,
  reject_state,
  results,
  rpc_rest,
  // Private data
  identifier,
  private_version,
  private_flags,
  send_size,
  receive_size,
  private_other,
  count_
};

struct FieldText {
  std::string_view name;
  std::string_view meaning;
  std::string_view section;  ///< of the specification
  Form form = Form::number;
  /// Names of values; the page shows them beside the number.
  std::vector<std::pair<std::uint32_t, std::string_view>> values;
};

/// By Field.
[[nodiscard]] std::vector<FieldText> field_texts();

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
