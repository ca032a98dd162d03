// SPDX-License-Identifier: GPL-2.0-or-later
// Octets that all connections of one transport may hold back together.
#pragma once

#include <cstddef>

namespace rpcrdma::trace {

class Budget {
 public:
  static constexpr std::size_t usual = std::size_t{256} << 20U;

  explicit Budget(std::size_t limit) noexcept : left_(limit) {}
  [[nodiscard]] bool take(std::size_t octets) noexcept {
    if (octets > left_) return false;
    left_ -= octets;
    return true;
  }
  void give(std::size_t octets) noexcept { left_ += octets; }

 private:
  std::size_t left_;
};

}  // namespace rpcrdma::trace
