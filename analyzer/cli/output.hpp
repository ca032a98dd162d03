// SPDX-License-Identifier: GPL-2.0-or-later
// Standard output and standard error.
#pragma once

#include <string>
#include <string_view>

namespace rpcrdma::cli {

/// False: it could not be written, and that was said. A reader that went away is no fault of anybody.
[[nodiscard]] bool print(std::string_view text);

/// One line on standard error, after the program's name.
void complain(std::string_view line) noexcept;

}  // namespace rpcrdma::cli
