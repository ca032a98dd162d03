// SPDX-License-Identifier: GPL-2.0-or-later
// GIDs and LIDs name ports of a fabric; the IP addresses that people mount stand in a REQ alone. What one REQ says of
// two ports holds for their other connections, whose REQ is not in the capture.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "trace/ib/connection.hpp"

namespace rpcrdma::trace::ib {

class IpNames {
 public:
  static constexpr std::size_t max_pairs = 4096;

  /// What a REQ calls its two ends, by side.
  void learn(const std::array<Address, 2>& fabric, const std::array<std::string, 2>& names, std::size_t room);
  /// By side; the fabric's own addresses where no REQ has said, or two have said different things.
  [[nodiscard]] std::array<std::string, 2> of(const std::array<Address, 2>& fabric) const;

 private:
  struct Names {
    std::array<std::string, 2> low_high;
    bool agreed = true;  ///< a port may have several IP addresses: then nothing tells which is meant
  };

  std::map<PairKey, Names> names_;
};

}  // namespace rpcrdma::trace::ib
