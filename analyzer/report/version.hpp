// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace rpcrdma::report {

inline constexpr std::string_view tool_name = "rpcrdma-analyzer";
inline constexpr std::string_view tool_version = "0.1.0";  ///< equal to the project's version (a test compares)

}  // namespace rpcrdma::report
