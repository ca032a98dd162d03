// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/series.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "referee/mount/lives.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;

/// With what is known at the end: repeats of an MPA Request, and whether nobody answered.
[[nodiscard]] Attempt settled(const Mount& mount, Attempt attempt) {
  if (attempt.connection != 0 && attempt.outcome == Outcome::open) {
    const Life* life = life_with(mount, attempt.connection);
    if (life != nullptr && life->established()) {
      attempt.outcome = Outcome::established;
    } else if (life != nullptr && attempt.transport == trace::Transport::iwarp) {
      const auto& sent = life->liveness[index(Side::active)];
      if (sent && sent->copies > attempt.copies) {
        attempt.copies = sent->copies;
        keep_later(attempt.last, sent->last_copy);
      }
    }
  }
  return attempt;
}

/// Nobody answers any more: it was repeated, is old, or was followed by another.
[[nodiscard]] bool unanswered(const Attempt& attempt, bool followed, FrameRef end, TimeNs wait) noexcept {
  if (!attempt.waits()) return false;
  return followed || attempt.outcome == Outcome::given_up || attempt.copies >= repeats_that_count ||
         end.time - attempt.first.time >= wait;
}

}  // namespace

void count_attempt(MountFacts::Attempts& counts, const Attempt& attempt) {
  ++counts.made;
  if (attempt.outcome == Outcome::established) {
    ++counts.established;
  } else if (attempt.answered_no() && !attempt.unconfirmed_in_silence()) {
    ++counts.refused;
  } else {
    ++counts.unanswered;
    counts.only_tcp += attempt.outcome == Outcome::accepted ? 1 : 0;
  }
}

void add_attempt(AttemptSeries& series, const Attempt& attempt) {
  if (attempt.outcome == Outcome::established) {
    series.ended_by = attempt.first;
    return;
  }
  if (series.attempts++ == 0) {
    series.first = attempt.first;
    series.foremost = attempt.foremost();
  }
  series.newest = attempt.first;
  series.last = attempt.last;
  series.by_others += attempt.answered_by_another() ? 1 : 0;
  if (attempt.answered_no()) keep_later(series.last_answer, attempt.answer);
  if (attempt.reason) series.reason = attempt.reason;
  if (attempt.server_port) {
    series.port = attempt.server_port;
    series.port_is = attempt.port;
  }
  series.rejected += attempt.outcome == Outcome::rejected ? 1 : 0;
  series.declined += attempt.outcome == Outcome::declined ? 1 : 0;
  series.unconfirmed += attempt.outcome == Outcome::unconfirmed ? 1 : 0;
  series.unheard += attempt.outcome == Outcome::unheard ? 1 : 0;
  series.refused += attempt.outcome == Outcome::refused ? 1 : 0;
  series.unreachable += attempt.outcome == Outcome::unreachable ? 1 : 0;
  series.unanswered += attempt.answered_no() ? 0 : 1;
  series.receipt = attempt.answered_no() ? FrameRef{} : attempt.receipt;
  series.acknowledged += series.receipt.number != 0 ? 1 : 0;
  series.only_tcp += attempt.outcome == Outcome::accepted ? 1 : 0;
  if (attempt.connection != 0 && series.connections.size() < Mount::most_connections_named) {
    series.connections.push_back(attempt.connection);
  }
}

namespace {

/// Where the connections begin whose attempt the capture lacks: each ended a series.
[[nodiscard]] std::vector<FrameRef> came_through_unseen(const Mount& mount) {
  std::vector<FrameRef> opened;
  for (const Life& life : mount.lives) {
    const bool attempted = std::any_of(mount.attempts.begin(), mount.attempts.end(),
                                       [&](const Attempt& attempt) { return attempt.connection == life.id; });
    if (life.established() && !attempted) opened.push_back(life.opened);
  }
  std::sort(opened.begin(), opened.end(), [](FrameRef x, FrameRef y) { return x.number < y.number; });
  return opened;
}

/// The newest series is over if one of these began behind its last attempt, and in front of the next.
void end_unseen(std::vector<AttemptSeries>& all, const std::vector<FrameRef>& opened, std::uint64_t next) {
  if (all.empty() || all.back().ended_by.number != 0) return;
  const auto through = std::upper_bound(opened.begin(), opened.end(), all.back().last.number,
                                        [](std::uint64_t last, FrameRef each) { return last < each.number; });
  if (through != opened.end() && through->number < next) all.back().ended_by = *through;
}

}  // namespace

void take_attempts(Assessment& a, const Mount& mount, TimeNs wait) {
  a.attempts = mount.counted;
  a.series = mount.series;
  std::vector<Attempt> attempts;
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.outcome != Outcome::other) attempts.push_back(settled(mount, attempt));
  }
  // A request that gets no answer is known as one only when the next comes.
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const Attempt& x, const Attempt& y) { return x.first.number < y.first.number; });
  const std::vector<FrameRef> unseen = came_through_unseen(mount);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Life* life = life_with(mount, attempts[i].connection);
    if (life != nullptr && life->answer == Life::Answer::missing && !attempts[i].answered_no()) {
      ++a.attempts.made;  // whatever came of it
      continue;
    }
    const Attempt& attempt = attempts[i];
    // With nconnect several begin at once.
    const bool followed = attempts.back().client_port != attempt.client_port &&
                          attempts.back().first.time - attempt.last.time >= silence_that_counts;
    if (attempt.outcome == Outcome::unreadable) {
      ++a.attempts.made;  // whatever came of it
      continue;
    }
    if (attempt.waits() && !unanswered(attempt, followed, a.end, wait)) {
      ++a.attempts.made;  // still under way
      continue;
    }
    count_attempt(a.attempts, attempt);
    end_unseen(a.series, unseen, attempt.first.number);
    if (a.series.empty() || a.series.back().ended_by.number != 0) a.series.emplace_back();
    add_attempt(a.series.back(), attempt);
  }
  end_unseen(a.series, unseen, std::numeric_limits<std::uint64_t>::max());
  std::erase_if(a.series, [&](const AttemptSeries& series) {
    const bool to_the_end = series.ended_by.number == 0 && &series == &a.series.back();
    return series.attempts == 0 || (!to_the_end && series.attempts < attempts_of_a_loop);
  });
  if (!a.series.empty() && a.series.back().ended_by.number == 0) a.failing = &a.series.back();
}

AsksFor what_it_asks_for(const AttemptSeries& series, const Life& life) noexcept {
  if (series.port && life.server_port) return series.port == life.server_port ? AsksFor::its_service : AsksFor::another;
  return series.port && series.port_is == Attempt::Port::unusual ? AsksFor::not_known : AsksFor::its_service;
}

bool left_early(const Mount& mount, const AttemptSeries& series, TimeNs wait) {
  return std::all_of(mount.attempts.begin(), mount.attempts.end(), [&](const Attempt& attempt) {
    const bool of_it = attempt.first.number >= series.first.number && attempt.first.number <= series.last.number;
    const bool early = attempt.left.number != 0 && attempt.copies < repeats_that_count &&
                       trace::elapsed(attempt.first.time, attempt.left.time) < wait;
    return !of_it || early;
  });
}

}  // namespace rpcrdma::referee
