// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/ladder_words.hpp"
#include "report/layout.hpp"
#include "report/names.hpp"
#include "report/quantity.hpp"

namespace rpcrdma::report {
namespace {

using Kind = LadderRow::Kind;
using referee::Finding;
using referee::Severity;
using trace::Side;

constexpr std::size_t margin = 22;  // frame and time
constexpr std::size_t lane = page_width - margin - 2;
constexpr std::size_t indent = 4;                     // of what stands between the two rails
constexpr std::size_t most_label = lane - 8;          // beside blanks, stem and head of its arrow
constexpr trace::TimeNs worth_telling = 200'000'000;  // ns in which nothing happens
constexpr std::size_t around = 3;                     // rows drawn around a finding
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> plain{{{"│", "|"},
                                                                               {"─", "-"},
                                                                               {"═", "="},
                                                                               {"╌", "."},
                                                                               {"▶", ">"},
                                                                               {"◀", "<"},
                                                                               {"⋮", ":"},
                                                                               {"✖", "!"},
                                                                               {"▲", "!"},
                                                                               {"●", "*"},
                                                                               {"·", "-"}}};

std::string repeated(std::string_view glyph, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += glyph;
  return out;
}

/// Lines of at most `room` columns; a word that is longer is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t room) {
  std::vector<std::string> lines;
  std::string rest = printable(text);
  while (width(rest) > room) {
    std::size_t at = 0;  // octet behind the last column that fits
    std::size_t blank = 0;
    for (std::size_t columns = 0; columns <= room; ++columns) {
      if (rest[at] == ' ') blank = at;
      if (columns == room) break;
      do ++at;
      while ((static_cast<unsigned char>(rest[at]) & 0xC0U) == 0x80U);
    }
    if (blank == 0) blank = at;
    lines.push_back(rest.substr(0, blank));
    rest.erase(0, std::min(rest.size(), rest.find_first_not_of(' ', blank)));
  }
  if (!rest.empty() || lines.empty()) lines.push_back(std::move(rest));
  return lines;
}

std::string_view stroke(const LadderRow& row) {
  switch (row.kind) {
    case Kind::read_request:
      return "╌";
    case Kind::read_response:
    case Kind::write:
      return "═";
    default:
      return "─";
  }
}

Ink ink_of(const LadderRow& row) {
  switch (row.kind) {
    case Kind::call:
    case Kind::reply:
    case Kind::done:
      return Ink::plain;
    case Kind::error:
    case Kind::refusal:
      return Ink::red;
    case Kind::read_request:
    case Kind::read_response:
      return Ink::cyan;
    case Kind::write:
      return Ink::green;
    default:
      return Ink::dim;
  }
}

/// Draws one connection.
class Drawing {
 public:
  Drawing(Page& page, const std::vector<Finding>& findings, const Ladder& ladder, const referee::ConnectionFacts& facts,
          const Ladder::Connection& connection, const LadderStyle& style, std::optional<trace::TimeNs> epoch)
      : page_(page),
        findings_(findings),
        ladder_(ladder),
        facts_(facts),
        rows_(connection.rows),
        style_(style),
        epoch_(epoch) {
    for (const LadderRow& row : rows_) {
      if (row.kind == Kind::call && row.exchange != 0) calls_.try_emplace(row.exchange, row.first);
    }
  }

  void draw() {
    heading();
    const std::vector<bool> chosen = choose();
    Hole hole;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const LadderRow& row = rows_[i];
      if (row.kind == Kind::left_out || !chosen[i]) {
        hole.add(row);
        continue;
      }
      fill(hole);
      silence(row);
      arrow(row);
      marks(row);
    }
    fill(hole);
    if (!facts_.closed && facts_.waiting.calls != 0) {
      between(fmt::format("    ⋮ the capture ends: {} without a reply, the longest for {}",
                          counted(facts_.waiting.calls, "call"), waited(facts_.waiting)),
              Ink::dim);
    }
  }

 private:
  struct Hole {
    std::uint64_t steps = 0, first = 0, last = 0;
    void add(const LadderRow& row) {
      if (steps == 0) first = row.first.number;
      last = std::max(last, std::max(row.first.number, row.last.number));
      steps += row.kind == Kind::left_out ? row.packets : 1;
    }
  };

