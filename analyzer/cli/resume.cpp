// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/resume.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/capture_rows.hpp"

namespace rpcrdma::cli {

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
    const auto name = row.find("path");
    const auto exit = row.find("exit");
    if (name == row.end() || !name->is_string() || exit == row.end() || !exit->is_number_unsigned()) continue;
    const auto status = exit->get<std::uint64_t>();
    if (status > 3) continue;
    out.captures[name_in_rows(name->get<std::string>())] = static_cast<ExitStatus>(status);
    whole = end;
    more = false;
  }
  if (more) out.broken_behind = whole;
  return out;
}

}  // namespace rpcrdma::cli
