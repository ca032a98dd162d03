// SPDX-License-Identifier: GPL-2.0-or-later
// Group N: attempts to connect that fail, and mounts that went another way.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/symptoms.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::referee {

namespace {

using Outcome = Attempt::Outcome;

[[nodiscard]] std::string outcomes(const AttemptSeries& series) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", count, what);
  };
  add(series.rejected + series.declined + series.refused, "refused");
  add(series.unconfirmed, "accepted and not confirmed by the client");
  add(series.unheard, "of which the acceptance or its confirmation did not come through");
  add(series.unreachable, "answered with ICMP unreachable");
  add(series.unanswered - series.only_tcp - series.acknowledged, "not answered");
  add(series.acknowledged, "acknowledged (MRA) and never decided");
  add(series.only_tcp, "no further than TCP");
  return text;
}

/// The findings about single attempts of a mount, by their first frames.
class Singles {
 public:
  Singles(FindingBook& book, const Mount& mount) : book_(book) {
    for (const ConnectionId connection : mount.connections) {
      for (const std::size_t number : book_.untold_attempts(connection)) {
        const Finding& finding = book_.finding(number);
        of_rule_[finding.rule].emplace_back(first_frame(finding), number);
      }
    }
    for (auto& [rule, findings] : of_rule_) std::sort(findings.begin(), findings.end());
  }

  /// Those between these frames become one note of each rule: it has the reason, the series the rest.
  void fold(FrameRef first, std::uint64_t end) {
    for (const auto& [rule, findings] : of_rule_) {
      std::vector<std::size_t> numbers;
      auto at = std::lower_bound(findings.begin(), findings.end(), std::pair(first.number, std::size_t{0}));
      for (; at != findings.end() && at->first <= end; ++at) numbers.push_back(at->second);
      std::sort(numbers.begin(), numbers.end());
      book_.fold_together(numbers);
    }
  }

 private:
  using Findings = std::vector<std::pair<std::uint64_t, std::size_t>>;  // frame, number in the book
  FindingBook& book_;
  std::map<RuleId, Findings> of_rule_;
};

/// Connections of a mount that were established.
class CameThrough {
 public:
  explicit CameThrough(const Mount& mount) {
    std::map<ConnectionId, Port> ports;
    for (const Attempt& attempt : mount.attempts) ports[attempt.connection] = attempt.server_port;
    for (const Life& life : mount.lives) {
      if (!life.established()) continue;
      const auto its = ports.find(life.id);
      established_.push_back({life.opened, life.id, its == ports.end() ? std::nullopt : std::optional(its->second)});
    }
    std::sort(established_.begin(), established_.end(),
              [](const Established& a, const Established& b) { return a.opened.number < b.opened.number; });
  }

  /// The first one behind the attempt, at its port as far as is known.
  [[nodiscard]] std::optional<FrameRef> behind(const Attempt& attempt) const {
    auto at = std::upper_bound(established_.begin(), established_.end(), attempt.first.number,
                               [](std::uint64_t number, const Established& e) { return number < e.opened.number; });
    for (; at != established_.end(); ++at) {
      const bool elsewhere = at->port && *at->port != attempt.server_port;
      if (at->id != attempt.connection && !elsewhere) return at->opened;
    }
    return std::nullopt;
  }

 private:
  using Port = std::optional<std::uint16_t>;
  struct Established {
    FrameRef opened;
    ConnectionId id = 0;
    std::optional<Port> port;  // nullopt: nothing is known of how it was asked for
  };
  std::vector<Established> established_;  // by their first frames
};

/// Of the attempts of one mount: one finding, which counts.
class Told {
 public:
  /// `words()`: what is said, where it is the first.
  template <typename Words>
  void add(const Attempt& attempt, std::vector<FrameRef> frames, Severity severity, Words&& words) {
    if (symptom_) {
      ++symptom_->times;
      symptom_->frames.push_back(frames.front());
    } else {
      symptom_.emplace();
      symptom_->frames = std::move(frames);
      symptom_->what = words();
      symptom_->at_most = severity;
    }
    symptom_->at_most = std::max(symptom_->at_most, severity);
    if (attempt.connection != 0) symptom_->connections.push_back(attempt.connection);
  }
  void say(const MountWitness& witness, RuleId rule, Owes owes) {
    if (!symptom_) return;
    symptom_->owes = owes;
    witness.say(rule, std::move(*symptom_));
  }

 private:
  std::optional<Symptom> symptom_;
};

constexpr std::string_view one_direction = "only one direction is in the capture: the answer need not be";

/// Nothing of the server is in the capture, be it alive.
[[nodiscard]] bool answer_may_be_missing(const Assessment& assessment) noexcept {
  return assessment.doubt == Assessment::Doubt::one_direction;
}

