// SPDX-License-Identifier: GPL-2.0-or-later
// Walking the chunk lists (RFC 8166 section 4.3; version 2 encodes them alike): the one place that knows their layout.
// Nothing is stored here: a listener hears each thing as it is passed. Every loop consumes captured octets, so none
// runs longer than the message.
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
  const auto word = cursor.be32("unfinished list");
  if (!word) return tl::make_unexpected(word.error());
  if (*word > 1) return tl::make_unexpected(DecodeError{Fault::invalid, "list discriminator", at});
  return *word == 1;
}

/// What a listener may hear. It derives from this and hides what it wants; what it leaves costs nothing. The cursor
/// stands behind what was passed.
struct Listener {
  void item() {}                    ///< the word 1: a segment or a chunk follows
  void end() {}                     ///< the word 0
  void read(const ReadSegment&) {}  ///< without its word
  void count(std::uint32_t) {}      ///< of a chunk, as it stands there
  void chunk(std::size_t) {}        ///< the count is possible: how many segments the capture can hold of it at most
  void segment(const Segment&) {}   ///< of a Write or Reply chunk
  void cut() {}                     ///< the octets end within the segment that begins here
};

template <class Ear>
[[nodiscard]] Step walk_read_list(Cursor& cursor, Ear&& ear) {
  for (;;) {
    const auto more = another(cursor);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) {
      ear.end();
      return {};
    }
    ear.item();
    const auto octets = cursor.take(read_segment_octets, "read segment");
    if (!octets) {
      ear.cut();
      return tl::make_unexpected(octets.error());
    }
    ear.read(ReadSegment{load_be32(octets->data()), segment_at(octets->data() + 4)});
  }
}

/// One counted array of segments: a Write chunk or the Reply chunk.
template <class Ear>
[[nodiscard]] Step walk_write_chunk(Cursor& cursor, Ear& ear) {
  const std::size_t at = cursor.offset();
  const auto count = cursor.be32("segment count");
  if (!count) return tl::make_unexpected(count.error());
  ear.count(*count);
  if (*count > cursor.wire_left() / segment_octets) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "segment count", at});
  }
  const std::size_t captured = cursor.captured_left() / segment_octets;
  ear.chunk(*count < captured ? *count : captured);
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto octets = cursor.take(segment_octets, "write segment");
    if (!octets) {
      ear.cut();
      return tl::make_unexpected(octets.error());
    }
    ear.segment(segment_at(octets->data()));
  }
  return {};
}

template <class Ear>
[[nodiscard]] Step walk_write_list(Cursor& cursor, Ear&& ear) {
  for (;;) {
    const auto more = another(cursor);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) {
      ear.end();
      return {};
    }
    ear.item();
    if (const auto step = walk_write_chunk(cursor, ear); !step) return step;
  }
}

template <class Ear>
[[nodiscard]] Step walk_reply_chunk(Cursor& cursor, Ear&& ear) {
  const auto present = another(cursor);
  if (!present) return tl::make_unexpected(present.error());
  if (!*present) {
    ear.end();
    return {};
  }
  ear.item();
  return walk_write_chunk(cursor, ear);
}

}  // namespace rpcrdma::wire::chunk_lists
