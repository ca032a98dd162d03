// SPDX-License-Identifier: GPL-2.0-or-later
// What the program tells a script.
#pragma once

#include <cstdint>

namespace rpcrdma::cli {

enum class ExitStatus : std::uint8_t {
  clean = 0,     ///< nothing at or above --fail-on
  findings = 1,  ///< something at or above --fail-on
  trouble = 2,   ///< usage, or input that could not be read or is damaged
  nothing = 3,   ///< no RPC-over-RDMA, or too little of it to judge anything
};

struct Outcome {
  bool trouble = false;  ///< an input was unreadable or damaged, or the output could not be written
  bool failed = false;   ///< a finding at or above --fail-on is shown
  bool any_rpcrdma = false;
  bool judged = false;
};

[[nodiscard]] constexpr ExitStatus exit_status(const Outcome& outcome) noexcept {
  if (outcome.trouble) {
    return ExitStatus::trouble;
  }
  if (outcome.failed) {
    return ExitStatus::findings;
  }
  return outcome.any_rpcrdma && outcome.judged ? ExitStatus::clean : ExitStatus::nothing;
}

}  // namespace rpcrdma::cli
