// SPDX-License-Identifier: GPL-2.0-or-later
// What a report counts of its connections: the same for copies that lack nothing, whatever order they are in.
#pragma once

#include <string>

#include "referee/facts.hpp"

namespace damage {

/// A line for each connection, sorted.
[[nodiscard]] std::string numbers(const rpcrdma::referee::Report& report);

}  // namespace damage
