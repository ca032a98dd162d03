// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of one connection share.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "trace/budget.hpp"
#include "trace/events.hpp"
#include "trace/ib/psn.hpp"
#include "trace/newest.hpp"
#include "trace/proven_order.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::trace::ib {

inline constexpr TimeNs microsecond = 1'000;
inline constexpr TimeNs second = 1'000'000'000;

/// Two equal packets so close together, and no reason to send again between them: the capture has one twice.
inline constexpr TimeNs duplicate_window = 300 * microsecond;

[[nodiscard]] constexpr std::size_t index(Side s) noexcept { return static_cast<std::size_t>(s); }

/// Requests carry PSNs of their sender's space; everything else on a reliable connection those of the receiver's.
[[nodiscard]] constexpr bool is_request(wire::IbKind kind) noexcept {
  return kind == wire::IbKind::send || kind == wire::IbKind::write || kind == wire::IbKind::read_request ||
         kind == wire::IbKind::atomic_request;
}

/// Same for both directions of a connection.
struct Shared {
  EventSink& sink;
  Budget& budget;  ///< of what is held back
  ConnectionId id = 0;
  std::uint32_t mtu = 0;  ///< path MTU in octets; 0: not yet known
  std::array<bool, 2> reordered_said{};
  std::array<bool, 2> resent_said{};
  std::array<bool, 2> late{};  ///< packets of this side stand behind what its peer answered to them
  std::array<bool, 2> limit_said{};
  bool shuffled_said = false;
  struct Count {
    std::uint64_t seen = 0;     ///< requests and READ responses that this side sent
    std::uint64_t missing = 0;  ///< those that the capture lacks
    std::uint64_t places = 0;   ///< in so many gaps
  };
  std::array<Count, 2> packets{};
  std::array<Newest, 2> heard{};           ///< by sender, CM as well
  std::array<Newest, 2> acknowledging{};   ///< those that answer requests, by sender
  std::array<std::uint64_t, 2> spoke{};    ///< number of the frame that ended the newest Send, by sender
  std::array<FrameRef, 2> overtaken_in{};  ///< the request at hand of this side, by one that it sent later

  template <class Event>
  void fill(Event& event, Side side, FrameRef frame) const noexcept {
    event.connection = id;
    event.side = side;
    event.frame = frame;
    event.overtaken_in = overtaken_in[index(side)];
  }
  void quality(Side side, FrameRef frame, Quality::Kind kind) const {
    Quality q;
    fill(q, side, frame);
    q.kind = kind;
    sink.on(q);
  }
  void waits(Side side, FrameRef frame, const wire::IbHeader& header) const {
    if (header.op.kind != wire::IbKind::send || header.op.part != wire::IbPart::only) return;
    HeldSend held;
    fill(held, side, frame);
    held.octets = header.payload;
    held.wire_length = static_cast<std::uint32_t>(header.payload_length);
    sink.on(held);
  }
  void not_heard(Side side, FrameRef copy) noexcept {
    heard[index(side)].unsee(copy);
    acknowledging[index(side)].unsee(copy);
  }
  void repeated(Side side, FrameRef frame, Repeated::Kind kind) {
    if (kind == Repeated::Kind::capture_duplicate) not_heard(side, frame);
    Repeated r;
    fill(r, side, frame);
    r.kind = kind;
    sink.on(r);
  }
  /// `goes_on`: nothing was seen between this gap and the one before it. `behind`: the packet that stands behind it in
  /// its direction, where that came before `frame` shows that nothing more will; number 0: none did.
  void gap(Side side, FrameRef frame, std::uint64_t count, bool proven, bool goes_on, FrameRef behind = {}) {
    packets[index(side)].missing += count;
    if (!goes_on) ++packets[index(side)].places;
    Gap g;
    fill(g, side, frame);
    g.count = count;
    g.proven = proven;
    g.overtaken_in = behind;
    sink.on(g);
  }
  /// A gap that stood alone was none.
  void not_missing(Side side, std::uint64_t count) noexcept {
    packets[index(side)].missing -= count;
    --packets[index(side)].places;
  }
  void say_reordered(Side side, FrameRef frame) {
    if (reordered_said[index(side)]) return;
    reordered_said[index(side)] = true;
    quality(side, frame, Quality::Kind::reordered);
  }
  /// A hole is being filled, and that tells of the order in the file. `held`: the packet behind it that came first.
  /// `asked_again`: the newest frame since which all is sent again.
  void say_filled(Side side, FrameRef frame, FrameRef held, std::uint64_t asked_again) {
    if (held.number >= asked_again) return say_reordered(side, frame);
    if (std::exchange(resent_said[index(side)], true)) return;
    quality(side, frame, Quality::Kind::resent);
  }
  /// One tap may be behind the other. Where each side is behind the other, frames changed places one by one.
  void say_late(Side side, FrameRef frame) {
    if (late[index(side)]) return;
    late[index(side)] = true;
    quality(side, frame, Quality::Kind::late);
    if (late[index(other(side))]) say_shuffled(side, frame);
  }
  void say_shuffled(Side side, FrameRef frame) {
    if (std::exchange(shuffled_said, true)) return;
    quality(side, frame, Quality::Kind::shuffled);
  }
  void say_limit(Side side, FrameRef frame) {
    if (limit_said[index(side)]) return;
    limit_said[index(side)] = true;
    quality(side, frame, Quality::Kind::limit_reached);
  }
};

/// A packet reduced to what tells it from others: enough to recognise the same frame captured twice.
struct Fingerprint {
  std::uint64_t head = 0;   ///< of its length and its first header
  std::uint64_t whole = 0;  ///< 0: it was cut

  /// A copy may be cut, of a mirror for one: only what both hold counts.
  friend bool operator==(const Fingerprint& a, const Fingerprint& b) noexcept {
    return a.head == b.head && (a.whole == b.whole || a.whole == 0 || b.whole == 0);
  }
};
[[nodiscard]] inline Fingerprint fingerprint(Bytes octets, std::uint32_t wire_length) noexcept {
  // Head, middle and tail; the tail holds the ICRC when the packet was captured whole.
  constexpr std::uint64_t k = 0x9E3779B97F4A7C15ULL;
  std::uint64_t h = wire_length * k;
  const auto mix = [&](std::size_t at) {
    std::uint64_t v = 0;
    std::memcpy(&v, octets.data() + at, sizeof v);
    h = (h ^ v) * k;
    h ^= h >> 29U;
  };
  constexpr std::size_t bth = 12;
  if (octets.size() < bth) return {h, 0};
  mix(0);
  mix(bth - sizeof h);
  const std::uint64_t head = h;
  if (octets.size() < wire_length) return {head, 0};
  mix(octets.size() / 2 >= sizeof h ? octets.size() / 2 - sizeof h : 0);
  mix(octets.size() - sizeof h);
  return {head, h};
}

/// One packet as it was captured.
struct Captured {
  FrameRef ref;
  Bytes octets;  ///< from its first InfiniBand header on
  std::uint32_t wire_length = 0;
  bool crc_bad = false;
  const wire::IbHeader& header;  ///< its payload points into `octets`
};

/// One packet on its way through a stream. The header's payload points into the frame or into a held copy.
struct Arrival {
  FrameRef ref;
  const wire::IbHeader& header;
  Fingerprint mark;
};

[[nodiscard]] constexpr bool close_together(TimeNs a, TimeNs b) noexcept {
  // Times come from the file and may be anything: no overflow.
  const auto d = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  const auto e = static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  return (a >= b ? d : e) <= static_cast<std::uint64_t>(duplicate_window);
}

}  // namespace rpcrdma::trace::ib
