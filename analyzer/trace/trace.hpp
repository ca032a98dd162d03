// SPDX-License-Identifier: GPL-2.0-or-later
// From frames to RDMA events: the one entry to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "trace/events.hpp"
#include "trace/frame.hpp"
#include "trace/not_opened.hpp"
#include "trace/stream_watch.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::trace {

struct Options {
  std::vector<std::uint16_t> service_ports{wire::nfs_port};  ///< tell roles and where to look for FPDUs mid-stream
  bool check_crc = false;          ///< ICRC and MPA CRC of every packet, not only of the first ones of each connection
  StreamWatch* streams = nullptr;  ///< told of what iWARP streams hold; null: nobody
  /// Of a capture's connections it has a share: there are others, and each has a quarter of the room for what is kept.
  bool share = false;
  [[nodiscard]] constexpr std::size_t room(std::size_t whole) const noexcept { return share ? whole / 4 : whole; }
};

struct Statistics {
  std::uint64_t frames = 0;
  std::uint64_t truncated_frames = 0;  ///< of all frames, RDMA or not
  std::uint64_t rdma_frames = 0;       ///< frames that carry BTH, or a TCP stream taken for iWARP
  std::uint64_t tunnel_frames = 0;     ///< frames with another packet inside, which is not opened
  std::uint64_t unknown_link = 0;      ///< frames whose link type cannot be opened
  /// Frames by what in them was not opened. Only so many kinds are told apart; the frames of all others are together.
  static constexpr std::size_t max_kinds = 64;
  std::map<NotOpened, std::uint64_t> not_opened;
  std::uint64_t not_opened_others = 0;
};

class TapTally;

/// One instance a trace. Not thread-safe; instances share nothing.
class Trace {
 public:
  Trace(Options options, EventSink& sink);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Frames are of several taps: their packets are given to `tally`, which knows what another tap has shown already.
  void watch(TapTally& tally) noexcept;
  /// False: no packet of InfiniBand or TCP was found in it, and nothing that tells of one.
  bool frame(const Frame& frame);
  /// What was captured beside the last frames, or behind them, could not be read. Right before finish().
  void lose_the_end();
  void finish();  ///< end of the capture: flush what was held back, report one-way and unanswered things

  [[nodiscard]] const Statistics& statistics() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
