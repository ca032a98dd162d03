// SPDX-License-Identifier: GPL-2.0-or-later
// --annotate: the captures of a run again, with what was found as comments.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "annotate/output_file.hpp"
#include "cli/options.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

class Annotation {
 public:
  /// Makes sure that the file can be written. The error is one line for a person. Whether it may be written where it is
  /// to be is refused_target()'s to say.
  [[nodiscard]] static tl::expected<Annotation, std::string> prepare(const Options& options);

  /// Reads the inputs again and writes the file. `run`: what is shown of the first reading. `standard_input`: where
  /// that can be read; empty: it is no input.
  [[nodiscard]] tl::expected<void, std::string> write(const Options& options, const report::Run& run,
                                                      const std::string& standard_input);

 private:
  explicit Annotation(annotate::OutputFile file) : file_(std::move(file)) {}

  annotate::OutputFile file_;
};

}  // namespace rpcrdma::cli
