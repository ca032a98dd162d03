// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/trace.hpp"

#include <utility>

#include "trace/opener.hpp"
#include "trace/taps.hpp"
#include "trace/transports.hpp"

namespace rpcrdma::trace {

struct Trace::Impl {
  Impl(Options o, EventSink& told) : sink(told), options(std::move(o)), transports(options, told) {}

  bool frame(const Frame& frame) {
    if (opener.time_passed(frame.ref)) transports.time_passed(frame.ref);
    if (frame.behind_a_loss) [[unlikely]] {
      transports.of_capture(Quality::Kind::input_lost, frame.ref);
    }
    if (!opener.open(frame)) transports.of_capture(Quality::Kind::time_backwards, frame.ref);
    const Opened& opened = opener.opened();
    const bool shown = taps != nullptr && taps->packet(frame.input, frame.ref, opened);
    const Opener::Task task = opener.task(shown);
    if (opener.no_room()) transports.of_capture(Quality::Kind::limit_reached, frame.ref);
    switch (opened.content) {
      case Content::infiniband:
        if (taps != nullptr) taps->rdma();
        if (task != Opener::Task::nothing) transports.take(opened.ib, task);
        return true;
      case Content::tcp:
        if (task != Opener::Task::nothing && transports.take(opened.tcp, task)) {
          opener.carried_rdma();
          if (taps != nullptr && task == Opener::Task::take) taps->rdma();
        }
        return true;
      case Content::undelivered:
        transports.take(opened.undelivered);
        return true;
      case Content::nothing:
      case Content::tunnel:
      case Content::unknown_link:
        break;
    }
    return false;
  }

  void lose_the_end() {
    const FrameRef last = opener.last();
    transports.of_capture(Quality::Kind::input_lost, {last.number + 1, last.time});
  }

  void finish() {
    opener.finish();
    for (const auto& [address, frame] : opener.sightings().newest()) {
      Sighted sighted;
      sighted.frame = frame;
      sighted.address = address.text();
      sink.on(sighted);
    }
    if (opener.sightings().of_others().number != 0) {
      Sighted others;
      others.frame = opener.sightings().of_others();
      sink.on(others);
    }
    transports.finish_infiniband(opener.last());
    if (taps != nullptr) taps->finish();
    transports.finish_iwarp(opener.last());
  }

  EventSink& sink;
  Options options;  // before the transports, which keep a reference
  Opener opener;
  Transports transports;
  TapTally* taps = nullptr;
};

Trace::Trace(Options options, EventSink& sink) : impl_(std::make_unique<Impl>(std::move(options), sink)) {}
Trace::~Trace() = default;

void Trace::watch(TapTally& tally) noexcept { impl_->taps = &tally; }

bool Trace::frame(const Frame& frame) { return impl_->frame(frame); }
void Trace::lose_the_end() { impl_->lose_the_end(); }
void Trace::finish() { impl_->finish(); }
const Statistics& Trace::statistics() const noexcept { return impl_->opener.statistics(); }

}  // namespace rpcrdma::trace
