// SPDX-License-Identifier: GPL-2.0-or-later
// --sanitize: the captures of a run again, without anybody's data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "annotate/output_file.hpp"
#include "cli/options.hpp"
#include "referee/observer.hpp"
#include "report/report.hpp"
#include "sanitize/messages.hpp"
#include "sanitize/places.hpp"
#include "sanitize/pseudonyms.hpp"
#include "trace/link/open_frame.hpp"

namespace rpcrdma::cli {

class Sanitizing {
 public:
  /// Makes sure that the file can be written and reads the key. The error is one line for a person.
  [[nodiscard]] static tl::expected<Sanitizing, std::string> prepare(const Options& options);

  /// To stand between the trace and the referee, and to be the referee's observer.
  [[nodiscard]] sanitize::Messages& messages() noexcept { return inside_->messages; }
  /// Each packet of the first reading, before the trace gets it.
  void note(const trace::Frame& frame);

  /// Reads the inputs again, writes the copy, and makes sure that its report is that of the original. `run`: what is
  /// shown of the first reading. `standard_input`: where that can be read.
  [[nodiscard]] tl::expected<void, std::string> write(const Options& options, const report::Run& run,
                                                      const std::string& standard_input);

 private:
  struct Inside {
    explicit Inside(sanitize::Key key) : pseudonyms(std::move(key)), messages(places, pseudonyms) {}
    sanitize::Pseudonyms pseudonyms;
    sanitize::Places places;
    sanitize::Messages messages;
    trace::Opened opened;
    trace::Fragments fragments;
  };

  Sanitizing(annotate::OutputFile file, sanitize::Key key)
      : file_(std::move(file)), inside_(std::make_unique<Inside>(std::move(key))) {}
  [[nodiscard]] tl::expected<void, std::string> copy(const Options& options, const report::Run& run,
                                                     const std::string& standard_input);
  [[nodiscard]] tl::expected<void, std::string> check(const Options& options, const report::Run& run);

  annotate::OutputFile file_;
  std::uint64_t losses_ = 0;  ///< places where the copy says that something is missing
  std::unique_ptr<Inside> inside_;
};

}  // namespace rpcrdma::cli
