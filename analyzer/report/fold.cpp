// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace rpcrdma::report {
namespace {

using referee::Finding;

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Behind the number that begins at `at`: "0x1ab00002", "20,100", "10.2".
[[nodiscard]] std::size_t behind_number(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("0x")) {
    at += 2;
    while (at < text.size() && is_hex_digit(text[at])) ++at;
    return at;
  }
  while (at < text.size()) {
    const bool inside = (text[at] == ',' || text[at] == '.') && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !inside) break;
    ++at;
  }
  return at;
}

/// Of "ms later": " ms". Of "frames": nothing, there is no blank before it.
[[nodiscard]] std::string_view word_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != ' ') return {};
  std::size_t end = at + 1;
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(at, end - at);
}

}  // namespace

std::string pattern_of(std::string_view text) {
  constexpr char number = '#';
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool in_word = !out.empty() && (is_letter(out.back()) || out.back() == '_' || out.back() == '-');
    if (!is_digit(text[at]) || in_word) {
      out += text[at++];
      continue;
    }
    at = behind_number(text, at);
    // "3, 4 and 17" is one number of frames as "3" is.
    for (const std::string_view joint : {", ", " and "}) {
      if (out.ends_with(number + std::string(joint))) out.erase(out.size() - joint.size() - 1);
    }
    out += number;
    const std::string_view noun = word_at(text, at);
    if (noun == " us" || noun == " ms" || noun == " s") {
      out += " s";
      at += noun.size();
    } else if (noun.size() > 2 && noun.ends_with('s')) {
      out += noun.substr(0, noun.size() - 1);
      at += noun.size();
    }
  }
  return out;
}

std::vector<trace::ConnectionId> connections_of(const Finding& finding) {
  std::vector<trace::ConnectionId> out = finding.connections;
  if (out.empty() && finding.connection != 0) out.push_back(finding.connection);
  std::sort(out.begin(), out.end());
  return out;
}

bool concerns(const Finding& finding, trace::ConnectionId connection) {
  const auto& all = finding.connections;
  return finding.connection == connection || std::find(all.begin(), all.end(), connection) != all.end();
}

std::uint64_t Fold::times() const {
  std::uint64_t sum = first->occurrences;
  for (const Finding* other : others) sum += other->occurrences;
  return sum;
}

std::vector<trace::ConnectionId> Fold::connections() const {
  std::set<trace::ConnectionId> all;
  const auto add = [&](const Finding& finding) {
    for (const trace::ConnectionId id : connections_of(finding)) all.insert(id);
  };
  add(*first);
  for (const Finding* other : others) add(*other);
  return {all.begin(), all.end()};
}

std::vector<Fold> folded(const std::vector<const Finding*>& findings, bool each_alone) {
  using Kind = std::tuple<referee::RuleId, referee::Severity, std::optional<referee::Party>>;
  std::vector<Fold> folds;
  std::map<std::pair<Kind, trace::ConnectionId>, std::size_t> of_connection;
  std::map<std::pair<Kind, std::string>, std::size_t> of_pattern;
  for (const Finding* finding : findings) {
    const Kind kind{finding->rule, finding->severity, finding->violator};
    std::size_t to = folds.size();
    if (!each_alone) {
      const auto [here, first_here] = of_connection.try_emplace({kind, finding->connection}, to);
      if (first_here) {
        here->second = of_pattern.try_emplace({kind, pattern_of(finding->message)}, to).first->second;
      }
      to = here->second;
    }
    if (to == folds.size()) {
      folds.push_back({finding, {}});
    } else {
      folds[to].others.push_back(finding);
    }
  }
  return folds;
}

}  // namespace rpcrdma::report