  void heading() {
    page_.line();
    page_.line(fmt::format("Ladder of connection {}", facts_.id), Ink::bold);
    const auto end = [](std::string_view role, const trace::Endpoint& at) {
      return at.address.empty() ? std::string(role) : fmt::format("{} {}", role, at.address);
    };
    const std::string left = end("client", facts_.client);
    const std::string right = end("server", facts_.server);
    const std::size_t used = width(left) + width(right);
    page_.line(fmt::format("{:>8} {:>12} {}{}{}", "frame", "seconds", left,
                           std::string(lane + 2 > used ? lane + 2 - used : 1, ' '), right),
               Ink::dim);
  }

  /// Which rows are drawn: all, or as many as the style allows.
  [[nodiscard]] std::vector<bool> choose() const {
    std::vector<bool> chosen(rows_.size(), rows_.size() <= style_.rows);
    if (rows_.size() <= style_.rows) return chosen;
    std::size_t left = style_.rows;
    const auto take = [&](std::size_t i) {
      if (i >= rows_.size() || chosen[i] || left == 0) return;
      chosen[i] = true;
      --left;
    };
    const std::size_t end = style_.rows / 6;
    for (std::size_t i = 0; i < style_.rows / 4; ++i) take(i);
    for (std::size_t i = 1; i <= end; ++i) take(rows_.size() - i);
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
      for (std::size_t i = 0; i < rows_.size() && left != 0; ++i) {
        const bool marked = std::any_of(rows_[i].marks.begin(), rows_[i].marks.end(), [&](const LadderMark& mark) {
          return mark.primary && findings_[mark.finding].severity == severity;
        });
        if (!marked) continue;
        take(i);
        for (std::size_t near = 1; near <= around; ++near) {
          take(i + near);
          if (i >= near) take(i - near);
        }
      }
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) take(i);
    return chosen;
  }

  void between(std::string_view text, Ink ink, std::string_view beside = {}) {
    const std::size_t used = width(text);
    page_.line(fmt::format("{:{}}│{}{}│", beside, margin, text, std::string(lane > used ? lane - used : 0, ' ')), ink);
  }

  void fill(Hole& hole) {
    if (hole.steps != 0) {
      between(fmt::format("    ⋮ {} left out, frames {} to {}", counted(hole.steps, "step"), hole.first, hole.last),
              Ink::dim);
      last_ = std::nullopt;
    }
    hole = {};
  }

  void silence(const LadderRow& row) {
    const std::optional<trace::TimeNs> before = std::exchange(last_, std::max(row.first.time, row.last.time));
    if (!before || row.first.time < *before) return;
    const auto gap = static_cast<std::uint64_t>(row.first.time) - static_cast<std::uint64_t>(*before);
    if (gap < worth_telling) return;
    between(fmt::format("    ⋮ {}", duration(static_cast<double>(gap) / 1e3)), Ink::dim);
  }

  /// Frame and time, in as many decimals as there is room for.
  [[nodiscard]] std::string place(const LadderRow& row) const {
    if (epoch_ && row.first.time >= *epoch_) {
      const auto since = static_cast<std::uint64_t>(row.first.time) - static_cast<std::uint64_t>(*epoch_);
      const std::uint64_t whole = since / 1'000'000'000;
      const std::uint64_t part = since % 1'000'000'000;
      for (const std::string& time : {fmt::format("+{}.{:06}", whole, part / 1000),
                                      fmt::format("+{}.{:03}", whole, part / 1'000'000), fmt::format("+{}", whole)}) {
        std::string text = fmt::format("{:>8} {:>12} ", row.first.number, time);
        if (text.size() <= margin) return text;
      }
    }
    return fmt::format("{:>8} {:>{}}", row.first.number, "", margin - 9);
  }

  void arrow(const LadderRow& row) {
    if (row.kind == Kind::frame) return;  // it stands beside its finding
    const auto call = calls_.find(row.exchange);
    LadderWords text = words(row, ladder_, facts_.transport,
                             row.exchange != 0 && call != calls_.end() && call->second.number != row.first.number
                                 ? std::optional(call->second)
                                 : std::nullopt);
    std::vector<std::string> label = wrapped(text.label, most_label);
    const bool to_server = row.sender == Side::active;
    const Ink ink = ink_of(row);
    if (row.kind == Kind::gap || row.kind == Kind::unread || (row.kind == Kind::close && by_what_follows(row.how))) {
      page_.line(fmt::format("{}│    ⋮ {:{}}│", place(row), label.front(), lane - 6), ink);
    } else {
      const std::size_t used = width(label.front());
      const std::string stem = repeated(stroke(row), 2);
      const std::string shaft = repeated(stroke(row), lane - used - 5);
      page_.line(to_server ? fmt::format("{}│{} {} {}▶│", place(row), stem, label.front(), shaft)
                           : fmt::format("{}│◀{} {} {}│", place(row), shaft, label.front(), stem),
                 ink);
    }
    for (std::size_t i = 1; i < label.size(); ++i) detail(label[i], to_server, ink);
    for (const std::string& each : text.details) {
      for (const std::string& line : wrapped(each, most_label)) detail(line, to_server, ink);
    }
  }

  /// Beside the tail of the arrow.
  void detail(std::string_view text, bool to_server, Ink ink) {
    const std::size_t used = width(text);
    const std::size_t before = to_server ? indent - 1 : lane - used - indent + 1;
    between(fmt::format("{}{}", std::string(before, ' '), text), ink);
  }

  void marks(const LadderRow& row) {
    std::string beside = row.kind == Kind::frame ? place(row) : std::string(margin, ' ');
    for (const LadderMark& mark : row.marks) {
      const Finding& finding = findings_[mark.finding];
      const referee::Rule& rule = referee::rule(finding.rule);
      if (!mark.primary) {
        if (finding.severity == Severity::note || finding.frames.empty()) continue;
        between(fmt::format("  · evidence of {}, frame {}", rule.name, finding.frames.front()), Ink::dim);
        continue;
      }
      static constexpr std::array<std::string_view, 3> signs{"● note", "▲ WARNING", "✖ ERROR"};
      std::string text = fmt::format("{} {}", signs.at(static_cast<std::size_t>(finding.severity)), rule.name);
      if (finding.violator) fmt::format_to(std::back_inserter(text), " ({})", name(*finding.violator));
      // What was said once about a habit is said.
      if (told_.insert(finding.rule).second || finding.severity != Severity::note) {
        text += ": ";
        text += finding.message;
      }
      bool first = true;
      for (const std::string& line : wrapped(text, lane - indent - 2)) {
        between(fmt::format("{}{}", first ? "  " : "    ", line), ink(finding.severity), beside);
        first = false;
        beside.assign(margin, ' ');
      }
    }
  }

  Page& page_;
  const std::vector<Finding>& findings_;
  const Ladder& ladder_;
  const referee::ConnectionFacts& facts_;
  const std::vector<LadderRow>& rows_;
  const LadderStyle& style_;
  std::optional<trace::TimeNs> epoch_;
  std::optional<trace::TimeNs> last_;
  std::unordered_map<std::uint32_t, trace::FrameRef> calls_;
  std::set<referee::RuleId> told_;
};

}  // namespace

