// SPDX-License-Identifier: GPL-2.0-or-later
// The captures of one run as one row of frames.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "cli/held_frames.hpp"
#include "cli/whole_first.hpp"
#include "reader/capture.hpp"
#include "report/report.hpp"
#include "trace/frame.hpp"
#include "trace/taps.hpp"
#include "trace/taps/sent_order.hpp"

namespace rpcrdma::cli {

/// One file after the other, or interleaved by time. A capture that cannot be read is complained of and passed over; of
/// a damaged one everything before the damage is given.
class Inputs {
 public:
  /// `standard_input`: a path of the octets of "-", where they have been kept.
  Inputs(std::vector<std::string> paths, bool merge, std::string standard_input = {});

  /// Before the first frame: by which clock each one's times are corrected; without it they stay as they are.
  /// Frames of a merge come in the order in which they were sent, as far as taps on both sides can tell.
  void correct(trace::TapClocks compared);

  /// The next frame, numbered from 1 over all captures; nullptr at the end. Valid until the next call.
  [[nodiscard]] const trace::Frame* next();

  /// The octets of that frame stay valid for as long as somebody has this; null: until the next call. It is given back
  /// where next() is called, not beside it.
  [[nodiscard]] reader::Octets hold() const {
    const Input& input = inputs_[at_];
    return input.capture && !order_ ? input.capture->hold() : nullptr;
  }

  /// Of the capture at hand; null: nothing is read ahead.
  [[nodiscard]] std::shared_ptr<reader::ReadAhead> ahead() const {
    const Input& input = inputs_[at_];
    return input.capture ? input.capture->ahead() : nullptr;
  }
  /// Of that one: the part and those before it hold no further whole frame.
  [[nodiscard]] bool used_up(std::uint64_t part) const {
    const Input& input = inputs_[at_];
    return input.capture && input.capture->used_up(part);
  }

  [[nodiscard]] std::uint64_t frames() const noexcept { return frame_.ref.number; }
  /// Which input gave the last frame, and whether that is a packet.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] bool packet() const noexcept { return packet_; }
  /// The last packet given.
  [[nodiscard]] trace::FrameRef last() const noexcept { return last_packet_; }
  /// The one with the earliest time.
  [[nodiscard]] trace::FrameRef first() const noexcept { return first_packet_; }

  /// Of a merge, when all is read: one of the inputs, which saw what the others need not have seen, could not be read
  /// to its end. What seems not to have come may stand there.
  [[nodiscard]] bool lost_to_the_end() const noexcept { return lost_to_the_end_; }

  // For progress
  [[nodiscard]] std::string_view current() const noexcept { return name(inputs_[at_]); }
  [[nodiscard]] std::optional<double> position() const;

  // When all is read
  /// What became of each, in the order given.
  [[nodiscard]] std::vector<report::Input> report() const;
  /// How many could be opened.
  [[nodiscard]] std::size_t opened() const noexcept;
  /// One line each: unreadable and damaged captures.
  [[nodiscard]] std::vector<std::string> complaints() const;

 private:
  struct Input {
    std::string path;
    std::unique_ptr<reader::Capture> capture;  ///< while it is being read
    HeldFrames held;                           ///< of a tap that sees packets later than another
    HeldFrames::Held out;                      ///< the frame at hand, with its time corrected
    std::uint64_t position = 0;                ///< packets read so far
    trace::TimeNs newest = 0;                  ///< corrected
    trace::TimeNs sent = 0;                    ///< the frame at hand: where its turn is in a merge
    bool packet = false;                       ///< the frame at hand is one
    const trace::Frame* ahead = nullptr;       ///< of a merge: the frame that comes next
    reader::InputFacts facts;                  ///< once it was read
    std::string unreadable;                    ///< why it could not be opened
  };

  /// For people.
  [[nodiscard]] static std::string_view name(const Input& input) noexcept {
    if (input.path.empty()) return "a file";
    return input.path == "-" ? std::string_view("standard input") : std::string_view(input.path);
  }
  void open(Input& input);
  /// There was more of it, or it could not be opened.
  [[nodiscard]] static bool ended_early(const Input& input) noexcept;
  [[nodiscard]] trace::TimeNs corrected(const Input& input, trace::TimeNs own, std::uint64_t position) const noexcept;
  [[nodiscard]] const trace::Frame* read(Input& input, std::size_t at);
  [[nodiscard]] const trace::Frame* read_as_sent(Input& input, std::size_t at);
  [[nodiscard]] const trace::Frame* read_next(Input& input);
  [[nodiscard]] const trace::Frame* next_in_order();
  [[nodiscard]] const trace::Frame* next_in_time();
  [[nodiscard]] const trace::Frame* next_whole_first();
  /// Of a merge: the next frame of an input among those of the others.
  void line_up(std::size_t at);

  struct Waiting {
    trace::TimeNs time = 0;
    std::size_t input = 0;

    /// Of equal times the input named first comes first.
    [[nodiscard]] bool operator>(const Waiting& other) const noexcept {
      return time != other.time ? time > other.time : input > other.input;
    }
  };

  std::vector<Input> inputs_;
  bool lost_ = false;                    ///< some of what stands in front of the next packet could not be read
  bool lost_to_the_end_ = false;         ///< and no other input takes its place
  std::vector<trace::TapClock> clocks_;  ///< by input; empty: none
  std::optional<trace::TapOrder> order_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;  ///< of a merge: one of each input
  std::string standard_input_;
  bool merge_;
  WholeFirst copies_;     ///< of a merge in which some are cut
  std::size_t at_ = 0;    ///< which input gave the last frame
  std::size_t next_ = 0;  ///< of a merge: which one was read last
  bool started_ = false;
  /// Frames come out of this one as it gives them, to its end; null: ask at_ and order_, which say so as well. Kept
  /// because to ask them for each frame takes three hundredths of all instructions; at_ moves only where this is null.
  reader::Capture* straight_ = nullptr;
  trace::Frame frame_;
  bool packet_ = false;
  trace::FrameRef last_packet_;
  trace::FrameRef first_packet_;  ///< by time
};

}  // namespace rpcrdma::cli
