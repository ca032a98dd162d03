// SPDX-License-Identifier: GPL-2.0-or-later
// Standard input for more than one reading.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "cli/options.hpp"
#include "reader/source.hpp"

namespace rpcrdma::cli {

/// Keeps standard input where it is one of the captures; null where it is none. reopen_path() is where it can be read
/// from. The error is one line for a person.
[[nodiscard]] tl::expected<std::unique_ptr<reader::Source>, std::string> keep_standard_input(const Options& options);

}  // namespace rpcrdma::cli
