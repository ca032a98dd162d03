// SPDX-License-Identifier: GPL-2.0-or-later
// NFS over TCP without RDMA: that it is there, between whom, and how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/packet.hpp"

namespace rpcrdma::trace::iwarp {

/// Two addresses, by number from 1; 0: none.
using PlainPair = std::uint16_t;

/// Octets at a segment's beginning that say that it is an NFS Call, or an RPC Reply; 0: it does not begin so.
[[nodiscard]] std::size_t plain_nfs_head(wire::Bytes payload) noexcept;

class PlainNfs {
 public:
  static constexpr std::size_t max_pairs = 256;
  static constexpr std::uint16_t port = 2049;

  /// Whether a record begins here with an NFS Call to, or an RPC Reply from, port 2049 or a service (RFC 5531 section
  /// 11). Nothing is counted yet. `to_service`, `from_service`: what the segment's ports are.
  [[nodiscard]] PlainPair look(const TcpSegment& segment, bool to_service, bool from_service);
  void count(PlainPair pair, FrameRef first, std::uint64_t frames = 1) noexcept;
  /// A segment of such a stream. Exchanges of NULL alone use nothing: a client of NFS over RDMA, too, sets its security
  /// contexts up with them, over TCP.
  void watch(PlainPair pair, const TcpSegment& segment) noexcept {
    if (pair != 0 && !pairs_[pair - 1U].used) judge(pairs_[pair - 1U], segment);
  }
  void tell(EventSink& sink) const;

 private:
  struct Pair {
    Address client;
    Address server;
    std::uint16_t server_port = 0;
    FrameRef first;
    std::uint64_t frames = 0;
    bool used = false;     ///< more than NULL was called
    bool called = false;   ///< a Call was seen
    unsigned watched = 0;  ///< segments, until then
  };
  static void judge(Pair& pair, const TcpSegment& segment) noexcept;
  std::vector<Pair> pairs_;
};

}  // namespace rpcrdma::trace::iwarp
