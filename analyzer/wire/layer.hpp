// SPDX-License-Identifier: GPL-2.0-or-later
// One layer of a packet: what the capture holds of it, and how long it was.
#pragma once

#include <algorithm>
#include <cstddef>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

/// `octets` is a prefix of the layer's `wire_length` octets, and all of them unless the capture was cut.
struct Layer {
  Bytes octets;
  std::size_t wire_length = 0;

  [[nodiscard]] constexpr bool cut() const noexcept { return octets.size() < wire_length; }

  /// The layer behind a header of `n` octets. The caller has checked that n <= octets.size().
  [[nodiscard]] constexpr Layer after(std::size_t n) const noexcept { return {octets.subspan(n), wire_length - n}; }

  /// The layer, ended by a length field. A length beyond the layer's own end is believed: then the capture's writer
  /// forgot how long the frame was, and the octets in between are missing like those behind a snap length.
  [[nodiscard]] constexpr Layer ended_at(std::size_t n) const noexcept {
    return {octets.first(std::min(n, octets.size())), n};
  }

  /// The error for a header of `n` octets that is not all there.
  [[nodiscard]] constexpr DecodeError missing(std::size_t n, std::string_view field) const noexcept {
    return {n > wire_length ? Fault::invalid : Fault::truncated, field, octets.size()};
  }
};

}  // namespace rpcrdma::wire
