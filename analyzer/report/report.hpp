// SPDX-License-Identifier: GPL-2.0-or-later
// Sinks for a finished report. They return text; writing it is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "referee/facts.hpp"
#include "trace/taps.hpp"

namespace rpcrdma::report {

/// The inputs of a run, as the report shows them (filled by the command line from its reader).
struct Input {
  std::string path;
  std::string format;
  std::vector<std::string> link_types;
  std::uint32_t snap_length = 0;  ///< in the file's header; 0: none, or not known
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> first_time;  ///< ns since the epoch
  std::optional<std::int64_t> last_time;
  std::uint64_t truncated_frames = 0;
  std::uint64_t dropped = 0;  ///< had no room when it was captured, so it says; 0: it does not
  struct Damaged {
    std::uint64_t offset = 0;
    std::string reason;
    bool read_on = false;  ///< what is behind it was read, too
  };
  std::optional<Damaged> damaged;

  enum class Opened : std::uint8_t { yes, no } opened = Opened::yes;  ///< no: `damaged` says why
  [[nodiscard]] bool unreadable() const noexcept { return opened == Opened::no; }
};

/// Several captures that were put together by time.
struct Taps {
  trace::TapClocks compared;            ///< empty: not measured
  std::string not_measured;             ///< why not
  std::vector<trace::TapRoute> routes;  ///< what two of them saw of the same packets
  std::size_t left_out = 0;             ///< more of these: there are too many taps

  /// Answered Calls of which both taps saw Call and Reply. Times in nanoseconds; what is neither there nor back is the
  /// peer's, with what it fetched and brought by RDMA.
  struct Calls {
    trace::Spread whole;  ///< at the tap that is nearer to the requester
    trace::Spread there;
    trace::Spread peer;
    trace::Spread back;
    struct Slowest {
      trace::FrameRef call;
      trace::FrameRef reply;
      std::string operation;  ///< empty: not known
      double whole = 0;
      double there = 0;
      double peer = 0;
      double back = 0;
    };
    std::optional<Slowest> slowest;
  } calls;
};

struct Run {
  std::vector<Input> inputs;
  referee::Report report;
  std::uint64_t frames = 0;
  std::size_t not_selected = 0;  ///< errors and warnings that were found and are not to be shown
  std::optional<Taps> taps{};    ///< of a merge
};

struct TextStyle {
  bool color = false;
  bool quiet = false;       ///< only findings
  bool verbose = false;     ///< every note, every connection in full and every procedure
  std::size_t width = 100;  ///< columns; a word that is longer than a line stands alone
};

/// `ladders` stand between the findings and the verdict.
[[nodiscard]] std::string text(const Run& run, const TextStyle& style, std::string_view ladders = {});
/// One document, schema "rpcrdma-analyzer/1". That of many connections is large: it is given away piece by piece.
using Write = std::function<void(std::string_view piece)>;
/// Has `make` append a text for each number below `count`, once, in any order and on any threads, and gives the texts
/// to `write` in the order of their numbers.
using MakeInOrder = std::function<void(
    std::size_t count, const std::function<void(std::size_t number, std::string& to)>& make, const Write& write)>;
void json(const Run& run, const Write& write, const MakeInOrder& make_in_order);
/// In this thread.
void json(const Run& run, const Write& write);
[[nodiscard]] std::string json(const Run& run);

/// The objects of the JSON document one a line, each with its "type". The first line is opening(), the last totals().
namespace ndjson {
struct Totals {
  std::uint64_t connections = 0, errors = 0, warnings = 0, notes = 0, frames = 0, rdma_messages = 0;
};
[[nodiscard]] std::string opening();
[[nodiscard]] std::string line(const Input& input);
[[nodiscard]] std::string line(const referee::ConnectionFacts& connection);
[[nodiscard]] std::string line(const referee::Finding& finding);
[[nodiscard]] std::string line(const referee::Unchecked& unchecked);
[[nodiscard]] std::string line(const referee::MountFacts& mount);
[[nodiscard]] std::string line(const referee::Verdict& verdict);
[[nodiscard]] std::string line(const Taps& taps);
[[nodiscard]] std::string line(const Totals& totals);
/// All of a run that is over.
[[nodiscard]] std::string all(const Run& run);
}  // namespace ndjson

/// The findings as a table: RFC 4180, UTF-8, with a header line. A cell that a spreadsheet would take for a formula
/// begins with an apostrophe, and so does one that begins with an apostrophe already.
[[nodiscard]] std::string csv(const Run& run);

struct JunitView {
  std::optional<referee::Severity> fail_on;  ///< findings at or above it fail their testcase; empty: none does
  std::vector<referee::RuleId> rules;        ///< those that have a testcase
};
/// For CI: one testsuite for the capture and one for each connection, in it one testcase a rule.
void junit(const Run& run, const JunitView& view, const Write& write);
[[nodiscard]] std::string junit(const Run& run, const JunitView& view);

/// The findings as counts: a line a rule ("error  bad-version  12"), then a line an input ("error  a.pcap  1 error, 2
/// notes in 846 frames"), each the worst first. `merged`: which input a frame is from is not known, they are one line.
[[nodiscard]] std::string statistics(const Run& run, bool merged);

[[nodiscard]] std::string list_rules_text(bool color);
[[nodiscard]] std::string list_rules_json();
[[nodiscard]] std::optional<std::string> explain(std::string_view rule_name, bool color, bool ascii,
                                                 std::size_t width = 100);

/// A finding in one line, as a comment on its packet.
[[nodiscard]] std::string packet_comment(const referee::Finding& finding);

/// A Wireshark display filter that shows the evidence of a finding.
[[nodiscard]] std::string display_filter(const referee::Finding& finding);

}  // namespace rpcrdma::report
