// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers as the page gets them: what page/data.js reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rpcrdma::report::page {

/// One number when all values are the same (0 for none); else the shorter of a list and, of few different values,
/// ["letters","STRING",v0,v1,...]: character i of the string stands for the value of row i, the first letter for v0.
[[nodiscard]] std::string column_json(const std::vector<std::int64_t>& values);

}  // namespace rpcrdma::report::page
