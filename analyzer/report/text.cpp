// SPDX-License-Identifier: GPL-2.0-or-later
// The report a person reads: what happened to the mounts, inputs, findings worst first, connections, what was not
// checked, one sentence at the end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/layout.hpp"
#include "report/names.hpp"
#include "report/pages.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"
#include "report/text_connection.hpp"

namespace rpcrdma::report {
namespace {

using referee::Finding;
using referee::Severity;
using Epoch = std::optional<trace::TimeNs>;

Epoch first_time(const Run& run) {
  Epoch first;
  for (const auto& input : run.inputs) {
    if (input.first_time && (!first || *input.first_time < *first)) first = input.first_time;
  }
  return first;
}

void input_block(Page& page, const Input& input) {
  std::string facts = input.format;
  for (const auto& link : input.link_types) facts += ", " + link;
  fmt::format_to(std::back_inserter(facts), ", {}, {}", counted(input.frames, "frame"), counted(input.bytes, "octet"));
  page.line(printable(input.path), Ink::bold);
  page.field("capture", facts);
  if (input.first_time && input.last_time) {
    const double span = (static_cast<double>(*input.last_time) - static_cast<double>(*input.first_time)) / 1e3;
    page.field("from", fmt::format("{}, for {}", calendar(*input.first_time), duration(span)));
  }
  if (input.truncated_frames != 0) {
    page.field("cut", fmt::format("{} cut short by the snap length", counted(input.truncated_frames, "frame")));
  }
  if (input.damaged && input.frames == 0 && input.damaged->offset == 0) {
    page.field("NOT READ", input.damaged->reason);
  } else if (input.damaged) {
    page.field("DAMAGED", fmt::format("at octet {}: {}. What stands before it was analysed.",
                                      grouped(input.damaged->offset), input.damaged->reason));
  }
}

/// Findings that say the same thing, on whatever connection; the first one speaks for all.
struct Group {
  const Finding* first = nullptr;
  std::vector<const Finding*> others;
};

std::vector<Group> grouped_findings(const std::vector<const Finding*>& findings, bool each_alone) {
  std::vector<Group> groups;
  std::map<std::tuple<referee::RuleId, Severity, std::optional<referee::Party>>, std::size_t> known;
  for (const Finding* f : findings) {
    const auto [at, fresh] = known.try_emplace({f->rule, f->severity, f->violator}, groups.size());
    if (each_alone || fresh) {
      groups.push_back({f, {}});
    } else {
      groups[at->second].others.push_back(f);
    }
  }
  return groups;
}

std::string where(const Finding& f, Epoch epoch) {
  std::string out = f.connection == 0 ? std::string("capture") : fmt::format("connection {}", f.connection);
  if (f.connections.size() > 1) {
    out = "connections " + listed(std::vector<std::uint64_t>(f.connections.begin(), f.connections.end()), 8);
  }
  if (!f.frames.empty()) out += ", " + place({f.frames.front(), f.time}, epoch);
  if (f.xid) out += ", XID " + xid(*f.xid);
  return out;
}

std::vector<std::uint64_t> primary_frames(const std::vector<const Finding*>& findings) {
  std::vector<std::uint64_t> frames;
  for (const Finding* f : findings) {
    if (!f->frames.empty()) frames.push_back(f->frames.front());
  }
  return frames;
}

void repeats(Page& page, const Group& group) {
  if (group.first->occurrences > 1)
    page.field("seen", fmt::format("{} times in all", grouped(group.first->occurrences)));
  if (group.others.empty()) return;
  std::set<trace::ConnectionId> connections{group.first->connection};
  for (const Finding* f : group.others) connections.insert(f->connection);
  page.field("also", fmt::format("{} more of the same kind{}, frames {} (-v shows each)", grouped(group.others.size()),
                                 connections.size() > 1 ? " on " + counted(connections.size(), "connection") : "",
                                 listed(primary_frames(group.others), 12)));
}

/// An error or a warning, in full.
void finding_block(Page& page, const Group& group, Epoch epoch) {
  const Finding& f = *group.first;
  const referee::Rule& rule = referee::rule(f.rule);
  page.line();
  page.paragraph(fmt::format("{} {}: ", f.severity == Severity::error ? "ERROR" : "WARNING", rule.name), rule.title, 2,
                 ink(f.severity));
  page.field("where", where(f, epoch));
  if (referee::kind(f.rule) == referee::FindingKind::symptom) {
    if (f.owes) page.field("owes", std::string(name(*f.owes)));
  } else if (f.violator || f.role) {
    std::string who = f.violator ? fmt::format("the {}", name(*f.violator)) : std::string("not known which side");
    if (f.role) fmt::format_to(std::back_inserter(who), ", as {}", name(*f.role));
    page.field("who", who);
  } else {
    page.field("who", "not decided");
  }
  page.field("what", f.message);
  if (f.frames.size() > 1) page.field("evidence", "frames " + listed(f.frames, 16));
  repeats(page, group);
  page.field("rule", fmt::format("{} (--explain {}, {})", rule.source, rule.name, rule_page(rule)));
  const std::string filter = display_filter(f);
  if (!filter.empty()) page.field("Wireshark", filter);
  page.field("next", rule.next);
}

/// Notes by rule in one or two lines each: a healthy capture's report stays short.
void note_lines(Page& page, const std::vector<const Finding*>& notes, const TextStyle& style, Epoch epoch) {
  if (notes.empty()) return;
  page.line();
  const std::vector<Group> each = grouped_findings(notes, true);
  if (style.verbose) {
    page.line("Notes", Ink::bold);
    for (const Group& note : each) {
      const referee::Rule& rule = referee::rule(note.first->rule);
      page.paragraph(fmt::format("  {}: ", rule.name), note.first->message, 4, Ink::cyan);
      std::string facts = where(*note.first, epoch);
      if (note.first->occurrences > 1)
        fmt::format_to(std::back_inserter(facts), ", seen {} times", grouped(note.first->occurrences));
      if (note.first->frames.size() > 1) facts += ", frames " + listed(note.first->frames, 8);
      page.paragraph("    ", facts + "; " + std::string(rule.source), 4);
    }
    return;
  }
  page.line("Notes (legal, or not decidable; -v shows each)", Ink::bold);
  std::map<referee::RuleId, Group> by_rule;
  for (const Finding* f : notes) {
    Group& group = by_rule[f->rule];
    if (group.first == nullptr) {
      group.first = f;
    } else {
      group.others.push_back(f);
    }
  }
  for (const auto& [id, group] : by_rule) {
    std::uint64_t times = group.first->occurrences;
    std::set<trace::ConnectionId> connections{group.first->connection};
    for (const Finding* f : group.others) {
      times += f->occurrences;
      connections.insert(f->connection);
    }
    connections.erase(0);
    std::string text = group.first->message;
    std::string facts;
    if (!group.first->frames.empty()) facts = fmt::format("frame {}", group.first->frames.front());
    if (times > 1) facts += fmt::format("{}{} times", facts.empty() ? "" : ", ", grouped(times));
    if (connections.size() > 1) facts += fmt::format(" in {}", counted(connections.size(), "connection"));
    if (!facts.empty()) fmt::format_to(std::back_inserter(text), " ({})", facts);
    page.paragraph(fmt::format("  {}: ", referee::rule(id).name), text, 4, Ink::cyan);
  }
}

void findings_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  std::vector<const Finding*> serious;
  std::vector<const Finding*> notes;
  for (const auto& f : run.report.findings) (f.severity == Severity::note ? notes : serious).push_back(&f);
  // Worst first; within a severity the report's own order, which is by frame.
  std::stable_sort(serious.begin(), serious.end(),
                   [](const auto* a, const auto* b) { return a->severity > b->severity; });
  for (const Group& group : grouped_findings(serious, style.verbose)) finding_block(page, group, epoch);
  note_lines(page, notes, style, epoch);
}

void unchecked_block(Page& page, const Run& run) {
  if (run.report.unchecked.empty()) return;
  page.line();
  page.line("Not checked", Ink::bold);
  // By reason, so that one missing handshake is one entry.
  struct Entry {
    std::string reason;
    std::vector<trace::ConnectionId> connections;
    std::vector<std::string_view> rules;
  };
  std::vector<Entry> entries;
  std::map<std::string_view, std::size_t> known;
  for (const auto& u : run.report.unchecked) {
    const auto [at, fresh] = known.try_emplace(u.reason, entries.size());
    if (fresh) entries.push_back({u.reason, {}, {}});
    Entry& entry = entries[at->second];
    const auto once = [](auto& list, const auto& item) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    if (u.connection != 0) once(entry.connections, u.connection);
    once(entry.rules, referee::rule(u.rule).name);
  }
  for (const Entry& entry : entries) {
    std::string text = entry.reason;
    if (!entry.connections.empty()) {
      const std::vector<std::uint64_t> ids(entry.connections.begin(), entry.connections.end());
      fmt::format_to(std::back_inserter(text), " (connection{} {})", ids.size() == 1 ? "" : "s", listed(ids, 8));
    }
    fmt::format_to(std::back_inserter(text), ": {}", fmt::join(entry.rules, ", "));
    page.paragraph("  ", text, 4);
  }
}

/// What stands out of the order of a healthy connection.
bool has_something_to_say(const Run& run, const referee::ConnectionFacts& c) {
  using How = referee::Closed::How;
  const bool found = std::any_of(run.report.findings.begin(), run.report.findings.end(), [&](const Finding& f) {
    return f.connection == c.id && f.severity > Severity::note &&
           referee::kind(f.rule) != referee::FindingKind::symptom;
  });
  if (!established(c)) return false;
  if (found || c.one_way) return true;
  if (!c.closed) return false;
  return c.closed->how != How::disconnect || (c.closed->cause && c.closed->cause->rule != referee::RuleId::cm_dreq);
}

void connections_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  const auto& connections = run.report.connections;
  std::vector<const referee::ConnectionFacts*> short_ones;
  for (const auto& c : connections) {
    if (style.verbose || connections.size() == 1 || has_something_to_say(run, c)) {
      connection_block(page, c, epoch, style);
    } else {
      short_ones.push_back(&c);
    }
  }
  if (short_ones.empty()) return;
  page.line();
  constexpr std::size_t most = 20;
  std::size_t lines = 0;
  for (auto at = short_ones.begin(); at != short_ones.end();) {
    const auto end = std::find_if(at + 1, short_ones.end(), [&](const auto* c) { return !failed_alike(**at, *c); });
    if (++lines > most) {
      const auto left = static_cast<std::uint64_t>(short_ones.end() - at);
      page.line(fmt::format("and {} like them (-v shows each)", counted(left, "connection")));
      return;
    }
    if (end - at > 1) {
      failed_series_line(page, **at, **(end - 1), static_cast<std::uint64_t>(end - at), epoch);
    } else {
      connection_line(page, **at, epoch);
    }
    at = end;
  }
}

