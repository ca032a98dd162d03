// SPDX-License-Identifier: GPL-2.0-or-later
// Which findings each frame has a part in.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "referee/facts.hpp"

namespace rpcrdma::journal {

class FindingsByFrame {
 public:
  using Indices = std::vector<std::uint32_t>;

  /// The next one, which has this index.
  void add(const referee::Finding& finding, std::uint32_t index);
  void clear();
  /// Those whose primary frame this is.
  [[nodiscard]] const Indices& of(std::uint32_t frame) const noexcept { return in(primary_, frame); }
  /// Those that this frame is evidence of, beside their primary one.
  [[nodiscard]] const Indices& evidence_in(std::uint32_t frame) const noexcept { return in(evidence_, frame); }

 private:
  using ByFrame = std::unordered_map<std::uint32_t, Indices>;
  void tell_of(ByFrame& where, std::uint64_t frame, std::uint32_t finding);
  [[nodiscard]] const Indices& in(const ByFrame& where, std::uint32_t frame) const noexcept;

  ByFrame primary_;
  ByFrame evidence_;
  std::vector<bool> told_of_;  ///< by frame number: it stands in one of the two
};

}  // namespace rpcrdma::journal
