// SPDX-License-Identifier: GPL-2.0-or-later
// Fields of messages, one by one: what each is called and means, the names of its values, and where it stands in a
// header. Whoever shows a header to people takes all of that from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

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
};
inline constexpr std::size_t field_count = static_cast<std::size_t>(Field::private_other) + 1;

struct FieldText {
  std::string_view name;     ///< the specification's, where it has one
  std::string_view meaning;  ///< a sentence or two
  std::string_view section;  ///< of the specification; empty: none
};
[[nodiscard]] const FieldText& field_text(Field field) noexcept;

/// A number that has a name. The name ends in a zero octet, for those who need that.
struct NamedValue {
  std::uint32_t value = 0;
  std::string_view name;
};
/// By value; empty for fields whose values have no names.
[[nodiscard]] std::span<const NamedValue> value_names(Field field) noexcept;
/// Empty if unknown.
[[nodiscard]] std::string_view value_name(Field field, std::uint32_t value) noexcept;

/// Octets from the start of the Send.
struct FieldAt {
  Field field = Field::xid;
  std::size_t offset = 0;
  std::size_t length = 0;   ///< never beyond the captured octets
  std::uint64_t value = 0;  ///< host order, of fields of 4 or 8 octets
};

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void on(const FieldAt& field) = 0;
  /// Where the header is over, if (a part of) an RPC message comes behind it. Comes last.
  virtual void payload(std::size_t offset) = 0;

 protected:
  FieldVisitor() = default;
  FieldVisitor(const FieldVisitor&) = default;
  FieldVisitor& operator=(const FieldVisitor&) = default;
};

/// Visits each field of a version 1 header in the order of the octets, up to the first that cannot be decoded; fields
/// leave nothing out and never overlap. Of a segment that the octets end in, those words that are there. Octets that
/// have no business behind a header are Field::unexpected. Answers as decode_header_v1() does, with the length of the
/// header. The version is not judged.
[[nodiscard]] Decoded<std::size_t> walk_fields_v1(Bytes octets, std::size_t wire_length, FieldVisitor& visitor);

/// By the version that the header names: 1 as above, 2 by walk_v2() (of the draft that the octets follow). An error of
/// any other refuses a message of that version, and is read as one of version 2; of all else there are the fixed words.
void walk_fields(Bytes octets, std::size_t wire_length, FieldVisitor& visitor);

}  // namespace rpcrdma::wire
