// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/exchanges.hpp"

namespace rpcrdma::journal {

using referee::MessageSeen;

void enter(Connection& connection, const MessageSeen& seen, const trace::Send& send, std::uint32_t shown,
           PieceOfMessage piece) {
  const std::uint32_t id = seen.exchange.id;
  if (id == 0) return;
  if (connection.exchanges.size() < id) connection.exchanges.resize(id);
  Exchange& exchange = connection.exchanges[id - 1];
  exchange.xid = seen.exchange.xid;
  exchange.requester = seen.exchange.requester;
  const trace::FrameRef at{shown, send.last.time};
  switch (seen.kind) {
    case MessageSeen::Kind::call:
      if (exchange.call.number == 0) exchange.call = {shown, send.frame.time};
      break;
    case MessageSeen::Kind::reply:
      if (exchange.reply.number == 0 && piece == PieceOfMessage::last) exchange.reply = at;
      if (seen.header != nullptr && !seen.header->reads.empty()) exchange.offer = shown;
      break;
    case MessageSeen::Kind::error:
      if (exchange.reply.number == 0) exchange.reply = at;
      break;
    case MessageSeen::Kind::done:
      exchange.done = at;
      break;
    case MessageSeen::Kind::other:
      break;
  }
}

void stands_in_its_frame(Connection& connection, const Message& message, std::uint32_t shown) {
  Exchange* of = connection.exchange(message.exchange);
  if (of == nullptr) return;
  const auto move = [&](auto& frame) {
    if (frame == shown) frame = message.last_frame;
  };
  if (message.kind == MessageSeen::Kind::call) move(of->call.number);
  if (message.kind == MessageSeen::Kind::done) move(of->done.number);
  if (message.kind != MessageSeen::Kind::reply && message.kind != MessageSeen::Kind::error) return;
  if (message.piece) return;
  move(of->reply.number);
  move(of->offer);
}

}  // namespace rpcrdma::journal
