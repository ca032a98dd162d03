// SPDX-License-Identifier: GPL-2.0-or-later
// RDMAP messages of one connection, both directions: from FPDUs to the events of the seam.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "trace/events.hpp"
#include "trace/iwarp/framing.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::trace::iwarp {

/// The latest N things of a kind, newest first. Takes room for no more than were added.
template <class T, std::size_t N>
class Latest {
 public:
  T& add() {
    if (items_.size() < N) return items_.emplace_back();
    T& oldest = items_[next_];
    next_ = (next_ + 1) % N;
    return oldest = T{};
  }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return items_[place(i)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return items_[place(i)]; }

 private:
  /// Behind the newest stands the oldest, where there are N.
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept {
    const std::size_t size = items_.size();
    const std::size_t at = next_ + size - 1 - i;
    return at < size ? at : at - size;
  }

  std::vector<T> items_;
  std::size_t next_ = 0;  ///< the oldest, once there are N: to be replaced
};

class Messages {
 public:
  Messages(EventSink& sink, ConnectionId connection) noexcept : sink_(sink), connection_(connection) {}

  /// The MPA handshake opened the connection: ConnectReady is due, and the first operations may be the RTR.
  void from_handshake() noexcept { ready_due_ = set_up_ = true; }
  /// Stream position that counts as offset 0 of `sequence`.
  void origin(Side side, Position position) noexcept { of(side).origin = position; }

  void fpdu(Side side, const Fpdu& fpdu);
  /// Octets of `side` are missing: reports them, and what is unfinished knows that it has holes.
  void gap(Side side, std::uint64_t octets, bool proven, FrameRef frame, Gap::Kind kind = Gap::Kind::missing);
  /// `by` has acknowledged everything before `position`.
  void acknowledged(Side by, Position position, FrameRef frame);
  void quality(Side side, Quality::Kind kind, FrameRef frame);

  [[nodiscard]] Expectation expectation(Side side) const;

 private:
  struct SentSend {
    std::uint64_t ordinal = 0;
    std::uint32_t msn = 0;
    std::uint32_t length = 0;
    FrameRef frame;
  };
  /// One FPDU of a Write.
  struct SentWrite {
    std::uint64_t op = 0;
    std::uint32_t handle = 0;
    std::uint64_t offset = 0;
    FrameRef frame;
  };
  /// All of a Write, or what of it is not missing.
  struct WholeWrite {
    std::uint64_t op = 0;
    std::uint32_t handle = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    FrameRef frame;  ///< its first
  };
  struct SentRead {
    std::uint64_t op = 0;
    std::uint32_t msn = 0;
    wire::ReadRequestHeader request;
    std::uint64_t answered = 0;
    FrameRef frame;
    bool set_up = false;
  };
  struct Unacknowledged {
    Position end = 0;
    std::uint64_t ordinal = 0;
  };
  struct Half {
    Position origin = 0;
    std::uint64_t fpdus = 0;
    // Sends
    std::uint64_t sends = 0;
    std::optional<std::uint32_t> next_msn;
    bool assembling = false;
    bool msn_known = false;
    std::uint32_t msn = 0;
    bool whole_so_far = false;    // octets are contiguous from the start
    bool gap_since_send = false;  // something is missing behind its newest FPDU of a Send
    Send send;
    std::vector<std::uint8_t> octets;
    Latest<SentSend, 128> sent;
    std::deque<Unacknowledged> unacknowledged;
    Position acknowledged = 0;  // by the other side
    // tagged
    bool writing = false;
    std::uint64_t write_op = 0;
    std::uint32_t write_handle = 0;
    std::uint64_t write_next = 0;
    std::uint64_t gap_since_write = 0;
    Latest<SentWrite, 64> writes;
    Latest<WholeWrite, 128> whole_writes;  ///< of a long one more FPDUs come behind that which is refused than are kept
    Latest<std::uint32_t, 8> stags;
    // Reads
    std::deque<SentRead> reads;  // requested by this side, not answered in full
    Latest<SentRead, 16> answered_reads;
  };

  [[nodiscard]] Half& of(Side side) noexcept { return halves_[side == Side::active ? 0 : 1]; }
  [[nodiscard]] const Half& of(Side side) const noexcept { return halves_[side == Side::active ? 0 : 1]; }
  template <class Event>
  [[nodiscard]] Event event(Side side, FrameRef frame) const;
  [[nodiscard]] std::uint64_t sequence(Side side, const Fpdu& fpdu) const noexcept;

  [[nodiscard]] bool swallow_set_up(Side side, const Fpdu& fpdu, const wire::DdpControl& control);
  void unreadable(Side side, const Fpdu& fpdu);
  void on_send(Side side, const Fpdu& fpdu, const wire::DdpControl& control);
  void begin_send(Side side, const Fpdu& fpdu, const wire::DdpControl& control,
                  const wire::Decoded<wire::DdpHeader>& header);
  void end_send(Side side, const Fpdu& fpdu);
  void abandon_send(Side side);
  void report_acknowledged(Side by, FrameRef frame);
  void on_write(Side side, const Fpdu& fpdu);
  void on_read_request(Side side, const Fpdu& fpdu, bool set_up);
  void on_read_response(Side side, const Fpdu& fpdu);
  void on_terminate(Side side, const Fpdu& fpdu);
  void name_refused(Refusal& refusal, const wire::Terminate& terminate) const;
  void name_send(Refusal& refusal, std::uint32_t msn) const;
  void name_write(Refusal& refusal, const wire::DdpHeader& header) const;
  void name_read(Refusal& refusal, const wire::Terminate& terminate) const;
  void remember_stag(Half& half, std::uint32_t stag);

  EventSink& sink_;
  ConnectionId connection_;
  bool ready_due_ = false;
  bool set_up_ = false;
  std::uint64_t ops_ = 0;
  std::array<Half, 2> halves_;
};

}  // namespace rpcrdma::trace::iwarp
