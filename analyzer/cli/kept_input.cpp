// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/kept_input.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reader/capture.hpp"

namespace rpcrdma::cli {

tl::expected<std::unique_ptr<reader::Source>, std::string> keep_standard_input(const Options& options) {
  if (std::find(options.captures.begin(), options.captures.end(), "-") == options.captures.end()) return nullptr;
  auto source = reader::Source::open("-");
  if (!source) return tl::unexpected(std::move(source).error());
  if (auto kept = reader::keep_capture(**source); !kept) return tl::unexpected(std::move(kept).error());
  if (const std::string& why = (*source)->not_kept(); !why.empty()) {
    return tl::unexpected(fmt::format("{}: {}", (*source)->name(), why));
  }
  return std::move(*source);
}

}  // namespace rpcrdma::cli
