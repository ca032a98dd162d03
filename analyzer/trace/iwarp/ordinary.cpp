// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/ordinary.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rpcrdma::trace::iwarp {
namespace {

// The longest FPDU has 64 KiB, so that in so many octets one must begin.
constexpr std::uint32_t octets_limit = 96U << 10U;
constexpr std::uint16_t segments_limit = 128;
/// Weight of a chain inside of one segment that makes a stream worth following.
constexpr Thresholds first_look{30, 30, 30};

std::uint64_t hash_of_address(const Address& a) noexcept {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  std::memcpy(&hi, a.octets.data(), 8);
  std::memcpy(&lo, a.octets.data() + 8, 8);
  return (hi * 0x9E3779B97F4A7C15ULL) ^ (lo * 0xC2B2AE3D27D4EB4FULL) ^ static_cast<std::uint64_t>(a.kind) ^
         std::uint64_t{a.network} << 8U;
}

}  // namespace

std::uint64_t OrdinaryTcp::hash_of(const Ends& ends) noexcept {
  // The last octets of IPv6 addresses stand at the top, from where a product alone never takes them to the bottom.
  std::uint64_t one = hash_of_address(ends.address[0]);
  one = (one ^ (one >> 32U)) * 0x9E3779B97F4A7C15ULL;
  std::uint64_t h = one ^ hash_of_address(ends.address[1]);
  h ^= h >> 32U;
  h = (h ^ (static_cast<std::uint64_t>(ends.port[0]) << 16U) ^ ends.port[1]) * 0xFF51AFD7ED558CCDULL;
  h = (h ^ (h >> 33U)) * 0xC4CEB9FE1A85EC53ULL;
  return h ^ (h >> 33U);
}

OrdinaryTcp::Slot& OrdinaryTcp::slot(std::uint64_t hash) noexcept {
  const std::size_t at = hash % slots_.size();
  Slot& one = slots_[at];
  Slot& other = slots_[at ^ 1U];
  if (one.hash == hash || other.hash == hash) return one.hash == hash ? one : other;
  if (one.hash == 0 || other.hash == 0) return one.hash == 0 ? one : other;
  return one.used <= other.used ? one : other;
}

OrdinaryTcp::Slot& OrdinaryTcp::place(std::uint64_t hash) {
  if (slots_.empty()) slots_.resize(first_slots);
  while (slot(hash).hash != hash && slot(hash).hash != 0 && slots_.size() < most_slots) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& each : old) {
      if (each.hash != 0) slot(each.hash) = each;
    }
  }
  return slot(hash);
}

void OrdinaryTcp::note_syn(Slot& slot, int direction, const TcpSegment& segment) noexcept {
  const auto d = static_cast<std::size_t>(direction);
  const std::uint32_t first = segment.sequence + 1;
  const bool answer = (segment.flags & TcpSegment::ack) != 0;
  if (!answer || (slot.first_known[d] && slot.first[d] != first)) {
    const std::uint64_t hash = slot.hash;
    // The SYN that comes again is the same opening, and so is one that stands behind its answer.
    const bool again = slot.first_known[d] && slot.first[d] == first;
    const bool answered = !answer && slot.answer.number != 0 && slot.answered == first;
    if (!again && !answered) slot = {};
    slot.hash = hash;
  }
  const bool behind = !answer && slot.syn.number == slot.answer.number;
  if (slot.syn.number == 0 || behind) slot.syn = segment.ref;
  if (!answer || slot.opener < 0) slot.opener = static_cast<std::int8_t>(answer ? 1 - direction : direction);
  if (answer) {
    slot.answer = segment.ref;
    slot.answered = segment.acknowledgement;
  }
  slot.first[d] = first;
  slot.first_known[d] = true;
}

bool OrdinaryTcp::evidence(Slot& slot, const TcpSegment& segment) {
  if (slot.segments >= segments_limit || slot.octets >= octets_limit) {
    slot.ignored = true;
    return false;
  }
  // Looking inside costs: only once the stream has kept its slot. Many streams at a time push each other out.
  const bool inside = slot.segments > 0;
  ++slot.segments;
  slot.octets += segment.wire_length;
  const Bytes where =
      inside ? segment.payload : segment.payload.first(std::min<std::size_t>(segment.payload.size(), 4));
  if (first_plausible(where) == where.size()) return false;
  Piece piece;
  piece.start = Position{1} << 32U;
  piece.wire_length = segment.wire_length;
  piece.octets = segment.payload.first(std::min<std::size_t>(segment.payload.size(), segment.wire_length));
  scratch_.clear();
  alignment_.restart(0);
  return scratch_.append(piece) && alignment_.look(scratch_, {}, first_look, true).has_value();
}

bool OrdinaryTcp::worth_a_look(std::uint64_t hash, int direction, const TcpSegment& segment, bool service,
                               TcpOpening& opening) {
  const bool syn = (segment.flags & TcpSegment::syn) != 0;
  if (segment.wire_length == 0 && !syn) return false;
  Slot& s = place(hash);
  if (s.hash != hash) {
    s = {};
    s.hash = hash;
  }
  if (syn) note_syn(s, direction, segment);
  s.used = segment.ref.number;
  // On a service port the stream may yet turn out to be iWARP: whoever follows it counts.
  if (s.plain == 0 && !s.ignored && !service) s.plain = plain_.look(segment, false, false);
  if (s.plain != 0 && segment.wire_length != 0) {
    plain_.count(s.plain, segment.ref);
    plain_.watch(s.plain, segment);
  }
  if (segment.wire_length == 0 || s.ignored || segment.payload.empty()) return false;

  const auto d = static_cast<std::size_t>(direction);
  const wire::MpaKey key = wire::mpa_key(segment.payload);
  bool worth = service || key == wire::MpaKey::request || key == wire::MpaKey::reply;
  if (!worth && s.first_known[d]) {
    const bool at_first = segment.sequence + (syn ? 1U : 0U) == s.first[d];
    worth = at_first && key == wire::MpaKey::partial;
    // The beginning of the stream, or what came earlier than it, says what it is.
    s.ignored = !worth && at_first;
  } else if (!worth) {
    worth = evidence(s, segment);
  }
  if (!worth) return false;
  opening = {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (s.first_known[i]) opening.first[i] = s.first[i];
  }
  if (s.opener >= 0) opening.opener = s.opener;
  opening.syn = s.syn;
  opening.answer = s.answer;
  if (s.answer.number != 0) opening.answered = s.answered;
  return true;
}

void OrdinaryTcp::forget(std::uint64_t hash) noexcept {
  if (!slots_.empty() && slot(hash).hash == hash) slot(hash) = {};
}

void OrdinaryTcp::ignore(std::uint64_t hash, PlainPair plain) {
  Slot& s = place(hash);
  const std::uint64_t used = s.used;
  s = {};
  s.used = used;
  s.plain = plain;
  s.hash = hash;
  s.ignored = true;
}

}  // namespace rpcrdma::trace::iwarp
