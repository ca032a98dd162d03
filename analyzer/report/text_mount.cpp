// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_mount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "report/names.hpp"
#include "report/quantity.hpp"
#include "report/tally.hpp"
#include "report/text_connection.hpp"

namespace rpcrdma::report {
namespace {

using referee::MountFacts;
using State = MountFacts::State;

Ink ink_of(const Run& run) {
  const Tally tally = count(run.report.findings);
  if (suffers(run.report.verdict.state) || tally.errors != 0) return Ink::red;
  return run.report.verdict.state == State::unknown || tally.warnings != 0 ? Ink::yellow : Ink::green;
}

std::string_view in_words(State state) {
  switch (state) {
    case State::unknown:
      return "not known";
    case State::never_up:
      return "never up";
    case State::down:
      return "down";
    case State::closed:
      return "closed in good order";
    case State::waiting:
      return "waiting";
    case State::working:
      return "working";
  }
  return "not known";
}

std::string address(const std::string& known) { return known.empty() ? "unknown address" : known; }

/// Those of its connections.
std::vector<std::string> networks(const MountFacts& mount, const Run& run) {
  std::vector<std::string> out;
  const auto& all = run.report.connections;  // by id
  referee::ConnectionFacts c;
  for (const trace::ConnectionId id : mount.connections) {
    std::size_t from = 0;
    for (std::size_t end = all.size(); from < end;) {
      const std::size_t middle = from + (end - from) / 2;
      all.read(middle, c);
      (c.id < id ? from : end) = c.id < id ? middle + 1 : middle;
    }
    if (from == all.size()) continue;
    all.read(from, c);
    if (c.id != id) continue;  // not selected
    for (const std::string& name : c.networks) {
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

std::string peers(const MountFacts& mount, const Run& run) {
  const bool known = mount.roles == MountFacts::Roles::known;
  return fmt::format("client {}, server {}{}{}", address(mount.client), address(mount.server),
                     in_networks(networks(mount, run)), known ? "" : "; which of them is the client is not known");
}

std::string_view operation(const std::string& read) {
  return read.empty() || read == MountFacts::operation_not_read ? std::string_view("a Call that was not read") : read;
}

/// "WRITE 0xa45ce68a"
std::string call(const MountFacts::Waiting& waiting) {
  return fmt::format("{} {}", operation(waiting.operation), xid(waiting.xid));
}

void attempts(Page& page, const MountFacts& mount) {
  const MountFacts::Attempts& made = mount.attempts;
  // One that came through is the connection itself.
  if (made.made == made.established) return;
  std::string what;
  const auto add = [&](std::uint64_t number, std::string_view outcome) {
    if (number == 0) return;
    fmt::format_to(std::back_inserter(what), "{}{} {}", what.empty() ? "" : ", ", grouped(number), outcome);
  };
  add(made.established, "established");
  add(made.refused, "refused");
  add(made.unanswered - made.only_tcp, "not answered");
  add(made.only_tcp, "went no further than TCP");
  add(made.made - std::min(made.made, made.established + made.refused + made.unanswered), "under way");
  page.field("attempts", fmt::format("{} to connect: {}", grouped(made.made), what));
}

/// The most costly operations, a row each; -v shows all. A narrow page has no room for all columns.
void times(Page& page, const MountFacts& mount, bool verbose) {
  constexpr std::size_t most = 3;
  const std::size_t shown = verbose ? mount.operations.size() : std::min(most, mount.operations.size());
  if (shown == 0) return;
  constexpr std::size_t name_width = 18;
  constexpr std::array<std::size_t, 8> widths{7, 12, 8, 8, 8, 8, 8, 8};
  constexpr std::size_t octets = 1;
  constexpr std::size_t rarely = 6;  // 99 in a hundred
  const bool narrow = page.columns() < page_width;
  const auto row = [&](std::string_view label, std::string_view name, const std::array<std::string, 8>& cells) {
    std::string text = fmt::format("  {:<12}{:<{}} ", label, name, name_width);
    if (width(name) > name_width) {
      page.line(printable(text));
      text = fmt::format("  {:<12}{:<{}} ", "", "", name_width);
    }
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (narrow && (at == octets || at == rarely)) continue;
      // However wide a cell is, it stands apart.
      fmt::format_to(std::back_inserter(text), " {:>{}}", cells.at(at), widths.at(at) - 1);
    }
    page.line(text);
  };
  row("time", "", {"calls", "octets", "median", "pull", "server", "push", "99%", "worst"});
  for (std::size_t i = 0; i < shown; ++i) {
    const referee::OperationTimes& times = mount.operations[i];
    const auto part = [](const std::optional<double>& median) { return median ? duration(*median) : std::string("-"); };
    const bool known = times.latency.count != 0;
    row("", times.name,
        {grouped(times.calls), grouped(times.octets), known ? duration(times.latency.p50) : "-", part(times.pull_p50),
         part(times.server_p50), part(times.push_p50), known ? duration(times.latency.p99) : "-",
         known ? duration(times.latency.max) : "-"});
  }
  if (shown < mount.operations.size()) {
    page.field("",
               fmt::format("and {} (-v shows each)", counted(mount.operations.size() - shown, "further operation")));
  }
}

void mount_block(Page& page, const MountFacts& mount, const Run& run, bool verbose, Epoch epoch) {
  page.line();
  page.paragraph(fmt::format("Mount {}: ", mount.id), peers(mount, run), 2, Ink::bold);
  std::string state(in_words(mount.state));
  if (mount.since) {
    state += " since " + place(*mount.since, epoch);
    if (mount.since->time != 0) state += fmt::format(" ({})", calendar(mount.since->time));
  }
  page.field("state", state);
  if (mount.owes != referee::Owes::nobody) page.field("owes", debtor(mount.owes));
  attempts(page, mount);
  if (mount.waiting) {
    page.field("waiting", fmt::format("{}, the oldest for {}: {} ({})", counted(mount.waiting->calls, "call"),
                                      duration(mount.waiting->seconds * 1e6), call(*mount.waiting),
                                      place(mount.waiting->frame, epoch)));
  }
  if (mount.longest_wait) {
    const MountFacts::LongestWait& wait = *mount.longest_wait;
    page.field("longest",
               fmt::format("{} from Call to Reply: {} ({}), answered in frame {}", duration(wait.seconds * 1e6),
                           operation(wait.operation), place(wait.frame, epoch), wait.reply_frame.number));
  }
  times(page, mount, verbose);
  if (mount.nfs_over_tcp) {
    page.field("over TCP", fmt::format("{} of NFS without RDMA, from frame {} on",
                                       counted(mount.nfs_over_tcp->frames, "frame"), mount.nfs_over_tcp->first.number));
  }
  if (mount.connections.size() > 1) page.field("over", numbered("connection", mount.connections, 12));
  if (!mount.next.empty()) page.field("next", mount.next);
}

/// One that works is a line where there are others.
void mount_line(Page& page, const MountFacts& mount, const Run& run) {
  page.paragraph(fmt::format("Mount {}: ", mount.id), fmt::format("{}. {}", peers(mount, run), mount.sentence), 2,
                 Ink::bold);
}

}  // namespace

std::string_view debtor(referee::Owes owes) noexcept {
  switch (owes) {
    case referee::Owes::nobody:
      return "nobody";
    case referee::Owes::server:
      return "the server";
    case referee::Owes::client:
      return "the client";
    case referee::Owes::server_unreachable:
      return "the server, which cannot be reached";
    case referee::Owes::client_unreachable:
      return "the client, which cannot be reached";
    case referee::Owes::unknown:
      return "not known";
  }
  return "not known";
}

void sentence_block(Page& page, const Run& run) {
  if (!run.report.verdict.sentence.empty()) page.sentence(run.report.verdict.sentence, ink_of(run));
}

void mounts_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  const std::vector<MountFacts>& mounts = run.report.mounts;
  const auto in_full = [&](const MountFacts& mount) {
    return style.verbose || mounts.size() == 1 || suffers(mount.state) || mount.state == State::unknown;
  };
  constexpr std::size_t most = 8;  // of either kind
  std::size_t left = 0;
  std::size_t blocks = 0;
  for (const MountFacts& mount : mounts) {
    if (!in_full(mount)) continue;
    if (style.verbose || blocks++ < most) {
      mount_block(page, mount, run, style.verbose, epoch);
    } else {
      ++left;
    }
  }
  std::size_t lines = 0;
  for (const MountFacts& mount : mounts) {
    if (in_full(mount)) continue;
    if (lines == 0) page.line();
    if (lines++ < most) {
      mount_line(page, mount, run);
    } else {
      ++left;
    }
  }
  if (left == 0) return;
  if (lines == 0) page.line();
  page.line(fmt::format("and {} (-v shows each)", counted(left, "further mount")));
}

}  // namespace rpcrdma::report
