// SPDX-License-Identifier: GPL-2.0-or-later
// One side's requests and the other side's answers to them: both carry PSNs of the same space.
//
// Requests are delivered in PSN order. A packet behind a hole is held until the hole is filled, until the other side
// acknowledges what is behind it (then the capture has lost it), or until a bound is met.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/copies.hpp"
#include "trace/ib/epoch_before.hpp"
#include "trace/ib/held_packets.hpp"
#include "trace/ib/operations.hpp"
#include "trace/ib/read_answers.hpp"
#include "trace/ib/repeats.hpp"
#include "trace/ib/ring.hpp"
#include "trace/ib/sent_history.hpp"

namespace rpcrdma::trace::ib {

class Stream {
 public:
  /// A hole that is neither filled nor acknowledged for so long, while the flow goes on, is given up.
  static constexpr TimeNs patience = 5 * second;

  Stream(Shared& shared, Side requester)
      : shared_(shared),
        side_(requester),
        operations_(shared, requester),
        answers_(shared, requester),
        held_(shared.budget) {}

  /// The PSN of the first request, when it is known before the first packet.
  void start_at(std::uint32_t psn) noexcept {
    if (synchronised_) return;
    synchronise(psn);
    start_known_ = true;
  }
  /// The connection was opened in the capture. Where that does not tell the PSN of the first request, acknowledgements
  /// tell how many there were: they count messages from its opening on.
  void opened_here() noexcept {
    if (!synchronised_) front_ = Front::counted;
  }
  void request(const Arrival& a);
  void response(const Arrival& a);
  /// What is held and stands behind this frame in the file does not overtake it, unless an answer shows that it did:
  /// the other side's next request, which waits as well. Nothing: nothing waits.
  void stay_behind(std::optional<FrameRef> next) noexcept { turn_ends_ = next ? next->number : no_end; }
  /// What is not behind that any more goes out.
  void go_on() { drain(acknowledged_); }
  /// A request to disconnect: requests that are missing do not come any more. What was held behind them goes out.
  void close(FrameRef ref);
  /// The end of the capture or of the epoch: whatever is held goes out.
  void finish(FrameRef last);
  /// The connection was closed long ago: stragglers are still put in their place, but with as little memory as can be.
  void rest() noexcept {
    history_.release();
    answers_.rest();
    operations_.rest();
    repeats_.release();
    acknowledgements_.release();
  }
  /// An answer, other than one that asks for a lost packet, to a request that is about to come or is lost.
  /// `from_start`: the requests are known to begin where start_at() said.
  [[nodiscard]] bool not_yet_asked(const wire::IbHeader& header, bool from_start) const noexcept;
  /// For a while now later requests are there, and those up to this one are not: not a matter of two neighbours.
  [[nodiscard]] bool overtaken(std::uint32_t psn, TimeNs now) const noexcept;
  [[nodiscard]] bool requests_seen() const noexcept { return requests_seen_; }
  /// Too far from all that is known to be near in time as well.
  [[nodiscard]] bool far_off(std::uint32_t psn) const noexcept;
  /// Where its requests begin is known: may it have sent one with this PSN by now?
  [[nodiscard]] bool may_use(std::uint32_t psn) const noexcept;
  /// For the next use of the queue pairs.
  [[nodiscard]] std::optional<EpochBefore::Used> used() const noexcept;
  /// What of the requests is not acknowledged, and what is sent again.
  void tell(Liveness& event) const noexcept;

 private:
  struct SentSend {
    Sequence last = 0;
    std::uint64_t ordinal = 0;
  };
  /// A hole that one answer proves, and nothing else: no adapter takes an answer to what it never sent, so it may be a
  /// stray of an earlier use of the queue pair.
  struct DoubtfulHole {
    Sequence from = 0;
    Sequence to = 0;
    Sequence acknowledged = 0;  ///< without that answer
    FrameRef answer;
    bool contradicted = false;  ///< a later answer acknowledges less
  };
  struct Nak {
    std::uint32_t psn = 0;
    std::uint32_t msn = 0;
    std::uint8_t syndrome = 0;
    bool answered = false;  ///< the refused packet came again
    FrameRef ref;
  };

  /// What a NAK asks for that the capture has not: it was sent, and something behind it, and which of what comes now is
  /// sent for the first time does not show.
  struct AskedUnseen {
    FrameRef nak;
    FrameRef in_front;  ///< newest request by then
    FrameRef newest;    ///< of those that were perhaps sent before; number 0: none has come yet
  };

