// SPDX-License-Identifier: GPL-2.0-or-later
// Who is there: a machine that is silent on all connections of a mount may speak elsewhere.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "referee/state/mount.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

class Presence {
 public:
  /// Of addresses that come later it is noted only that there are some.
  static constexpr std::size_t most = 8192;

  /// This frame came from there.
  void note(std::string_view address, trace::FrameRef frame) {
    auto at = newest_.find(address);
    if (at == newest_.end()) {
      if (frame.number == 0) return;
      if (newest_.size() >= most) {
        note_others(frame);
        return;
      }
      at = newest_.try_emplace(std::string(address)).first;
    }
    if (at->second.number < frame.number) at->second = frame;
  }
  /// So did this one, from an address that is not noted.
  void note_others(trace::FrameRef frame) noexcept { keep_later(others_, frame); }
  void join(const Presence& others) {
    note_others(others.others_);
    for (const auto& [address, frame] : others.newest_) note(address, frame);
  }
  [[nodiscard]] Present newest(std::string_view address) const {
    const auto at = newest_.find(address);
    return at == newest_.end() ? Present{{}, others_} : Present{at->second, {}};
  }

 private:
  std::map<std::string, trace::FrameRef, std::less<>> newest_;
  trace::FrameRef others_;
};

}  // namespace rpcrdma::referee
