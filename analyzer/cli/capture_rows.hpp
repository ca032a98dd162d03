// SPDX-License-Identifier: GPL-2.0-or-later
// The output of --each: what was said of each capture, with its name.
#pragma once

#include <string>
#include <string_view>

#include "cli/exit_status.hpp"
#include "cli/options.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

/// A path as a string of JSON; what is no UTF-8 in it becomes replacement characters.
[[nodiscard]] std::string name_in_rows(std::string_view path);
/// In hexadecimal, where that string may be several paths: it holds replacement characters. Else empty.
[[nodiscard]] std::string octets_in_rows(std::string_view path);

class CaptureRows {
 public:
  explicit CaptureRows(const Options& options)
      : format_(options.format), statistics_(options.statistics), any_(false) {}

  /// `held`: an earlier run's rows stand in front of it; `torn`: without a line end.
  [[nodiscard]] std::string opening(bool held, bool torn);
  /// `said`: of this capture alone, in the format of the run; ndjson where that is text.
  [[nodiscard]] std::string of(const std::string& path, ExitStatus status, std::string_view said);
  /// Of a capture whose analysis did not come to its end. For --resume there are no rows of it.
  [[nodiscard]] std::string broken_off(const std::string& path);
  [[nodiscard]] std::string closing() const;

 private:
  [[nodiscard]] std::string text(const std::string& path, ExitStatus status, std::string_view said) const;
  [[nodiscard]] std::string ndjson(const std::string& path, ExitStatus status, std::string_view said);
  [[nodiscard]] std::string csv(const std::string& path, std::string_view said);

  void count(const std::string& path, ExitStatus status, std::string_view said);

  Format format_;
  bool statistics_;
  bool any_;         ///< something was said already
  report::Run all_;  ///< of --statistics: what is counted
};

}  // namespace rpcrdma::cli