  void synchronise(std::uint32_t psn) noexcept;
  [[nodiscard]] Sequence newest() const noexcept { return held_.empty() ? expected_ : held_.last(); }
  [[nodiscard]] bool changed_places(const Arrival& a, Sequence at) const noexcept;
  void doubt(Sequence end, FrameRef answer);
  void weigh_doubt(Sequence end, FrameRef answer) noexcept;
  [[nodiscard]] bool goes_on_in_doubt(Sequence at) const noexcept;
  void deny_hole();
  void accept(const Arrival& a, Sequence at);
  void hold(const Arrival& a, Sequence at);
  void drain(Sequence proven);
  void pass_holes(Sequence upto, bool proven, FrameRef ref);
  void lose(std::uint64_t count, bool proven, FrameRef ref, FrameRef behind = {});
  [[nodiscard]] bool copied_acknowledgement(const Arrival& a, Sequence at);
  void look_in_front(std::uint32_t acknowledged_messages, FrameRef ref);
  void acknowledge(Sequence end, FrameRef ref);
  void acknowledge_unseen(Sequence end, FrameRef ref) noexcept;
  void report_acknowledged(FrameRef ref);
  void refusal(const Arrival& a, Sequence at);
  void wait_over(FrameRef now) noexcept;
  /// By `frame` the requester sends again.
  void asked_again(FrameRef frame) noexcept;
  /// `request` is no copy of the capture.
  void answers_nak(const Arrival& request) noexcept;
  void note_unseen(Sequence asked_for, FrameRef nak);
  /// Behind which frame the request was perhaps sent before; number 0: it comes for the first time.
  [[nodiscard]] FrameRef perhaps_sent_behind(const Arrival& request) noexcept;
  /// What stands at `at`, as far as that is known.
  void name_refused(Refusal& r, Sequence at);
  void repeated(const Arrival& a, Sequence at);
  bool stranger(const Arrival& a, Sequence at);
  void learn_mtu(const Arrival& a);
  void correct_newest_read();
  void guess_span(Sequence next);
  void end_read(const Arrival& answer, Sequence at);
  void settle_read(std::uint32_t span);
  void correct_guess(std::uint32_t span, FrameRef ref);

  static constexpr std::uint64_t no_end = UINT64_MAX;

  /// What may stand in front of the first request that the capture has.
  enum class Front : std::uint8_t {
    settled,  ///< its PSN tells; or the connection is older than the capture; or what is missing was told
    counted,  ///< acknowledgements tell, as long as nothing is known to be missing behind it
  };

  Shared& shared_;
  Side side_;
  std::uint64_t turn_ends_ = no_end;  ///< the frame of stay_behind()
  Operations operations_;
  ReadAnswers answers_;
  SentHistory history_;
  HeldPackets held_;
  Ring<SentSend> unacknowledged_{4096};
  Sequence expected_ = sequence_origin;      ///< PSN of the next request in order
  Sequence acknowledged_ = sequence_origin;  ///< all before this is acknowledged
  bool synchronised_ = false;
  bool start_known_ = false;  ///< the handshake says it
  bool requests_seen_ = false;
  bool lost_read_ = false;            ///< what was lost last is a READ Request whose responses come now
  std::optional<Sent> open_read_;     ///< newest READ whose span is not known, for want of the path MTU
  std::optional<Sent> guessed_read_;  ///< newest READ whose span is known by the request behind it only
  unsigned strangers_ = 0;
  std::vector<Nak> naks_;  ///< lately, newest first
  FrameRef denied_;        ///< newest NAK
  Liveness::Denial denial_ = Liveness::Denial::lacks;
  Sequence denied_at_ = 0;  ///< and what it names
  std::optional<AskedUnseen> asked_unseen_;
  Repeats repeats_;
  Repeats acknowledgements_;               ///< lately, bare ones
  Sequence lost_to_ = 0;                   ///< behind the newest hole
  std::optional<DoubtfulHole> doubtful_;   ///< that one; until it grows, or something behind it comes
  Sequence first_seen_ = sequence_origin;  ///< where the stream began
  Front front_ = Front::settled;
  std::uint32_t messages_ = 0;        ///< whose last packet was delivered, modulo 2^32
  Sequence acknowledged_unseen_ = 0;  ///< in front of it
  FrameRef unseen_in_;                ///< what acknowledges that
  FrameRef started_by_;               ///< an acknowledgement that stood before any request; number 0: none
  Copies copies_;
  std::uint64_t retried_frame_ = 0;  ///< newest frame that makes the requester send again, or was sent again
  std::uint64_t asked_frame_ = 0;    ///< newest one that makes it
  FrameRef not_ready_;               ///< RNR NAK behind which it has to wait; number 0: none
  TimeNs wait_ = 0;                  ///< so long
};

}  // namespace rpcrdma::trace::ib
