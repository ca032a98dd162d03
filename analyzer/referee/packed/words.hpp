// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that occur again and again, kept once each: most findings about healthy connections say the same words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rpcrdma::referee {

class PackedWords {
 public:
  /// The number of a text that is kept here, from 1. 0: it is not; it will be when it comes again.
  [[nodiscard]] std::uint64_t number_of(std::string_view text);
  [[nodiscard]] const std::string& text(std::uint64_t number) const { return texts_[number - 1]; }

  /// Of what stands in a table of the program and never moves. 0: an empty one.
  [[nodiscard]] std::uint64_t number_of_name(std::string_view name);
  [[nodiscard]] std::string_view name(std::uint64_t number) const { return number == 0 ? "" : names_[number - 1]; }

 private:
  static constexpr std::size_t most = 1024;
  static constexpr std::size_t most_remembered = 1024;

  std::vector<std::string> texts_;
  std::unordered_map<std::size_t, std::uint32_t> known_;  ///< their numbers by their hashes
  std::vector<std::size_t> met_;  ///< hashes of texts that came once, each in the place that it names
  std::vector<std::string_view> names_;
  std::unordered_map<const char*, std::uint32_t> known_names_;
};

}  // namespace rpcrdma::referee
