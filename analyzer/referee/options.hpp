// SPDX-License-Identifier: GPL-2.0-or-later
// What whoever starts a referee may choose.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

enum class Profile : std::uint8_t { automatic, rfc8166, reliable_reply };

struct Options {
  Profile profile = Profile::automatic;
  TimeNs pull_timeout = 60'000'000'000;
  TimeNs wait = 5'000'000'000;  ///< the shortest wait that is a symptom
  std::vector<std::uint16_t> service_ports{wire::nfs_port};
  /// It has a share of a capture's connections: there are others, and each has a part of the room.
  bool share = false;
  /// For tests: a referee that does not know this rule. Whoever checks the referee has to notice.
  std::optional<RuleId> without;
};

}  // namespace rpcrdma::referee
