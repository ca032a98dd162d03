// SPDX-License-Identifier: GPL-2.0-or-later
// Who is there: a machine that is silent on all connections of a mount may speak elsewhere.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "trace/events.hpp"

namespace rpcrdma::referee {

class Presence {
 public:
  /// Addresses that come later are not noted.
  static constexpr std::size_t most = 8192;

  /// This frame came from there.
  void note(std::string_view address, trace::FrameRef frame) {
    auto at = newest_.find(address);
    if (at == newest_.end()) {
      if (frame.number == 0 || newest_.size() >= most) return;
      at = newest_.try_emplace(std::string(address)).first;
    }
    if (at->second.number < frame.number) at->second = frame;
  }
  void join(const Presence& others) {
    for (const auto& [address, frame] : others.newest_) note(address, frame);
  }
  /// Number 0: none.
  [[nodiscard]] trace::FrameRef newest(std::string_view address) const {
    const auto at = newest_.find(address);
    return at == newest_.end() ? trace::FrameRef{} : at->second;
  }

 private:
  std::map<std::string, trace::FrameRef, std::less<>> newest_;
};

}  // namespace rpcrdma::referee
