// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, times and lists as a person reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "referee/docket/counted.hpp"
#include "referee/facts.hpp"

namespace rpcrdma::report {

/// Seconds since the epoch with nanoseconds: "1764900000.123456789". Also right before the epoch.
[[nodiscard]] std::string decimal_seconds(trace::TimeNs time);

/// "2025-12-05 02:00:00.123456 UTC"
[[nodiscard]] std::string calendar(trace::TimeNs time);

using referee::grouped;

/// "1 frame", "2 frames", "1,024 octets"
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

using referee::duration;

/// How long the oldest of them waited: "2.10 s"
[[nodiscard]] std::string waited(const referee::Waiting& waiting);

/// "12, 13, 15 and 4 more": at most `limit` of the numbers
[[nodiscard]] std::string listed(const std::vector<std::uint64_t>& numbers, std::size_t limit);

/// "connection 3", "connections 3 to 202", "connections 1, 4, 9 and 2 more": at most `limit` of those that leave gaps.
/// `numbers` ascend.
[[nodiscard]] std::string numbered(std::string_view noun, const std::vector<std::uint32_t>& numbers, std::size_t limit);

[[nodiscard]] std::string xid(std::uint32_t value);  ///< "0x08ea8cef"

/// Time of the capture's first frame, where it has one.
using Epoch = std::optional<trace::TimeNs>;

/// "frame 12, +1.234567 s": seconds since the capture's first frame where that is known.
[[nodiscard]] std::string place(const trace::FrameRef& frame, Epoch epoch);

}  // namespace rpcrdma::report
