// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/inputs.hpp"

#include "cli/ring_names.hpp"
#include "trace/spans.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rpcrdma::cli {

Inputs::Inputs(std::vector<std::string> paths, bool merge, std::string standard_input)
    : standard_input_(std::move(standard_input)), merge_(merge) {
  inputs_.reserve(paths.size());
  for (std::string& path : paths) {
    inputs_.emplace_back().path = std::move(path);
  }
}

void Inputs::open(Input& input) {
  const bool kept = input.path == "-" && !standard_input_.empty();
  const std::size_t at_once = merge_ ? inputs_.size() : 1;
  auto capture = kept ? reader::Capture::open(standard_input_, at_once) : reader::Capture::open(input.path, at_once);
  if (capture) {
    input.capture = std::move(*capture);
  } else {
    input.unreadable = std::move(capture).error();
  }
}

void Inputs::correct(trace::TapClocks compared) {
  if (compared.clocks.size() != inputs_.size()) return;
  order_.emplace(compared);
  straight_ = nullptr;
  clocks_ = std::move(compared.clocks);
}

const trace::Frame* Inputs::read_next(Input& input) {
  if (!input.capture) return nullptr;
  const trace::Frame* frame = input.capture->next();
  if (frame != nullptr) [[likely]] {
    input.packet = input.capture->packet();
    return frame;
  }
  input.facts = input.capture->facts();
  input.capture.reset();
  return nullptr;
}

const trace::Frame* Inputs::read(Input& input, std::size_t at) {
  if (order_) return read_as_sent(input, at);
  const trace::Frame* frame = read_next(input);
  if (frame != nullptr) input.sent = frame->ref.time;
  return frame;
}

const trace::Frame* Inputs::read_as_sent(Input& input, std::size_t at) {
  const trace::TimeNs most = order_->most(at);
  while (input.held.empty() || (input.capture && !input.held.full() && input.held.first() > input.newest - most)) {
    const trace::Frame* frame = read_next(input);
    if (frame == nullptr) break;
    input.out.frame = *frame;
    trace::Frame& out = input.out.frame;
    if (input.packet) ++input.position;
    out.ref.time = corrected(input, frame->ref.time, input.position);
    if (most == 0) {
      input.sent = out.ref.time;
      return &out;
    }
    const bool timed = out.ref.time != 0;
    if (timed) input.newest = out.ref.time;
    const trace::TimeNs sent = timed ? trace::minus(out.ref.time, order_->on_the_way(at, out)) : input.newest;
    input.held.hold(out, sent, input.packet);
  }
  if (input.held.empty()) return nullptr;
  input.out = input.held.take();
  input.sent = input.out.sent;
  input.packet = input.out.packet;
  return &input.out.frame;
}

/// 0 stands for "no time".
trace::TimeNs Inputs::corrected(const Input& input, trace::TimeNs own, std::uint64_t position) const noexcept {
  const auto at = static_cast<std::size_t>(&input - inputs_.data());
  return at < clocks_.size() && own != 0 ? clocks_[at].corrected(own, position) : own;
}

bool Inputs::ended_early(const Input& input) noexcept {
  return !input.unreadable.empty() || (input.facts.damaged && !input.facts.damaged->read_on);
}

// Each is opened when its turn comes: a ring buffer may have more files than a process may have open.
const trace::Frame* Inputs::next_in_order() {
  for (; at_ < inputs_.size(); ++at_, started_ = false) {
    Input& input = inputs_[at_];
    if (!started_) {
      started_ = true;
      open(input);
    }
    if (const trace::Frame* frame = read(input, at_)) {
      packet_ = input.packet;
      if (!order_) straight_ = input.capture.get();
      return frame;
    }
    lost_ = lost_ || ended_early(input) || (at_ + 1 < inputs_.size() && ring_skips(input.path, inputs_[at_ + 1].path));
  }
  at_ = inputs_.empty() ? 0 : inputs_.size() - 1;
  started_ = true;
  return nullptr;
}

/// Of the other inputs nobody knows whether they saw what this one did: behind its last frame anything may be missing,
/// to the end.
void Inputs::line_up(std::size_t at) {
  Input& input = inputs_[at];
  input.ahead = read(input, at);
  if (input.ahead != nullptr) {
    waiting_.push({input.sent, at});
  } else {
    lost_ = lost_ || ended_early(input);
  }
}

