// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin tells to those who count, draw or list packets, under the tap's name "rpcrdma".
#pragma once

#include "referee/facts.hpp"
#include "wireshark/draw.hpp"

namespace rpcrdma::plugin {

/// One message, one packet of an RDMA operation, or one finding; in the packet's memory.
struct TapItem {
  enum class Kind : std::uint8_t { message, operation, finding } kind = Kind::message;
  std::uint32_t connection = 0;  ///< 0: a finding about the capture
  const journal::Connection* facts = nullptr;
  const journal::Message* message = nullptr;
  const journal::Operation* operation = nullptr;
  const referee::Finding* finding = nullptr;
  double took_ms = -1;        ///< of a Reply or RDMA_ERROR, from its Call
  bool first_answer = false;  ///< that its Call has
};

inline constexpr const char* tap_name = "rpcrdma";

void register_taps();
void queue_message(const Canvas& canvas, const journal::Message& message);
void queue_operation(const Canvas& canvas, const journal::Operation& operation);
void queue_finding(const Canvas& canvas, const referee::Finding& finding);

/// Octets on the wire of the message or of the operation's packet, without any header below RPC-over-RDMA; 0: a
/// finding.
[[nodiscard]] std::uint64_t octets_of(const TapItem& item);
/// Who sent it. Not asked of findings.
[[nodiscard]] trace::Side sender_of(const TapItem& item);

/// The frame's addresses, in the direction of the item: what was held back is drawn in a frame of either side.
struct Ends {
  const address* from;
  const address* to;
};
[[nodiscard]] Ends ends_of(const TapItem& item, packet_info* pinfo);

/// What the item is, in one line. In the packet's memory.
[[nodiscard]] const char* sentence_of(const TapItem& item, packet_info* pinfo);

}  // namespace rpcrdma::plugin
