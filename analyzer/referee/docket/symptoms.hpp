// SPDX-License-Identifier: GPL-2.0-or-later
// How the rules of group N speak: of a mount, accusing nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "referee/docket/witness.hpp"
#include "referee/state/nameless.hpp"

namespace rpcrdma::referee {

struct Symptom {
  std::vector<FrameRef> frames;           ///< where it shows first, then the evidence; number 0: left out
  std::vector<ConnectionId> connections;  ///< where it was seen; the first one leads. Empty: on none
  Owes owes = Owes::unknown;              ///< who has to move
  std::optional<std::uint32_t> xid;
  std::uint64_t times = 1;
  Severity at_most = Severity::error;
  std::string what;
};

struct MountWitness {
  Context& context;
  std::optional<EndNames> nameless = {};  ///< which end is the client is not known: what to call them

  void say(RuleId rule, Symptom symptom) const;
  /// "Not checked because ...": once for each rule and connection.
  void unchecked(RuleId rule, ConnectionId connection, std::string_view why) const;
};

}  // namespace rpcrdma::referee
