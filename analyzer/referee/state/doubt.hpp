// SPDX-License-Identifier: GPL-2.0-or-later
// Why what was never seen may have been sent all the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace rpcrdma::referee {

/// Why what was never seen may have been sent all the same.
enum class Doubt : std::uint8_t {
  began_before,    ///< the capture begins in the middle of the connection
  cut_handshake,   ///< where the packets of a side begin is not known
  frames_missing,  ///< a gap
  input_lost,      ///< a file could not be read, or not to its end
  framing_lost,    ///< FPDUs can no longer be told apart
  headless,        ///< FPDUs
  cut_message,     ///< by the capture: what it named is not known
  direction,       ///< of a message cannot be told
  unrecognised,    ///< messages came before it was known what the connection carries
  bound            ///< more than is kept
};
[[nodiscard]] std::string_view text(Doubt doubt) noexcept;

}  // namespace rpcrdma::referee
