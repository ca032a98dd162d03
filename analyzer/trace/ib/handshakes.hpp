// SPDX-License-Identifier: GPL-2.0-or-later
// CM messages to epochs. Messages belong together by communication IDs and addresses; a transaction ID alone proves
// nothing, and queue pairs and communication IDs are used again.
#pragma once

#include <cstdint>
#include <deque>

#include "trace/ib/flows.hpp"
#include "wire/cm.hpp"

namespace rpcrdma::trace::ib {

class Handshakes {
 public:
  Handshakes(Flows& flows, ConnectionNumbers& numbers, EventSink& sink)
      : flows_(flows), numbers_(numbers), sink_(sink) {}

  void message(const IbPacket& packet, const wire::CmMessage& m);
  /// ICMP about a REQ.
  void undelivered(const Undelivered& request);

 private:
  void request(const IbPacket& packet, const wire::CmMessage& m);
  void reply(const IbPacket& packet, const wire::CmMessage& m);
  void ready(const IbPacket& packet, const wire::CmMessage& m);
  void reject(const IbPacket& packet, const wire::CmMessage& m);
  void other_message(const IbPacket& packet, const wire::CmMessage& m);
  void disconnect(const IbPacket& packet, const wire::CmMessage& m);
  [[nodiscard]] Connection* answered_before(const CommKey& client, FrameRef ref) const;
  void refuse_early(Connection& c, const CommKey& client);
  void refuse(Connection& c, Side side, const IbPacket& packet, std::uint16_t reason,
              const PrivateDataArea& private_data);
  [[nodiscard]] Connection* find(const IbPacket& packet, const wire::CmMessage& m) const;

  /// REJs to what has not come: of two taps one may be ahead.
  struct EarlyReject {
    CommKey client;
    IbPacket packet;  ///< without octets
    std::uint16_t reason = 0;
    SavedArea private_data;
  };

  std::deque<EarlyReject> early_rejects_;  ///< oldest first
  Flows& flows_;
  ConnectionNumbers& numbers_;
  EventSink& sink_;
};

}  // namespace rpcrdma::trace::ib
