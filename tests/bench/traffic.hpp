// SPDX-License-Identifier: GPL-2.0-or-later
// One recorded conversation, and copies of it that no reader can mistake for the same one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "capture_io.hpp"

namespace bench {

/// What a copy adds to the numbers of the original. Everything wraps as the protocol's counters do.
struct Shift {
  std::uint32_t network = 0;                   ///< 0: addresses stay; else the copy's number, becomes 10.x.y.host
  std::uint32_t queue_pair = 0;                ///< to every QPN but 0 and 1
  std::uint32_t communication_id = 0;          ///< to CM IDs and transaction IDs
  std::uint32_t xid = 0;                       ///< to RPC XIDs, in headers and in what chunks carry
  std::map<std::uint32_t, std::uint32_t> psn;  ///< to the PSNs that the holder of an address counts
  std::map<std::uint32_t, std::uint32_t> msn;  ///< to the message counts in its acknowledges
  std::map<std::uint32_t, std::uint32_t> tcp;  ///< to the TCP sequence numbers of the holder of an address
  std::uint16_t port = 0;                      ///< to the TCP port that is not 20049
};

/// RoCEv2 and TCP over IPv4 over Ethernet; other frames are left as they are.
class Traffic {
 public:
  explicit Traffic(std::vector<Frame> frames);

  [[nodiscard]] const std::vector<Frame>& frames() const noexcept { return frames_; }
  /// Frames between the end of the CM handshake and its disconnect: [first, last).
  [[nodiscard]] std::size_t steady_first() const noexcept { return steady_first_; }
  [[nodiscard]] std::size_t steady_last() const noexcept { return steady_last_; }
  /// How far PSNs and message counts of each address go in the steady part.
  [[nodiscard]] const std::map<std::uint32_t, std::uint32_t>& psn_span() const noexcept { return psn_span_; }
  [[nodiscard]] const std::map<std::uint32_t, std::uint32_t>& msn_span() const noexcept { return msn_span_; }
  [[nodiscard]] std::uint32_t xid_span() const noexcept;

  /// The frame with the shift applied, its IPv4 checksum and ICRC made anew.
  void copy(const Frame& original, const Shift& shift, std::vector<std::uint8_t>& out) const;

 private:
  void find_steady_part();
  void measure_spans();
  void collect_xids();
  void shift_roce(std::vector<std::uint8_t>& octets, const Shift& shift) const;
  void shift_cm(std::vector<std::uint8_t>& octets, std::size_t mad, const Shift& shift) const;
  void shift_tcp(std::vector<std::uint8_t>& octets, std::size_t tcp, std::uint32_t source, std::uint32_t destination,
                 const Shift& shift) const;
  void shift_xids(std::vector<std::uint8_t>& octets, std::size_t payload, std::uint8_t opcode,
                  std::uint32_t amount) const;

  std::vector<Frame> frames_;
  std::size_t steady_first_ = 0;
  std::size_t steady_last_ = 0;
  std::map<std::uint32_t, std::uint32_t> psn_span_;
  std::map<std::uint32_t, std::uint32_t> msn_span_;
  std::set<std::uint32_t> xids_;
};

}  // namespace bench
