// SPDX-License-Identifier: GPL-2.0-or-later
// Calls and Replies of version 1: the walk of one whose direction is known, or guessed.
#pragma once

#include <cstdint>

#include "referee/docket/witness.hpp"
#include "referee/message/direction.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee::v1 {

/// One message of version 1 in the hands of the checks.
struct Turn : Witness {
  const trace::Send& event;
  const wire::HeaderV1& header;
  const Reading& reading;
  enum class Lists : std::uint8_t { complete, cut } lists;  ///< of chunks, as captured
  RecentSend& send;

  [[nodiscard]] Side side() const noexcept { return event.side; }
  [[nodiscard]] std::uint32_t xid() const noexcept { return header.fixed.xid; }
  [[nodiscard]] bool is(wire::Proc proc) const noexcept { return static_cast<wire::Proc>(header.fixed.proc) == proc; }
  [[nodiscard]] bool lists_complete() const noexcept { return lists == Lists::complete; }
  /// ... and it is known whose they are.
  [[nodiscard]] bool lists_known() const noexcept { return lists_complete() && !reading.guessed; }
  [[nodiscard]] bool has_payload() const noexcept { return event.octets.size() > header.length; }
  /// What stands behind the header, as captured.
  [[nodiscard]] wire::Bytes payload() const noexcept {
    return has_payload() ? event.octets.subspan(header.length) : wire::Bytes{};
  }
  /// ... and on the wire.
  [[nodiscard]] std::uint64_t behind() const noexcept { return event.wire_length - header.length; }
  /// All of it is in the capture: what cannot be read in it, its sender did not write.
  [[nodiscard]] bool captured_whole() const noexcept {
    return !event.holes && event.octets.size() == event.wire_length;
  }
};

void take_call(const Turn& turn);
void take_reply(const Turn& turn);

}  // namespace rpcrdma::referee::v1
