// SPDX-License-Identifier: GPL-2.0-or-later
// RPC-over-RDMA version 2 (draft-ietf-nfsv4-rpcrdma-version-two, state of March 2022; sections are that state's).
//
// One walk over the octets serves everybody: walk_v2() hands each thing it passes to a visitor as an Item, with its
// octet offset in the message and its length, in the order of the octets. The items of a message without error leave
// nothing out and never overlap, so a tree can be drawn straight from them: an item that opens something (write_chunk,
// reply_chunk, property) is followed by what belongs to it (its segments, its value). decode_header_v2() is a visitor
// that keeps the values.
//
// All numbers are given in host order, all offsets and lengths in octets from the start of the Send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::wire {

/// rdma_htype (section 6.1). 0 to 3 and 14 upwards are not assigned.
enum class HeaderType : std::uint32_t {
  error = 4,
  grant = 5,
  connprop_middle = 6,
  connprop_final = 7,
  call_external = 8,
  call_middle = 9,
  call_inline = 10,
  reply_external = 11,
  reply_middle = 12,
  reply_inline = 13,
};
[[nodiscard]] constexpr bool known_htype(std::uint32_t htype) noexcept { return htype >= 4 && htype <= 13; }
[[nodiscard]] constexpr bool is_call(HeaderType type) noexcept {
  return type >= HeaderType::call_external && type <= HeaderType::call_inline;
}
/// What a type says that nobody knows is open.
[[nodiscard]] constexpr bool may_be_call(std::uint32_t htype) noexcept {
  return !known_htype(htype) || is_call(static_cast<HeaderType>(htype));
}
[[nodiscard]] constexpr bool is_reply(HeaderType type) noexcept {
  return type >= HeaderType::reply_external && type <= HeaderType::reply_inline;
}
[[nodiscard]] constexpr bool is_connprop(HeaderType type) noexcept {
  return type == HeaderType::connprop_middle || type == HeaderType::connprop_final;
}
[[nodiscard]] constexpr bool is_middle(HeaderType type) noexcept {
  return type == HeaderType::call_middle || type == HeaderType::reply_middle;
}
/// Header types with (a part of) an RPC message behind the header.
[[nodiscard]] constexpr bool has_payload(HeaderType type) noexcept {
  return is_middle(type) || type == HeaderType::call_inline || type == HeaderType::reply_inline;
}

/// rdma_err (section 7).
enum class ErrorCode : std::uint32_t {
  vers = 1,
  bad_xdr = 2,
  bad_propval = 3,
  inval_htype = 4,
  inval_cont = 5,
  read_chunks = 6,
  write_chunks = 7,
  segments = 8,
  write_resource = 9,
  reply_resource = 10,
  vers_mismatch = 11,
  system = 100,
};
/// "RDMA2_ERR_VERS", ...; "" if unknown.
[[nodiscard]] std::string_view error_name_v2(std::uint32_t code) noexcept;

/// Transport properties (section 5.2).
enum class PropertyId : std::uint32_t {
  send_size = 1,      ///< Maximum Send Size, octets
  receive_size = 2,   ///< Receive Buffer Size, octets
  segment_size = 3,   ///< Maximum Segment Size, octets
  segment_count = 4,  ///< Maximum Segment Count
  reverse = 5,        ///< Reverse-Direction Support, 0 none, 1 Simple, 2 Continued, 3 general
  host_auth = 6,      ///< Host Authentication Message, opaque
};
/// "Maximum Send Size", ...; "" if unknown.
[[nodiscard]] std::string_view property_name(std::uint32_t id) noexcept;
/// "none", "Simple", "Continued", "general"; "" if unknown.
[[nodiscard]] std::string_view reverse_level_name(std::uint32_t level) noexcept;
/// The value of a property that was not sent, or sent with no data. nullopt: the property has none.
[[nodiscard]] std::optional<std::uint32_t> property_default(std::uint32_t id) noexcept;

struct Property {
  std::uint32_t id = 0;
  std::size_t offset = 0;       ///< of rdma_which
  std::uint32_t length = 0;     ///< octets of rdma_data
  std::size_t data_offset = 0;  ///< of the octets of rdma_data
  enum class Form : std::uint8_t {
    standard,   ///< no data: the property has its default
    number,     ///< `number` holds it
    nested,     ///< host authentication: a counted opaque inside rdma_data, as its XDR type says
    flat,       ///< host authentication: rdma_data is the material itself
    unknown,    ///< an id that this draft does not assign: to be passed over
    too_short,  ///< a number of less than 4 octets: RDMA2_ERR_BAD_PROPVAL
    too_long,   ///< a number of more than 4 octets; `number` holds the first four
  } form = Form::unknown;
  std::uint32_t number = 0;
  [[nodiscard]] bool numeric() const noexcept {
    return form == Form::number || form == Form::standard || form == Form::too_long;
  }
};

/// Which text the octets follow. Drafts 00 to 02 (until August 2020) had a fifth prefix word, rdma_flags, and other
/// header types: 0 RDMA2_MSG, 1 RDMA2_NOMSG, 4 RDMA2_ERROR, 5 RDMA2_CONNPROP, 6 RDMA2_GRANT.
enum class Draft : std::uint8_t { newest, earlier };

