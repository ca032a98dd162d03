// SPDX-License-Identifier: GPL-2.0-or-later
// Lines for a terminal: clean text, wrapped, with colours only when they are asked for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "referee/rules/table.hpp"

namespace rpcrdma::report {

inline constexpr std::size_t page_width = 100;  ///< where nobody says how wide the terminal is

/// The text without anything that could act on a terminal: control characters and octets that are no UTF-8 become
/// \xNN. Everything that comes from a file or from the wire goes through here.
[[nodiscard]] std::string printable(std::string_view raw);

/// Code points, and octets that are no part of any.
[[nodiscard]] std::size_t width(std::string_view text);

enum class Ink { plain, bold, dim, red, yellow, cyan, green };

/// Collects lines.
class Page {
 public:
  explicit Page(bool color, std::size_t width = page_width) : color_(color), width_(width) {}

  /// One line as it is.
  void line(std::string_view text = {}, Ink ink = Ink::plain);

  /// `text`, made printable and wrapped. The first line begins with `head` (its `ink` covers the head alone), the
  /// others with as many blanks as `hang`. A word that is too long for a line stands alone.
  void paragraph(std::string_view head, std::string_view text, std::size_t hang, Ink ink = Ink::plain);

  /// `text`, made printable and wrapped, all of it in `ink`.
  void sentence(std::string_view text, Ink ink);

  /// "  label       text", wrapped under the text.
  void field(std::string_view label, std::string_view text);

  /// Whole lines that another page took.
  void drawn(std::string_view lines) { text_ += lines; }

  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] std::size_t columns() const noexcept { return width_; }

 private:
  [[nodiscard]] std::string inked(std::string_view text, Ink ink) const;
  /// `text`, made printable, in lines: the first has room behind `column`, the others behind `hang`.
  [[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t column, std::size_t hang) const;

  bool color_;
  std::size_t width_;
  std::string text_;
};

[[nodiscard]] Ink ink(referee::Severity severity) noexcept;

}  // namespace rpcrdma::report
