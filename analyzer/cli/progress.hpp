// SPDX-License-Identifier: GPL-2.0-or-later
// One line on the terminal for files that take a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rpcrdma::cli {

/// Writes to standard error, only if that is a terminal and `wanted`; the first time after half a second, then at most
/// ten times a second. The line is wiped at the end.
class Progress {
 public:
  explicit Progress(bool wanted) noexcept;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { wipe(); }

  /// Cheap enough for each frame; looks at the clock now and then.
  [[nodiscard]] bool due(std::uint64_t frames) noexcept {
    return enabled_ && frames % kFramesBetweenLooks == 0 && time_to_show();
  }
  /// `part`: 0..1 of the input, where known.
  void show(std::string_view name, std::uint64_t frames, std::optional<double> part);
  void wipe() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool time_to_show() noexcept;

  static constexpr std::uint64_t kFramesBetweenLooks = 1024;
  bool enabled_ = false;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace rpcrdma::cli
