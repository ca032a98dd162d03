// SPDX-License-Identifier: GPL-2.0-or-later
// What the trace tells besides data, as text: steps of attempts, how alive a side was.
#pragma once

#include <fmt/format.h>

#include <string>

#include "trace/events.hpp"

namespace rpcrdma::test {

inline std::string told(const trace::Endpoint& e) { return fmt::format("{}:{}", e.address, e.port.value_or(0)); }

/// "#2 C repeated 192.0.2.2:50000 > 192.0.2.1:20049 of #1".
inline std::string told(const trace::TcpAttempt& e) {
  static constexpr const char* step[] = {"request", "repeated",    "accepted",   "unheard",
                                         "refused", "unreachable", "unreadable", "withdrawn"};
  return fmt::format("#{} {} {} {} > {} of #{}", e.frame.number, e.side == trace::Side::active ? 'C' : 'S',
                     step[static_cast<std::size_t>(e.step)], told(e.client), told(e.server), e.request.number);
}

/// "C heard #9 unacknowledged #5 copies 3 #5-#8 seen 100 missing 4 in 1 closed"; what there is not is left out.
inline std::string told(const trace::Liveness& e) {
  std::string s = fmt::format("{} heard #{}", e.side == trace::Side::active ? 'C' : 'S', e.heard.number);
  if (e.unacknowledged.number != 0) s += fmt::format(" unacknowledged #{}", e.unacknowledged.number);
  if (e.copies != 0 || e.first_copy.number != 0 || e.last_copy.number != 0)
    s += fmt::format(" copies {} #{}-#{}", e.copies, e.first_copy.number, e.last_copy.number);
  s += fmt::format(" seen {}", e.amount);
  if (e.missing != 0 || e.places != 0) s += fmt::format(" missing {} in {}", e.missing, e.places);
  if (e.window_closed.number != 0) s += fmt::format(" closed #{}", e.window_closed.number);
  if (e.before_capture.number != 0) s += fmt::format(" before #{}", e.before_capture.number);
  return s;
}

/// Of InfiniBand: a NAK. TCP says it with any segment.
inline std::string told_with_denial(const trace::Liveness& e) {
  if (e.denied.number == 0) return told(e);
  const bool lacks = e.denial == trace::Liveness::Denial::lacks;
  return told(e) + fmt::format(" denied #{}{}", e.denied.number, lacks ? "" : " not ready");
}

}  // namespace rpcrdma::test
