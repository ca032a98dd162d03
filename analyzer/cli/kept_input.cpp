// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/kept_input.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reader/capture.hpp"

namespace rpcrdma::cli {

tl::expected<std::unique_ptr<reader::Source>, std::string> keep_standard_input(const Options& options) {
  if (std::find(options.captures.begin(), options.captures.end(), "-") == options.captures.end()) return nullptr;
  const auto refusal = [](const std::string& why) { return tl::unexpected(fmt::format("standard input: {}", why)); };
  auto source = reader::Source::open("-");
  if (!source) return refusal(source.error());
  if (const auto kept = reader::keep_capture(**source); !kept) return refusal(kept.error());
  if (const std::string& why = (*source)->not_kept(); !why.empty()) return refusal(why);
  return std::move(*source);
}

}  // namespace rpcrdma::cli
