// SPDX-License-Identifier: GPL-2.0-or-later
// Of two segments that are alike: is it one that the capture holds twice?
#pragma once

#include <cstdint>

#include "trace/events.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace::iwarp {

struct SeenPacket {
  std::uint16_t ip_identification = 0;  ///< 0: none
  FrameRef ref;
};

/// `at_leisure`: TCP has no reason to say it again at once.
[[nodiscard]] inline bool same_packet(const SeenPacket& one, const SeenPacket& another, bool at_leisure) noexcept {
  // A mirror port or a second tap repeats a frame at once. TCP's own fastest repeat needs three more segments and a
  // round trip, and then rarely carries the same acknowledgement.
  constexpr TimeNs duplicate_window = 100'000;
  // Of two taps the farther one sees a packet later, with another VLAN tag or other MAC addresses perhaps; its IP
  // identification is the same, while a repetition by TCP gets a new one. They wrap, but not so soon.
  constexpr TimeNs same_packet_window = 5'000'000;
  const bool known = one.ip_identification != 0 && another.ip_identification != 0;
  if (known && one.ip_identification != another.ip_identification) return false;
  const TimeNs window = known || at_leisure ? same_packet_window : duplicate_window;
  return !passed(one.ref.time, another.ref.time, window) && !passed(another.ref.time, one.ref.time, window);
}

}  // namespace rpcrdma::trace::iwarp
