// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario while it is being written: steps with their words, and in the end the text that the forge reads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace talk {

/// Words of one mapping in their order; a value is YAML already.
class Words {
 public:
  Words() = default;
  Words(std::initializer_list<std::pair<std::string, std::string>> all) : all_(all) {}
  /// Replaces an earlier value of the same word. An empty value takes the word away.
  Words& set(const std::string& word, const std::string& value);
  Words& set(const std::string& word, std::uint64_t value) { return set(word, std::to_string(value)); }
  Words& set(const Words& others);
  [[nodiscard]] bool has(const std::string& word) const;
  [[nodiscard]] bool empty() const { return all_.empty(); }
  /// "{a: 1, b: 2}"
  [[nodiscard]] std::string mapping() const;
  [[nodiscard]] std::string inside() const;  ///< without the braces

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

[[nodiscard]] std::string hex(std::uint64_t value);

class Tale {
 public:
  std::string title, why, fabric;
  Words settings, client, server;

  /// `beside`: the words beside the verb: as, ack, mirror, connection.
  void tell(const std::string& verb, const Words& words, const Words& beside = {});
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  std::string told_;
  std::size_t steps_ = 0;
};

}  // namespace talk
