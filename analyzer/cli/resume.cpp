// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/resume.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/capture_rows.hpp"

namespace rpcrdma::cli {

namespace {

[[nodiscard]] int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The path that a row is about; nothing: it may be one of several.
[[nodiscard]] std::optional<std::string> path_of(const nlohmann::json& row) {
  const auto name = row.find("path");
  if (name == row.end() || !name->is_string()) return std::nullopt;
  std::string path = name->get<std::string>();
  if (octets_in_rows(path).empty()) return path;
  const auto octets = row.find("path_octets");
  if (octets == row.end() || !octets->is_string()) return std::nullopt;
  const auto digits = octets->get<std::string>();
  path.clear();
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    path += static_cast<char>(high * 16 + low);
  }
  return path;
}

}  // namespace

tl::expected<Held, std::string> held_in(const std::string& path) {
  Held out;
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return out;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, unknown)) {
    return tl::unexpected(fmt::format("--resume: {}: cannot be read", path));
  }
  constexpr std::string_view last_row = R"("type":"capture")";
  std::string line;
  std::uint64_t end = 0;    // of the line
  std::uint64_t whole = 0;  // what stands before it belongs to captures that were finished
  bool more = false;        // there is something behind it
  while (std::getline(file, line)) {
    end += line.size() + 1;
    more = more || !line.empty();
    out.torn = file.eof();
    if (out.torn || line.find(last_row) == std::string::npos) continue;
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object() || row.value("type", "") != "capture") continue;
    const auto exit = row.find("exit");
    if (!row.contains("path") || exit == row.end() || !exit->is_number_unsigned()) continue;
    const auto status = exit->get<std::uint64_t>();
    if (status > 3) continue;
    if (auto path = path_of(row)) out.captures[std::move(*path)] = static_cast<ExitStatus>(status);
    whole = end;
    more = false;
  }
  if (more) out.broken_behind = whole;
  return out;
}

}  // namespace rpcrdma::cli
