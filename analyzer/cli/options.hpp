// SPDX-License-Identifier: GPL-2.0-or-later
// The command line: what was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "cli/exit_status.hpp"
#include "referee/referee.hpp"
#include "referee/rules/table.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::cli {

enum class Action : std::uint8_t { analyse, list_rules, explain_rule };
enum class Format : std::uint8_t { text, json, ndjson, csv, junit };
enum class Color : std::uint8_t { automatic, always, never };

struct Options {
  Action action = Action::analyse;
  std::vector<std::string> captures;  ///< in the order given; "-" is standard input
  bool merge = false;
  bool each = false;        ///< every capture is a trace of its own
  std::string resume;       ///< of --each: what an earlier run wrote; empty: nothing
  std::size_t threads = 0;  ///< 0: as many as there are processors
  Format format = Format::text;
  std::string html;          ///< file to write the page to; empty: none
  std::string annotate;      ///< file to write; empty: none
  std::string sanitize;      ///< file to write; empty: none
  std::string sanitize_key;  ///< file to read; empty: a key that nobody knows
  Color color = Color::automatic;
  bool quiet = false;
  bool verbose = false;
  bool progress = true;
  bool statistics = false;  ///< counts instead of the report
  bool ladder = false;
  std::optional<std::size_t> ladder_rows;  ///< of one connection
  std::string rule_to_explain;

  referee::Profile profile = referee::Profile::automatic;
  trace::TimeNs pull_timeout = 60'000'000'000;
  trace::TimeNs wait = 5'000'000'000;
  std::vector<std::uint16_t> service_ports{wire::nfs_port};
  bool check_crc = false;
  std::optional<referee::RuleId> without;  ///< for tests: the referee does not know this rule

  // What is shown, and counts for the exit status
  std::vector<referee::RuleId> only_rules;
  std::vector<referee::RuleId> hidden_rules;
  referee::Severity least = referee::Severity::note;
  std::optional<trace::ConnectionId> connection;
  std::optional<referee::Severity> fail_on = referee::Severity::warning;  ///< empty: never
};

/// Nothing to analyse: what to print instead, and how to end.
struct Stop {
  ExitStatus status = ExitStatus::clean;
  std::string output;  ///< for standard output, complete
  std::string error;   ///< for standard error: one line, without the program's name and line end
};

/// At least 1.
[[nodiscard]] std::size_t threads(const Options& options) noexcept;

[[nodiscard]] tl::expected<Options, Stop> parse(int argc, const char* const* argv);

/// The rule whose name is most like `name`, for a person who mistyped it; empty when none is much like it.
[[nodiscard]] std::string_view nearest_rule(std::string_view name);

}  // namespace rpcrdma::cli
