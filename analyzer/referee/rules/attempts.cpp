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

constexpr std::uint64_t loop = 3;
constexpr std::uint64_t repeats_that_count = 2;

[[nodiscard]] std::string outcomes(const AttemptSeries& series) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", count, what);
  };
  add(series.rejected + series.declined + series.refused, "refused");
  add(series.unconfirmed, "accepted and not confirmed by the client");
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
        "A SYN to the service port, or an MPA Request, that was repeated at least twice or for as long as --wait says. "
        "Not decided when only one direction was captured.",
    .next = "ping; a firewall rule for TCP port 20049; whether rpc.nfsd listens: cat /proc/fs/nfsd/portlist."};

const Row rows::connect_refused{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "The service port is closed",
    .explanation =
        "The machine answered, but nobody takes connections on that port: the NFS service does not run, or not with "
        "RDMA. An ICMP answer says that the machine or the port cannot be reached.",
    .evidence = "A RST in answer to the SYN, or ICMP unreachable. A RST on an established connection is a close.",
    .next =
        "Server: cat /proc/fs/nfsd/portlist has to show 'rdma 20049' (rdma=y in the [nfsd] section of "
        "/etc/nfs.conf); siw or another iWARP device has to be there before nfsd starts."};

const Row rows::reconnect_loop{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "Attempts to connect fail one after the other",
    .explanation =
        "The client tries again and again. What single attempts got is said here once. A series that ends in a "
        "connection is what a server's restart looks like.",
    .evidence = "Three or more attempts in a row between the same addresses that fail, of any kind.",
    .next = "The reason of the refusals; when nothing answers, the path. The first failing attempt tells since when."};

void judge_attempts(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  Singles singles(witness.context.book, mount);
  for (const AttemptSeries& series : assessment.series) {
    if (series.attempts < loop) continue;
    singles.fold(series.first, std::max(series.last.number, series.last_answer.number));
    const bool over = series.ended_by.number != 0;
    Symptom symptom;
    symptom.frames = {series.first, series.last, series.last_answer, series.ended_by};
    symptom.connections = series.connections;
    symptom.owes = over ? Owes::nobody : assessment.owes;
    symptom.times = series.attempts;
    symptom.at_most = over ? Severity::note : Severity::warning;
    const TimeNs span = trace::elapsed(series.first.time, series.last.time);
    symptom.what = fmt::format("{} to connect failed in a row in {:.1f} s, one every {:.1f} s ({})",
                               counted(series.attempts, "attempt"), seconds(span),
                               seconds(span) / static_cast<double>(series.attempts - 1), outcomes(series));
    symptom.what +=
        over ? fmt::format("; the one in frame {} came through, {:.1f} s after the first.", series.ended_by.number,
                           seconds(trace::elapsed(series.first.time, series.ended_by.time)))
             : ".";
    witness.say(RuleId::reconnect_loop, std::move(symptom));
  }
  const auto in_a_loop = [&](const Attempt& attempt) {
    return std::any_of(assessment.series.begin(), assessment.series.end(), [&](const AttemptSeries& series) {
      return series.attempts >= loop && attempt.first.number >= series.first.number &&
             attempt.first.number <= series.last.number;
    });
  };
  std::map<ConnectionId, std::optional<std::uint16_t>> ports;
  for (const Attempt& attempt : mount.attempts) ports[attempt.connection] = attempt.server_port;
  const auto at_another_port = [&](const Life& life, const Attempt& attempt) {
    const auto its = ports.find(life.id);
    return its != ports.end() && its->second != attempt.server_port;
  };
  /// The first connection that came through behind it; number 0: none.
  const auto next_connection = [&](const Attempt& attempt) {
    FrameRef first;
    for (const Life& life : mount.lives) {
      const bool later = life.established() && life.opened.number > attempt.first.number &&
                         life.id != attempt.connection && !at_another_port(life, attempt);
      if (later && (first.number == 0 || life.opened.number < first.number)) first = life.opened;
    }
    return first;
  };
  const auto came_through_later = [&](const Attempt& attempt) { return next_connection(attempt).number != 0; };
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.transport != trace::Transport::iwarp && came_through_later(attempt)) {
      singles.fold(attempt.first, std::max(attempt.last.number, attempt.answer.number));
    }
  }
  std::optional<Symptom> refused;
  std::optional<Symptom> unanswered;
  const auto tell = [&](std::optional<Symptom>& told, const Attempt& attempt, std::vector<FrameRef> frames,
                        auto&& words) {
    const Severity severity = came_through_later(attempt) ? Severity::note : Severity::warning;
    if (told) {  // of one mount: one finding, which counts
      ++told->times;
      told->at_most = std::max(told->at_most, severity);
      told->frames.push_back(frames.front());
    } else {
      told.emplace();
      told->frames = std::move(frames);
      told->owes = assessment.owes;
      told->times = 1;
      told->at_most = severity;
      told->what = words();
    }
    if (attempt.connection != 0) told->connections.push_back(attempt.connection);
  };
  for (const Attempt& attempt : mount.attempts) {
    if (attempt.transport != trace::Transport::iwarp || in_a_loop(attempt)) continue;
    if (attempt.outcome == Outcome::refused || attempt.outcome == Outcome::unreachable) {
      tell(refused, attempt, {attempt.answer, attempt.first}, [&] {
        const std::uint16_t port = attempt.server_port.value_or(0);
        return attempt.outcome == Outcome::refused
                   ? fmt::format("The server refused the connection: nobody listens on TCP port {}.", port)
                   : fmt::format("The attempt to connect to TCP port {} was answered with ICMP unreachable.", port);
      });
    } else if (attempt.waits()) {
      if (attempt.outcome == Outcome::accepted && attempt.connection == 0) continue;  // the client went no further
      // Who has a connection waits for that answer no longer, unless it goes on asking.
      const FrameRef through = next_connection(attempt);
      const bool moved_on = through.number > attempt.last.number;
      const FrameRef until = attempt.left.number != 0 ? attempt.left : moved_on ? through : assessment.end;
      const bool old = until.time - attempt.first.time >= witness.context.options.wait;
      if (attempt.copies < repeats_that_count && !old) continue;
      const bool known = std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
        return life.id == attempt.connection &&
               (life.established() || life.answer == Life::Answer::missing || life.one_way);
      });
      if (known) continue;
      tell(unanswered, attempt, {attempt.first, attempt.last}, [&] {
        return fmt::format(
            "The {} got no answer in {:.1f} s ({}){}.", attempt.connection != 0 ? "MPA Request" : "attempt to connect",
            seconds(trace::elapsed(attempt.first.time, until.time)), counted(attempt.copies, "repetition"),
            attempt.left.number != 0 ? fmt::format("; then the client ended TCP (frame {})", attempt.left.number)
            : moved_on               ? fmt::format("; then another came through (frame {})", through.number)
                                     : "");
      });
    }
  }
  if (refused) witness.say(RuleId::connect_refused, std::move(*refused));
  if (unanswered) witness.say(RuleId::connect_unanswered, std::move(*unanswered));
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