Ink ink_of(const Run& run) {
  using State = referee::MountFacts::State;
  const State state = run.report.verdict.state;
  const Tally tally = count(run.report.findings);
  if (state == State::down || state == State::never_up || state == State::waiting || tally.errors != 0) return Ink::red;
  return state == State::unknown || tally.warnings != 0 ? Ink::yellow : Ink::green;
}

void mount_block(Page& page, const referee::MountFacts& mount, Epoch epoch) {
  page.line();
  page.line(fmt::format("Mount {}: {} to {}", mount.id, mount.client, mount.server), Ink::bold);
  std::string state(name(mount.state));
  if (mount.since) state += ", since " + place(*mount.since, epoch);
  page.field("state", state);
  if (mount.owes != referee::Owes::nobody) page.field("owes", std::string(name(mount.owes)));
  const auto& made = mount.attempts;
  if (made.made != made.established) {
    page.field("attempts", fmt::format("{}: {} established, {} refused, {} not answered", grouped(made.made),
                                       grouped(made.established), grouped(made.refused), grouped(made.unanswered)));
  }
  if (mount.waiting) {
    page.field("waiting",
               fmt::format("{}; the oldest is {} {} ({}), for {:.1f} s", counted(mount.waiting->calls, "call"),
                           mount.waiting->operation, xid(mount.waiting->xid), place(mount.waiting->frame, epoch),
                           mount.waiting->seconds));
  }
  if (mount.longest_wait) {
    page.field("slowest", fmt::format("{}, {}, answered in frame {} after {}", mount.longest_wait->operation,
                                      place(mount.longest_wait->frame, epoch), mount.longest_wait->reply_frame.number,
                                      duration(mount.longest_wait->seconds * 1e6)));
  }
  if (!mount.next.empty()) page.field("next", mount.next);
}

