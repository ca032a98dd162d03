// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/connection_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "report/fold.hpp"
#include "report/text_connection.hpp"

namespace rpcrdma::report {
namespace {

using referee::ConnectionFacts;
using How = referee::Closed::How;

/// How much there is to say of a connection; 0: nothing. Findings count by their severity.
class Weight {
 public:
  explicit Weight(const referee::Report& report) {
    for (const referee::Finding& finding : report.findings) {
      for (const trace::ConnectionId id : connections_of(finding)) {
        int& worst = found_[id];
        worst = std::max(worst, 1 + static_cast<int>(finding.severity));
      }
    }
    for (const referee::Unchecked& unchecked : report.unchecked) unchecked_.insert(unchecked.connection);
  }

  [[nodiscard]] int of(const ConnectionFacts& c) const {
    constexpr int most = 4;
    // Whatever there was to an attempt stands among the findings.
    if (!established(c)) return 0;
    const bool orderly = !c.closed || (c.closed->how == How::disconnect &&
                                       (!c.closed->cause || c.closed->cause->rule == referee::RuleId::cm_dreq));
    if (!orderly) return most;
    const auto found = found_.find(c.id);
    if (found != found_.end()) return found->second;
    return c.waiting.calls != 0 || c.one_way || c.gaps != 0 || unchecked_.contains(c.id) ? 1 : 0;
  }

 private:
  std::map<trace::ConnectionId, int> found_;
  std::set<trace::ConnectionId> unchecked_;
};

/// Attempts in a row between the same addresses, or one connection.
struct AttemptsInARow {
  std::vector<const ConnectionFacts*> members;
};

/// In the order of their first members. What came to be stands alone and ends the series of its pair.
std::vector<AttemptsInARow> in_series(const std::vector<const ConnectionFacts*>& connections,
                                      const std::vector<ConnectionFacts>& all) {
  using Pair = std::tuple<trace::Transport, std::string, std::string, std::vector<std::string>>;
  const std::set<const ConnectionFacts*> listed(connections.begin(), connections.end());
  std::vector<AttemptsInARow> out;
  std::map<Pair, std::size_t> open;
  for (const ConnectionFacts& c : all) {
    const Pair pair{c.transport, c.client.address, c.server.address, c.networks};
    if (established(c)) open.erase(pair);
    if (!listed.contains(&c)) continue;
    if (established(c)) {
      out.emplace_back().members.push_back(&c);
      continue;
    }
    const auto [at, fresh] = open.try_emplace(pair, out.size());
    if (fresh) out.emplace_back();
    out[at->second].members.push_back(&c);
  }
  return out;
}

std::string calls(const ConnectionFacts& c) {
  std::string out = c.version ? fmt::format("version {}, ", *c.version) : std::string();
  out += counted(c.messages.calls, "call");
  if (c.latency.count != 0) out += ", median " + duration(c.latency.p50);
  return out;
}

void connection_line(Page& page, const ConnectionFacts& c, Epoch epoch) {
  std::string text = fmt::format("{}, client {}, server {}{}; ", spoken(c.transport), spoken(c.client),
                                 spoken(c.server), in_networks(c.networks));
  if (c.opened.number != 0) text += place(c.opened, epoch) + "; ";
  if (established(c)) text += calls(c) + "; ";
  page.paragraph(fmt::format("Connection {}: ", c.id), text + ending(c, epoch), 4, Ink::bold);
}

/// "150 refused, 50 not answered"
std::string outcomes(const AttemptsInARow& series) {
  const auto refused = static_cast<std::uint64_t>(
      std::count_if(series.members.begin(), series.members.end(),
                    [](const ConnectionFacts* c) { return c->closed && c->closed->how == How::refused; }));
  const auto under_way = static_cast<std::uint64_t>(
      std::count_if(series.members.begin(), series.members.end(), [](const ConnectionFacts* c) { return !c->closed; }));
  const std::uint64_t unanswered = series.members.size() - refused - under_way;
  if (unanswered + under_way == 0) return "all refused";
  if (refused + under_way == 0) return "none answered";
  std::string out;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(count), what);
  };
  add(refused, "refused");
  add(unanswered, "not answered");
  add(under_way, "under way");
  return out;
}

void series_line(Page& page, const AttemptsInARow& series, Epoch epoch) {
  const ConnectionFacts& first = *series.members.front();
  const ConnectionFacts& last = *series.members.back();
  std::vector<trace::ConnectionId> ids;
  for (const ConnectionFacts* c : series.members) ids.push_back(c->id);
  std::string head = numbered("connection", ids, 4) + ": ";
  head.front() = 'C';
  std::string text =
      fmt::format("{}, client {}, server {}{}; {} to connect, {}, from {} to {}", spoken(first.transport),
                  first.client.address.empty() ? "unknown address" : first.client.address,
                  first.server.address.empty() ? "unknown address" : first.server.address, in_networks(first.networks),
                  counted(series.members.size(), "attempt"), outcomes(series), place(first.opened, epoch),
                  place(last.opened, epoch));
  if (last.opened.time > first.opened.time) {
    const auto span = static_cast<double>(last.opened.time) - static_cast<double>(first.opened.time);
    fmt::format_to(std::back_inserter(text), ", one every {}",
                   duration(span / 1e3 / static_cast<double>(series.members.size() - 1)));
  }
  page.paragraph(head, text, 4, Ink::bold);
}

}  // namespace

void connections_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  const std::vector<ConnectionFacts> all = run.report.connections.all();
  constexpr std::uint64_t crowd = 20;
  std::uint64_t failed = 0;
  for (const referee::MountFacts& mount : run.report.mounts)
    failed += mount.attempts.refused + mount.attempts.unanswered;
  // Among many attempts that failed no single connection has more to say than the findings.
  const std::size_t most_blocks = failed > crowd ? 0 : all.size() > crowd ? 2 : 6;
  const std::size_t most_lines = all.size() > crowd ? 10 : 20;
  const Weight weight(run.report);
  std::vector<const ConnectionFacts*> order;
  order.reserve(all.size());
  for (const ConnectionFacts& c : all) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return weight.of(*a) > weight.of(*b); });
  const auto silent = std::find_if(order.begin(), order.end(), [&](const auto* c) { return weight.of(*c) == 0; });
  auto in_full = static_cast<std::size_t>(silent - order.begin());
  in_full = style.verbose ? order.size() : std::min(in_full, most_blocks);
  const auto by_id = [](const auto* a, const auto* b) { return a->id < b->id; };
  const auto behind = order.begin() + static_cast<std::ptrdiff_t>(in_full);
  std::sort(order.begin(), behind, by_id);
  std::for_each(order.begin(), behind, [&](const auto* c) { connection_block(page, *c, epoch, style); });
  if (behind == order.end()) return;
  page.line();
  std::size_t lines = 0;
  std::uint64_t left = 0;
  for (const AttemptsInARow& series : in_series({behind, order.end()}, all)) {
    if (lines++ >= most_lines) {
      left += series.members.size();
    } else if (series.members.size() > 1) {
      series_line(page, series, epoch);
    } else {
      connection_line(page, *series.members.front(), epoch);
    }
  }
  if (left != 0) page.line(fmt::format("and {}", counted(left, "further connection")));
  page.line("(-v shows each in full)", Ink::dim);
}

}  // namespace rpcrdma::report