void judge_series(const MountWitness& witness, const AttemptSeries& series, const Assessment& assessment) {
  const bool over = series.ended_by.number != 0;
  if (answer_may_be_missing(assessment) && series.unanswered == series.attempts) {
    for (const ConnectionId id : series.connections) witness.unchecked(RuleId::reconnect_loop, id, one_direction);
    return;
  }
  Symptom symptom;
  symptom.frames = {series.first, series.last, series.last_answer, series.ended_by};
  symptom.connections = series.connections;
  symptom.owes = over ? Owes::nobody : assessment.owes;
  symptom.times = series.attempts;
  symptom.at_most = over ? Severity::note : Severity::warning;
  const TimeNs span = trace::elapsed(series.first.time, series.last.time);
  symptom.what = fmt::format(
      "{} to connect failed in a row in {:.1f} s, one every {:.1f} s ({})", counted(series.attempts, "attempt"),
      seconds(span),
      seconds(trace::elapsed(series.first.time, series.newest.time)) / static_cast<double>(series.attempts - 1),
      outcomes(series));
  symptom.what +=
      over ? fmt::format("; the one in frame {} came through, {:.1f} s after the first.", series.ended_by.number,
                         seconds(trace::elapsed(series.first.time, series.ended_by.time)))
           : ".";
  witness.say(RuleId::reconnect_loop, std::move(symptom));
}

/// Connections that come up and that nobody can use are attempts that fail, whatever the handshake says.
void judge_sent_away(const MountWitness& witness, const Assessment& assessment) {
  const std::vector<const Life*>& lives = assessment.sent_away;
  if (lives.size() < attempts_of_a_loop) return;
  const auto resets = static_cast<std::uint64_t>(std::count_if(
      lives.begin(), lives.end(), [](const Life* life) { return life->closed->how == Closed::How::reset; }));
  Symptom symptom;
  symptom.frames = {lives.front()->opened, lives.front()->closed->frame, lives.back()->opened,
                    lives.back()->closed->frame};
  for (const Life* life : lives) symptom.connections.push_back(life->id);
  symptom.owes = Owes::server;
  symptom.times = lives.size();
  symptom.what =
      fmt::format("The server ended {} in a row before any call was made on them, in {:.1f} s ({}).",
                  counted(lives.size(), "connection"),
                  seconds(trace::elapsed(lives.front()->opened.time, lives.back()->closed->frame.time)),
                  resets == lives.size() ? "each reset"
                  : resets == 0          ? "each closed in good order"
                                : fmt::format("{} reset, {} closed in good order", resets, lives.size() - resets));
  witness.say(RuleId::reconnect_loop, std::move(symptom));
}

/// The findings about REJs and REQs tell of these.
[[nodiscard]] bool told_elsewhere(const Attempt& attempt, const Assessment& assessment) {
  if (attempt.transport != trace::Transport::iwarp && attempt.outcome != Outcome::unreachable) return true;
  return std::any_of(assessment.series.begin(), assessment.series.end(), [&](const AttemptSeries& series) {
    return series.attempts >= attempts_of_a_loop && attempt.first.number >= series.first.number &&
           attempt.first.number <= series.last.number;
  });
}

/// It was answered after all, or the capture need not have its answer.
[[nodiscard]] bool nobody_waits(const Attempt& attempt, const Mount& mount) {
  // By TCP: the client went no further.
  if (attempt.outcome == Outcome::accepted && attempt.connection == 0) return true;
  return std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
    return life.id == attempt.connection &&
           (life.established() || life.answer == Life::Answer::missing || life.one_way);
  });
}

void judge_single_attempts(const MountWitness& witness, const Mount& mount, const Assessment& assessment,
                           const CameThrough& came_through) {
  Told refused;
  Told unanswered;
  for (const Attempt& attempt : mount.attempts) {
    if (told_elsewhere(attempt, assessment)) continue;
    const std::optional<FrameRef> through = came_through.behind(attempt);
    const Severity severity = through ? Severity::note : Severity::warning;
    if (attempt.outcome == Outcome::refused || attempt.outcome == Outcome::unreachable) {
      refused.add(attempt, {attempt.answer, attempt.first}, severity, [&] {
        const std::uint16_t port = attempt.server_port.value_or(0);
        return attempt.outcome == Outcome::refused
                   ? fmt::format("The server refused the connection: nobody listens on TCP port {}.", port)
                   : fmt::format("The attempt to connect to {}port {} was answered with ICMP unreachable.",
                                 attempt.transport == trace::Transport::iwarp ? "TCP " : "", port);
      });
    } else if (attempt.outcome == Outcome::unheard && attempt.connection == 0) {
      unanswered.add(attempt, {attempt.first, attempt.acceptance.first, attempt.answer}, severity, [&] {
        return fmt::format(
            "The server took the TCP connection (frame {}), and in {} its answer, or what confirms it, "
            "did not come through ({}).",
            attempt.acceptance.first.number,
            waited(trace::elapsed(attempt.acceptance.first.time, std::max(attempt.last.time, attempt.answer.time))),
            counted(attempt.copies, "repetition"));
      });
    } else if (attempt.waits() && !nobody_waits(attempt, mount)) {
      // Who has a connection waits for that answer no longer, unless it goes on asking.
      const bool moved_on = through && through->number > attempt.last.number;
      const FrameRef until = attempt.left.number != 0 ? attempt.left : moved_on ? *through : assessment.end;
      const bool old = until.time - attempt.first.time >= witness.context.options.wait;
      if (attempt.copies < repeats_that_count && !old) continue;
      if (answer_may_be_missing(assessment)) {
        if (attempt.connection != 0) witness.unchecked(RuleId::connect_unanswered, attempt.connection, one_direction);
        continue;
      }
      unanswered.add(attempt, {attempt.first, attempt.last}, severity, [&] {
        return fmt::format(
            "The {} got no answer in {} ({}){}.", attempt.connection != 0 ? "MPA Request" : "attempt to connect",
            waited(trace::elapsed(attempt.first.time, until.time)), counted(attempt.copies, "repetition"),
            attempt.left.number != 0 ? fmt::format("; then the client ended TCP (frame {})", attempt.left.number)
            : moved_on               ? fmt::format("; then another came through (frame {})", through->number)
                                     : "");
      });
    }
  }
  refused.say(witness, RuleId::connect_refused, assessment.owes);
  unanswered.say(witness, RuleId::connect_unanswered, assessment.owes);
}

}  // namespace

