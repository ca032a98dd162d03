// SPDX-License-Identifier: GPL-2.0-or-later
// --format ndjson while the capture is still being read: nothing is kept but counts.
#pragma once

#include <cstdint>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "referee/observer.hpp"
#include "report/report.hpp"

namespace rpcrdma::cli {

/// Prints what it is told, as far as it was asked for.
class Stream final : public referee::Listener {
 public:
  explicit Stream(const Options& options) : options_(options) {}

  void finding(const referee::Finding& finding) override;
  void connection(const referee::ConnectionFacts& connection) override;
  void unchecked(const referee::Unchecked& unchecked) override;
  /// What is known only at the end: inputs and totals.
  void finish(const report::Run& run);

  /// Connections of the capture, shown or not; and how many were shown.
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
  [[nodiscard]] std::uint64_t shown() const noexcept { return totals_.connections; }
  /// A finding that was shown makes the exit status 1.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// It could not be written, and that was said.
  [[nodiscard]] bool broken() const noexcept { return written_ == Printed::failed; }
  /// Nobody reads any more.
  [[nodiscard]] bool unread() const noexcept { return written_ == Printed::unread; }

 private:
  void put(const std::string& line);

  const Options& options_;
  report::ndjson::Totals totals_;
  std::uint64_t connections_ = 0;
  bool opened_ = false;
  bool failed_ = false;
  Printed written_ = Printed::whole;
};

}  // namespace rpcrdma::cli
