// SPDX-License-Identifier: GPL-2.0-or-later
// The report as one page for a browser: complete in itself, opened from disk, asking nobody for anything.
#pragma once

#include <cstddef>
#include <string>

#include "referee/forwarding.hpp"
#include "report/ladder.hpp"
#include "report/report.hpp"
#include "report/series.hpp"

namespace rpcrdma::report {

/// Hears what the referee tells while the capture is read, for the page.
class PageRecorder final : public referee::Forwarding {
 public:
  PageRecorder() { hand_on_to(&ladder); }
  PageRecorder(const PageRecorder&) = delete;
  PageRecorder& operator=(const PageRecorder&) = delete;
  ~PageRecorder() override = default;

  Ladder ladder;
  Series series;

  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override {
    Forwarding::message(connection, seen);
    series.message(connection, seen);
  }
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override {
    Forwarding::operation(connection, seen);
    series.operation(connection, seen);
  }
};

/// How much the page holds; what is over is counted on it. Whatever is found counts in its totals.
struct PageLimits {
  std::size_t connections = 200;
  std::size_t findings = 2000;
  std::size_t unchecked = 1000;
  std::size_t octets = 480U << 10U;  ///< of messages, all together: those of findings first
  std::size_t segments = 30'000;
};

/// The page, UTF-8. Settles the recorder's ladder.
[[nodiscard]] std::string html(const Run& run, PageRecorder& recorder, const PageLimits& limits = {});

}  // namespace rpcrdma::report
