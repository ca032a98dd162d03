// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "report/quantity.hpp"

namespace rpcrdma::report {
namespace {

std::string judgement(const Run& run, const Tally& tally) {
  const bool about_mount = !run.report.verdict.sentence.empty();
  const auto connections = static_cast<std::uint64_t>(run.report.connections.size());
  if (!run.report.any_rpcrdma && !about_mount) {
    return fmt::format("No RPC-over-RDMA found in {}", counted(run.frames, "frame"));
  }
  // Attempts to connect may be all there is of a mount.
  const auto mounts = static_cast<std::uint64_t>(run.report.mounts.size());
  const std::string where =
      connections == 0 && about_mount ? counted(mounts, "mount") : counted(connections, "connection");
  if (tally.errors == 0 && tally.warnings == 0) {
    if (!run.report.judged) return fmt::format("The capture is too incomplete to judge anything in {}", where);
    const std::string_view selected = run.not_selected == 0 ? "" : "of the selected kind ";
    // The mount may be dead all the same.
    if (about_mount) return fmt::format("No error and no warning {}in {}", selected, where);
    return fmt::format("No violations {}found in {}", selected, where);
  }
  if (tally.warnings == 0) return fmt::format("{} found in {}", counted(tally.errors, "error"), where);
  if (tally.errors == 0) return fmt::format("{} found in {}", counted(tally.warnings, "warning"), where);
  return fmt::format("{} and {} found in {}", counted(tally.errors, "error"), counted(tally.warnings, "warning"),
                     where);
}

/// Where a finding stands in the capture; one that belongs to no frame stands behind all others.
std::uint64_t first_frame(const referee::Finding& f) { return f.frames.empty() ? UINT64_MAX : f.frames.front(); }

}  // namespace

std::vector<std::size_t> by_place(const referee::PackedList<referee::Finding>& findings) {
  std::vector<std::pair<std::uint64_t, std::size_t>> places;
  places.reserve(findings.size());
  for (const auto& finding : findings) places.emplace_back(first_frame(finding), places.size());
  std::sort(places.begin(), places.end());
  std::vector<std::size_t> ordered;
  ordered.reserve(places.size());
  for (const auto& [frame, index] : places) ordered.push_back(index);
  return ordered;
}

void Tally::add(const referee::Finding& finding) noexcept {
  switch (finding.severity) {
    case referee::Severity::error:
      ++errors;
      break;
    case referee::Severity::warning:
      ++warnings;
      break;
    case referee::Severity::note:
      ++notes;
      break;
  }
}

Tally count(const referee::PackedList<referee::Finding>& findings) {
  Tally tally;
  for (const auto& finding : findings) tally.add(finding);
  return tally;
}

bool suffers(referee::MountFacts::State state) noexcept {
  using State = referee::MountFacts::State;
  return state == State::never_up || state == State::down || state == State::waiting;
}

std::string verdict(const Run& run) {
  const Tally tally = count(run.report.findings);
  std::string sentence = judgement(run, tally);
  if (tally.notes != 0) sentence += "; " + counted(tally.notes, "note");
  if (run.not_selected != 0) sentence += fmt::format("; {} more found, but not selected", grouped(run.not_selected));
  std::set<referee::RuleId> unchecked;
  for (const referee::Unchecked& one : run.report.unchecked) unchecked.insert(one.rule);
  if (!unchecked.empty() && run.report.judged) {
    sentence += fmt::format("; {} could not be checked everywhere", counted(unchecked.size(), "rule"));
  }
  bool damaged = false;
  bool in_part = false;
  bool dropped = false;
  std::size_t unreadable = 0;
  for (const Input& input : run.inputs) {
    if (input.unreadable()) {
      ++unreadable;
      continue;
    }
    damaged = damaged || input.damaged;
    dropped = dropped || input.dropped != 0;
    in_part = in_part || (input.damaged && !input.damaged->read_on);
  }
  if (unreadable != 0) sentence += fmt::format("; {} could not be read at all", counted(unreadable, "capture"));
  if (damaged) sentence += in_part ? "; the input is damaged and was read only in part" : "; the input is damaged";
  if (dropped) sentence += "; the input lacks frames that had no room when it was captured";
  return sentence + ".";
}

}  // namespace rpcrdma::report
