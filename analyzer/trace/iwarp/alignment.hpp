// SPDX-License-Identifier: GPL-2.0-or-later
// Where does an FPDU begin? Asked of a stream whose MPA start is not in the capture, and behind every gap.
//
// Each position is tried: an FPDU that begins there names its own end, where the next one must begin, and so on. What
// agrees along such a chain is weighed in bits (about how improbable it is in octets that are something else); a
// position is believed when its chain weighs enough.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "trace/iwarp/window.hpp"

namespace rpcrdma::trace::iwarp {

/// What is known about the direction, from before the gap or from the handshake.
struct Expectation {
  bool markers_known = false;  ///< whether and where
  bool markers_used = false;   ///< the handshake says so, but not where
  wire::Markers markers;
  std::optional<wire::Markers> told;      ///< not known, but where they have to be, by the handshake
  std::optional<bool> crc;                ///< in use?
  std::optional<std::uint32_t> send_msn;  ///< MSN of the next Send
  std::uint32_t msns_missing = 0;         ///< at most: of Sends in what the capture lacks of this direction
  std::array<std::uint32_t, 8> stags{};   ///< of the latest tagged segments
  std::size_t stag_count = 0;
};

/// Bits that a chain must weigh.
struct Thresholds {
  int chain = 0;  ///< at any time
  int cut = 0;    ///< when the snap length hides how the chain goes on
  int last = 0;   ///< when nothing more will come
};
/// A connection that is known to be iWARP: a gap is being closed.
inline constexpr Thresholds known_stream{30, 20, 20};
/// A stream on a service port.
inline constexpr Thresholds service_stream{40, 40, 26};
/// Any other TCP stream.
inline constexpr Thresholds any_stream{64, 64, 64};

/// The first offset at which length word and control octets could open an FPDU; octets.size() if there is none.
[[nodiscard]] std::size_t first_plausible(Bytes octets) noexcept;

struct Trial {
  enum class Verdict : std::uint8_t { no, open, cut, yes } verdict = Verdict::no;
  int weight = 0;
};
/// Weighs the chain from `from` on, until it weighs `enough`.
[[nodiscard]] Trial weigh_chain(const Window& window, Position from, const wire::Markers& markers,
                                const Expectation& expected, int enough);

class Alignment {
 public:
  struct Found {
    Position position = 0;
    wire::Markers markers;
  };
  /// Forgets everything; positions before `from` are never answered.
  void restart(Position from);
  /// Looks at what is new in the window. `last`: nothing more will come.
  [[nodiscard]] std::optional<Found> look(const Window& window, const Expectation& expected,
                                          const Thresholds& thresholds, bool last);

 private:
  struct Candidate {
    Found at;
    int weight = 0;
  };
  [[nodiscard]] std::optional<Found> again(const Window& window, const Expectation& expected,
                                           const Thresholds& thresholds);
  [[nodiscard]] std::optional<Found> scan(const Window& window, const Expectation& expected,
                                          const Thresholds& thresholds);
  /// True when the position is believed. Keeps it as a candidate while its chain is open.
  [[nodiscard]] bool try_at(const Window& window, const Found& at, const Expectation& expected,
                            const Thresholds& thresholds);
  void keep(const Candidate& candidate);

  static constexpr std::size_t candidates_limit = 16;
  static constexpr int trials_limit = 64;  // for one look: octets made to look like headers must not cost much
  std::vector<Candidate> candidates_;      // by position
  Position scan_from_ = 0;
};

}  // namespace rpcrdma::trace::iwarp
