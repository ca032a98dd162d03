// SPDX-License-Identifier: GPL-2.0-or-later
// The frames of a story in the order of the capture file, each knowing which step it belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "octets.hpp"

namespace forge {

struct Shot {
  Octets octets;          ///< from the link-layer header on
  std::int64_t time = 0;  ///< ns since the epoch
  Side from = Side::client;
  std::string step;  ///< label of the step
  std::string
      part;  ///< "send", "write", "read", "response", "ack", "handshake", "refusal", "close", "probe", "noise", "tcp"
  bool captured = true;         ///< false: on the fabric, but not in the file
  bool spoken = false;          ///< completes a message that any decoder takes for RPC-over-RDMA version 1
  std::uint32_t snap = 262144;  ///< octets that the capture keeps
};

class Film {
 public:
  std::vector<Shot> shots;
  std::string step;  ///< label of the step that is being played

  /// `begin`: ns since the epoch.
  explicit Film(std::int64_t begin = 1'735'689'600'000'000'000) : clock_(begin) {}  // 2025-01-01 00:00:00 UTC

  /// A frame goes on air. Each takes ten microseconds.
  void shoot(Side from, Octets frame, std::string part) {
    clock_ += 10'000;
    shots.push_back({std::move(frame), clock_, from, step, std::move(part)});
  }
  void wait(std::int64_t ns) { clock_ += ns; }
  [[nodiscard]] std::int64_t now() const noexcept { return clock_; }

  /// Position of the first frame of "label" or "label/part".
  [[nodiscard]] std::size_t find(const std::string& name) const;
  /// The same moment stays, the octets change places: so the file's order differs from the order of sending.
  void swap(const std::string& a, const std::string& b);
  /// The same with the newest two.
  void swap_last();

 private:
  std::int64_t clock_;
};

}  // namespace forge
