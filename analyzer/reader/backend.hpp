// SPDX-License-Identifier: GPL-2.0-or-later
// One library's way of reading one capture. Inside this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/capture.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::reader {

struct Record {
  trace::Frame frame;     ///< octets valid until the next record is read
  bool is_packet = true;  ///< false: counts as a frame (Wireshark numbers it), holds none
  bool has_time = true;   ///< false: the frame's time is 0; of what is no packet always
};

enum class Step : std::uint8_t {
  record,
  end,
  damaged,  ///< see damage(); nothing follows
  refused,  ///< this library cannot go on, another one may: it has to skip the records that were delivered
};

inline constexpr std::string_view kCut = "the file ends in the middle of a record";
inline constexpr std::string_view kZeros = "zeros where a record begins";
inline constexpr std::string_view kCutInHeader = "the file ends inside its header";

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual Step next(Record& record) = 0;
  /// Of the step that was damaged or refused: where and why. Refused: how far it had read, which may be inside the
  /// block that it refuses; no reason: it could have read on.
  [[nodiscard]] virtual const Damage& damage() const noexcept = 0;
  /// At the end: what is malformed and was passed over.
  [[nodiscard]] virtual std::optional<Damage> passed_over() const = 0;
  /// At the end: packets that, so the file says, had no room when it was captured. At least so many.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept { return 0; }
  /// In front of which packets of those read so far, counted from 1; null: it cannot tell.
  [[nodiscard]] virtual const std::vector<std::uint64_t>* places_of_dropped() const noexcept { return nullptr; }
  [[nodiscard]] virtual std::string format() const = 0;
  /// Of the file as a whole; 0: there is none.
  [[nodiscard]] virtual std::uint32_t snap_length() const = 0;
  [[nodiscard]] virtual std::optional<double> position() const = 0;
  /// The octets of the newest record stay valid for as long as somebody has this; null: they do not.
  [[nodiscard]] virtual Octets hold() const { return nullptr; }
  /// Null: nothing is read ahead.
  [[nodiscard]] virtual std::shared_ptr<ReadAhead> ahead() const { return nullptr; }
  /// What was read ahead as that part, and before, holds no further whole record.
  [[nodiscard]] virtual bool used_up(std::uint64_t /*part*/) const { return false; }
};

}  // namespace rpcrdma::reader
