// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/captures_below.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace rpcrdma::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kPacked{".gz", ".zst", ".lz4"};
constexpr std::array<std::string_view, 8> kNames{".pcap", ".pcapng", ".cap", ".erf", ".snoop", ".ntar", ".dmp", ".trc"};
constexpr std::array<std::array<unsigned char, 4>, 5> kBeginnings{{{0xD4, 0xC3, 0xB2, 0xA1},
                                                                   {0xA1, 0xB2, 0xC3, 0xD4},
                                                                   {0x4D, 0x3C, 0xB2, 0xA1},
                                                                   {0xA1, 0xB2, 0x3C, 0x4D},
                                                                   {0x0A, 0x0D, 0x0D, 0x0A}}};

[[nodiscard]] bool named_like_a_capture(std::string name) {
  for (const std::string_view end : kPacked) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  }
  // tcpdump -C and -W count behind the name.
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view end) { return name.ends_with(end); });
}

[[nodiscard]] bool begins_like_a_capture(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> read{};
  if (!file.read(read.data(), read.size())) return false;
  std::array<unsigned char, 4> begin{};
  std::transform(read.begin(), read.end(), begin.begin(), [](char c) { return static_cast<unsigned char>(c); });
  return std::find(kBeginnings.begin(), kBeginnings.end(), begin) != kBeginnings.end();
}

[[nodiscard]] tl::expected<std::vector<std::string>, std::string> captures_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  const auto failed = [&] { return tl::unexpected(fmt::format("{}: {}", folder, error.message())); };
  if (error) return failed();
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    const std::string name = path.filename().string();
    std::error_code unknown;
    if (name.starts_with('.')) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(unknown) && (named_like_a_capture(name) || begins_like_a_capture(path))) {
      found.push_back(path.string());
    }
  }
  if (error) return failed();
  if (found.empty()) return tl::unexpected(fmt::format("{}: there is no capture below it", folder));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> with_captures_below(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      out.push_back(path);
      continue;
    }
    auto found = captures_below(path);
    if (!found) return tl::unexpected(std::move(found).error());
    out.insert(out.end(), found->begin(), found->end());
  }
  return out;
}

}  // namespace rpcrdma::cli
