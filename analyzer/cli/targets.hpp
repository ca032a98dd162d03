// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a run writes beside standard output (--html, --annotate, --sanitize): where they must not be, and the
// page.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "annotate/output_file.hpp"
#include "cli/options.hpp"

namespace rpcrdma::cli {

/// Why one of them must not be written where it is to be: over what is read, over each other, over a file of another
/// kind. One line for a person; empty: they may.
[[nodiscard]] std::string refused_target(const Options& options);

/// The page of --html. A file appears when it is complete, or not at all; a device or a pipe is written to as it is.
class PageFile {
 public:
  /// Makes sure that it can be written, before hours are spent on a capture. The error is one line for a person.
  [[nodiscard]] static tl::expected<PageFile, std::string> create(const std::string& path);
  [[nodiscard]] tl::expected<void, std::string> write(std::string_view text);

 private:
  PageFile(std::string path, std::optional<annotate::OutputFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::optional<annotate::OutputFile> file_;  ///< empty: no regular file
};

}  // namespace rpcrdma::cli