/// What happened to the mounts, before anything else.
void verdict_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  const auto& mounts = run.report.mounts;
  if (run.report.verdict.sentence.empty()) return;
  page.paragraph("", run.report.verdict.sentence, 0, ink_of(run));
  using State = referee::MountFacts::State;
  constexpr std::size_t most = 8;
  std::size_t shown = 0;
  for (const auto& mount : mounts) {
    const bool well = mount.state == State::working || mount.state == State::closed;
    if (!style.verbose && ((well && mounts.size() > 1) || shown >= most)) continue;
    mount_block(page, mount, epoch);
    ++shown;
  }
  if (shown < mounts.size()) {
    page.line();
    page.line(fmt::format("{} more (-v shows each)", counted(mounts.size() - shown, "mount")));
  }
  page.line();
}

}  // namespace

std::string text(const Run& run, const TextStyle& style, std::string_view ladders) {
  Page page(style.color);
  const Epoch epoch = first_time(run);
  if (style.quiet) {
    findings_block(page, run, style, epoch);
    std::string out = page.take();
    out += ladders;
    out.erase(0, out.find_first_not_of('\n'));  // blocks are parted by an empty line before each
    return out;
  }
  verdict_block(page, run, style, epoch);
  for (const auto& input : run.inputs) input_block(page, input);
  findings_block(page, run, style, epoch);
  connections_block(page, run, style, epoch);
  unchecked_block(page, run);
  page.drawn(ladders);
  const Tally tally = count(run.report.findings);
  Ink ink = Ink::green;
  if (tally.warnings != 0 || !run.report.judged) ink = Ink::yellow;
  if (tally.errors != 0) ink = Ink::red;
  page.line();
  page.line(verdict(run), ink);
  return page.take();
}

}  // namespace rpcrdma::report
