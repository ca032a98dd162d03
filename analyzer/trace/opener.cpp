// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/opener.hpp"

namespace rpcrdma::trace {

void Opener::open_untimed(Frame frame) {
  frame.ref.time = last_time_;
  last_ = frame.ref;
  open_frame(frame, opened_, &fragments_);
}

void Opener::count_not_opened(NotOpened what, std::uint64_t frames) {
  auto& kinds = statistics_.not_opened;
  if (kinds.size() < Statistics::max_kinds || kinds.contains(what)) {
    kinds[what] += frames;
  } else {
    statistics_.not_opened_others += frames;
  }
}

void Opener::count_closed() {
  if (opened_.content == Content::unknown_link) {
    ++statistics_.unknown_link;
    return;
  }
  if (opened_.content == Content::tunnel) ++statistics_.tunnel_frames;
  if (opened_.not_opened.by != NotOpened::By::nothing || opened_.content == Content::tunnel) {
    count_not_opened(opened_.not_opened);
  }
}

void Opener::finish() {
  for (const auto& [protocol, count] : fragments_.not_joined()) {
    count_not_opened({NotOpened::By::fragment, protocol}, count);
  }
}

}  // namespace rpcrdma::trace
