// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario as it stands in its file: settings, peers, steps. What a step's words mean is the story's business.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octets.hpp"

namespace forge {

/// The words of one mapping. Every word has to be asked for: one that nobody understands is a mistake.
class Words {
 public:
  /// `main`: the word that a bare value stands for ("wait: 2" is "wait: {seconds: 2}"); empty where none does.
  Words(const YAML::Node& node, std::string where, const std::string& main = {});

  [[nodiscard]] bool has(const std::string& key);
  [[nodiscard]] YAML::Node node(const std::string& key);
  template <typename T>
  [[nodiscard]] std::optional<T> maybe(const std::string& key) {
    const YAML::Node n = node(key);
    if (!n.IsDefined() || n.IsNull()) return std::nullopt;
    return convert<T>(n, key);
  }
  template <typename T>
  [[nodiscard]] T get(const std::string& key, T fallback) {
    return maybe<T>(key).value_or(std::move(fallback));
  }
  template <typename T>
  [[nodiscard]] T need(const std::string& key) {
    if (auto value = maybe<T>(key)) return *std::move(value);
    throw Mistake(where_ + ": '" + key + "' is missing");
  }
  [[nodiscard]] std::optional<Side> side(const std::string& key);
  /// A mapping inside this one.
  [[nodiscard]] Words inner(const std::string& key);
  void done() const;
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  template <typename T>
  T convert(const YAML::Node& n, const std::string& key) const {
    try {
      return n.as<T>();
    } catch (const YAML::Exception&) {
      throw Mistake(where_ + ": '" + key + "' has a value that cannot be");
    }
  }
  YAML::Node node_;
  std::string where_;
  std::set<std::string> asked_;
};

struct Step {
  std::string verb;
  std::string label;
  std::string where;  ///< "file:line", for mistakes
  YAML::Node arguments;
  bool acknowledged = true;               ///< ack: no
  bool mirrored = false;                  ///< mirror: yes
  bool spoiled = false;                   ///< checksum: wrong
  bool all_lost = false;                  ///< lose: all
  std::vector<std::string> lost_parts;    ///< lose: [ack]
  std::vector<std::size_t> lost;          ///< lose: [1, 3], of the step's frames
  std::optional<std::size_t> connection;  ///< connection: N, from 1; else the newest
};

struct Settings {
  std::uint32_t mtu = 1024;
  std::uint32_t snap = 262144;
  std::uint16_t port = 20049;
  bool wrap = false;         ///< sequence numbers begin just below their wrap
  unsigned sample = 0;       ///< so many-th frame of either side is not captured; 0: all are
  std::optional<Side> only;  ///< the capture holds the frames of one side
};

struct Scenario {
  std::string title;
  Settings settings;
  YAML::Node client;
  YAML::Node server;
  std::vector<std::string> transports;
  std::vector<Step> steps;
};

[[nodiscard]] Scenario read_scenario(const std::string& path);
/// The same of a text that stands in no file. `name` stands for the path in mistakes.
[[nodiscard]] Scenario parse_scenario(const std::string& text, const std::string& name);

}  // namespace forge
