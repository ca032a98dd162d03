// SPDX-License-Identifier: GPL-2.0-or-later
// Sequence numbers behind a change: without this a packet that was made longer, added or left out would look like a
// repetition or a hole, and what follows would be judged as such.
#pragma once

#include <cstdint>
#include <span>

#include "records.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::fuzz {

/// What lies before the later packets of a direction and did not before; negative: no longer does.
struct Shift {
  std::int32_t octets = 0;   ///< TCP
  std::int32_t packets = 0;  ///< InfiniBand
  bool also_equal = false;   ///< packets with the number of the changed one, too
};

/// Of the packets in `later`: those that go the way of `changed` are numbered anew, those that answer acknowledge that.
void renumber(trace::LinkType link, const Record& changed, std::span<Record> later, Shift shift);

}  // namespace rpcrdma::fuzz