const Row rows::connect_unanswered{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "An attempt to connect got no answer",
    .explanation =
        "The client asked for a connection by TCP or MPA, perhaps several times, and heard nothing: the machine is "
        "down, the path is broken, or a firewall drops what it does not like. On InfiniBand cm-unanswered says so.",
    .evidence =
        "A SYN to the service port, or an MPA Request, that was repeated at least twice or for as long as --wait says; "
        "or "
        "the answer to a SYN, which the client did not confirm. "
        "Not decided when only one direction was captured.",
    .next = "ping; a firewall rule for TCP port 20049; whether rpc.nfsd listens: cat /proc/fs/nfsd/portlist."};

const Row rows::connect_refused{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "An attempt to connect was refused",
    .explanation =
        "The machine answered, but nobody takes connections on that port: the NFS service does not run, or not with "
        "RDMA. An ICMP answer says that the machine or the port cannot be reached: about a CM REQ over RoCEv2 mostly "
        "that "
        "nobody there takes RoCE.",
    .evidence =
        "A RST in answer to the SYN, or ICMP unreachable in answer to a SYN or a CM REQ. A RST on an established "
        "connection is a close.",
    .next =
        "Server: cat /proc/fs/nfsd/portlist has to show 'rdma 20049' (rdma=y in the [nfsd] section of "
        "/etc/nfs.conf); siw or another iWARP device has to be there before nfsd starts. Where the answer was ICMP: "
        "who sent it, the server, a router or a firewall; from the server itself, over RoCE: rdma link show there."};

const Row rows::reconnect_loop{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "Attempts to connect fail one after the other",
    .explanation =
        "The client tries again and again. What single attempts got is said here once. A series that ends in a "
        "connection is what a server's restart looks like. A connection that comes up, and that the server ends before "
        "anything is called on it, has failed as well.",
    .evidence =
        "Three or more attempts in a row between the same addresses that fail, of any kind; or the newest three or "
        "more connections, each closed or reset by the server before a call was made. Not after five idle minutes.",
    .next =
        "The reason of the refusals; when nothing answers, the path. The first failing attempt tells since when. Where "
        "the server ends what it has accepted, its log and dmesg say why."};

void judge_attempts(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  Singles singles(witness.context.book, mount);
  for (const AttemptSeries& series : assessment.series) {
    if (series.attempts < attempts_of_a_loop) continue;
    singles.fold(series.foremost, std::max(series.last.number, series.last_answer.number));
    judge_series(witness, series, assessment);
  }
  judge_sent_away(witness, assessment);
  const CameThrough came_through(mount);
  for (const Attempt& attempt : mount.attempts) {
    if (came_through.behind(attempt) || (answer_may_be_missing(assessment) && attempt.waits())) {
      singles.fold(attempt.foremost(), std::max(attempt.last.number, attempt.answer.number));
    }
  }
  judge_single_attempts(witness, mount, assessment, came_through);
}

const Row rows::nfs_over_tcp{
    .group = 'N',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "NFS goes over TCP, without RDMA",
    .explanation =
        "Between these two addresses NFS is spoken over plain TCP. Who believes in RDMA may have a mount that fell "
        "back to proto=tcp, or a second mount beside it.",
    .evidence = "RPC Calls of NFS in a TCP stream to port 2049.",
    .next = "Client: the proto= in /proc/mounts, and the mount command's options (rdma, port=20049)."};

void judge_nfs_over_tcp(const MountWitness& witness, const Mount& mount) {
  if (!mount.nfs_over_tcp) return;
  Symptom symptom;
  symptom.frames = {mount.nfs_over_tcp->first};
  symptom.owes = Owes::nobody;
  symptom.what = fmt::format("{} of NFS over TCP, without RDMA, between {} and {}.",
                             counted(mount.nfs_over_tcp->frames, "frame"), mount.client, mount.server);
  witness.say(RuleId::nfs_over_tcp, std::move(symptom));
}

}  // namespace rpcrdma::referee
