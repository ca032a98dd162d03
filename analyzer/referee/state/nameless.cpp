// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nameless.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rpcrdma::referee {

namespace {

[[nodiscard]] constexpr bool letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Part of a word, or of a name that holds one: "clients", "client-side", "client_to_server", "the.client".
[[nodiscard]] constexpr bool within_word(char c) noexcept {
  return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

[[nodiscard]] std::string with_port(const trace::Endpoint& end) {
  if (end.port) {
    const bool v6 = end.address.find(':') != std::string::npos;
    return v6 ? fmt::format("[{}]:{}", end.address, *end.port) : fmt::format("{}:{}", end.address, *end.port);
  }
  return end.qpn ? fmt::format("{} QP 0x{:06x}", end.address, *end.qpn) : end.address;
}

/// "One end", "Lid 5", but not "Fd77::1".
void begin_sentence(std::string& name) {
  const auto after = std::find_if(name.begin(), name.end(), [](char c) { return !letter(c); });
  if (after == name.begin() || (after != name.end() && *after != ' ')) return;
  if (name.front() >= 'a' && name.front() <= 'z') name.front() = static_cast<char>(name.front() - 'a' + 'A');
}

constexpr std::string_view article = "the ";
constexpr std::string_view client = "client";
constexpr std::string_view server = "server";

}  // namespace

EndNames names_of_ends(const trace::Endpoint& client_end, const trace::Endpoint& server_end) {
  EndNames names{client_end.address, server_end.address};
  if (names.client == names.server) names = {with_port(client_end), with_port(server_end)};
  if (names.client == names.server || names.client.empty() || names.server.empty()) {
    names = {"one end", "the other end"};
  }
  return names;
}

std::string without_roles(std::string_view text, const EndNames& names) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool capital = rest.starts_with("The ");
    const bool begins = at == 0 || !within_word(text[at - 1]);
    if (begins && (capital || rest.starts_with(article))) {
      const std::string_view noun = rest.substr(article.size());
      const std::string_view who = noun.starts_with(client) ? client : noun.starts_with(server) ? server : "";
      if (!who.empty() && (noun.size() == who.size() || !within_word(noun[who.size()]))) {
        std::string name = who == client ? names.client : names.server;
        if (capital) begin_sentence(name);
        out += name;
        at += article.size() + who.size();
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

}  // namespace rpcrdma::referee
