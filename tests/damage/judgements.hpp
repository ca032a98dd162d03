// SPDX-License-Identifier: GPL-2.0-or-later
// What the referee says of damaged copies of one source. Many kinds of damage leave the same copy: that is judged once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "damage/kinds.hpp"
#include "referee/facts.hpp"

namespace damage {

/// What is compared of a report.
struct Judgement {
  std::vector<rpcrdma::referee::Finding> accusing;  ///< errors and warnings
  std::optional<std::string> numbers;               ///< where they are asked for
};

class Judgements {
 public:
  enum class Asks : std::uint8_t { accusations, numbers_too };
  /// Of a copy of the one source. Valid until the next call.
  [[nodiscard]] const Judgement& of(const Variant& variant, Asks what);

 private:
  using Key = std::array<std::uint64_t, 2>;
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Key& key) const noexcept { return key[0]; }
  };
  [[nodiscard]] static Key key_of(const playback::Take& take);

  std::unordered_map<Key, Judgement, Hash> known_;
  Judgement own_;  ///< of a copy that has octets of its own: no other one is like it
};

}  // namespace damage
