// SPDX-License-Identifier: GPL-2.0-or-later
// Messages that cannot be told yet wait here, with what follows them, until something tells what they are:
//
//  - a Reply of the server whose Call has not been delivered, or a reverse Call: until the server's peer sends
//    something, or uses memory that it names;
//  - an RDMA_NOMSG with a Position-Zero Read chunk while a Call of the other side with its XID is open, a Long Call
//    with that XID or a Reply that offers itself to be read: until the first octets that are pulled say which. Likewise
//    one with the XID of a Reply that was offered: a Long Call, or that Call answered twice; and one of the server
//    without such a Call, which may be missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "referee/message/direction.hpp"
#include "referee/state/connection.hpp"
#include "referee/state/kept_message.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

struct Witness;

class MessageQueue {
 public:
  using TakeMessage = void (*)(const Witness&, const trace::Send&, wire::HeaderV1& scratch, LongForm form);
  using TakeRead = void (*)(const Witness&, const trace::ReadRequest&);
  /// What is done with a message, and with the Reads that waited behind it, when they are told.
  MessageQueue(TakeMessage message, TakeRead read) noexcept : message_(message), read_(read) {}

  /// A message, in its turn: those that waited for it are taken as well. False: it waits.
  bool send(const Witness& witness, const trace::Send& event);
  /// `side` uses memory with this handle.
  void used(const Witness& witness, Side side, std::uint32_t handle);
  /// Likewise, and writes: nobody has to pull anything before.
  void written(const Witness& witness, Side side, std::uint32_t handle);
  /// True: the request belongs behind a message that waits, and waits with it.
  [[nodiscard]] bool read(const Witness& witness, const trace::ReadRequest& event);
  void pulled(const Witness& witness, const trace::ReadResponse& event);
  /// What waits to be pulled is taken as it is: the order of what follows is not certain any more.
  void disturbed(const Witness& witness);
  /// Nothing is to come that could tell what waits.
  void release_all(const Witness& witness);

 private:
  struct Kept : KeptMessage {
    std::vector<std::uint32_t> handles;  ///< sorted; those that it names: asked for with each operation

    using KeptMessage::KeptMessage;
    [[nodiscard]] bool names(std::uint32_t handle) const {
      return std::binary_search(handles.begin(), handles.end(), handle);
    }
  };
  struct Unpulled : Kept {
    std::optional<wire::Segment> first;  ///< of the Position-Zero Read chunk, with octets
    std::vector<trace::ReadRequest> reads;
    using Kept::Kept;
  };

  [[nodiscard]] const Kept* callless(const Connection& connection) const;
  [[nodiscard]] Unpulled* unpulled(const Connection& connection);
  [[nodiscard]] bool keep_unpulled(Connection& connection, const trace::Send& event);
  /// In its turn, or after it had to wait: what its sender's peer is accused of may be settled by it either way.
  void take(const Witness& witness, const trace::Send& event, LongForm form);
  void release_callless(const Witness& witness);
  void release_unpulled(const Witness& witness, LongForm form);
  /// The next message may tell what waits to be pulled.
  void told_by(const Witness& witness, const trace::Send& event);

  TakeMessage message_;
  TakeRead read_;
  std::unordered_map<ConnectionId, Kept> callless_;      // at most one for each connection
  std::unordered_map<ConnectionId, Unpulled> unpulled_;  // likewise
  wire::HeaderV1 scratch_;
};

}  // namespace rpcrdma::referee
