// SPDX-License-Identifier: GPL-2.0-or-later
// Sinks for a finished report. They return text; writing it is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::report {

/// The inputs of a run, as the report shows them (filled by the command line from its reader).
struct Input {
  std::string path;
  std::string format;
  std::vector<std::string> link_types;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> first_time;  ///< ns since the epoch
  std::optional<std::int64_t> last_time;
  std::uint64_t truncated_frames = 0;
  struct Damaged {
    std::uint64_t offset = 0;
    std::string reason;
  };
  std::optional<Damaged> damaged;
};

struct Run {
  std::vector<Input> inputs;
  referee::Report report;
  std::uint64_t frames = 0;
};

struct TextStyle {
  bool color = false;
  bool quiet = false;    ///< only findings
  bool verbose = false;  ///< every note and every procedure
};

/// `ladders` stand between the findings and the verdict.
[[nodiscard]] std::string text(const Run& run, const TextStyle& style, std::string_view ladders = {});
[[nodiscard]] std::string json(const Run& run);  ///< one document, schema "rpcrdma-analyzer/1"

[[nodiscard]] std::string list_rules_text(bool color);
[[nodiscard]] std::string list_rules_json();
[[nodiscard]] std::optional<std::string> explain(std::string_view rule_name, bool color, bool ascii);

/// A Wireshark display filter that shows the evidence of a finding.
[[nodiscard]] std::string display_filter(const referee::Finding& finding);

}  // namespace rpcrdma::report
