// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/alignment.hpp"

#include <algorithm>
#include <cstring>

#include "wire/crc32c.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

using Have = Window::Have;

constexpr int chain_limit = 16;  // FPDUs

// What an agreement weighs, in bits. Zeros weigh less than their number: padding and sparse data are full of them.
constexpr int tagged_control = 14;  // two control octets, T agreeing with the opcode
constexpr int untagged_control = 11;
constexpr int queue_agrees = 10;
constexpr int reserved_zero = 4;
constexpr int offset_zero = 2;
constexpr int msn_small = 6;
constexpr int msn_expected = 16;
constexpr int read_request_length_agrees = 16;
constexpr int known_stag = 16;
constexpr int begins_at_segment = 6;
constexpr int ends_at_segment = 10;
constexpr int crc_agrees = 32;

constexpr std::uint32_t msn_window = 1U << 16U;

/// Length word and control: enough to say no to nearly everything.
bool head_plausible(const std::uint8_t* head) noexcept {
  const wire::DdpControl control = wire::ddp_control(head + 2);
  const std::uint16_t length = wire::load_be16(head);
  if (!control.plausible() || length < control.header_length()) return false;
  switch (control.rdmap()) {
    case wire::RdmapOpcode::read_request:
      return control.last && length == wire::ddp_untagged_length + wire::read_request_length;
    case wire::RdmapOpcode::terminate:
      return control.last && length >= wire::ddp_untagged_length + 4;
    default:
      return true;
  }
}

/// Weighs the rest of an untagged header, -1 when it cannot be one. `p` is the ULPDU.
int weigh_untagged(const std::uint8_t* p, const wire::DdpControl& control, const Expectation& expected) noexcept {
  int weight = queue_agrees;
  const std::uint32_t queue = wire::load_be32(p + 6);
  const std::uint32_t msn = wire::load_be32(p + 10);
  const bool send = control.send();
  const bool read = control.rdmap() == wire::RdmapOpcode::read_request;
  if (queue != (send ? wire::queue_send : read ? wire::queue_read_request : wire::queue_terminate)) return -1;
  if (!control.invalidates() && wire::load_be32(p + 2) == 0) weight += reserved_zero;
  if (wire::load_be32(p + 14) == 0) {
    weight += offset_zero;
  } else if (!send) {
    return -1;
  }
  if (read) weight += read_request_length_agrees;
  if (send) {
    if (expected.send_msn) {
      // One back: the rest of a message that had begun.
      if (msn - (*expected.send_msn - 1) >= msn_window + expected.msns_missing) return -1;
      weight += msn_expected;
    } else if (msn == 0) {
      return -1;  // the first is 1
    } else if (msn < (1U << 24U)) {
      weight += msn_small;
    }
  }
  return weight;
}

/// The tagged segment before, in the same chain.
struct Tagged {
  bool open = false;  // its message goes on
  std::uint32_t stag = 0;
  std::uint64_t next = 0;
};

/// Weighs the rest of a tagged header, -1 when it cannot be one. `p` is the ULPDU.
int weigh_tagged(const std::uint8_t* p, std::size_t data, bool last, Tagged& before,
                 const Expectation& expected) noexcept {
  const std::uint32_t stag = wire::load_be32(p + 2);
  const std::uint64_t offset = wire::load_be64(p + 6);
  // Data that repeats one word would go on for ever as a chain.
  if (offset == ((std::uint64_t{stag} << 32U) | stag)) return -1;
  int weight = 0;
  if (before.open && before.stag == stag) {
    if (offset != before.next) return -1;
    weight = known_stag;
  } else {
    const auto* end = expected.stags.begin() + expected.stag_count;
    if (std::find(expected.stags.begin(), end, stag) != end) weight = known_stag;
  }
  before = {!last, stag, offset + data};
  return weight;
}

