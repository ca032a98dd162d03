// SPDX-License-Identifier: GPL-2.0-or-later
// --annotate: the captures of a run again, with what was found as comments.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "annotate/output_file.hpp"
#include "cli/options.hpp"
#include "reader/source.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

class Annotation {
 public:
  /// Makes sure that the file can be written, and keeps standard input for a second reading. The error is one line for
  /// a person. Whether it may be written where it is to be is refused_target()'s to say.
  [[nodiscard]] static tl::expected<Annotation, std::string> prepare(const Options& options);

  /// Where standard input can be read from now; empty: it is no input.
  [[nodiscard]] std::string standard_input() const { return kept_ ? kept_->reopen_path() : std::string(); }

  /// Reads the inputs again and writes the file. `run`: what is shown of the first reading.
  [[nodiscard]] tl::expected<void, std::string> write(const Options& options, const report::Run& run);

 private:
  explicit Annotation(annotate::OutputFile file) : file_(std::move(file)) {}

  annotate::OutputFile file_;
  std::unique_ptr<reader::Source> kept_;
};

}  // namespace rpcrdma::cli
