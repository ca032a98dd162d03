// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenario.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace forge {
namespace {

std::string at(const std::string& path, const YAML::Node& node) {
  return path + ":" + std::to_string(node.Mark().line + 1);
}

void read_losses(Step& step, const YAML::Node& lose) {
  if (!lose.IsDefined()) return;
  static const std::set<std::string> parts{"handshake", "send",    "write", "read",  "response", "atomic",
                                           "ack",       "refusal", "close", "probe", "noise",    "tcp"};
  const auto one = [&step](const YAML::Node& node) {
    const auto word = node.as<std::string>();
    const bool number =
        !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (word == "all") {
      step.all_lost = true;
    } else if (number) {
      step.lost.push_back(node.as<std::size_t>());
    } else if (parts.count(word) != 0) {
      step.lost_parts.push_back(word);
    } else {
      throw Mistake(step.where + ": nothing is called '" + word + "' that could be lost");
    }
  };
  if (lose.IsSequence()) {
    for (const YAML::Node& node : lose) one(node);
  } else {
    one(lose);
  }
}

Step read_step(const YAML::Node& node, const std::string& path, std::map<std::string, unsigned>& counts) {
  static const std::set<std::string> common{"as", "ack", "mirror", "checksum", "lose", "connection"};
  Step step;
  step.where = at(path, node);
  if (node.IsScalar()) {
    step.verb = node.as<std::string>();
  } else if (node.IsMap()) {
    for (const auto& pair : node) {
      const auto key = pair.first.as<std::string>();
      if (common.count(key) != 0) continue;
      if (!step.verb.empty()) throw Mistake(step.where + ": '" + step.verb + "' and '" + key + "' in one step");
      step.verb = key;
      step.arguments.reset(pair.second);
    }
    step.acknowledged = !node["ack"] || node["ack"].as<bool>();
    step.mirrored = node["mirror"] && node["mirror"].as<bool>();
    step.spoiled = node["checksum"] && node["checksum"].as<std::string>() == "wrong";
    read_losses(step, node["lose"]);
    if (node["connection"]) step.connection = node["connection"].as<std::size_t>();
  }
  if (step.verb.empty()) throw Mistake(step.where + ": a step without a verb");
  const unsigned count = ++counts[step.verb];
  step.label = node.IsMap() && node["as"] ? node["as"].as<std::string>() : step.verb + " " + std::to_string(count);
  return step;
}

Settings read_settings(Words words) {
  Settings s;
  s.mtu = words.get<std::uint32_t>("mtu", s.mtu);
  s.snap = words.get<std::uint32_t>("snap", s.snap);
  s.port = words.get<std::uint16_t>("port", s.port);
  s.wrap = words.get<bool>("wrap", false);
  s.sample = words.get<unsigned>("sample", 0);
  s.only = words.side("only");
  words.done();
  return s;
}

}  // namespace

Words::Words(const YAML::Node& node, std::string where, const std::string& main) : where_(std::move(where)) {
  if (!node.IsDefined() || node.IsNull()) {
    node_.reset(YAML::Node(YAML::NodeType::Map));
  } else if (node.IsMap()) {
    node_.reset(node);
  } else {
    if (main.empty()) throw Mistake(where_ + ": a mapping is needed here");
    node_.reset(YAML::Node(YAML::NodeType::Map));
    node_[main] = node;
  }
}

bool Words::has(const std::string& key) {
  asked_.insert(key);
  const YAML::Node& constant = node_;
  return constant[key].IsDefined();
}

YAML::Node Words::node(const std::string& key) {
  asked_.insert(key);
  const YAML::Node& constant = node_;
  return constant[key];
}

std::optional<Side> Words::side(const std::string& key) {
  const auto word = maybe<std::string>(key);
  if (!word) return std::nullopt;
  if (*word == "client") return Side::client;
  if (*word == "server") return Side::server;
  throw Mistake(where_ + ": '" + key + "' is client or server, not '" + *word + "'");
}

Words Words::inner(const std::string& key) { return {node(key), where_ + " " + key}; }

void Words::done() const {
  for (const auto& pair : node_) {
    const auto key = pair.first.as<std::string>();
    if (asked_.count(key) == 0) throw Mistake(where_ + ": the word '" + key + "' has no meaning here");
  }
}

namespace {

Scenario scenario_of(const YAML::Node& root, const std::string& path) {
  try {
    Words words(root, path);
    Scenario s;
    s.title = words.need<std::string>("title");
    for (const char* told_elsewhere :
         {"why", "expect", "near", "never", "unchecked", "checked", "causes", "allow", "tshark", "mount"}) {
      static_cast<void>(words.has(told_elsewhere));
    }
    s.transports = words.get<std::vector<std::string>>("transports", {});
    s.settings = read_settings(words.inner("settings"));
    Words peers = words.inner("peers");
    if (peers.has("client")) s.client.reset(peers.node("client"));
    if (peers.has("server")) s.server.reset(peers.node("server"));
    peers.done();
    std::map<std::string, unsigned> counts;
    std::set<std::string> labels;
    for (const YAML::Node& node : words.node("steps")) {
      s.steps.push_back(read_step(node, path, counts));
      if (!labels.insert(s.steps.back().label).second) {
        throw Mistake(s.steps.back().where + ": two steps are called '" + s.steps.back().label + "'");
      }
    }
    words.done();
    return s;
  } catch (const YAML::Exception& e) {
    throw Mistake(path + ": " + e.what());
  }
}

}  // namespace

Scenario read_scenario(const std::string& path) {
  YAML::Node root;
  try {
    root = YAML::LoadFile(path);
  } catch (const YAML::Exception& e) {
    throw Mistake(path + ": " + e.what());
  }
  return scenario_of(root, path);
}

Scenario parse_scenario(const std::string& text, const std::string& name) {
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& e) {
    throw Mistake(name + ": " + e.what());
  }
  return scenario_of(root, name);
}

}  // namespace forge
