// SPDX-License-Identifier: GPL-2.0-or-later
// One side's requests, in PSN order and without repetitions, to Sends, Writes and ReadRequests.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/ib/shared.hpp"

namespace rpcrdma::trace::ib {

/// What a request packet turned out to be part of.
struct Issued {
  enum class Kind : std::uint8_t { unknown, send, write, read, atomic } kind = Kind::unknown;
  std::uint64_t op = 0;      ///< ordinal of a Send, op of a Write or READ; 0 unknown
  std::uint32_t length = 0;  ///< octets of the message up to and with this packet; of a READ, all
};

class Operations {
 public:
  /// Octets of one Send that are kept; its length is counted beyond that.
  static constexpr std::size_t max_send_octets = std::size_t{1} << 20U;

  Operations(Shared& shared, Side side) : shared_(shared), side_(side) {}

  Issued deliver(const Arrival& a, Sequence at);
  /// The next packet follows a hole of so many PSNs.
  void hole(std::uint64_t packets) noexcept { hole_ += packets; }
  /// The newest one is none, and nothing was delivered behind it.
  void no_hole(std::uint64_t packets) noexcept { hole_ -= packets; }
  /// Gives the room for a Send in parts back.
  void rest() noexcept {
    if (!sending_) kept_ = std::vector<std::uint8_t>();
  }

 private:
  Issued send(const Arrival& a, Sequence at);
  Issued write(const Arrival& a, Sequence at);
  Issued read(const Arrival& a, Sequence at);
  Issued atomic(const Arrival& a);
  void begin_send(const Arrival& a, Sequence at);
  void append(const Arrival& a);
  void emit_send(FrameRef last);
  void emit_cut_send();

  Shared& shared_;
  Side side_;
  std::uint64_t hole_ = 1;  // what came before the first packet is not known either

  Send send_;  // being put together
  bool sending_ = false;
  bool contiguous_ = false;
  std::vector<std::uint8_t> kept_;
  FrameRef send_last_;
  std::uint64_t ordinals_ = 0;

  Write write_;  // being followed
  bool writing_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t ops_ = 0;
};

}  // namespace rpcrdma::trace::ib