std::string ladder_text(const Run& run, const Ladder& ladder, const LadderStyle& style) {
  std::optional<trace::TimeNs> epoch;
  for (const Input& input : run.inputs) {
    if (input.first_time && (!epoch || *input.first_time < *epoch)) epoch = input.first_time;
  }
  Page page(style.color);
  const std::vector<Finding> findings = run.report.findings.all();
  std::uint64_t not_drawn = 0;
  for (const referee::ConnectionFacts& facts : run.report.connections) {
    const Ladder::Connection* connection = ladder.connection(facts.id);
    if (connection == nullptr || connection->rows.empty()) {
      ++not_drawn;
    } else {
      Drawing(page, findings, ladder, facts, *connection, style, epoch).draw();
    }
  }
  if (not_drawn != 0) {
    page.line();
    page.line(fmt::format("{} not drawn: nothing was kept of what happened there", counted(not_drawn, "connection")),
              Ink::dim);
  }
  return style.ascii ? in_ascii(page.take()) : page.take();
}

std::string in_ascii(std::string_view drawing) {
  std::string out;
  out.reserve(drawing.size());
  while (!drawing.empty()) {
    const auto glyph = std::find_if(plain.begin(), plain.end(), [&](const auto& pair) {
      return drawing.substr(0, pair.first.size()) == pair.first;
    });
    if (glyph != plain.end()) {
      out += glyph->second;
      drawing.remove_prefix(glyph->first.size());
    } else {
      out += drawing.front();
      drawing.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace rpcrdma::report
