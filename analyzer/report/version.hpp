// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace rpcrdma::report {

inline constexpr std::string_view tool_name = "rpcrdma-analyzer";
extern const std::string_view tool_version;  ///< CMakeLists.txt says it, once for all

}  // namespace rpcrdma::report
