// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/captures_below.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "reader/content.hpp"
#include "reader/source.hpp"

namespace rpcrdma::cli {
namespace {

namespace fs = std::filesystem;

/// All but the first three as well: what such a file holds cannot be read here, and has to be told.
constexpr std::array<std::string_view, 7> kPacked{".gz", ".zst", ".lz4", ".xz", ".bz2", ".zip", ".7z"};
constexpr std::array<std::string_view, 8> kNames{".pcap", ".pcapng", ".cap", ".erf", ".snoop", ".ntar", ".dmp", ".trc"};

[[nodiscard]] bool named_like_a_capture(std::string name) {
  for (const std::string_view end : kPacked) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  }
  // tcpdump -C and -W count behind the name.
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view end) { return name.ends_with(end); });
}

/// Compressed or not.
[[nodiscard]] bool begins_like_a_capture(const fs::path& path) {
  const auto source = reader::Source::open(path.string());
  return source && reader::is_packet_capture(reader::content_of((*source)->head()));
}

/// What is below one folder that was named.
[[nodiscard]] Below below(const std::string& named) {
  Below out;
  std::vector<std::string> folders{named};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      const fs::path& path = at->path();
      const std::string name = path.filename().string();
      std::error_code unknown;
      if (name.starts_with('.')) continue;
      if (at->is_directory(unknown)) {
        if (!at->is_symlink(unknown)) folders.push_back(path.string());
      } else if (at->is_regular_file(unknown) && (named_like_a_capture(name) || begins_like_a_capture(path))) {
        out.captures.push_back(path.string());
      }
    }
    if (!error) continue;
    out.captures.push_back(folder);
    out.closed.push_back(fmt::format("{}: {}", folder, error.message()));
  }
  if (out.captures.empty()) {
    out.captures.push_back(named);
    out.empty.push_back(named);
  }
  std::sort(out.captures.begin(), out.captures.end());
  return out;
}

}  // namespace

Below with_captures_below(const std::vector<std::string>& paths) {
  Below out;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      out.captures.push_back(path);
      continue;
    }
    Below found = below(path);
    out.captures.insert(out.captures.end(), found.captures.begin(), found.captures.end());
    out.closed.insert(out.closed.end(), found.closed.begin(), found.closed.end());
    out.empty.insert(out.empty.end(), found.empty.begin(), found.empty.end());
  }
  return out;
}

}  // namespace rpcrdma::cli
