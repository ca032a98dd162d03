// SPDX-License-Identifier: GPL-2.0-or-later
// When in a run over a capture something was said. What several say, each of a part of the connections, is put into
// one order by it: the one in which a single one would have said it.
#pragma once

#include <compare>
#include <cstdint>

namespace rpcrdma::trace {

struct Moment {
  /// While frames come, or one of the steps at the end, in their order.
  enum class Step : std::uint8_t {
    frame,                 ///< place: its number
    infiniband_pairs,      ///< place: first frame of what is paired
    infiniband_announced,  ///< place: its first frame
    infiniband_over,       ///< place: when the connection was opened, in order()
    iwarp_open,            ///< place: frame that opened the stream
    iwarp_pending,         ///< place: its first frame
    iwarp_over,            ///< place: frame that ended it
    nfs_over_tcp,          ///< place: 0
    connections_over,      ///< place: the connection
    connections_facts,     ///< place: the connection
    mounts,                ///< place: the mount
  };
  Step step = Step::frame;
  std::uint64_t place = 0;
  std::uint64_t behind = 0;  ///< by how much behind that; of a frame: what time alone did before the next one came

  /// Itself, where nothing is behind it, as a place among others of all steps.
  [[nodiscard]] constexpr std::uint64_t order() const noexcept {
    return static_cast<std::uint64_t>(step) << 56U | (place & ((std::uint64_t{1} << 56U) - 1));
  }

  // clang-tidy 14 takes the comparison's hidden 0 for a pointer.
  friend auto operator<=>(const Moment&, const Moment&) = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace rpcrdma::trace
