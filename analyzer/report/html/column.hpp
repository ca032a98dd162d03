// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers as the page gets them: what page/data.js reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rpcrdma::report::page {

/// The shortest of three forms: one number when all values are the same (0 for none); a list; or, of few different
/// values,
/// ["letters","STRING",v0,v1,...], where character i of the string stands for the value of row i. The first letter is
/// v0.
[[nodiscard]] std::string column_json(const std::vector<std::int64_t>& values);

}  // namespace rpcrdma::report::page
