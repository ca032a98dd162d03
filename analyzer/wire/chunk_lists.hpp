// SPDX-License-Identifier: GPL-2.0-or-later
// Walking the chunk lists (RFC 8166 section 4.3; version 2 encodes them alike). Nothing is stored here: the caller gets
// each item as it is passed. Every loop consumes captured octets, so none runs longer than the message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/bytes.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::wire::chunk_lists {

using Step = tl::expected<void, DecodeError>;

inline constexpr std::size_t segment_octets = 16;
inline constexpr std::size_t read_segment_octets = 20;

[[nodiscard]] inline Segment segment_at(const std::uint8_t* p) noexcept {
  return {load_be32(p), load_be32(p + 4), load_be64(p + 8)};
}

/// The word in front of each list item: 1 another follows, 0 end of list, anything else breaks XDR.
[[nodiscard]] inline Decoded<bool> another(Cursor& cursor) noexcept {
  const std::size_t at = cursor.offset();
  const auto word = cursor.be32("list discriminator");
  if (!word) return tl::make_unexpected(word.error());
  if (*word > 1) return tl::make_unexpected(DecodeError{Fault::invalid, "list discriminator", at});
  return *word == 1;
}

template <class OnSegment>
[[nodiscard]] Step walk_read_list(Cursor& cursor, OnSegment&& on_segment) {
  for (;;) {
    const auto more = another(cursor);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return {};
    const auto octets = cursor.take(read_segment_octets, "read segment");
    if (!octets) return tl::make_unexpected(octets.error());
    on_segment(ReadSegment{load_be32(octets->data()), segment_at(octets->data() + 4)});
  }
}

/// One counted array of segments: a Write chunk or the Reply chunk. `on_count` gets how many of them the capture can
/// hold at most.
template <class OnCount, class OnSegment>
[[nodiscard]] Step walk_write_chunk(Cursor& cursor, OnCount&& on_count, OnSegment&& on_segment) {
  const std::size_t at = cursor.offset();
  const auto count = cursor.be32("segment count");
  if (!count) return tl::make_unexpected(count.error());
  if (*count > cursor.wire_left() / segment_octets) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "segment count", at});
  }
  const std::size_t captured = cursor.captured_left() / segment_octets;
  on_count(*count < captured ? *count : captured);
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto octets = cursor.take(segment_octets, "write segment");
    if (!octets) return tl::make_unexpected(octets.error());
    on_segment(segment_at(octets->data()));
  }
  return {};
}

template <class OnCount, class OnSegment>
[[nodiscard]] Step walk_write_list(Cursor& cursor, OnCount&& on_chunk, OnSegment&& on_segment) {
  for (;;) {
    const auto more = another(cursor);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return {};
    if (const auto step = walk_write_chunk(cursor, on_chunk, on_segment); !step) return step;
  }
}

}  // namespace rpcrdma::wire::chunk_lists
