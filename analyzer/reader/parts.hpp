// SPDX-License-Identifier: GPL-2.0-or-later
// What a source gives, a part at a time. Parts may be read before they are asked for, by other threads. Inside this
// folder only.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "reader/capture.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader {

using Part = std::vector<std::uint8_t>;

class Parts final : public ReadAhead {
 public:
  struct Filled {
    std::shared_ptr<Part> part;
    std::uint64_t offset = 0;  ///< of what was asked for
    ssize_t got = 0;           ///< octets behind the room; 0: the source has ended; less: it cannot be read
  };

  /// The source is read by nobody else until stop().
  explicit Parts(Source& source) : source_(source), room_(source.part() / 4), placed_(source.placed()) {}

  /// Before what is read there is room in each part: for what is left of the one before it.
  [[nodiscard]] std::size_t room() const noexcept { return room_; }
  /// One with nothing in it.
  [[nodiscard]] std::shared_ptr<Part> fresh();

  [[nodiscard]] std::uint64_t read() override;
  /// A place in the source, for whoever claimed it to read.
  struct Claim {
    Filled filled;
    std::uint64_t number = 0;  ///< of the part, from 1; 0: there is none
  };
  /// The two halves of read(). What was claimed has to be filled: whoever takes parts waits for it.
  [[nodiscard]] Claim claim();
  void fill(Claim mine);
  [[nodiscard]] bool at_once() const noexcept override { return placed_; }

  /// The next part in order. `again`: one that may be used again, or null; what is left of it is moved away by
  /// `move_left()`.
  template <class MoveLeft>
  [[nodiscard]] Filled next(const std::shared_ptr<Part>& again, MoveLeft move_left) {
    std::unique_lock lock(access_);
    if (!ahead_.empty()) {
      if (Filled filled = take_ahead(lock); filled.part) return filled;
    }
    find_spare();
    if (again) move_left();
    Filled filled = following(again ? again : spare());
    read_into(filled);
    if (filled.got <= 0) stopped_ = true;  // only who needs it asks again
    taken(filled);
    return filled;
  }
  /// How many parts next() gave.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  void stop();
  [[nodiscard]] std::optional<double> position() const;

 private:
  /// Claimed, for next() to give.
  struct Ahead {
    Filled filled;
    enum class State : std::uint8_t { claimed, filled } state = State::claimed;
  };

  /// Nobody holds these any more. Only whoever gives back what was held may look.
  void find_spare();
  [[nodiscard]] std::shared_ptr<Part> spare();
  [[nodiscard]] Filled following(std::shared_ptr<Part> part) noexcept;
  void read_into(Filled& filled);
  void taken(const Filled& filled) noexcept;
  [[nodiscard]] Filled take_ahead(std::unique_lock<std::mutex>& lock);
  /// Until nobody reads the source any more.
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  mutable std::mutex access_;
  std::condition_variable filled_;
  Source& source_;
  std::size_t room_;
  bool placed_;                               ///< whoever has claimed a place reads it, beside others
  std::vector<std::shared_ptr<Part>> parts_;  ///< all of them
  std::vector<std::shared_ptr<Part>> spare_;  ///< that nobody holds
  std::deque<Ahead> ahead_;                   ///< in their order
  std::uint64_t claimed_ = 0;                 ///< octets of the source
  std::uint64_t given_ = 0;                   ///< likewise, by next()
  std::uint64_t count_ = 0;
  bool stopped_ = false;
};

}  // namespace rpcrdma::reader