/// Do the markers inside the FPDU at `from` say how far back it began, as far as they are here?
bool markers_agree(const Window& window, Position from, Position end, const wire::Markers& markers) {
  const Position length_word = from + markers.inside(from);
  // One right in front belongs to the FPDU, and the others may count from there.
  const bool in_front = markers.inside(length_word - 1) == 1;
  for (Position at = length_word + markers.until_next(length_word); at + wire::Markers::octets <= end;
       at += wire::Markers::interval) {
    std::array<std::uint8_t, wire::Markers::octets> octets{};
    if (window.read(at, octets.size(), {}, octets.data()) != Have::yes) continue;
    const std::uint64_t distance = at - length_word;
    const std::uint32_t value = wire::load_be32(octets.data());
    if (value != distance && !(in_front && value == distance + wire::Markers::octets)) return false;
  }
  return true;
}

}  // namespace

namespace {

/// DV and RV are 1, the reserved bits 0, the opcode below 8: says no to nearly everything.
[[nodiscard]] bool control_plausible(std::uint8_t ddp, std::uint8_t rdmap) noexcept {
  return (ddp & 0x3FU) == 0x01U && (rdmap & 0xF8U) == 0x40U;
}

/// The same of eight in a row, the first of them at `ddp`: is any of them? Nine octets are there.
[[nodiscard]] bool any_control_plausible(const std::uint8_t* ddp) noexcept {
  constexpr std::uint64_t each = 0x0101010101010101U;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::memcpy(&first, ddp, sizeof first);
  std::memcpy(&second, ddp + 1, sizeof second);
  const std::uint64_t differs =
      ((first & (0x3FU * each)) ^ (0x01U * each)) | ((second & (0xF8U * each)) ^ (0x40U * each));
  return ((differs - each) & ~differs & (0x80U * each)) != 0;  // one of its octets is zero
}

}  // namespace

std::size_t first_plausible(Bytes octets) noexcept {
  if (octets.size() < 4) return octets.size();
  constexpr std::size_t in_a_row = 8;
  const std::size_t end = octets.size() - 3;
  std::size_t i = 0;
  while (i < end) {
    const std::size_t next = std::min(end, i + in_a_row);
    if (next - i == in_a_row && !any_control_plausible(octets.data() + i + 2)) {
      i = next;
      continue;
    }
    for (; i < next; ++i) {
      if (control_plausible(octets[i + 2], octets[i + 3]) && head_plausible(octets.data() + i)) return i;
    }
  }
  return octets.size();
}

Trial weigh_chain(const Window& window, Position from, const wire::Markers& markers, const Expectation& expected,
                  int enough) {
  Trial trial;
  Tagged before;
  for (int i = 0; i < chain_limit; ++i) {
    std::array<std::uint8_t, 2 + wire::ddp_untagged_length> head{};
    switch (window.read(from, 4, markers, head.data())) {
      case Have::beyond:
        trial.verdict = Trial::Verdict::open;
        return trial;
      case Have::cut:
        trial.verdict = i == 0 ? Trial::Verdict::no : Trial::Verdict::cut;
        return trial;
      case Have::yes:
        break;
    }
    trial.verdict = Trial::Verdict::no;
    if (!head_plausible(head.data())) return trial;
    const wire::DdpControl control = wire::ddp_control(head.data() + 2);
    const std::size_t header = 2 + control.header_length();
    trial.weight += control.tagged ? tagged_control : untagged_control;
    const Have rest = window.read(from, header, markers, head.data());
    if (rest == Have::yes) {
      const std::size_t data = wire::load_be16(head.data()) - control.header_length();
      const int more = control.tagged ? weigh_tagged(head.data() + 2, data, control.last, before, expected)
                                      : weigh_untagged(head.data() + 2, control, expected);
      if (more < 0) return trial;
      trial.weight += more;
    }

    const std::uint32_t size = wire::fpdu_size(wire::load_be16(head.data()));
    const Position end = markers.after(from, size);
    // While it is not known where they stand.
    if (!expected.markers_known && markers.used && !markers_agree(window, from, end, markers)) return trial;
    if (window.boundary(from)) trial.weight += begins_at_segment;
    if (window.boundary(end)) trial.weight += ends_at_segment;
    if (expected.crc.value_or(true) && end <= window.end()) {
      std::array<std::uint8_t, 4> octets{};
      const Position crc_at = markers.after(from, size - wire::fpdu_crc_octets);
      if (window.read(crc_at, octets.size(), markers, octets.data()) == Have::yes) {
        const auto crc = window.crc(from, crc_at);
        bool agrees = crc && *crc == wire::load_le32(octets.data());
        // A marker right in front of the CRC field may be covered, or not.
        if (const std::uint64_t marker = markers.inside(crc_at); crc && !agrees && marker != 0) {
          agrees = window.crc(from, crc_at + marker) == wire::load_le32(octets.data());
        }
        if (agrees) trial.weight += crc_agrees;
        // Proven to be in use and not agreeing: an FPDU would have to be damaged just here.
        if (!agrees && crc && expected.crc.has_value() && !markers.used) return trial;
      }
    }
    if (trial.weight >= enough) {
      trial.verdict = Trial::Verdict::yes;
      return trial;
    }
    if (rest == Have::beyond || end >= window.end()) {
      trial.verdict = Trial::Verdict::open;
      return trial;
    }
    from = end;
  }
  trial.verdict = Trial::Verdict::yes;
  return trial;
}

