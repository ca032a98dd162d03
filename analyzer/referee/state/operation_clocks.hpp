// SPDX-License-Identifier: GPL-2.0-or-later
// How long the operations of a mount took, by their names. Where nobody is connected any more, few values are kept as a
// row of octets: a capture may hold thousands of such mounts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/packed/octets.hpp"
#include "referee/state/latency.hpp"

namespace rpcrdma::referee {

/// The parts of the time of one kind of operation.
struct OperationClock {
  std::uint64_t octets = 0;
  LatencyHistogram plain;  ///< Calls whose time is the server's alone: most
  struct InParts {
    LatencyHistogram whole, pull, server, push;
  };
  std::unique_ptr<InParts> in_parts;  ///< the others; null: there are none

  void add(const CallTimes& times);
};

class OperationClocks {
 public:
  static constexpr std::size_t most_operations = 256;

  /// By where its name stands, which never moves; null: it is not known by that.
  [[nodiscard]] OperationClock* known(const char* name) noexcept;
  /// `never_moves`: that is the name's place; null: it has none. Null: there are too many of them.
  [[nodiscard]] OperationClock* named(std::string&& name, const char* never_moves);
  /// Nobody is connected: takes less room until the next Call is counted.
  void rest();
  /// By name.
  [[nodiscard]] const std::map<std::string, OperationClock, std::less<>>& all();

 private:
  /// More are left as they are: whoever connects again and again would have them packed each time.
  static constexpr std::size_t most_at_rest = 512;

  void wake();

  std::map<std::string, OperationClock, std::less<>> clocks_;
  /// The same by where their names stand: most operations have one that never moves.
  std::vector<std::pair<const char*, OperationClock*>> by_place_;
  PackedOctets packed_;
};

}  // namespace rpcrdma::referee
