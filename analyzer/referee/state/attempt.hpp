// SPDX-License-Identifier: GPL-2.0-or-later
// One attempt of a client to connect, and what came of it.
#pragma once

#include <cstdint>
#include <optional>

#include "referee/held_finding.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

using trace::ConnectionId;
using trace::FrameRef;

/// So many in a row that fail are more than bad luck.
inline constexpr std::uint64_t attempts_of_a_loop = 3;
/// Repeated so often, over so long, without anything from the other side: it is not there.
inline constexpr std::uint64_t repeats_that_count = 2;
inline constexpr trace::TimeNs silence_that_counts = 1'000'000'000;
[[nodiscard]] constexpr bool repeats_count(std::uint64_t copies, FrameRef first, FrameRef last) noexcept {
  return copies >= repeats_that_count && last.time - first.time >= silence_that_counts;
}

/// An attempt to connect: a CM REQ, a SYN, an MPA Request.
struct Attempt {
  ConnectionId connection = 0;  ///< that has come of it; 0: none yet
  std::optional<std::uint16_t> client_port;
  std::optional<std::uint16_t> server_port;
  enum class Port : std::uint8_t {
    usual,   ///< a service port
    unusual  ///< any other: what tells that it is for a mount is the private data
  } port = Port::usual;
  trace::Transport transport = trace::Transport::rocev2;
  FrameRef first;
  FrameRef last;             ///< newest copy
  std::uint64_t copies = 0;  ///< repeats of it
  FrameRef receipt;          ///< MRA: the server has the request, and has not decided; number 0: none
  FrameRef answer;           ///< what decided it, or the newest sign of the server
  /// iWARP: the server's answer to the SYN, which the client has not confirmed so far.
  struct Acceptance {
    FrameRef first;
    FrameRef first_repeat;  ///< number 0: it was not repeated
    FrameRef last;
    std::uint64_t copies = 0;
  } acceptance;
  FrameRef left;  ///< given up on iWARP: where the client ended TCP
  enum class Outcome : std::uint8_t {
    open,         ///< no answer yet
    accepted,     ///< TCP is up, and nothing more
    established,  ///< REP, RTU, MPA Reply or traffic
    rejected,     ///< REJ, MPA Reply with the reject flag
    declined,     ///< a REJ of the client: it does not take what it asked for
    unconfirmed,  ///< a REJ of the server that had accepted, and waited for the client's RTU in vain
    unheard,      ///< the server's REP or SYN, or what confirms it, did not come to the other, as a REJ or repeats show
    given_up,     ///< a REJ of the client that waited for an answer in vain
    refused,      ///< RST in answer to the SYN
    unreachable,  ///< ICMP
    unreadable,   ///< the server says something over TCP, of which the capture has too little
    other         ///< not for RPC-over-RDMA: does not count
  } outcome = Outcome::open;
  trace::ReportBy says = trace::ReportBy::server;  ///< that it is unreachable
  std::optional<std::uint16_t> reason;             ///< of a REJ
  HeldFinding single;  ///< about this attempt alone: none of its own once it is part of a series

  [[nodiscard]] bool answered_no() const noexcept {
    return outcome == Outcome::rejected || outcome == Outcome::declined || outcome == Outcome::unconfirmed ||
           outcome == Outcome::unheard || outcome == Outcome::refused || outcome == Outcome::unreachable;
  }
  /// The server itself has not said anything.
  [[nodiscard]] bool answered_by_another() const noexcept {
    return outcome == Outcome::unreachable && says == trace::ReportBy::another;
  }
  /// Of two taps one may be late: then its answer stands in front of it.
  [[nodiscard]] FrameRef foremost() const noexcept {
    return answered_no() && answer.number != 0 && answer.number < first.number ? answer : first;
  }
  /// The server repeats what it accepted it with, and no REJ of either side says that it has waited in vain.
  [[nodiscard]] bool unconfirmed_in_silence() const noexcept { return outcome == Outcome::unheard && !reason; }
  /// The other end of the connection that may come of it has not said yes or no.
  [[nodiscard]] bool undecided() const noexcept { return outcome == Outcome::open || outcome == Outcome::unreachable; }
  /// Nobody has answered so far.
  [[nodiscard]] bool waits() const noexcept {
    return outcome == Outcome::open || outcome == Outcome::accepted || outcome == Outcome::given_up;
  }
};

}  // namespace rpcrdma::referee
