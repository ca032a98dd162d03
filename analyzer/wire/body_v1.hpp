// SPDX-License-Identifier: GPL-2.0-or-later
// What follows the fixed words of a version 1 header (RFC 8166 section 4): the one place that knows its layout. The
// decoder, the walk over fields and the test for plausibility listen to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/chunk_lists.hpp"
#include "wire/fields.hpp"

namespace rpcrdma::wire::body_v1 {

using chunk_lists::Step;

inline constexpr std::size_t fixed_octets = 16;
inline constexpr std::size_t empty_lists_octets = 12;

/// The shortest complete header of a procedure that is known.
[[nodiscard]] constexpr std::size_t least_octets(Proc proc) noexcept {
  switch (proc) {
    case Proc::msg:
    case Proc::nomsg:
      return fixed_octets + empty_lists_octets;
    case Proc::msgp:
      return fixed_octets + 8 + empty_lists_octets;
    case Proc::error:
      return fixed_octets + 4;
    case Proc::done:
      break;
  }
  return fixed_octets;
}

[[nodiscard]] inline Step too_short() {
  return tl::make_unexpected(DecodeError{Fault::invalid, "header too short", 0});
}

template <class Ear>
[[nodiscard]] Decoded<std::uint32_t> word(Cursor& cursor, Ear& ear, Field field, std::string_view name) {
  const auto value = cursor.be32(name);
  if (value) ear.word(field, *value);
  return value;
}

template <class Ear>
[[nodiscard]] Step walk_lists(Cursor& cursor, Ear& ear) {
  if (const auto step = chunk_lists::walk_read_list(cursor, ear.reads()); !step) return step;
  if (const auto step = chunk_lists::walk_write_list(cursor, ear.writes()); !step) return step;
  return chunk_lists::walk_reply_chunk(cursor, ear.reply());
}

template <class Ear>
[[nodiscard]] Step walk_error(Cursor& cursor, Ear& ear) {
  const std::size_t at = cursor.offset();
  const auto code = word(cursor, ear, Field::error_code, "error code");
  if (!code) return tl::make_unexpected(code.error());
  if (*code == err_chunk) return {};
  if (*code != err_vers) return tl::make_unexpected(DecodeError{Fault::invalid, "error code", at});
  const bool fits = cursor.wire_left() >= 8;
  const auto low = word(cursor, ear, Field::version_low, "lowest version");
  if (!fits) return too_short();
  if (!low) return tl::make_unexpected(low.error());
  const auto high = word(cursor, ear, Field::version_high, "highest version");
  if (!high) return tl::make_unexpected(high.error());
  return {};
}

/// `cursor` stands behind the fixed words. `ear` has word(Field, value), and reads(), writes() and reply() give a
/// chunk_lists::Listener each.
template <class Ear>
[[nodiscard]] Step walk(Cursor& cursor, Proc proc, Ear& ear) {
  switch (proc) {
    case Proc::msgp:
      if (const auto align = word(cursor, ear, Field::align, "rdma_align"); !align) {
        return tl::make_unexpected(align.error());
      }
      if (const auto thresh = word(cursor, ear, Field::thresh, "rdma_thresh"); !thresh) {
        return tl::make_unexpected(thresh.error());
      }
      return walk_lists(cursor, ear);
    case Proc::msg:
    case Proc::nomsg:
      return walk_lists(cursor, ear);
    case Proc::error:
      return walk_error(cursor, ear);
    case Proc::done:
      break;
  }
  return {};
}

}  // namespace rpcrdma::wire::body_v1
