// SPDX-License-Identifier: GPL-2.0-or-later
// What is still due is judged when its connection, or the capture, ends.
#pragma once

#include <cstdint>
#include <optional>

#include "referee/facts.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

struct Ending {
  FrameRef at;  ///< what was due had to come until there
  enum class How : std::uint8_t {
    capture_end,  ///< the connection goes on
    unseen,       ///< it is over: nobody saw when, and what was due may stand where the capture lacks frames
    lost,         ///< nobody closed it
    cut_off,      ///< by a reset, or because something was refused
    orderly       ///< closed by a request, or a FIN
  } how = How::capture_end;
  std::optional<trace::Side> by;  ///< whose close it was, in the latter two
  [[nodiscard]] bool of_connection() const noexcept { return how != How::capture_end; }
  /// What did not come may have come where nothing is captured.
  [[nodiscard]] bool open() const noexcept { return how == How::capture_end || how == How::unseen; }
  [[nodiscard]] bool orderly_by(trace::Side side) const noexcept { return how == How::orderly && by == side; }
};

}  // namespace rpcrdma::referee
