// SPDX-License-Identifier: GPL-2.0-or-later
// Standard output and standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rpcrdma::cli {

enum class Printed : std::uint8_t {
  whole,
  unread,  ///< whoever was to read it has gone: no fault of anybody
  failed   ///< it could not be written, and that was said
};
[[nodiscard]] Printed print_out(std::string_view text);
/// For what is written once: false when it failed.
[[nodiscard]] bool print(std::string_view text);

/// One line on standard error, after the program's name.
void complain(std::string_view line) noexcept;

}  // namespace rpcrdma::cli
