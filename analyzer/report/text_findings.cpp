// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/fold.hpp"
#include "report/names.hpp"
#include "report/pages.hpp"
#include "report/quantity.hpp"
#include "report/text_mount.hpp"

namespace rpcrdma::report {
namespace {

using referee::Finding;
using referee::Severity;

std::string where(const Finding& f, Epoch epoch) {
  std::string out = numbered("connection", connections_of(f), 8);
  if (out.empty() && referee::kind(f.rule) != referee::FindingKind::symptom) out = "capture";
  if (!f.frames.empty()) {
    if (!out.empty()) out += ", ";
    out += place({f.frames.front(), f.time}, epoch);
  }
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

void repeats(Page& page, const Fold& fold) {
  if (fold.first->occurrences > 1) page.field("seen", fmt::format("{} times in all", grouped(fold.first->occurrences)));
  if (fold.others.empty()) return;
  const auto connections = fold.connections();
  page.field("also", fmt::format("{} more of the same kind{}, frames {} (-v shows each)", grouped(fold.others.size()),
                                 connections.size() > 1 ? ", in all on " + numbered("connection", connections, 12) : "",
                                 listed(primary_frames(fold.others), 12)));
}

/// A symptom accuses nobody: it says who has to move.
void who(Page& page, const Finding& f) {
  if (referee::kind(f.rule) == referee::FindingKind::symptom) {
    if (f.owes && *f.owes != referee::Owes::nobody) page.field("owes", debtor(*f.owes));
    return;
  }
  if (!f.violator && !f.role) {
    page.field("who", "not decided");
    return;
  }
  std::string text = f.violator ? fmt::format("the {}", name(*f.violator)) : std::string("not known which side");
  if (f.role) fmt::format_to(std::back_inserter(text), ", as {}", name(*f.role));
  page.field("who", text);
}

/// Findings that are listed under another: by its connection, rule and offending frame.
using Consequences =
    std::map<std::tuple<trace::ConnectionId, referee::RuleId, std::uint64_t>, std::vector<const Finding*>>;

[[nodiscard]] auto place_of(const Finding& f) {
  return std::tuple(f.connection, f.rule, f.frames.empty() ? 0 : f.frames.front());
}

/// Takes those out of `serious` whose cause is there as well.
[[nodiscard]] Consequences take_consequences(std::vector<const Finding*>& serious) {
  Consequences consequences;
  for (const Finding* f : serious) {
    if (!f->follows) consequences.try_emplace(place_of(*f));
  }
  std::erase_if(serious, [&](const Finding* f) {
    if (!f->follows) return false;
    const auto cause = consequences.find({f->connection, f->follows->rule, f->follows->frame});
    if (cause == consequences.end()) return false;
    cause->second.push_back(f);
    return true;
  });
  return consequences;
}

/// What it brought about.
void consequences_of(Page& page, const Fold& fold, const Consequences& consequences) {
  std::vector<const Finding*> all;
  const auto take = [&](const Finding& cause) {
    const auto of = consequences.find(place_of(cause));
    if (of != consequences.end()) all.insert(all.end(), of->second.begin(), of->second.end());
  };
  take(*fold.first);
  for (const Finding* other : fold.others) take(*other);
  for (const Fold& each : folded(all, false)) {
    const Finding& f = *each.first;
    page.field("followed by", fmt::format("{} {}: {}{}{}", referee::text(f.severity), referee::rule(f.rule).name,
                                          f.message, f.frames.empty() ? "" : " Frames " + listed(f.frames, 8) + ".",
                                          each.times() > 1 ? fmt::format(" {} times.", grouped(each.times())) : ""));
  }
}

/// An error or a warning, in full.
void finding_block(Page& page, const Fold& fold, const Consequences& consequences, Epoch epoch) {
  const Finding& f = *fold.first;
  const referee::Rule& rule = referee::rule(f.rule);
  page.line();
  page.paragraph(fmt::format("{} {}: ", f.severity == Severity::error ? "ERROR" : "WARNING", rule.name), rule.title, 2,
                 ink(f.severity));
  page.field("where", where(f, epoch));
  who(page, f);
  page.field("what", f.message);
  if (f.frames.size() > 1) page.field("evidence", "frames " + listed(f.frames, 16));
  repeats(page, fold);
  consequences_of(page, fold, consequences);
  page.field("rule", fmt::format("{} (--explain {}, {})", rule.source, rule.name, rule_page(rule)));
  const std::string filter = display_filter(f);
  if (!filter.empty()) page.field("Wireshark", filter);
  page.field("next", rule.next);
}

void each_note(Page& page, const std::vector<const Finding*>& notes, Epoch epoch) {
  page.line("Notes", Ink::bold);
  for (const Finding* note : notes) {
    const referee::Rule& rule = referee::rule(note->rule);
    page.paragraph(fmt::format("  {}: ", rule.name), note->message, 4, Ink::cyan);
    std::string facts = where(*note, epoch);
    if (note->occurrences > 1) fmt::format_to(std::back_inserter(facts), ", seen {} times", grouped(note->occurrences));
    if (note->frames.size() > 1) facts += ", frames " + listed(note->frames, 8);
    page.paragraph("    ", facts + "; " + std::string(rule.source), 4);
  }
}

/// A habit is one note, whatever it says; symptoms are one where they say the same.
std::map<referee::RuleId, std::vector<Fold>> folded_notes(const std::vector<const Finding*>& notes) {
  std::map<referee::RuleId, std::vector<Fold>> by_rule;
  std::map<std::pair<referee::RuleId, std::string>, std::size_t> known;
  for (const Finding* note : notes) {
    const bool symptom = referee::kind(note->rule) == referee::FindingKind::symptom;
    std::vector<Fold>& folds = by_rule[note->rule];
    const auto [at, fresh] =
        known.try_emplace({note->rule, symptom ? pattern_of(note->message) : std::string()}, folds.size());
    if (fresh) {
      folds.push_back({note, {}});
    } else {
      folds[at->second].others.push_back(note);
    }
  }
  return by_rule;
}

void note_line(Page& page, const Fold& note) {
  std::string text = note.first->message;
  std::string facts;
  if (!note.first->frames.empty()) facts = fmt::format("frame {}", note.first->frames.front());
  if (note.times() > 1) facts += fmt::format("{}{} times", facts.empty() ? "" : ", ", grouped(note.times()));
  const auto connections = note.connections();
  if (connections.size() > 1) facts += fmt::format(" in {}", counted(connections.size(), "connection"));
  if (!facts.empty()) fmt::format_to(std::back_inserter(text), " ({})", facts);
  page.paragraph(fmt::format("  {}: ", referee::rule(note.first->rule).name), text, 4, Ink::cyan);
}

/// Notes by rule in one or two lines each: a healthy capture's report stays short.
void note_lines(Page& page, const std::vector<const Finding*>& notes, const TextStyle& style, Epoch epoch) {
  if (notes.empty()) return;
  page.line();
  if (style.verbose) {
    each_note(page, notes, epoch);
    return;
  }
  page.line("Notes (legal, or not decidable; -v shows each)", Ink::bold);
  constexpr std::size_t most = 6;  // of one rule
  for (const auto& [id, folds] : folded_notes(notes)) {
    for (std::size_t i = 0; i < std::min(most, folds.size()); ++i) note_line(page, folds[i]);
    if (folds.size() > most) {
      page.paragraph(fmt::format("  {}: ", referee::rule(id).name), grouped(folds.size() - most) + " more", 4,
                     Ink::cyan);
    }
  }
}

}  // namespace

void findings_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  std::vector<const Finding*> serious;
  std::vector<const Finding*> notes;
  const std::vector<Finding> all = run.report.findings.all();
  for (const auto& f : all) (f.severity == Severity::note ? notes : serious).push_back(&f);
  // Worst first; within a severity the report's own order, which is by frame.
  std::stable_sort(serious.begin(), serious.end(),
                   [](const auto* a, const auto* b) { return a->severity > b->severity; });
  const Consequences consequences = take_consequences(serious);
  for (const Fold& fold : folded(serious, style.verbose)) finding_block(page, fold, consequences, epoch);
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
    if (u.connection != 0) entry.connections.push_back(u.connection);
    const std::string_view rule = referee::rule(u.rule).name;
    if (std::find(entry.rules.begin(), entry.rules.end(), rule) == entry.rules.end()) entry.rules.push_back(rule);
  }
  for (Entry& entry : entries) {
    std::string text = entry.reason;
    std::sort(entry.connections.begin(), entry.connections.end());
    entry.connections.erase(std::unique(entry.connections.begin(), entry.connections.end()), entry.connections.end());
    if (!entry.connections.empty()) {
      fmt::format_to(std::back_inserter(text), " ({})", numbered("connection", entry.connections, 8));
    }
    fmt::format_to(std::back_inserter(text), ": {}", fmt::join(entry.rules, ", "));
    page.paragraph("  ", text, 4);
  }
}

}  // namespace rpcrdma::report