namespace {

/// Phases of markers that an FPDU is tried with; of one that has room for more, it is not told.
constexpr std::size_t phases_limit = 4;

/// Where markers may stand when one is inside the FPDU at `from`: it says how far back the FPDU began, and so do those
/// behind it. What says so by chance (message 12 has its number there, and a credit of 28) is no marker. Nothing: one
/// is seen, and the capture lacks octets where the true one may stand.
std::optional<std::vector<wire::Markers>> phases_inside(const Window& window, Position from) {
  std::vector<wire::Markers> phases;
  std::array<std::uint8_t, wire::Markers::interval> copy{};
  if (window.read(from, 2, {}, copy.data()) != Have::yes) return phases;
  const std::uint32_t size = wire::fpdu_size(wire::load_be16(copy.data()));
  const std::size_t all = std::min<std::size_t>(std::size_t{size} + 4, copy.size());
  Bytes octets = window.contiguous(from);
  if (octets.size() < all) {
    std::size_t n = all;
    while (n > octets.size() && window.read(from, n, {}, copy.data()) != Have::yes) n /= 2;
    if (n > octets.size()) octets = Bytes(copy).first(n);
  }
  if (octets.size() < 4) return phases;
  const std::uint64_t reach = std::min<std::uint64_t>(all, octets.size() - 3);
  for (std::uint64_t distance = 4; distance < reach && phases.size() <= phases_limit; distance += 4) {
    const std::uint32_t value = wire::load_be32(octets.data() + distance);
    // The last one counts from a marker in front of the length word.
    if (value == distance || (distance + 4 == wire::Markers::interval && value == wire::Markers::interval)) {
      const wire::Markers markers{true, (from + distance) % wire::Markers::interval};
      if (markers_agree(window, from, markers.after(from, size), markers)) phases.push_back(markers);
    }
  }
  const bool cut = octets.size() < std::min<std::size_t>(size, all);
  if (cut && !phases.empty()) return std::nullopt;
  return phases;
}

/// No marker inside the FPDU at `at` that is here says anything else.
bool told_agrees(const Window& window, Position at, const wire::Markers& told) {
  std::array<std::uint8_t, 2> length{};
  if (window.read(at, length.size(), told, length.data()) != Have::yes) return false;
  return markers_agree(window, at, told.after(at, wire::fpdu_size(wire::load_be16(length.data()))), told);
}

/// How the FPDU at `at` is to be read while it is not known whether there are markers: without, unless some are seen
/// and reading them as such makes more sense. Nothing: that cannot be told here.
std::optional<wire::Markers> markers_at(const Window& window, Position at, const Expectation& expected) {
  if (expected.told && told_agrees(window, at, *expected.told)) return expected.told;
  constexpr int compare = 1000;  // far beyond any threshold: follow the chains as far as they go
  const std::optional<std::vector<wire::Markers>> phases = phases_inside(window, at);
  if (!phases || phases->size() > phases_limit) return std::nullopt;
  wire::Markers best;
  int most = -1;
  bool alike = false;
  for (const wire::Markers& phase : *phases) {
    const Trial marked = weigh_chain(window, at, phase, expected, compare);
    if (marked.verdict == Trial::Verdict::no || marked.weight < most) continue;
    alike = marked.weight == most;
    most = marked.weight;
    best = phase;
  }
  if (most >= 0) {
    const Trial plain = weigh_chain(window, at, {}, expected, compare);
    if (plain.verdict == Trial::Verdict::no || most > plain.weight) {
      if (alike) return std::nullopt;
      return best;
    }
  }
  if (expected.markers_used) return std::nullopt;
  return wire::Markers{};
}

}  // namespace

