// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace rpcrdma::report {

/// Files are read in the order in which they are named; `cap10` stands in front of `cap2` then, and what two taps saw
/// at the same time one behind the other. What is wrong with the order and what to do, for a person; empty: each begins
/// behind the one in front of it.
[[nodiscard]] std::string out_of_order(const std::vector<Input>& inputs);

}  // namespace rpcrdma::report
