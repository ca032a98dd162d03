// SPDX-License-Identifier: GPL-2.0-or-later
// What a scenario says must be found, must not be said, and how its connections end; and whether a report agrees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "forge/play.hpp"
#include "referee/facts.hpp"

namespace scenarios {

/// Numbers of frames in the capture, from 1, by "step" and by "step/part".
using StepFrames = std::map<std::string, std::vector<std::uint64_t>>;
[[nodiscard]] StepFrames frames_of_steps(const forge::Film& film);

struct Want {
  std::string text;  ///< as it stands in the scenario
  std::string rule;
  std::optional<std::string> violator;  ///< "client", "server", "nobody"
  std::vector<std::string> steps;       ///< the primary frame belongs to one of them
  std::optional<rpcrdma::referee::Severity> severity, at_least, at_most;
  std::optional<std::size_t> times;
  std::optional<std::string> says;
  std::optional<std::string> fabric;  ///< a transport or a family; empty: all
};

struct CauseWant {
  std::uint32_t connection = 1;
  std::vector<std::string> rules, confidences, hows, parties;  ///< one of them; empty: whatever
  std::optional<std::string> step;
  std::optional<std::string> fabric;
};

/// What became of a mount.
struct MountWant {
  std::uint32_t number = 1;  ///< MountFacts::id
  std::optional<rpcrdma::referee::MountFacts::State> state;
  std::vector<rpcrdma::referee::Owes> owes;  ///< one of them; empty: whoever
  std::vector<std::string> since;            ///< the frame belongs to one of these steps; empty: whichever
  std::vector<std::string> says;             ///< all of them stand in the sentence
  std::vector<std::string> next;             ///< and these in what to look at next
  std::optional<std::string> fabric;
};

struct UncheckedWant {
  std::string rule;
  std::string because;  ///< stands in the reason; empty: whatever it is
};

struct Expectations {
  std::vector<Want> expect;
  std::set<std::string> near, never, allow;
  std::vector<UncheckedWant> unchecked;
  std::set<std::string> checked;  ///< nothing may keep these from being judged
  std::vector<CauseWant> causes;
  std::vector<MountWant> mounts;
};

/// Throws forge::Mistake where a word has no meaning.
[[nodiscard]] Expectations read_expectations(const std::string& path);

[[nodiscard]] bool speaks_of(const std::optional<std::string>& fabric, const forge::Transport& transport);

/// Where nothing tells which end is the client nobody may be called so: what is, a line each.
[[nodiscard]] std::vector<std::string> roles_made_up(const rpcrdma::referee::Report& report);

/// What is wrong with the report, a line each. `missing` gets the rules of the findings that should be there.
[[nodiscard]] std::vector<std::string> complaints(const Expectations& expectations, const forge::Transport& transport,
                                                  const StepFrames& frames, const rpcrdma::referee::Report& report,
                                                  std::set<std::string>* missing = nullptr);

}  // namespace scenarios
