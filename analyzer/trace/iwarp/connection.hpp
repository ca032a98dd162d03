// SPDX-License-Identifier: GPL-2.0-or-later
// One epoch of one TCP connection that is, or may be, iWARP: both directions, the MPA handshake, the roles.
#pragma once

#include <array>
#include <compare>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "trace/budget.hpp"
#include "trace/copies.hpp"
#include "trace/iwarp/attempts.hpp"
#include "trace/iwarp/bare_segments.hpp"
#include "trace/iwarp/early.hpp"
#include "trace/iwarp/ends.hpp"
#include "trace/iwarp/epoch_before.hpp"
#include "trace/iwarp/framing.hpp"
#include "trace/iwarp/messages.hpp"
#include "trace/iwarp/role.hpp"
#include "trace/iwarp/tcp_order.hpp"
#include "trace/networks_seen.hpp"
#include "trace/newest.hpp"
#include "trace/packet.hpp"
#include "trace/proven_order.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace::iwarp {

struct Context {
  const Options& options;
  ConnectionNumbers& numbers;
  EventSink& sink;
  Budget& budget;
  Attempts& attempts;

  [[nodiscard]] bool service_port(std::uint16_t port) const noexcept;
};

/// What was seen of the TCP handshake. Directions are indices of Ends: the sender's.
struct TcpOpening {
  std::array<std::optional<std::uint32_t>, 2> first;  ///< sequence number of the first octet
  std::optional<int> opener;                          ///< who sent the SYN without ACK, or did not send the one with it
  FrameRef syn;                                       ///< the first; number 0: not in the capture
  FrameRef answer;                                    ///< the SYN with ACK, likewise
  std::optional<std::uint32_t> answered;              ///< the opener's first octet, as the SYN with ACK has it
};

/// Of what life of its ports a segment is.
enum class Epoch : std::uint8_t {
  this_one,
  next,       ///< it begins one
  in_doubt,   ///< it asks for one of a stream that is open, whose receiver may pass over that
  not_known,  ///< after a long silence it counts from elsewhere: of the next one, or behind what the capture lacks
};

class Connection {
 public:
  enum class Status : std::uint8_t {
    pending,   ///< not yet known to be iWARP, or its roles are not known: no event so far
    open,      ///< events flow
    given_up,  ///< not iWARP
  };

  Connection(const Context& context, const Ends& ends, const TcpOpening& opening);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void segment(int direction, const TcpSegment& segment);
  /// No more frames: gives up every hole, decides what is undecided.
  void finish(FrameRef last);
  /// A segment that was here before, by another way to the capture. False: this is not iWARP, or not yet.
  [[nodiscard]] bool copy(int direction, const TcpSegment& segment);
  /// As finish(); the same ports began a new epoch, or may have.
  void supersede(int direction, FrameRef frame, Disconnect::How how);

  [[nodiscard]] Status status() const noexcept { return status_; }
  /// Both sides are done, or one reset the connection: only late repeats are to be expected.
  [[nodiscard]] bool over() const noexcept { return over_; }
  [[nodiscard]] Epoch epoch_of(int direction, const TcpSegment& segment) noexcept;
  /// What both sides have said, for the next epoch of the ports.
  [[nodiscard]] EpochBefore said(FrameRef now) const noexcept;
  /// As far as its sequence number tells, the segment may be of this epoch.
  [[nodiscard]] bool may_be_own(int direction, const TcpSegment& segment) const noexcept;

 private:
  friend ProvenOrder;

  /// What lies further ahead is nothing that this connection has sent.
  static constexpr std::int64_t window_ahead = 64 << 20;
  /// For a new epoch without SYN: the old one's octets would hardly lie further back.
  static constexpr std::int64_t window_behind = 4 << 20;