const trace::Frame* Inputs::next_in_time() {
  if (!started_) {
    started_ = true;
    for (std::size_t at = 0; at < inputs_.size(); ++at) {
      open(inputs_[at]);
      line_up(at);
    }
  } else if (next_ < inputs_.size()) {
    line_up(next_);
  }
  if (waiting_.empty()) {
    next_ = at_ = inputs_.empty() ? 0 : inputs_.size() - 1;
    return nullptr;
  }
  next_ = at_ = waiting_.top().input;
  waiting_.pop();
  packet_ = inputs_[at_].packet;
  return inputs_[at_].ahead;
}

const trace::Frame* Inputs::next_whole_first() {
  while (!copies_.ready()) {
    const trace::Frame* frame = next_in_time();
    if (frame == nullptr) break;
    copies_.put(*frame, {at_, packet_, inputs_[at_].sent}, packet_ ? order_->packet(*frame) : 0);
  }
  const WholeFirst::Held* held = copies_.take();
  if (held == nullptr) return nullptr;
  at_ = held->from.input;
  packet_ = held->from.packet;
  return &held->frame;
}

const trace::Frame* Inputs::next() {
  const trace::Frame* frame = nullptr;
  if (straight_ != nullptr) [[likely]] {
    frame = straight_->next();
    packet_ = straight_->packet();
  }
  if (frame == nullptr) [[unlikely]] {
    straight_ = nullptr;
    frame = !merge_ ? next_in_order() : order_ && order_->cut() ? next_whole_first() : next_in_time();
    if (frame == nullptr) return nullptr;
  }
  const std::uint64_t number = frame_.ref.number + 1;
  frame_ = *frame;
  frame_.ref.number = number;
  frame_.input = static_cast<std::uint16_t>(std::min<std::size_t>(at_, UINT16_MAX));
  if (packet_) {
    const bool lost = std::exchange(lost_, false);
    lost_to_the_end_ = lost_to_the_end_ || (merge_ && lost);
    frame_.behind_a_loss = frame_.behind_a_loss || lost;
    last_packet_ = frame_.ref;
    trace::keep_earliest(first_packet_, frame_.ref);
  }
  return &frame_;
}

std::optional<double> Inputs::position() const {
  const Input& input = inputs_[at_];
  return input.capture ? input.capture->position() : std::nullopt;
}

std::vector<report::Input> Inputs::report() const {
  std::vector<report::Input> out;
  for (const Input& input : inputs_) {
    report::Input shown;
    shown.path = input.path;
    if (input.unreadable.empty()) {
      const reader::InputFacts& facts = input.facts;
      shown.format = facts.format;
      shown.link_types = facts.link_types;
      shown.snap_length = facts.snap_length;
      shown.frames = facts.frames;
      shown.bytes = facts.bytes;
      if (facts.first_time) shown.first_time = corrected(input, *facts.first_time, 0);
      if (facts.last_time) shown.last_time = corrected(input, *facts.last_time, UINT64_MAX);
      shown.truncated_frames = facts.truncated_frames;
      shown.dropped = facts.dropped;
      if (facts.damaged) {
        const reader::Damage& damaged = *facts.damaged;
        shown.damaged = report::Input::Damaged{damaged.offset, damaged.reason, damaged.read_on};
      }
    } else {
      shown.format = "unreadable";
      shown.opened = report::Input::Opened::no;
      shown.damaged = report::Input::Damaged{0, input.unreadable, false};
    }
    out.push_back(std::move(shown));
  }
  return out;
}

std::size_t Inputs::opened() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(inputs_.begin(), inputs_.end(), [](const Input& input) { return input.unreadable.empty(); }));
}

std::vector<std::string> Inputs::complaints() const {
  std::vector<std::string> out;
  for (const Input& input : inputs_) {
    if (!input.unreadable.empty()) {
      out.push_back(fmt::format("{}: {}", name(input), input.unreadable));
    } else if (input.facts.damaged) {
      const reader::Damage& damaged = *input.facts.damaged;
      out.push_back(fmt::format("{}: damaged at octet {}: {}; analysed {} ({} frames)", name(input), damaged.offset,
                                damaged.reason, damaged.read_on ? "all the same" : "up to there", input.facts.frames));
    }
  }
  return out;
}

}  // namespace rpcrdma::cli
