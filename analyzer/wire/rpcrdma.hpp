// SPDX-License-Identifier: GPL-2.0-or-later
// The RPC-over-RDMA header: the four fixed words, version 1 complete (RFC 8166 section 4), version 2 by its prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::wire {

/// Where NFS over RDMA is served unless both sides agree on another port (RFC 8267 section 9).
inline constexpr std::uint16_t nfs_port = 20049;

/// The four words that every version has in the same place (RFC 8166 sections 4.1.2, 7).
struct FixedWords {
  std::uint32_t xid = 0;
  std::uint32_t version = 0;
  std::uint32_t credit = 0;
  std::uint32_t proc = 0;  ///< rdma_proc of version 1, rdma_htype of version 2
};
/// Needs 16 octets. `wire_length` is the length of the whole Send.
[[nodiscard]] Decoded<FixedWords> decode_fixed_words(Bytes octets, std::size_t wire_length) noexcept;

enum class Proc : std::uint32_t { msg = 0, nomsg = 1, msgp = 2, done = 3, error = 4 };
inline constexpr std::size_t error_code_at = 16;  ///< octet of RDMA_ERROR, in both versions
inline constexpr std::uint32_t err_vers = 1;
inline constexpr std::uint32_t err_chunk = 2;

struct Segment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};
struct ReadSegment {
  std::uint32_t position = 0;
  Segment target;
};
/// A segment at Position 0 holds (a part of) the RPC message itself (RFC 8166 section 3.5.3).
[[nodiscard]] constexpr bool position_zero(const ReadSegment& segment) noexcept { return segment.position == 0; }
using WriteChunk = std::vector<Segment>;
/// Octets in all its segments: no sum of 32-bit lengths that a message can hold overflows.
[[nodiscard]] inline std::uint64_t chunk_length(const WriteChunk& chunk) noexcept {
  std::uint64_t sum = 0;
  for (const Segment& segment : chunk) sum += segment.length;
  return sum;
}

/// A decoded version 1 header. Lists are bounded by the message's length, never by a count from the wire.
struct HeaderV1 {
  FixedWords fixed;
  std::vector<ReadSegment> reads;
  std::vector<WriteChunk> writes;
  std::optional<WriteChunk> reply;
  // RDMA_MSGP
  std::uint32_t align = 0;
  std::uint32_t thresh = 0;
  // RDMA_ERROR
  std::uint32_t error = 0;
  std::uint32_t vers_low = 0;
  std::uint32_t vers_high = 0;

  std::size_t length = 0;  ///< octets of the header; the RPC message (or what follows) starts here

  void clear() noexcept;  ///< empties without giving memory back, so that one instance serves a whole capture

  std::vector<WriteChunk> spare;  ///< emptied chunks, kept for their memory; of no meaning to readers
};

/// Does its Read list have a segment at Position 0, wherever in the list?
[[nodiscard]] inline bool has_position_zero(const HeaderV1& header) noexcept {
  for (const ReadSegment& segment : header.reads) {
    if (position_zero(segment)) return true;
  }
  return false;
}

/// Decodes into `out` (its vectors keep their capacity: no allocation in the steady state).
/// Fault::invalid with field "proc" for a proc above 4 (the fixed words in `out` are set whenever 16 octets were
/// there), field "list discriminator" for a word that is neither 0 nor 1, "unfinished list" where the message ends
/// instead of one, "header too short" below 28 octets of RDMA_MSG / RDMA_NOMSG (RFC 8166 section 4.5; RDMA_DONE 16,
/// RDMA_ERROR 20 or 28). The version is not judged here.
[[nodiscard]] tl::expected<void, DecodeError> decode_header_v1(Bytes octets, std::size_t wire_length, HeaderV1& out);

[[nodiscard]] std::string_view proc_name(std::uint32_t proc) noexcept;  ///< "RDMA_MSG", ..., "" if unknown
[[nodiscard]] inline std::string_view proc_name(Proc proc) noexcept {
  return proc_name(static_cast<std::uint32_t>(proc));
}
[[nodiscard]] std::string_view htype_name_v2(std::uint32_t htype) noexcept;  ///< "RDMA2_ERROR", ..., "" if unknown

/// Could these octets be an RPC-over-RDMA message? For telling it from other users of RDMA (rule not-rpcrdma).
enum class Plausible : std::uint8_t { no, weak, strong };
[[nodiscard]] Plausible plausible_rpcrdma(Bytes octets, std::size_t wire_length) noexcept;

}  // namespace rpcrdma::wire
