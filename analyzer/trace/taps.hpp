// SPDX-License-Identifier: GPL-2.0-or-later
// Several captures of the same path at once: how their clocks stand to each other, what each of them lacks, and how
// long packets took from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/frame.hpp"
#include "trace/taps/clock.hpp"
#include "trace/taps/steps.hpp"

namespace rpcrdma::trace {

/// The clock of one input, measured against another's.
struct TapClock {
  enum class Basis : std::uint8_t {
    none,              ///< the first input, or one that has nothing in common with any before it
    packets,           ///< packets that both saw
    acknowledgements,  ///< what one saw and the other saw acknowledged
  } basis = Basis::none;
  std::size_t reference = 0;  ///< that input
  std::uint64_t proofs = 0;   ///< how many of them
  taps::Line ahead;  ///< of the first input's clock (or of that of the first one it is compared with), by its own time
  std::vector<taps::Stretch> steps;  ///< it was set while it ran: what it is ahead from there on
  std::optional<TimeNs> first;       ///< its frames, by its own clock
  std::optional<TimeNs> last;
  std::uint64_t lacks = 0;  ///< so many octets of its packets: they were cut

  /// By the clock that all are brought to. `position`: which packet of the capture it is, from 1; times are no measure
  /// of that where the clock was set back.
  [[nodiscard]] TimeNs corrected(TimeNs own, std::uint64_t position) const noexcept {
    return taps::corrected(ahead, steps, own, position);
  }
  /// How much it was set forward, each time.
  [[nodiscard]] std::vector<TimeNs> steps_by() const;
  /// Of what it saw first and last.
  [[nodiscard]] TimeNs corrected_first() const noexcept { return corrected(*first, 0); }
  [[nodiscard]] TimeNs corrected_last() const noexcept { return corrected(*last, UINT64_MAX); }
};

/// Two inputs that saw the same packets.
struct TapPair {
  std::size_t reference = 0;
  std::size_t input = 0;
  /// By two addresses (taps::Mark::route): the reference is nearer to the lower one.
  std::map<std::uint64_t, bool> low_is_near;
  TimeNs one_way = 0;  ///< what a packet takes at least between the two, as the clocks are compared
};

struct TapClocks {
  std::vector<TapClock> clocks;  ///< one for each input
  std::vector<TapPair> pairs;    ///< of all inputs, also of those whose clocks were compared with a third one's
};

/// The first reading. Inputs are given one after the other; memory is bounded, however far their clocks are apart.
class TapSurvey {
 public:
  explicit TapSurvey(std::size_t inputs);
  ~TapSurvey();
  TapSurvey(const TapSurvey&) = delete;
  TapSurvey& operator=(const TapSurvey&) = delete;

  void frame(std::size_t input, const Frame& frame);
  [[nodiscard]] TapClocks compared();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Times in nanoseconds, or shares.
struct Spread {
  std::uint64_t count = 0;
  double min = 0;
  double median = 0;
  double p99 = 0;
};

/// Packets of RDMA connections on their way from one tap to another.
struct TapPath {
  std::uint64_t both = 0;
  std::uint64_t recut = 0;            ///< TCP: the other tap has these octets in other segments
  std::uint64_t lost = 0;             ///< the nearer tap saw them, the farther one did not, and they were sent again
  std::uint64_t missed_far = 0;       ///< so too, but nobody sent them again: the farther capture lacks them
  std::uint64_t missed_far_bare = 0;  ///< mere acknowledgements, of which neither can be told
  std::uint64_t missed_near = 0;      ///< the farther tap saw them, the nearer capture lacks them
  Spread one_way;
};

/// Between two addresses, past two taps.
struct TapRoute {
  std::size_t near = 0;  ///< inputs, by number from 0: the one that is nearer to `address`
  std::size_t far = 0;
  bool apart = false;  ///< packets need time from the one to the other
  std::string address;
  std::string peer;
  TapPath out;  ///< from `address` to `peer`
  TapPath back;
};

/// How long before its first copy a packet passed another tap, and how long after it: each as far as any tap saw it.
struct TapWay {
  TimeNs before = 0;
  TimeNs after = 0;

  [[nodiscard]] TimeNs whole() const noexcept { return before + after; }
};

struct Opened;

/// The second reading, in the order of the corrected times.
class TapTally {
 public:
  explicit TapTally(const TapClocks& compared);
  ~TapTally();
  TapTally(const TapTally&) = delete;
  TapTally& operator=(const TapTally&) = delete;

  /// True: another tap has shown this packet already.
  [[nodiscard]] bool packet(std::size_t input, FrameRef ref, const Opened& opened);
  /// The packet given last belongs to an RDMA connection.
  void rdma();
  void finish();

  /// What was seen by both of two taps, by their numbers and addresses; complete once all is finished.
  [[nodiscard]] std::vector<TapRoute> routes() const;
  /// Of two taps and two addresses: not compared, since either tap was compared with too many others meanwhile.
  [[nodiscard]] std::size_t left_out() const noexcept;
  /// Of the packet whose first copy has this frame number; empty: not known, or not any more.
  [[nodiscard]] std::optional<TapWay> way(std::uint64_t frame) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::trace
