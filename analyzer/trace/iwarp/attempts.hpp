// SPDX-License-Identifier: GPL-2.0-or-later
// TCP connections that somebody tries to open to a service: SYNs and what they got.
//
// A service is a service port, or an address and port that spoke MPA in this capture. It may be known as such only
// after the SYN, so what went to other ports is remembered for a while and told when MPA shows what it was.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trace/packet.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::trace::iwarp {

class Attempts {
 public:
  static constexpr std::size_t max_attempts = 1024;  ///< remembered; the oldest is forgotten
  static constexpr std::size_t max_earlier = 256;    ///< segments to and from other ports
  static constexpr std::size_t max_services = 256;   ///< besides the service ports
  static constexpr std::size_t max_early = 64;       ///< refusals in front of their SYNs

  Attempts(const Options& options, EventSink& sink) : options_(options), sink_(sink) {}

  /// Only for segments with SYN, FIN or RST: nothing else opens a connection, refuses to, or takes an attempt back.
  void segment(const TcpSegment& segment);
  /// Any segment without SYN of a connection that is not known to speak MPA.
  void goes_on(const TcpSegment& segment);
  void undelivered(const Undelivered& segment);
  /// Octets of an undecided stream that are not in the capture.
  void cut(const TcpSegment& segment);
  /// Its sender goes on, in this frame, with the connection that is open between these ports: it asked for none.
  void passed_over(const TcpSegment& syn, FrameRef frame);
  /// This address and port speak MPA: from now on, and before, SYNs to it are attempts.
  void serves(const Address& server, std::uint16_t port);
  /// So does this one, as somebody says who sees more.
  void hears_of(const Service& service);
  /// Those of serves(), the first `max_services` of them.
  [[nodiscard]] const std::set<Service>& seen_to_serve() const noexcept { return seen_to_serve_; }
  /// The SYN of the connection whose client's first octet has this sequence number; number 0: not known.
  /// Such a connection is open now: its SYN may still stand behind this in the capture, and is no attempt then.
  FrameRef opens(const Address& client, std::uint16_t client_port, const Address& server, std::uint16_t server_port,
                 std::uint32_t first);

 private:
  struct Flow {
    Service client;
    Service server;
    friend bool operator==(const Flow&, const Flow&) = default;
    friend auto operator<=>(const Flow&, const Flow&) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
  };
  /// A segment, or a report about one, that may be a step.
  struct Seen {
    enum class What : std::uint8_t { syn, answer, reset, unreachable } what = What::syn;
    ReportBy by = ReportBy::server;  ///< unreachable: who says so
    Flow flow;
    std::uint32_t number = 0;  ///< sequence number of the SYN; of an answer, the one that it acknowledges, plus one
    std::uint32_t octets = 0;  ///< that the SYN carries
    std::uint32_t first = 0;   ///< of an answer, the sequence number behind it
    FrameRef frame;
  };
  struct Attempt {
    enum class State : std::uint8_t {
      open,
      answered,  ///< by the server's SYN; the client has not confirmed that
      unheard,   ///< the same, and one of the two has said its part again
      accepted,  ///< the client speaks behind its SYN
      refused,
      streaming,   ///< MPA is spoken
      unreadable,  ///< what came on it was cut
      withdrawn
    } state = State::open;
    std::uint32_t number = 0;
    std::uint32_t octets = 0;
    FrameRef request;
    TimeNs newest = 0;  ///< of its SYNs
    TimeNs newest_report = 0;
    TimeNs refused = 0;
    TimeNs newest_answer = 0;  ///< of the server's SYNs
    std::optional<Seen> copy;  ///< right behind its refusal: refused with it, unless it gets an answer of its own
    bool reported = false;
    std::optional<std::uint32_t>
        had;                    ///< the server's first octet: behind its SYN, or what the client acknowledged first
    bool answers_seen = false;  ///< the capture has octets of the server: what they are, others find out
    std::list<Flow>::iterator place;

    [[nodiscard]] bool unconfirmed() const noexcept { return state == State::answered || state == State::unheard; }
    /// Over TCP; what is spoken there is not known.
    [[nodiscard]] bool connected() const noexcept { return unconfirmed() || state == State::accepted; }
  };

  [[nodiscard]] bool service(const Service& server) const;
  void take_back(const Flow& flow, const TcpSegment& segment);
  void client_goes_on(Attempt& attempt, const TcpSegment& segment, const Seen& seen);
  void server_goes_on(Attempt& attempt, const TcpSegment& segment, const Seen& seen);
  void lacks(Attempt& attempt, std::uint32_t octets, const Seen& seen);
  void note(const Seen& seen);
  void take(const Seen& seen);
  void take_syn(const Seen& seen);
  void take_answer(const Seen& seen);
  void take_report(const Seen& seen);
  void tell_unheard(Attempt& attempt, const Seen& seen);
  void refuse(Attempt& attempt, const Seen& seen);
  void refuse_early(Attempt& attempt);
  [[nodiscard]] Attempt* find(const Flow& flow);
  Attempt& begin(const Seen& seen);
  void tell(TcpAttempt::Step step, const Seen& seen, FrameRef request);

  const Options& options_;
  EventSink& sink_;
  std::map<Flow, Attempt> attempts_;
  std::list<Flow> order_;  ///< of attempts_, oldest first
  std::set<Service> services_;
  std::deque<Service> services_order_;
  std::set<Service> seen_to_serve_;
  std::vector<Seen> earlier_;  ///< to and from other ports, a ring
  std::size_t earlier_at_ = 0;
  std::deque<Seen> early_;  ///< refusals of SYNs that may stand behind them in the file, oldest first
};

}  // namespace rpcrdma::trace::iwarp
