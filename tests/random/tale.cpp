// SPDX-License-Identifier: GPL-2.0-or-later
#include "tale.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace talk {

Words& Words::set(const std::string& word, const std::string& value) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.first == word; });
  if (found == all_.end()) {
    if (!value.empty()) all_.emplace_back(word, value);
  } else if (value.empty()) {
    all_.erase(found);
  } else {
    found->second = value;
  }
  return *this;
}

Words& Words::set(const Words& others) {
  for (const auto& [word, value] : others.all_) set(word, value);
  return *this;
}

bool Words::has(const std::string& word) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& each) { return each.first == word; });
}

std::string Words::inside() const {
  std::string out;
  for (const auto& [word, value] : all_) {
    if (!out.empty()) out += ", ";
    out += word;
    out += ": ";
    out += value;
  }
  return out;
}

std::string Words::mapping() const { return "{" + inside() + "}"; }

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

void Tale::tell(const std::string& verb, const Words& words, const Words& beside) {
  told_ += fmt::format("  - {{{}: {}{}{}}}\n", verb, words.mapping(), beside.empty() ? "" : ", ", beside.inside());
  ++steps_;
}

std::string Tale::text() const {
  return fmt::format(
      "# SPDX-License-Identifier: GPL-2.0-or-later\ntitle: {}\nwhy: {}\ntransports: [{}]\nsettings: {}\n"
      "peers: {{client: {}, server: {}}}\nsteps:\n{}",
      title, why, fabric, settings.mapping(), client.mapping(), server.mapping(), told_);
}

}  // namespace talk
