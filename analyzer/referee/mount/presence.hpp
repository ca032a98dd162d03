// SPDX-License-Identifier: GPL-2.0-or-later
// Who is there: a machine that is silent on all connections of a mount may speak elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
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

  /// Of what an address sends.
  enum class Noted : std::uint8_t {
    some,  ///< what connections carry
    all
  };
  /// This frame came from there.
  void note(std::string_view address, trace::FrameRef frame, Noted noted) {
    auto at = seen_.find(address);
    if (at == seen_.end()) {
      if (frame.number == 0) return;
      if (seen_.size() >= most) {
        note_others(frame);
        return;
      }
      at = seen_.try_emplace(std::string(address)).first;
    }
    keep_later(at->second.newest, frame);
    if (noted == Noted::all) at->second.noted = noted;
  }
  /// So did this one, from an address that is not noted.
  void note_others(trace::FrameRef frame) noexcept { keep_later(others_, frame); }
  void join(const Presence& others) {
    note_others(others.others_);
    for (const auto& [address, seen] : others.seen_) note(address, seen.newest, seen.noted);
  }
  [[nodiscard]] Present newest(std::string_view address) const {
    const auto at = seen_.find(address);
    if (at == seen_.end()) return {{}, others_};
    return {at->second.newest, at->second.noted == Noted::all ? trace::FrameRef{} : others_};
  }

 private:
  struct Seen {
    trace::FrameRef newest;
    Noted noted = Noted::some;
  };
  std::map<std::string, Seen, std::less<>> seen_;
  trace::FrameRef others_;
};

}  // namespace rpcrdma::referee
