// SPDX-License-Identifier: GPL-2.0-or-later
// Read chunks that Replies offered, to be pulled by their requesters (pull completion).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/side_names.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// A Read chunk offered in a Reply (pull completion).
struct Offer {
  TransactionId transaction;
  std::uint32_t xid = 0;
  Side requester = Side::active;
  FrameRef frame;
  FrameRef call;            ///< with its XID; number 0: none was seen
  std::uint64_t asked = 0;  ///< ordinal of that Call: what its sender sent before ends another offer
  std::vector<wire::Segment> segments;
  std::optional<wire::Segment> begins;  ///< the first one at Position 0, wherever it stands in the list
  std::uint64_t length = 0;
  enum class Form : std::uint8_t {
    proper,  ///< RDMA_NOMSG, all at Position 0
    improper,
    inferred,          ///< proper, but it may be a Long Call until what is read of it says REPLY
    inferred_improper  ///< likewise, with more Positions: improper, unless it is a Long Call
  } form = Form::proper;
  /// Again, wrongly, ahead of RDMA_DONE: another offer is of the same transaction.
  enum class Offered : std::uint8_t { once, again } reply = Offered::once;
  [[nodiscard]] bool answers(Side asked, std::uint32_t with) const noexcept {
    return xid == with && requester == asked;
  }
  /// The Reply chunk of the Call that it answers, for all that it offers.
  enum class Room : std::uint8_t { none, unknown, enough } reply_chunk = Room::none;
  std::uint64_t inline_length = 0;  ///< octets of the message, had it carried inline what it offers
  /// Octets that it shares with an earlier offer, until both are known to be Replies.
  struct Shared {
    TransactionId with;
    std::uint32_t handle = 0;
    Region octets;
  };
  std::optional<Shared> shared;
  [[nodiscard]] bool may_be_call() const noexcept { return form == Form::inferred || form == Form::inferred_improper; }
  std::uint64_t reads_outstanding = 0;
  std::uint64_t reads = 0;
  FrameRef last_read;
  FrameRef content;  ///< first answer that shows the beginning of the message; number 0: none yet
  FrameRef done;     ///< RDMA_DONE; number 0: none yet
  /// Whether that ended it: one of two with one XID may be meant, and their memory stays readable until each has its
  /// own.
  enum class Ended : std::uint8_t { surely, perhaps } ended = Ended::surely;
  /// Was it answered before, where an answer stands behind RDMA_DONE?
  enum class Requests : std::uint8_t {
    once,
    perhaps_again  ///< InfiniBand: its requester sent READs again in front of RDMA_DONE, and one answer is as the other
  } read_requests = Requests::once;
  FrameRef first_behind_done;   ///< first packet of an answer behind RDMA_DONE; number 0: none
  TimeNs waited = 0;            ///< without RDMA_DONE, while the requester worked on something else
  TimeNs counted_to = 0;        ///< `waited` is known up to here
  FrameRef refused;             ///< a Read of it was refused; number 0: none was
  bool overdue = false;         ///< pull-completion-missing has been reported
  bool undecidable = false;     ///< frames are missing since the offer
  bool in_flight_said = false;  ///< done-with-reads-in-flight has been reported
};

struct Connection;

/// The oldest offer with this XID that has not been ended.
[[nodiscard]] Offer* oldest_open_offer(Connection& connection, Side requester, std::uint32_t xid);
/// The newest offer with this XID whose requester is `requester`.
[[nodiscard]] Offer* newest_offer(Connection& connection, Side requester, std::uint32_t xid);
[[nodiscard]] Offer* find_offer(Connection& connection, TransactionId transaction);
void offer_read(Offer& offer, FrameRef frame);
/// All of it has been read and answered.
[[nodiscard]] bool offer_pulled(Connection& connection, const Offer& offer);

}  // namespace rpcrdma::referee
