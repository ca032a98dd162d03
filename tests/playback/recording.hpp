// SPDX-License-Identifier: GPL-2.0-or-later
// A capture in memory: forged, or read from a file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "forge/play.hpp"
#include "trace/frame.hpp"

namespace playback {

/// Frames in the order of the file. Numbers are given when they are played; octets stand in a Recording.
using Take = std::vector<rpcrdma::trace::Frame>;

struct Recording {
  std::deque<std::vector<std::uint8_t>> octets;
  Take frames;

  Recording() = default;
  ~Recording() = default;
  Recording(Recording&&) = default;  // (the frames' octets stay where they are)
  Recording& operator=(Recording&&) = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void add(std::vector<std::uint8_t> kept, const rpcrdma::trace::Frame& like);
};

/// The frames that the capture of the story holds.
[[nodiscard]] Recording recorded(const forge::Film& film, const forge::Transport& transport);
enum class End : std::uint8_t { whole, anywhere };
/// Throws std::runtime_error where the file cannot be read to its end, which may be `anywhere`, in a record, too.
[[nodiscard]] Recording read(const std::string& path, End end = End::whole);
/// For the programs that people look at captures with. All frames have one link type. Throws std::runtime_error.
void write(const Take& frames, const std::string& path);

}  // namespace playback
