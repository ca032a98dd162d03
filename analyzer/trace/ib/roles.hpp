// SPDX-License-Identifier: GPL-2.0-or-later
// Who opened a connection whose handshake is not in the capture, told from its traffic.
#pragma once

#include "wire/ib.hpp"

namespace rpcrdma::trace::ib {

/// From here on the evidence is enough to call the roles known.
inline constexpr int role_sure = 10;
/// From here on nothing can change it: a forward Call was seen.
inline constexpr int role_proven = 1000;

/// How much the packets of one direction speak for their sender being the active side; negative: the passive side.
struct Evidence {
  int score = 0;         ///< all of it
  int spoken = 0;        ///< of which Calls and Replies whose program does not tell who calls whom
  int pulled = 0;        ///< of which what is offered to be read, and who reads
  int written = 0;       ///< of which RDMA Writes
  bool unread = false;   ///< a Call all of which moves by RDMA was seen: maybe a callback, with chunks for its results
  bool foreign = false;  ///< a Call of such a program was seen
  bool offer = false;    ///< ... and a Long Call, or a Reply that its requester pulls: then it is the client who reads

  /// Looks at the first packet of a Send, and at what RDMA operations are issued: only responders issue Writes, and
  /// nearly always also the READs.
  void add(const wire::IbHeader& header);
};

/// Both directions of a connection: `sender`'s and the other's, nullptr where it is not in the capture.
struct Verdict {
  bool sender_active = true;
  bool sure = false;
};
[[nodiscard]] Verdict weigh(const Evidence* sender, const Evidence* peer) noexcept;

}  // namespace rpcrdma::trace::ib
