// SPDX-License-Identifier: GPL-2.0-or-later
// --statistics: how often which rule, and which input has how many findings.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"

namespace rpcrdma::report {
namespace {

using referee::Finding;
using referee::Severity;

struct Line {
  std::string_view worst;  ///< "error" .. "note"; of an input also "damaged", "clean"
  std::string what;
  std::string how_much;
};

/// Columns under each other.
[[nodiscard]] std::string as_table(const std::vector<Line>& lines) {
  std::size_t longest = 0;
  for (const Line& line : lines) longest = std::max(longest, width(line.what));
  std::string out;
  for (const Line& line : lines) {
    fmt::format_to(std::back_inserter(out), "{:<8} {}{}  {}\n", line.worst, line.what,
                   std::string(longest - width(line.what), ' '), line.how_much);
  }
  return out;
}

[[nodiscard]] std::vector<Line> of_rules(const referee::PackedList<Finding>& findings) {
  struct Count {
    Severity worst = Severity::note;
    std::uint64_t times = 0;
  };
  std::map<referee::RuleId, Count> counts;
  for (const Finding& finding : findings) {
    Count& count = counts[finding.rule];
    count.worst = std::max(count.worst, finding.severity);
    count.times += finding.occurrences;
  }
  std::vector<std::pair<referee::RuleId, Count>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second.worst, a.second.times) > std::tuple(b.second.worst, b.second.times);
  });
  std::vector<Line> lines;
  lines.reserve(order.size());
  for (const auto& [id, count] : order) {
    lines.push_back({referee::text(count.worst), std::string(referee::rule(id).name), grouped(count.times)});
  }
  return lines;
}

struct Share {
  std::string path;
  std::uint64_t frames = 0;
  bool damaged = false;
  Tally found;
};

[[nodiscard]] std::vector<Share> shares(const Run& run, bool merged) {
  std::vector<Share> out;
  if (merged) {
    out.push_back({counted(run.inputs.size(), "capture") + ", merged", run.frames, false, count(run.report.findings)});
    for (const Input& input : run.inputs) out.front().damaged = out.front().damaged || input.damaged;
    return out;
  }
  std::vector<std::uint64_t> last;  // frame of each input
  for (const Input& input : run.inputs) {
    last.push_back((last.empty() ? 0 : last.back()) + input.frames);
    out.push_back({printable(input.path), input.frames, input.damaged.has_value(), {}});
  }
  if (out.empty()) return out;
  for (const Finding& finding : run.report.findings) {
    // What belongs to no frame is about the whole: it is counted where the trace begins.
    const std::uint64_t frame = finding.frames.empty() ? 1 : finding.frames.front();
    const auto at = std::lower_bound(last.begin(), last.end(), frame);
    const auto input = static_cast<std::size_t>(std::min<std::ptrdiff_t>(at - last.begin(), std::ssize(last) - 1));
    out[input].found.add(finding);
  }
  return out;
}

[[nodiscard]] std::string_view worst(const Tally& tally, bool damaged) {
  if (damaged) return "damaged";
  if (tally.errors != 0) return "error";
  if (tally.warnings != 0) return "warning";
  return tally.notes != 0 ? "note" : "clean";
}

[[nodiscard]] std::vector<Line> of_inputs(std::vector<Share> all) {
  const auto rank = [](const Share& share) {
    return std::tuple(share.damaged, share.found.errors, share.found.warnings, share.found.notes);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Share& a, const Share& b) { return rank(a) > rank(b); });
  std::vector<Line> lines;
  for (const Share& share : all) {
    const Tally& tally = share.found;
    lines.push_back({worst(tally, share.damaged), share.path,
                     fmt::format("{}, {}, {} in {}", counted(tally.errors, "error"), counted(tally.warnings, "warning"),
                                 counted(tally.notes, "note"), counted(share.frames, "frame"))});
  }
  return lines;
}

}  // namespace

std::string statistics(const Run& run, bool merged) {
  std::string out = as_table(of_rules(run.report.findings));
  if (!out.empty()) out += '\n';
  return out + as_table(of_inputs(shares(run, merged)));
}

}  // namespace rpcrdma::report
