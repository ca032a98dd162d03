// SPDX-License-Identifier: GPL-2.0-or-later
// The report a person reads: what happened to the mounts, the captures, findings worst first, connections, what was not
// checked, and what was found in one sentence at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "report/connection_list.hpp"
#include "report/input_order.hpp"
#include "report/layout.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"
#include "report/text_findings.hpp"
#include "report/text_mount.hpp"
#include "report/text_taps.hpp"

namespace rpcrdma::report {
namespace {

Epoch first_time(const Run& run) {
  Epoch first;
  for (const auto& input : run.inputs) {
    if (input.first_time && (!first || *input.first_time < *first)) first = input.first_time;
  }
  return first;
}

void input_block(Page& page, const Input& input) {
  std::string facts = input.format;
  for (const auto& link : input.link_types) facts += ", " + link;
  fmt::format_to(std::back_inserter(facts), ", {}, {}", counted(input.frames, "frame"), counted(input.bytes, "octet"));
  page.line(printable(input.path), Ink::bold);
  page.field("capture", facts);
  if (input.first_time && input.last_time) {
    const double span = (static_cast<double>(*input.last_time) - static_cast<double>(*input.first_time)) / 1e3;
    page.field("from", fmt::format("{}, for {}", calendar(*input.first_time), duration(span)));
  }
  if (input.truncated_frames != 0) {
    page.field("cut", fmt::format("{} cut short by the snap length", counted(input.truncated_frames, "frame")));
  }
  if (input.dropped != 0) {
    page.field("DROPPED", fmt::format("{} or more had no room when they were captured, so the file says",
                                      counted(input.dropped, "frame")));
  }
  if (input.damaged && input.frames == 0 && input.damaged->offset == 0) {
    page.field("NOT READ", input.damaged->reason);
  } else if (input.damaged) {
    page.field("DAMAGED",
               fmt::format("at octet {}: {}. {} was analysed.", grouped(input.damaged->offset), input.damaged->reason,
                           input.damaged->read_on ? "The rest" : "What stands before it"));
  }
}

/// A ring buffer has many files: those in the middle that are whole are counted only.
void inputs_block(Page& page, const Run& run, const TextStyle& style) {
  constexpr std::size_t most = 4;
  const std::size_t all = run.inputs.size();
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const Input& input = run.inputs[i];
    const bool shown = style.verbose || all <= most || i + 1 < most || i + 1 == all || input.damaged;
    if (shown) {
      input_block(page, input);
    } else {
      ++left;
    }
  }
  if (left != 0) page.line(fmt::format("and {} (-v shows each)", counted(left, "further capture")));
  if (run.taps) return;
  if (const std::string order = out_of_order(run.inputs); !order.empty()) page.field("ORDER", order);
}

}  // namespace

std::string text(const Run& run, const TextStyle& style, std::string_view ladders) {
  Page page(style.color, style.width);
  const Epoch epoch = first_time(run);
  if (style.quiet) {
    findings_block(page, run, style, epoch);
    std::string out = page.take();
    out += ladders;
    out.erase(0, out.find_first_not_of('\n'));  // blocks are parted by an empty line before each
    return out;
  }
  sentence_block(page, run);
  mounts_block(page, run, style, epoch);
  if (!run.report.verdict.sentence.empty() || !run.report.mounts.empty()) page.line();
  inputs_block(page, run, style);
  taps_block(page, run, style, epoch);
  findings_block(page, run, style, epoch);
  connections_block(page, run, style, epoch);
  unchecked_block(page, run);
  page.drawn(ladders);
  const Tally tally = count(run.report.findings);
  Ink ink = Ink::green;
  if (tally.warnings != 0 || !run.report.judged) ink = Ink::yellow;
  if (tally.errors != 0 || suffers(run.report.verdict.state)) ink = Ink::red;
  page.line();
  page.line(verdict(run), ink);
  return page.take();
}

}  // namespace rpcrdma::report
