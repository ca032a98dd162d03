// SPDX-License-Identifier: GPL-2.0-or-later
// What may explain the end of a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/state/side_names.hpp"

namespace rpcrdma::referee {

/// What may explain the end of the connection; the newest decisive one wins.
struct Suspect {
  RuleId rule = RuleId::connection_lost;
  bool proven = false;
  std::optional<Side> culprit;
  std::vector<std::uint64_t> frames;
  std::string message;
  Closed::How how = Closed::How::nak;
  FrameRef refused;                  ///< the first of `frames`, when it is a Send that was refused
  std::optional<std::uint32_t> xid;  ///< of that
  FrameRef frame;
  std::optional<Party> by;
  std::uint64_t refused_ordinal = 0;  ///< RNR: no longer a suspect once this Send of `sender`, which was refused or
                                      ///< stands behind it, is acknowledged
  Side sender = Side::active;
  HeldFinding finding;          ///< an error (no Receive) when this is what ended the connection, else nobody's (NAK)
  std::uint64_t completed = 0;  ///< transactions answered by then: what goes on afterwards was not ended by it
  std::uint64_t gaps = 0;       ///< gaps of both sides by then
};

}  // namespace rpcrdma::referee
