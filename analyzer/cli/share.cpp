// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/share.hpp"

#include <utility>

namespace rpcrdma::cli {

Share::Share(const trace::Options& tracing, const referee::Options& judging) : judge_(judging) {
  transports_.emplace(tracing, judge_);
  transports_->remember_numbers();
  judge_.follow(transports_->now());
}

referee::AcrossMounts Share::finish_connections(trace::FrameRef last_frame, trace::FrameRef last) {
  transports_->finish_infiniband(last_frame);
  transports_->finish_iwarp(last_frame);
  numbered_ = transports_->numbered();
  transports_.reset();  // the report takes room, too
  return judge_.finish_connections(last);
}

referee::Share Share::finish(trace::FrameRef last, trace::FrameRef first, const referee::AcrossMounts& across) {
  referee::Share share = judge_.finish_share(last, first, across);
  share.numbered = std::move(numbered_);
  return share;
}

}  // namespace rpcrdma::cli