  struct Handshake {
    std::vector<std::uint8_t> octets;
    std::size_t wire_length = 0;
    FrameRef frame;
    bool request = false;
    Position end = 0;
    bool followed = false;  // something stands behind it
    wire::MpaFrame parsed;  // spans of octets
  };
  /// Octets that were given up before there was a connection to say it of: told in their turn.
  struct EarlyGap {
    Position start = 0;
    std::uint64_t count = 0;
    bool proven = false;
    FrameRef frame;
    std::uint64_t turn = 0;
  };
  /// Its sender may have sent what stands right behind it in the capture before it: told with what comes next.
  struct BareAcknowledgement {
    Position position = 0;
    FrameRef frame;
  };
  /// How far it has sent, as a segment of its own without data says: that carries the number of what comes next (RFC
  /// 9293 section 3.10.1). Number 0 of `frame`: none did.
  struct SentTo {
    Position position = 0;
    FrameRef frame;  ///< the first one that says so
  };
  /// What the peer acknowledges in front of the first octet that the capture has.
  struct UnseenAcknowledged {
    std::optional<std::uint32_t> to;
    FrameRef advanced;  ///< number 0: there was one acknowledgement only
  };
  struct Half final : FpduHandler {
    Half(Connection& c, int d)
        : owner(c),
          direction(d),
          order(c.context_.budget),
          framing(c.context_.budget, c.context_.options.check_crc),
          early(c.context_.budget) {}
    /// Behind the last octet seen, in whatever order.
    [[nodiscard]] Position end_seen() const noexcept { return std::max(reach, order.next()); }
    void fpdu(const Fpdu& fpdu) override;
    void crc_bad(FrameRef frame) override;
    void mpa_bad(FrameRef frame) override;
    void mpa_cut(FrameRef frame) override;
    void skipped(std::uint64_t octets, FrameRef frame) override;

    Connection& owner;
    int direction;
    TcpOrder order;
    Framing framing;
    EarlySegments early;
    Position reach = 0;                      // behind the last octet seen, in whatever order
    std::optional<std::uint32_t> promised;   // its first octet, as the peer has acknowledged it
    std::optional<std::uint32_t> said_next;  // the same, as a segment of its own without data says
    SentTo sent_to;
    bool waited_in_vain = false;  // for the first octets of the peer
    bool seen = false;            // any segment
    Newest heard;
    BareSegments bare_lately;
    NetworksSeen networks;
    std::optional<BareAcknowledgement> bare;
    FrameRef window_closed;  // since when; number 0: it is open
    Copies copies;
    std::uint64_t missing = 0;  // octets, in so many places
    std::uint64_t places = 0;
    Position missing_to = 0;
    std::uint64_t passed_over = 0;  // those of the missing that next() lies behind
    Position origin = 0;
    Position acknowledged = 0;
    bool tail_told = false;
    std::uint64_t payload = 0;
    std::list<EarlyGap> early_gaps;
    std::optional<std::uint32_t> first_acknowledged;  // before anything of it was seen
    UnseenAcknowledged unseen;
    std::optional<Position> fin;
    Position fin_acknowledges = 0;
    FrameRef fin_frame;
    bool fin_missing = false;  ///< from the capture: that of its peer shows it
    bool closed = false;       // its Disconnect was reported
    bool limit_told = false;
    int far = 0;
    std::unique_ptr<Handshake> handshake;
    std::optional<std::uint32_t> fpdus_from;  // without its MPA frame: where they begin, as the peer's words show
    bool handshake_reported = false;
    FrameRef cut_in_key;  // the capture has too little of its MPA frame, if it is one
  };

  [[nodiscard]] Half& half(int direction) noexcept { return direction == 0 ? halves_[0] : halves_[1]; }
  [[nodiscard]] const Half& half(int direction) const noexcept { return direction == 0 ? halves_[0] : halves_[1]; }
  [[nodiscard]] Side side(int direction) const noexcept { return direction == active_ ? Side::active : Side::passive; }
  [[nodiscard]] bool live() const noexcept { return status_ == Status::open; }
  [[nodiscard]] Endpoint endpoint(int direction) const;

