// SPDX-License-Identifier: GPL-2.0-or-later
// All fuzz targets without libFuzzer: gives every file under FOLDER/TARGET to the entry of that target, or the named
// files to one.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#define FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

namespace {

using Path = std::filesystem::path;

struct Target {
  std::string_view name;
  int (*entry)(const std::uint8_t* data, std::size_t size);
};

#define FUZZ_TARGET(name) Target{#name, fuzz_##name},
constexpr std::array targets{
#include "fuzz_targets.inc"
};
#undef FUZZ_TARGET

std::vector<Path> inputs(const Path& place) {
  std::vector<Path> files;
  if (std::filesystem::is_regular_file(place)) files.push_back(place);
  if (!std::filesystem::is_directory(place)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The number of inputs; none when one cannot be read.
std::size_t replay(const Target& target, const std::vector<Path>& places) {
  target.entry(nullptr, 0);
  std::size_t count = 1;
  for (const Path& place : places) {
    for (const Path& file : inputs(place)) {
      std::ifstream stream(file, std::ios::binary);
      if (!stream) {
        std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
        return 0;
      }
      const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
      // An exact copy on the heap, so that a sanitizer sees a read past the end.
      const std::vector<std::uint8_t> octets(text.begin(), text.end());
      std::printf("fuzz_replay %s %s\n", target.name.data(), file.c_str());
      std::fflush(stdout);  // how to repeat the input that crashed stands last
      target.entry(octets.data(), octets.size());
      ++count;
    }
  }
  return count;
}

int run(const std::vector<Path>& words) {
  if (words.empty()) {
    std::fputs("fuzz_replay FOLDER...      every FOLDER/TARGET\nfuzz_replay TARGET FILE...\n", stderr);
    return 2;
  }
  std::size_t sum = 0;
  const auto only = std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return words[0] == t.name; });
  for (const Target& target : targets) {
    std::vector<Path> places;
    if (only == targets.end()) {
      for (const Path& folder : words) places.push_back(folder / target.name);
    } else if (target.name == only->name) {
      places.assign(words.begin() + 1, words.end());
    } else {
      continue;
    }
    const std::size_t count = replay(target, places);
    if (count == 0) return 1;
    sum += count;
  }
  std::printf("%zu inputs of %zu targets\n", sum, targets.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
