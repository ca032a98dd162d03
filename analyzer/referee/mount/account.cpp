// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/account.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/mount/advice.hpp"
#include "referee/mount/words.hpp"

namespace rpcrdma::referee {

namespace {

using State = MountFacts::State;

[[nodiscard]] bool suffers(State state) noexcept {
  return state == State::never_up || state == State::down || state == State::waiting;
}

/// The worse the mount, the higher.
[[nodiscard]] int badness(State state) noexcept {
  switch (state) {
    case State::never_up:
    case State::down:
      return 4;
    case State::waiting:
      return 3;
    case State::unknown:
      return 2;
    case State::working:
      return 1;
    case State::closed:
      return 0;
  }
  return 0;
}

[[nodiscard]] std::vector<OperationTimes> operation_times(OperationClocks& clocks) {
  std::vector<OperationTimes> all;
  all.reserve(clocks.all().size());
  const auto middle = [](const LatencyHistogram& part) {
    return part.count() == 0 ? std::optional<double>() : std::optional<double>(part.facts().p50);
  };
  const auto with_plain = [](const LatencyHistogram& part, const LatencyHistogram& plain) {
    LatencyHistogram both;
    both.add(part);
    both.add(plain);
    return both.facts();
  };
  for (const auto& [name, clock] : clocks.all()) {
    OperationTimes& times = all.emplace_back();
    times.name = name;
    times.octets = clock.octets;
    if (const auto& parts = clock.in_parts) {
      times.latency = with_plain(parts->whole, clock.plain);
      times.pull_p50 = middle(parts->pull);
      times.server_p50 = with_plain(parts->server, clock.plain).p50;
      times.push_p50 = middle(parts->push);
    } else {
      times.latency = clock.plain.facts();
      times.server_p50 = times.latency.p50;
    }
    times.calls = times.latency.count;
  }
  std::stable_sort(all.begin(), all.end(), [](const OperationTimes& a, const OperationTimes& b) {
    return a.latency.p50 * static_cast<double>(a.calls) > b.latency.p50 * static_cast<double>(b.calls);
  });
  return all;
}

/// "credit-limit-exceeded (frame 10), xid-mismatch (frame 12) and 3 more"; `count`: how often in all.
[[nodiscard]] std::string listed(const std::vector<Breach>& breaches, Severity severity, bool blames,
                                 std::uint64_t& count) {
  constexpr std::size_t most_named = 3;
  std::size_t rules = 0;
  std::string list;
  for (const Breach& breach : breaches) {
    if (breach.severity != severity || breach.blames != blames) continue;
    count += breach.count;
    if (++rules > most_named) continue;
    if (!list.empty()) list += ", ";
    list += fmt::format("{} (frame {})", rule(breach.rule).name, breach.first);
  }
  if (rules > most_named) list += fmt::format(" and {} more", rules - most_named);
  return list;
}

/// "1 error found: credit-limit-exceeded (frame 10)." or "No rule was broken." Of a mount that works, also what was met
/// on the way and is nobody's fault.
[[nodiscard]] std::string told(std::vector<Breach> breaches, State state) {
  std::stable_sort(breaches.begin(), breaches.end(), [](const Breach& a, const Breach& b) {
    return std::tie(a.first, a.rule) < std::tie(b.first, b.rule);
  });
  std::string all;
  for (const Severity severity : {Severity::error, Severity::warning}) {
    std::uint64_t count = 0;
    const std::string list = listed(breaches, severity, true, count);
    if (count == 0) continue;
    if (!all.empty()) all += ' ';
    all += fmt::format("{} found: {}.", counted(count, text(severity)), list);
  }
  if (all.empty()) all = state == State::unknown ? "What could be read breaks no rule." : "No rule was broken.";
  std::uint64_t met = 0;
  const std::string list = listed(breaches, Severity::warning, false, met);
  const bool works = state == State::working || state == State::closed;
  if (works && met != 0) all += fmt::format(" Worth a look: {}.", list);
  return all;
}

}  // namespace

MountFacts account(Mount& mount, const Assessment& a) {
  MountFacts facts;
  facts.id = mount.id;
  facts.client = mount.client;
  facts.server = mount.server;
  facts.roles = a.roles;
  facts.connections = mount.connections;
  std::sort(facts.connections.begin(), facts.connections.end());
  facts.attempts = a.attempts;
  facts.state = a.state;
  facts.since = a.since;
  facts.owes = a.owes;
  if (!a.hanging.empty()) {
    const OpenCall& oldest = a.hanging.front();
    MountFacts::Waiting waiting;
    waiting.calls = a.hanging.size();
    waiting.frame = oldest.first;
    waiting.xid = oldest.xid;
    waiting.operation = oldest.operation.empty() ? MountFacts::operation_not_read : oldest.operation;
    waiting.seconds = static_cast<double>(oldest.waited) / 1e9;
    facts.waiting = std::move(waiting);
  }
  if (mount.times == Mount::Times::told) {
    if (mount.waits.worst.frame.number != 0) facts.longest_wait = mount.waits.worst;
    facts.operations = operation_times(mount.clocks);
  }
  facts.nfs_over_tcp = mount.nfs_over_tcp;
  const bool up = a.state == State::working || a.state == State::closed;
  facts.nothing_done = up && a.nothing_done != nullptr;
  facts.sentence = sentence_of(mount, a);
  facts.next = next_step(a);
  return facts;
}

Verdict verdict_of(const std::vector<MountFacts>& mounts, const std::vector<Breach>& breaches, const TurnedAway& beyond,
                   const TurnedAway& connections) {
  Verdict verdict;
  if (mounts.empty()) return verdict;
  const auto worse = [](const MountFacts& a, const MountFacts& b) {
    return std::pair(badness(a.state), a.nothing_done) < std::pair(badness(b.state), b.nothing_done);
  };
  std::vector<const MountFacts*> worst_first;
  worst_first.reserve(mounts.size());
  for (const MountFacts& mount : mounts) worst_first.push_back(&mount);
  std::stable_sort(worst_first.begin(), worst_first.end(),
                   [&](const MountFacts* a, const MountFacts* b) { return worse(*b, *a); });
  const MountFacts& worst = *worst_first.front();
  // What is not kept may be worse than all that is.
  const bool all_kept = beyond.count == 0 && connections.count == 0;
  verdict.state = all_kept || suffers(worst.state) ? worst.state : State::unknown;
  verdict.mount = worst.id;
  constexpr std::size_t most_named = 5;
  std::size_t named = 0;
  std::uint64_t rest = 0;
  std::uint64_t rest_suffers = 0;
  const bool several = mounts.size() > 1;
  for (const MountFacts* each : worst_first) {
    const MountFacts& mount = *each;
    const bool in_trouble = suffers(mount.state) || mount.nothing_done;
    const bool speaks = !several || in_trouble || (mount.state == State::unknown && mount.id == worst.id);
    if (!speaks || named >= most_named) {
      ++rest;
      if (in_trouble) ++rest_suffers;
      continue;
    }
    ++named;
    if (!verdict.sentence.empty()) verdict.sentence += ' ';
    const std::string_view towards = mount.roles == MountFacts::Roles::known ? "to" : "and";
    if (several) verdict.sentence += fmt::format("{} {} {}: ", mount.client, towards, mount.server);
    verdict.sentence += mount.sentence;
  }
  if (named == 0) {
    verdict.sentence = fmt::format("{}: none hangs, is down or never came up.", counted(rest, "mount"));
  } else if (rest > 0) {
    verdict.sentence += rest_suffers > 0 ? fmt::format(" {} more, {} of which do not work either.",
                                                       counted(rest, "mount"), rest_suffers)
                                         : fmt::format(" {} more without such trouble.", counted(rest, "mount"));
  }
  if (beyond.count != 0) {
    verdict.sentence += fmt::format(
        " That is as many as are kept: what became of others, from frame {} on, is not known.", beyond.first.number);
  }
  if (connections.count != 0) {
    verdict.sentence += fmt::format(
        " More connections were open at a time than are kept ({}): what became of the others, from frame {} on, is not "
        "known.",
        grouped(connections.room), connections.first.number);
  }
  verdict.sentence += ' ' + told(breaches, verdict.state);
  return verdict;
}

}  // namespace rpcrdma::referee
