// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/trace.hpp"

#include <utility>

#include "trace/ib_transport.hpp"
#include "trace/iwarp_transport.hpp"
#include "trace/link/open_frame.hpp"
#include "trace/networks.hpp"
#include "trace/packet.hpp"
#include "trace/taps.hpp"
#include "trace/two_ways.hpp"

namespace rpcrdma::trace {
namespace {

/// How far a frame's time may lie before its predecessor's without a word. A capture over several queues or processors
/// is out of order by milliseconds; more than this is a clock that was set, or files in the wrong order.
constexpr std::uint64_t time_slack = 1'000'000'000;

bool backwards(TimeNs before, TimeNs now) noexcept {
  return now<before&& static_cast<std::uint64_t>(before) - static_cast<std::uint64_t>(now)> time_slack;
}

}  // namespace

struct Trace::Impl {
  Impl(Options o, EventSink& s)
      : options(std::move(o)), sink(s), infiniband(options, numbers, sink), iwarp(options, numbers, sink) {}

  void quality(Quality::Kind kind, FrameRef frame) {
    Quality event;
    event.frame = frame;
    event.kind = kind;
    sink.on(event);
  }

  /// 0 stands for "no time": some formats have packets without one.
  void watch_time(FrameRef frame) {
    if (frame.time == 0) return;
    if (last_time != 0 && backwards(last_time, frame.time)) quality(Quality::Kind::time_backwards, frame);
    last_time = frame.time;
  }

  void count_not_opened(NotOpened what, std::uint64_t frames = 1) {
    auto& kinds = statistics.not_opened;
    if (kinds.size() < Statistics::max_kinds || kinds.contains(what)) {
      kinds[what] += frames;
    } else {
      statistics.not_opened_others += frames;
    }
  }

  bool frame(const Frame& frame) {
    ++statistics.frames;
    watch_time(frame.ref);
    last = frame.ref;
    open_frame(frame, opened, &fragments);
    const bool shown = taps != nullptr && taps->packet(frame.input, frame.ref, opened);
    if (!networks.place(opened)) quality(Quality::Kind::limit_reached, frame.ref);
    if (opened.frame_cut) ++statistics.truncated_frames;
    switch (opened.content) {
      case Content::nothing:
        if (opened.not_opened.by != NotOpened::By::nothing) count_not_opened(opened.not_opened);
        return false;
      case Content::tunnel:
        ++statistics.tunnel_frames;
        count_not_opened(opened.not_opened);
        return false;
      case Content::unknown_link:
        ++statistics.unknown_link;
        return false;
      case Content::infiniband:
        if (taps != nullptr) taps->rdma();
        if (shown) {
          ++statistics.rdma_frames;
          return true;
        }
        if (two_ways.copy(opened.ib)) {
          ++statistics.rdma_frames;
          infiniband.copy(opened.ib);
          return true;
        }
        infiniband.packet(opened.ib);
        carried_rdma(frame.ref, opened.ib.octets.size() < opened.ib.wire_length);
        return true;
      case Content::tcp:
        if (shown) return true;
        if (two_ways.copy(opened.tcp)) {
          if (iwarp.copy(opened.tcp)) ++statistics.rdma_frames;
          return true;
        }
        if (!iwarp.segment(opened.tcp)) return true;
        if (taps != nullptr) taps->rdma();
        carried_rdma(frame.ref, opened.tcp.payload.size() < opened.tcp.wire_length);
        return true;
      case Content::undelivered:
        iwarp.undelivered(opened.undelivered);
        return true;
    }
    return false;
  }

  void carried_rdma(FrameRef frame, bool cut) {
    ++statistics.rdma_frames;
    if (cut) quality(Quality::Kind::frame_truncated, frame);
  }

  void finish() {
    for (const auto& [protocol, count] : fragments.not_joined()) {
      count_not_opened({NotOpened::By::fragment, protocol}, count);
    }
    infiniband.finish(last);
    if (taps != nullptr) taps->finish();
    iwarp.finish(last);
  }

  Options options;  // before the transports, which may keep a reference
  EventSink& sink;
  ConnectionNumbers numbers;
  IbTransport infiniband;
  IwarpTransport iwarp;
  TwoWays two_ways;
  TapTally* taps = nullptr;
  Statistics statistics;
  Opened opened;  // one for all frames
  Fragments fragments;
  Networks networks;
  FrameRef last;
  TimeNs last_time = 0;
};

Trace::Trace(Options options, EventSink& sink) : impl_(std::make_unique<Impl>(std::move(options), sink)) {}
Trace::~Trace() = default;

void Trace::watch(TapTally& tally) noexcept { impl_->taps = &tally; }

bool Trace::frame(const Frame& frame) { return impl_->frame(frame); }
void Trace::finish() { impl_->finish(); }
const Statistics& Trace::statistics() const noexcept { return impl_->statistics; }

}  // namespace rpcrdma::trace
