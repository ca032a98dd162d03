// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA_NOMSG with a Position-Zero Read chunk while a Call of the other side with that XID is open: a Long Call with the
// same XID, or a Reply that offers itself to be read. The first octets that are pulled say which.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "referee/messages.hpp"

namespace rpcrdma::referee {

/// Keeps such messages, and the READ Requests behind them, until they can be told. At most one for each connection.
class LongDirection {
 public:
  /// True: the message is kept.
  [[nodiscard]] bool keep(Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);
  /// True: the request belongs behind a message that is kept, and is kept with it.
  [[nodiscard]] bool keep(Context& context, Connection& connection, const trace::ReadRequest& event,
                          wire::HeaderV1& scratch);
  void pulled(Context& context, Connection& connection, const trace::ReadResponse& event, wire::HeaderV1& scratch);
  void next_send(Context& context, Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);
  void release(Context& context, Connection& connection, LongForm form, wire::HeaderV1& scratch);

 private:
  struct Kept {
    trace::Send event;
    std::vector<std::uint8_t> octets;
    std::vector<wire::Segment> segments;  ///< of the Position-Zero Read chunk
    std::vector<trace::ReadRequest> reads;
  };
  [[nodiscard]] Kept* find(const Connection& connection);

  std::unordered_map<ConnectionId, Kept> kept_;
};

}  // namespace rpcrdma::referee
