// SPDX-License-Identifier: GPL-2.0-or-later
// How the inputs of the fuzz targets are read, and how a target says that something is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/bytes.hpp"

namespace rpcrdma::fuzz {

/// The usual form of an input to one decoder: one octet that says how many octets of the message the capture did not
/// keep, then the octets that it kept.
struct CutMessage {
  wire::Bytes octets;
  std::size_t wire_length = 0;
};

[[nodiscard]] inline CutMessage cut_message(const std::uint8_t* data, std::size_t size) noexcept {
  if (size == 0) return {};
  return {wire::Bytes(data + 1, size - 1), size - 1 + data[0]};
}

/// What must always hold. A fuzzer sees the abort, and so does a replay.
inline void require(bool holds) noexcept {
  if (!holds) std::abort();
}

}  // namespace rpcrdma::fuzz
