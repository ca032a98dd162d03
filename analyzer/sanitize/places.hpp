// SPDX-License-Identifier: GPL-2.0-or-later
// What is to stand in the payload of each packet of the copy. All that nobody asked for is zero: an octet of the
// original gets into the copy only when it was understood what it is.
//
// Packets of InfiniBand are known by what they are, not by their frame, and octets of TCP by their place in the stream:
// what was sent twice, or cut anew, is the same both times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/link/open_frame.hpp"
#include "trace/stream_watch.hpp"
#include "wire/bytes.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::sanitize {

/// A run of payload: of one packet of InfiniBand, or of one FPDU (markers not counted).
struct Spot {
  enum class In : std::uint8_t { nothing, packet, stream } in = In::nothing;
  std::uint64_t which = 0;  ///< packet: what it is; stream: its number
  std::uint64_t start = 0;  ///< stream: position of the FPDU's length word
  std::uint32_t skip = 0;   ///< octets from there, or from the payload's start, to the first of the run
  std::uint32_t length = 0;
  wire::Markers markers;
};

/// An FPDU in its stream, or the MPA frame in front of the first.
struct FpduAt {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  wire::Markers markers;
  bool opening = false;        ///< the MPA frame, which has no CRC
  std::uint32_t crc_flip = 0;  ///< what the copy makes to its CRC, in whatever frames and order it lies

  /// Where its CRC stands.
  [[nodiscard]] std::uint64_t crc_at() const noexcept { return end - wire::fpdu_crc_octets; }
};

/// Octets to write, somewhere.
struct Write {
  std::uint64_t at = 0;
  std::uint32_t length = 0;
  std::size_t kept = 0;  ///< where in the store
};

class Places {
 public:
  // First reading, in the order of the capture
  void note(const trace::Frame& frame, const trace::Opened& opened);
  /// The payload of a packet of InfiniBand; nothing where there is none.
  [[nodiscard]] Spot packet(std::uint64_t frame) const;
  /// A run of octets of a stream. `first`: the frame that the trace named.
  [[nodiscard]] Spot stream(const trace::StreamPart& part, std::uint32_t skip, std::uint32_t length) const;
  void fpdu(const trace::StreamPart& part, bool opening);
  void put(const Spot& spot, std::uint32_t offset, wire::Bytes octets);

  // Second reading
  /// Sorts what was put; nothing more may be.
  void settle();
  /// The payload of the frame's packet, `to` being zero so far.
  void fill(const trace::Frame& frame, const trace::Opened& opened, std::span<std::uint8_t> to) const;
  /// Where the payload of a TCP segment stands in its stream; false: it is not known.
  struct InStream {
    std::uint64_t stream = 0;
    std::uint64_t position = 0;
  };
  [[nodiscard]] bool in_stream(std::uint64_t frame, InStream& out) const;
  /// Those that end at or behind `from` and begin before `to`, by their start.
  [[nodiscard]] std::span<const FpduAt> fpdus(std::uint64_t stream, std::uint64_t from, std::uint64_t to) const;

 private:
  struct Row {
    std::uint64_t frame = 0;
    std::uint64_t which = 0;     ///< packet: what it is; segment: its stream
    std::uint64_t position = 0;  ///< segment
    std::uint32_t length = 0;    ///< on the wire
    bool segment = false;
  };
  struct Stream {
    std::uint64_t newest = 0;
    std::uint32_t syn = 0;
    bool began = false;
    std::vector<Write> writes;
    std::uint32_t longest = 0;
    std::vector<FpduAt> fpdus;
    std::uint64_t longest_fpdu = 0;
  };
  using StreamKey = std::array<std::uint8_t, 36>;  ///< addresses and ports

  [[nodiscard]] const Row* row(std::uint64_t frame) const;
  [[nodiscard]] static std::uint64_t identity(const trace::IbPacket& packet, const wire::IbHeader& header);
  void write(Stream& stream, std::uint64_t at, wire::Bytes octets);
  void write_out(const Write& write, std::uint64_t base, std::span<std::uint8_t> to) const;
  /// What was put into the octets from there on, `to` being zero so far.
  void write_out(const Stream& stream, std::uint64_t position, std::span<std::uint8_t> to) const;
  [[nodiscard]] std::size_t keep(wire::Bytes octets);

  std::vector<Row> rows_;  ///< by frame
  std::map<StreamKey, std::uint64_t> numbers_;
  std::vector<Stream> streams_;
  std::unordered_map<std::uint64_t, std::vector<Write>> packets_;
  std::vector<std::uint8_t> store_;
};

}  // namespace rpcrdma::sanitize
