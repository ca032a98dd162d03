// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the trace and the referee over the frames of a file, once and in order, and keeps what they found by frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "journal/findings_by_frame.hpp"
#include "journal/record.hpp"
#include "referee/facts.hpp"
#include "referee/options.hpp"
#include "trace/frame.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::journal {

/// As the analyzer's.
struct Options {
  referee::Options referee;
  trace::Options trace;
};

class Journal {
 public:
  explicit Journal(Options options = {});
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The next frame. Frames that were seen before, and all after finish(), are left out.
  void feed(const trace::Frame& frame);
  /// The end of the file: what was held back is settled.
  void finish();
  [[nodiscard]] bool finished() const noexcept { return engine_ == nullptr; }

  /// False: no packet of InfiniBand or TCP was found in it, by a link or a tunnel that the trace does not open.
  [[nodiscard]] bool opened(std::uint32_t frame) const noexcept { return frame < opened_.size() && opened_[frame]; }

  /// An MPA Request or Reply begins in this frame where its stream begins. Only while the file is read for the first
  /// time: later there is a handshake, if it was one.
  [[nodiscard]] bool mpa_begins(std::uint32_t frame) const noexcept { return mpa_begins_.contains(frame); }

  /// First note of a frame, or `none`; the others by Note::next. Indices stay good; references only until feed().
  [[nodiscard]] std::uint32_t first(std::uint32_t frame) const noexcept { return record_.notes.first(frame); }
  [[nodiscard]] const Note& note(std::uint32_t index) const noexcept { return record_.notes[index]; }
  [[nodiscard]] const Message& message(std::uint32_t index) const noexcept { return record_.messages[index]; }
  /// Only while the file is read.
  [[nodiscard]] const Unplaced& unplaced(std::uint32_t index) const noexcept { return record_.unplaced[index]; }
  [[nodiscard]] const Payload& payload(std::uint32_t index) const noexcept { return record_.payloads[index]; }
  [[nodiscard]] const Operation& operation(std::uint32_t index) const noexcept { return record_.operations[index]; }
  [[nodiscard]] const Part& part(std::uint32_t index) const noexcept { return record_.parts[index]; }
  [[nodiscard]] const Handshake& handshake(std::uint32_t index) const noexcept { return record_.handshakes[index]; }
  /// That a note is about; 0: which one is not known yet.
  [[nodiscard]] std::uint32_t connection_of(const Note& note) const noexcept { return record_.connection_of(note); }
  /// Earlier frames that hold a part of what this one shows.
  [[nodiscard]] const std::vector<std::uint32_t>& needed_by(std::uint32_t frame) const noexcept {
    return record_.needed.of(frame);
  }
  /// Null: it holds nothing that stood in an earlier frame.
  [[nodiscard]] const Repeat* repeat(std::uint32_t frame) const noexcept;
  [[nodiscard]] const Connection* connection(std::uint32_t id) const noexcept { return record_.connection(id); }
  [[nodiscard]] const Exchange* exchange(std::uint32_t connection, std::uint32_t exchange) const noexcept {
    return record_.exchange(connection, exchange);
  }
  /// Findings whose primary frame this is: numbers for finding().
  [[nodiscard]] const std::vector<std::uint32_t>& findings_of(std::uint32_t frame) const noexcept {
    return by_frame_.of(frame);
  }
  /// Findings that this frame is evidence of, beside their primary one.
  [[nodiscard]] const std::vector<std::uint32_t>& evidence_in(std::uint32_t frame) const noexcept {
    return by_frame_.evidence_in(frame);
  }
  /// Findings of earlier frames that this frame proved. Only while the file is read for the first time.
  [[nodiscard]] const std::vector<std::uint32_t>& proven_in(std::uint32_t frame) const noexcept;
  /// False for what is said of other users of RDMA, and of captures without RPC-over-RDMA.
  [[nodiscard]] bool concerns(const referee::Finding& finding) const noexcept;
  [[nodiscard]] const referee::Finding& finding(std::uint32_t index) const noexcept;
  /// There is nothing to show of this frame, as nearly always where there is no RDMA.
  [[nodiscard]] bool blank(std::uint32_t frame) const noexcept;
  /// What happened to each mount: after finish().
  [[nodiscard]] const std::vector<referee::MountFacts>& mounts() const noexcept { return mounts_; }

 private:
  struct Engine;
  void index_findings();

  std::unique_ptr<Engine> engine_;  // until finish()
  Record record_;
  std::unordered_set<std::uint32_t> mpa_begins_;  // frame numbers
  std::vector<bool> opened_;                      // by frame number
  FindingsByFrame by_frame_;
  std::vector<std::uint32_t> proven_;       // by last_frame_
  std::vector<referee::Finding> findings_;  // after finish()
  std::vector<referee::MountFacts> mounts_;
  std::size_t indexed_ = 0;
  std::uint64_t last_frame_ = 0;
};

}  // namespace rpcrdma::journal
