// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/packed/words.hpp"

#include <functional>

namespace rpcrdma::referee {

std::uint64_t PackedWords::number_of(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>()(text);
  const auto known = known_.find(hash);
  if (known != known_.end()) return texts_[known->second - 1] == text ? known->second : 0;
  if (met_.empty()) met_.resize(most_remembered);
  std::size_t& met = met_[hash % most_remembered];
  if (met != hash || texts_.size() >= most) {
    met = hash;
    return 0;
  }
  texts_.emplace_back(text);
  const auto number = static_cast<std::uint32_t>(texts_.size());
  known_.emplace(hash, number);
  return number;
}

std::uint64_t PackedWords::number_of_name(std::string_view name) {
  if (name.empty()) return 0;
  const auto [at, fresh] = known_names_.try_emplace(name.data(), static_cast<std::uint32_t>(names_.size() + 1));
  if (fresh) names_.push_back(name);
  return at->second;
}

}  // namespace rpcrdma::referee