struct Item {
  enum class Kind : std::uint8_t {
    xid,
    version,
    credit,
    htype,
    flags,  ///< earlier drafts: 1 RESPONSE, 2 MORE, 4 TPMORE
    error_code,
    version_low,
    version_high,
    most_chunks,     ///< rdma_max_chunks
    most_segments,   ///< rdma_max_segments
    chunk_index,     ///< from 1; 0 unknown
    length_needed,   ///< octets
    inv_handle,      ///< rdma_inv_handle
    remaining,       ///< rdma_remaining
    call_segment,    ///< list word, position and segment of rdma_call: 24 octets
    read_segment,    ///< likewise of rdma_reads
    write_chunk,     ///< list word and count, 8 octets; value: the count. Its segments follow
    write_segment,   ///< 16 octets
    reply_chunk,     ///< present word and count, 8 octets
    reply_segment,   ///< 16 octets
    call_end,        ///< the word 0 that ends rdma_call
    read_end,        ///< ... rdma_reads
    write_end,       ///< ... the Write list
    reply_absent,    ///< the word 0 in place of a Reply chunk
    property_count,  ///< value: as announced
    property,        ///< rdma_which and the length of rdma_data, 8 octets; value: the id
    property_value,  ///< rdma_data without its pad; value: the number, if it is one
    property_pad,    ///< 1 to 3 octets
    payload,         ///< (a part of) the RPC message; `length` is that on the wire, the capture may hold less
    trailing,        ///< octets where the header type has none
    unknown_body,    ///< what follows the prefix of an unknown header type
  } kind = Kind::xid;
  std::size_t offset = 0;
  std::size_t length = 0;
  std::uint64_t value = 0;     ///< the word, where the item is one
  std::uint32_t position = 0;  ///< call_segment, read_segment
  Segment segment;             ///< the four kinds of segments
};

class ItemVisitor {
 public:
  virtual ~ItemVisitor() = default;
  virtual void on(const Item& item) = 0;
  /// A property with its value judged; comes after its items.
  virtual void on(const Property& property) = 0;

 protected:
  ItemVisitor() = default;
  ItemVisitor(const ItemVisitor&) = default;
  ItemVisitor& operator=(const ItemVisitor&) = default;
};

/// Visits every item in front of the first one that cannot be decoded. Returns the length of the header.
/// Fault::invalid: field "header too short" below 16 octets; "list discriminator", "segment count", "property count",
/// "property" (data running past the message), or the field that the message ends in. Fault::unsupported with field
/// "htype": a type that the draft does not assign; its prefix and one unknown_body have been visited.
/// Fault::truncated: the capture ends first. The version word is not judged.
[[nodiscard]] Decoded<std::size_t> walk_v2(Bytes octets, std::size_t wire_length, ItemVisitor& visitor,
                                           Draft draft = Draft::newest);

/// Do these octets make sense by the earlier drafts and by no newer one? Header types 0 and 1 whose lists (and RPC
/// message) come out right behind a flags word, and 5 with properties. One message cannot tell more: 4 and 6 look
/// alike.
[[nodiscard]] bool earlier_draft(Bytes octets, std::size_t wire_length);
/// "RDMA2_MSG", "RDMA2_NOMSG", "RDMA2_ERROR", "RDMA2_CONNPROP", "RDMA2_GRANT" of drafts 00 to 02; "" if unknown.
[[nodiscard]] std::string_view earlier_htype_name(std::uint32_t htype) noexcept;

/// A decoded header. `lists` holds what both versions share, in the form of version 1: the fixed words (with
/// the procedure that would carry such a message: RDMA_MSG, RDMA_NOMSG or RDMA_ERROR), rdma_reads, the Write list
/// (provisional or returned) and the Reply chunk (provisional or returned); nothing else in it is used.
struct HeaderV2 {
  FixedWords fixed;
  Draft draft = Draft::newest;
  std::uint32_t flags = 0;  ///< earlier drafts only
  std::uint32_t inv_handle = 0;
  std::uint32_t remaining = 0;
  std::vector<ReadSegment> call_chunk;  ///< rdma_call
  HeaderV1 lists;
  std::vector<Property> properties;
  // RDMA2_ERROR
  std::uint32_t error = 0;
  std::uint32_t vers_low = 0;
  std::uint32_t vers_high = 0;
  std::uint32_t most = 0;  ///< rdma_max_chunks or rdma_max_segments
  std::uint32_t chunk_index = 0;
  std::uint32_t length_needed = 0;

  std::size_t length = 0;  ///< octets of the header; payload (or what follows) starts here

  [[nodiscard]] HeaderType type() const noexcept { return static_cast<HeaderType>(fixed.proc); }
  /// Of RDMA2_ERR_VERS: its sender names the versions that it speaks, and that one is not among them.
  [[nodiscard]] bool range_lacks(std::uint32_t version) const noexcept {
    return vers_low <= vers_high && (version < vers_low || version > vers_high);
  }
  void clear() noexcept;  ///< empties without giving memory back
};

/// Decodes into `out`, whose vectors keep their capacity. What was decoded in front of an error stays in `out`; the
/// fixed words are set whenever 16 octets were there. Errors as walk_v2().
[[nodiscard]] tl::expected<void, DecodeError> decode_header_v2(Bytes octets, std::size_t wire_length, HeaderV2& out,
                                                               Draft draft = Draft::newest);

}  // namespace rpcrdma::wire
