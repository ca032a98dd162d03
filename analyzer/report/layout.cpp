// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "report/stretches.hpp"

namespace rpcrdma::report {
namespace {

bool acts_on_terminal(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F)                              // C0, DEL, C1
         || c == 0x2028 || c == 0x2029                                     // line and paragraph separators
         || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);  // direction overrides
}

std::string_view code(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return {};
    case Ink::bold:
      return "\x1b[1m";
    case Ink::dim:
      return "\x1b[2m";
    case Ink::red:
      return "\x1b[1;31m";
    case Ink::yellow:
      return "\x1b[33m";
    case Ink::cyan:
      return "\x1b[36m";
    case Ink::green:
      return "\x1b[32m";
  }
  return {};
}

}  // namespace

std::string printable(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  const auto unmask = [&out](char c) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  };
  const auto print = [&](std::string_view good) {
    for (const char* at = good.data(); at != good.data() + good.size();) {
      const char* const begin = at;
      if (acts_on_terminal(utf8::unchecked::next(at))) {
        std::for_each(begin, at, unmask);
      } else {
        out.append(begin, at);
      }
    }
  };
  each_stretch(raw, print, unmask);
  return out;
}

std::size_t width(std::string_view text) {
  // Nearly all words are ASCII: one column an octet.
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return text.size();
  }
  std::size_t points = 0;
  each_stretch(
      text,
      [&points](std::string_view good) {
        points += static_cast<std::size_t>(utf8::unchecked::distance(good.begin(), good.end()));
      },
      [&points](char) { ++points; });
  return points;
}

Ink ink(referee::Severity severity) noexcept {
  switch (severity) {
    case referee::Severity::error:
      return Ink::red;
    case referee::Severity::warning:
      return Ink::yellow;
    case referee::Severity::note:
      return Ink::cyan;
  }
  return Ink::plain;
}

std::string Page::inked(std::string_view text, Ink ink) const {
  if (!color_ || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code(ink), text);
}

void Page::line(std::string_view text, Ink ink) {
  text_ += inked(text, ink);
  text_ += '\n';
}

std::vector<std::string> Page::wrapped(std::string_view text, std::size_t column, std::size_t hang) const {
  const std::string clean = printable(text);
  std::string_view rest = clean;
  std::vector<std::string> lines(1);
  while (true) {
    const std::size_t start = rest.find_first_not_of(' ');
    if (start == std::string_view::npos) return lines;
    rest.remove_prefix(start);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    const std::size_t needed = width(word) + (lines.back().empty() ? 0 : 1);
    if (!lines.back().empty() && column + needed > width_) {
      lines.emplace_back();
      column = hang;
    }
    if (!lines.back().empty()) {
      lines.back() += ' ';
      ++column;
    }
    lines.back() += word;
    column += width(word);
  }
}

void Page::paragraph(std::string_view head, std::string_view text, std::size_t hang, Ink ink) {
  text_ += inked(head, ink);
  std::string_view before;
  const std::string blanks(hang, ' ');
  for (const std::string& each : wrapped(text, width(head), hang)) {
    text_ += before;
    text_ += each;
    text_ += '\n';
    before = blanks;
  }
}

void Page::sentence(std::string_view text, Ink ink) {
  for (const std::string& each : wrapped(text, 0, 0)) line(each, ink);
}

void Page::field(std::string_view label, std::string_view text) {
  constexpr std::size_t hang = 14;
  paragraph(fmt::format("  {:<{}}", label, hang - 2), text, hang);
}

}  // namespace rpcrdma::report
