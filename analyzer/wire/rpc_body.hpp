// SPDX-License-Identifier: GPL-2.0-or-later
// Where the arguments or the results of a procedure stand in an RPC message; no interface of this folder.
#pragma once

#include <algorithm>
#include <optional>

#include "wire/bytes.hpp"
#include "wire/data_places.hpp"
#include "wire/nfs_steps.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

/// What stands behind the RPC header, `at`, or in rpc_gss_integ_data there (RFC 2203 section 5.3.2.2: length, sequence
/// number, the octets, checksum). Offsets count from the message's start.
[[nodiscard]] inline Decoded<Cursor> open_body(Bytes message, std::size_t wire_length, std::size_t at,
                                               std::optional<Protection> protection) noexcept {
  Cursor cursor(message, wire_length);
  const auto header = cursor.take(at, "header");
  if (!header) return tl::make_unexpected(header.error());
  if (protection == Protection::none) return cursor;
  if (protection != Protection::integrity) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "RPCSEC_GSS", at});
  }
  const auto length = cursor.be32("integrity");
  if (!length) return tl::make_unexpected(length.error());
  if (*length < 4 || *length > cursor.wire_left()) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "integrity", at});
  }
  const std::size_t end = cursor.offset() + *length;
  Cursor inside(message.first(std::min(message.size(), end)), end);
  const auto skipped = inside.take(at + 8, "sequence number");
  if (!skipped) return tl::make_unexpected(cursor.missing(4, "sequence number"));
  return inside;
}

/// What holds of them there. Nothing may be moved out of what integrity protects (RFC 8166 section 8.2.2.3), and no
/// list of chunks knows its places.
[[nodiscard]] inline DataPlaces places_under(std::optional<Protection> protection, const DataPlaces& places) noexcept {
  const bool hold = protection == Protection::none || std::holds_alternative<NothingMoved>(places);
  return hold ? places : DataPlaces();
}

}  // namespace rpcrdma::wire
