// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/layout.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace rpcrdma::report {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  ///< octets; 0: not UTF-8
};

std::uint32_t octet(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// The code point at the start of `text`; overlong forms, surrogates and what is above U+10FFFF are no UTF-8.
CodePoint decode(std::string_view text) {
  struct Form {
    std::uint32_t mask, lead, lowest;
    std::size_t length;
  };
  static constexpr Form forms[] = {
      {0x80, 0x00, 0, 1}, {0xE0, 0xC0, 0x80, 2}, {0xF0, 0xE0, 0x800, 3}, {0xF8, 0xF0, 0x10000, 4}};
  const std::uint32_t first = octet(text, 0);
  for (const Form& form : forms) {
    if ((first & form.mask) != form.lead) continue;
    std::uint32_t value = first & ~form.mask;
    for (std::size_t i = 1; i < form.length; ++i) {
      const std::uint32_t next = octet(text, i);
      if ((next & 0xC0U) != 0x80U) return {};
      value = (value << 6U) | (next & 0x3FU);
    }
    if (value < form.lowest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
    return {value, form.length};
  }
  return {};
}

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
  while (!raw.empty()) {
    const CodePoint c = decode(raw);
    const std::size_t taken = c.length == 0 ? 1 : c.length;
    if (c.length == 0 || acts_on_terminal(c.value)) {
      for (std::size_t i = 0; i < taken; ++i) fmt::format_to(std::back_inserter(out), "\\x{:02x}", octet(raw, i));
    } else {
      out.append(raw.substr(0, taken));
    }
    raw.remove_prefix(taken);
  }
  return out;
}

std::size_t width(std::string_view text) noexcept {
  std::size_t points = 0;
  for (const char c : text) points += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
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

void Page::paragraph(std::string_view head, std::string_view text, std::size_t hang, Ink ink) {
  const std::string clean = printable(text);
  std::string_view rest = clean;
  std::size_t column = width(head);
  bool line_has_word = false;
  text_ += inked(head, ink);
  while (true) {
    const std::size_t start = rest.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    const std::size_t needed = width(word) + (line_has_word ? 1 : 0);
    if (line_has_word && column + needed > page_width) {
      text_ += '\n';
      text_.append(hang, ' ');
      column = hang;
      line_has_word = false;
    }
    if (line_has_word) {
      text_ += ' ';
      ++column;
    }
    text_ += word;
    column += width(word);
    line_has_word = true;
  }
  text_ += '\n';
}

void Page::field(std::string_view label, std::string_view text) {
  constexpr std::size_t hang = 14;
  paragraph(fmt::format("  {:<{}}", label, hang - 2), text, hang);
}

}  // namespace rpcrdma::report