  [[nodiscard]] bool first_words(int direction, const TcpSegment& segment) const;
  [[nodiscard]] static bool acknowledges_others(const Half& peer, const TcpSegment& segment) noexcept;
  void take(Half& h, const TcpSegment& segment);
  [[nodiscard]] bool must_wait(const Half& h, const TcpSegment& segment) const;
  void tell_waiting(const TcpSegment& segment, int direction) const;
  [[nodiscard]] bool come(const Half& h, const TcpSegment& segment) const;
  [[nodiscard]] static std::optional<Hole> hole_of(const Half& h);
  [[nodiscard]] static std::optional<Hole> hole_before(const Half& h, Position to);
  void pass_over(Half& peer, Position to, FrameRef frame);
  // For ProvenOrder.
  [[nodiscard]] const EarlySegments& early(int direction) const noexcept { return half(direction).early; }
  [[nodiscard]] bool front_come(int direction) const;
  [[nodiscard]] bool front_given_up(int direction, FrameRef now);
  [[nodiscard]] bool awaited_waits(int direction) const;
  void release(int direction);
  void acknowledge(Half& sender, const TcpSegment& segment);
  static void acknowledge_unseen(Half& sender, const TcpSegment& segment) noexcept;
  void tell_acknowledged(Half& h);
  void without_data(Half& h, const Half& peer, const TcpSegment& segment);
  [[nodiscard]] static std::optional<Hole> lost_tail(const Half& h, FrameRef now);
  void payload(Half& h, const TcpSegment& segment, std::uint32_t sequence);
  void start_at(Half& h, std::uint32_t sequence);
  [[nodiscard]] static std::uint32_t behind_start(const Half& h, std::uint32_t sequence) noexcept;
  void start(Half& h, const TcpSegment& segment, std::uint32_t sequence);
  void deliver(Half& h, Piece piece);
  void deliver_ready(Half& h);
  /// Gives up the holes that no retransmission will fill: those the receiver has acknowledged, or `all`. Asked for each
  /// segment, and nearly always nothing is missing.
  void close_holes(Half& h, FrameRef now, bool all) {
    if (h.order.held() != 0 || h.fin || all) look_for_holes(h, now, all);
  }
  void look_for_holes(Half& h, FrameRef now, bool all);
  void give_up(Half& h, std::uint64_t count, bool proven, FrameRef frame);
  void skip(Half& h, std::uint64_t count, bool proven, FrameRef frame);
  bool make_way(Half& h, FrameRef now);
  void limit(Half& h, FrameRef frame);
  [[nodiscard]] static bool may_reset(const Half& h, const TcpSegment& segment) noexcept;
  [[nodiscard]] static bool surely_resets(const Half& h, const TcpSegment& segment) noexcept;
  [[nodiscard]] static bool may_finish(const Half& h, std::uint32_t fin) noexcept;
  void take_reset(Half& h, const TcpSegment& segment);
  void reset_in_doubt();
  void reset(Half& h, FrameRef frame);
  [[nodiscard]] bool repeats_syn(const Half& h, const TcpSegment& segment) const noexcept;
  bool repeat(Half& h, Position start, Position end, FrameRef again);
  void note_missing(Half& h, Position from, std::uint64_t count);
  void tell_liveness(FrameRef frame);

  void advance(FrameRef now, bool last);
  bool advance_half(Half& h, bool last);
  bool read_handshake(Half& h);
  void take_handshake(Half& h, std::size_t length);
  void not_mpa(Half& h);
  [[nodiscard]] bool align(Half& h, bool last);
  void note_where_fpdus_begin(Half& h);
  [[nodiscard]] bool open_where_told(Half& h);
  void apply_flags();
  bool drain(bool last);
  [[nodiscard]] static bool complete(const Half& h) noexcept { return h.fin && h.order.next() >= *h.fin; }
  [[nodiscard]] static const EarlyGap* due(const Half& h) noexcept;
  void keep_gap(Half& h, const EarlyGap& gap);
  void tell_lost_tail(Half& h, FrameRef frame);
  [[nodiscard]] bool fins_exchanged() const noexcept;
  [[nodiscard]] bool said_before_fin(const Half& h) const;
  void close_half(Half& h);
  void find_missing_fin(Half& h) const;
  void start_before_fin(Half& h, std::uint32_t fin);

  void try_open(FrameRef now, bool last);
  [[nodiscard]] bool waited_enough(FrameRef now, bool last);
  void open_by_request(Half& h);
  void adopt(RolesFrom roles, bool one_way, FrameRef frame);
  void opened();
  FrameRef serve(std::uint32_t first);
  void report_handshake(Half& h);
  void report_reply(Half& h);
  void report_early();
  [[nodiscard]] std::optional<int> active_by_port() const noexcept;
  struct Roles {
    int active = 0;
    RolesFrom from = RolesFrom::unknown;
  };
  [[nodiscard]] std::optional<Roles> active_by_traffic(bool last);

  Context context_;
  Ends ends_;
  TcpOpening opening_;
  Status status_ = Status::pending;
  bool over_ = false;
  /// An RST whose number is not the one that its receiver expects, as far as the capture shows. It passes over such a
  /// one (RFC 5961 section 3.2), unless that is what it expects.
  struct DoubtfulReset {
    int direction = 0;
    FrameRef frame;
    Position answered_to = 0;  ///< so far its sender's peer had sent by then
  };
  std::optional<DoubtfulReset> doubtful_reset_;
  bool rejected_ = false;
  bool liveness_told_ = false;
  bool service_ = false;
  bool crowded_ = false;  // a window was full while pending
  int active_ = 0;        // direction of the active side
  FrameRef first_payload_;
  std::uint64_t pieces_ = 0;
  std::uint64_t turn_ = 0;
  ConnectionId id_ = 0;
  std::unique_ptr<Messages> messages_;
  std::array<Half, 2> halves_;
};

}  // namespace rpcrdma::trace::iwarp
