// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/version.hpp"

namespace rpcrdma::report {

constinit const std::string_view tool_version = RPCRDMA_VERSION;

}  // namespace rpcrdma::report
