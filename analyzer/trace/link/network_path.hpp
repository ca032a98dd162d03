// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: the VLANs and keys of tunnels through which a packet was reached. They tell networks that use the same
// addresses apart, and are what those are called.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rpcrdma::trace {

/// From the outermost on. A mirror's own do not count.
class NetworkPath {
 public:
  enum class Kind : std::uint8_t {
    none,
    vlan,
    vxlan,
    geneve,
    gre,
    nvgre,  ///< GRE with a frame inside: the virtual subnet of its key
  };
  /// More than a frame can have; what there are beyond only makes it another path.
  static constexpr std::size_t most = 48;

  void clear() noexcept {
    size_ = 0;
    mixed_ = 0;
  }
  void add(Kind kind, std::uint32_t number) noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
    if (size_ < most) steps_[size_] = {kind, number};
    ++size_;
    mixed_ = (mixed_ ^ (static_cast<std::uint64_t>(kind) << 32U | number)) * odd;
  }
  /// Tells paths apart; 0: nothing is on the way.
  [[nodiscard]] std::uint64_t id() const noexcept { return mixed_; }
  /// "VLAN 10, VXLAN 5001"
  [[nodiscard]] std::string text() const;

 private:
  struct Step {
    Kind kind = Kind::none;
    std::uint32_t number = 0;
  };
  std::array<Step, most> steps_{};
  std::size_t size_ = 0;
  std::uint64_t mixed_ = 0;
};

}  // namespace rpcrdma::trace
