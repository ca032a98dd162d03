// SPDX-License-Identifier: GPL-2.0-or-later
// A witness with one message in its hands: what both versions ask of it.
#pragma once

#include <cstdint>

#include "referee/docket/witness.hpp"
#include "trace/events.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::referee {

template <class Header>
struct TurnOf : Witness {
  const trace::Send& event;
  const Header& header;
  RecentSend& send;

  [[nodiscard]] Side side() const noexcept { return event.side; }
  [[nodiscard]] std::uint32_t xid() const noexcept { return header.fixed.xid; }
  /// What stands behind the header, as captured.
  [[nodiscard]] wire::Bytes payload() const noexcept {
    return event.octets.size() > header.length ? event.octets.subspan(header.length) : wire::Bytes{};
  }
  /// ... and how many octets that are on the wire.
  [[nodiscard]] std::uint64_t behind() const noexcept { return event.wire_length - header.length; }
  /// All of it is in the capture: what cannot be read in it, its sender did not write.
  [[nodiscard]] bool captured_whole() const noexcept {
    return !event.holes && event.octets.size() >= event.wire_length;
  }
};

}  // namespace rpcrdma::referee
