// SPDX-License-Identifier: GPL-2.0-or-later
#include "damage/judgements.hpp"

#include "damage/numbers.hpp"
#include "playback/verdict.hpp"

namespace damage {
namespace {

Judgement judged(const playback::Take& take, Judgements::Asks what) {
  const rpcrdma::referee::Report report = playback::judge(take);
  Judgement judgement;
  if (what == Judgements::Asks::numbers_too) judgement.numbers = numbers(report);
  for (const rpcrdma::referee::Finding& finding : report.findings) {
    if (finding.severity != rpcrdma::referee::Severity::note) judgement.accusing.push_back(finding);
  }
  return judgement;
}

}  // namespace

/// Octets of the source are known by where they stand. 128 bits: of all copies that will ever be made no two that
/// differ have the same.
Judgements::Key Judgements::key_of(const playback::Take& take) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15, other_odd = 0xC2B2AE3D27D4EB4F;
  Key key{odd, other_odd};
  const auto mix = [&](std::uint64_t word) {
    key[0] = (key[0] ^ word) * odd;
    key[0] ^= key[0] >> 29U;
    key[1] = (key[1] + word) * other_odd;
    key[1] ^= key[1] >> 31U;
  };
  for (const auto& frame : take) {
    mix(reinterpret_cast<std::uintptr_t>(frame.octets.data()));
    mix(std::uint64_t{frame.octets.size()} << 32U | frame.wire_length);
    mix(static_cast<std::uint64_t>(frame.ref.time));
  }
  return key;
}

const Judgement& Judgements::of(const Variant& variant, Asks what) {
  const playback::Take& take = variant.recording.frames;
  if (!variant.recording.octets.empty()) return own_ = judged(take, what);
  const auto [place, first] = known_.try_emplace(key_of(take));
  Judgement& known = place->second;
  if (first || (what == Asks::numbers_too && !known.numbers)) known = judged(take, what);
  return known;
}

}  // namespace damage