void Alignment::restart(Position from) {
  candidates_.clear();
  scan_from_ = from;
}

void Alignment::keep(const Candidate& candidate) {
  if (candidates_.size() >= candidates_limit) {
    const auto least = std::min_element(candidates_.begin(), candidates_.end(),
                                        [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; });
    if (least->weight >= candidate.weight) return;
    candidates_.erase(least);
  }
  candidates_.push_back(candidate);
}

bool Alignment::try_at(const Window& window, const Found& at, const Expectation& expected,
                       const Thresholds& thresholds) {
  const Trial trial = weigh_chain(window, at.position, at.markers, expected, thresholds.chain);
  switch (trial.verdict) {
    case Trial::Verdict::yes:
      return true;
    case Trial::Verdict::cut:
      return trial.weight >= thresholds.cut;
    case Trial::Verdict::open:
      keep({at, trial.weight});
      return false;
    case Trial::Verdict::no:
      break;
  }
  return false;
}

std::optional<Alignment::Found> Alignment::again(const Window& window, const Expectation& expected,
                                                 const Thresholds& thresholds) {
  std::vector<Candidate> old;
  old.swap(candidates_);
  for (const Candidate& candidate : old) {
    if (candidate.at.position < window.begin()) continue;
    if (try_at(window, candidate.at, expected, thresholds)) return candidate.at;
  }
  return std::nullopt;
}

std::optional<Alignment::Found> Alignment::scan(const Window& window, const Expectation& expected,
                                                const Thresholds& thresholds) {
  const wire::Markers markers = expected.markers_known ? expected.markers : wire::Markers{};
  int trials = 0;
  scan_from_ = std::max(scan_from_, window.begin());
  while (scan_from_ + 4 <= window.end() && trials < trials_limit) {
    std::array<std::uint8_t, 4> head{};
    const Bytes run = window.contiguous(scan_from_);
    if (run.empty()) {  // cut by the snap length, or a hole: on to the next piece
      scan_from_ = window.next_piece(scan_from_);
      continue;
    }
    if (run.size() >= head.size() && !markers.used) {
      // The common case, without looking up the piece for each octet.
      const std::size_t at = first_plausible(run);
      scan_from_ += std::min(at, run.size() - 3);
      if (at == run.size()) continue;
    }
    const Position at = scan_from_;
    const Have have = window.read(at, head.size(), markers, head.data());
    if (have == Have::beyond) return std::nullopt;
    ++scan_from_;
    if (have == Have::cut || !head_plausible(head.data())) continue;
    ++trials;
    Found found{at, markers};
    if (!expected.markers_known) {
      const auto seen = markers_at(window, at, expected);
      if (!seen) continue;
      found.markers = *seen;
    }
    if (try_at(window, found, expected, thresholds)) return found;
  }
  return std::nullopt;
}

std::optional<Alignment::Found> Alignment::look(const Window& window, const Expectation& expected,
                                                const Thresholds& thresholds, bool last) {
  if (window.empty()) return std::nullopt;
  if (auto found = again(window, expected, thresholds)) return found;
  if (auto found = scan(window, expected, thresholds)) return found;
  if (!last || candidates_.empty()) return std::nullopt;
  const auto best = std::max_element(candidates_.begin(), candidates_.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; });
  if (best->weight < thresholds.last) return std::nullopt;
  return best->at;
}

}  // namespace rpcrdma::trace::iwarp
