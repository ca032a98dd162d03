// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/findings_by_frame.hpp"

namespace rpcrdma::journal {

namespace {

const FindingsByFrame::Indices nothing_told;

}  // namespace

void FindingsByFrame::add(const referee::Finding& finding, std::uint32_t index) {
  if (finding.frames.empty()) return;
  const std::uint64_t primary = finding.frames.front();
  tell_of(primary_, primary, index);
  for (const std::uint64_t frame : finding.frames) {
    if (frame != primary) tell_of(evidence_, frame, index);
  }
}

void FindingsByFrame::clear() {
  primary_.clear();
  evidence_.clear();
  told_of_.clear();
}

void FindingsByFrame::tell_of(ByFrame& where, std::uint64_t frame, std::uint32_t finding) {
  where[static_cast<std::uint32_t>(frame)].push_back(finding);
  if (frame >= told_of_.size()) told_of_.resize(static_cast<std::size_t>(frame) + 1);
  told_of_[static_cast<std::size_t>(frame)] = true;
}

const FindingsByFrame::Indices& FindingsByFrame::in(const ByFrame& where, std::uint32_t frame) const noexcept {
  if (frame >= told_of_.size() || !told_of_[frame]) return nothing_told;
  const auto at = where.find(frame);
  return at == where.end() ? nothing_told : at->second;
}

}  // namespace rpcrdma::journal
