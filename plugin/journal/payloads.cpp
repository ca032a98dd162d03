// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/payloads.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::journal {

using referee::MessageSeen;

void Payloads::give_up_call(Connection& connection, const MessageSeen& seen) {
  const std::uint32_t id = seen.exchange.id;
  const bool answers = seen.kind == MessageSeen::Kind::reply || seen.kind == MessageSeen::Kind::error;
  if (!answers || id == 0) return;
  if (auto rpc = assemblers_[connection.id].give_up(id, payload::Assembler::Because::answered)) {
    const std::uint32_t call = rpc->tag;
    show(connection, id, call, std::move(*rpc), {record_.messages[call].last_frame, seen.send->last.time});
  }
}

void Payloads::message(Connection& connection, const MessageSeen& seen, std::uint32_t index, std::uint32_t shown,
                       Pieces pieces) {
  payload::Assembler& assembler = assemblers_[connection.id];
  auto rpc = assembler.message(seen, index);
  if (auto gone = assembler.displaced()) show_given_up(connection, gone->exchange, std::move(gone->message));
  if (!rpc) return;
  // Its Call has its data later, which the capture has in another order: RPC wants the Call first.
  const Exchange* of = connection.exchange(seen.exchange.id);
  const bool behind_call = !rpc->call && of != nullptr && of->call_whole.number > seen.send->last.number;
  const bool elsewhere = pieces != Pieces::one || behind_call;
  const bool shown_early = record_.messages[index].payload != none;
  const bool apart = late_.shown_in(shown) != shown && !shown_early;
  if (rpc->in_send && (elsewhere || apart)) {
    rpc->in_send = !elsewhere;
    const std::size_t header = seen.header->length;
    rpc->stream.append(payload::behind(seen.send->octets, header),
                       payload::length_behind(seen.send->wire_length, header));
  }
  show(connection, seen.exchange.id, index, std::move(*rpc), behind_call ? of->call_whole : seen.send->last);
}

void Payloads::operation(Connection& connection, const referee::OperationSeen& seen, std::uint32_t shown) {
  if (auto rpc = assemblers_[connection.id].operation(seen)) {
    const std::uint32_t message = rpc->tag;
    show(connection, seen.exchange.id, message, std::move(*rpc), {shown, seen.frame.time});
  }
}

void Payloads::early(Connection& connection, std::uint32_t message, bool call, trace::FrameRef frame) {
  payload::RpcMessage rpc;
  rpc.call = call;
  rpc.in_send = true;
  show(connection, 0, message, std::move(rpc), frame);  // which exchange it belongs to is known when it is told
}

/// `home`: of what makes it whole.
void Payloads::show(Connection& connection, std::uint32_t exchange, std::uint32_t message, payload::RpcMessage rpc,
                    trace::FrameRef home) {
  const std::uint32_t frame = late_.shown_in(number(home));
  Exchange* of = connection.exchange(exchange);
  if (message != none && record_.messages[message].payload != none) {
    Payload& given = record_.payloads[record_.messages[message].payload];
    given.exchange = exchange;
    given.placing = rpc.placing;
    if (of != nullptr && rpc.call) of->call_whole = given.home;
    return;
  }
  Payload payload;
  payload.home = home;
  payload.connection = connection.id;
  payload.exchange = exchange;
  payload.message = message;
  payload.call = rpc.call;
  payload.placing = rpc.placing;
  payload.octets = std::move(rpc.stream.octets);
  payload.octets.shrink_to_fit();
  payload.wire_length = rpc.stream.wire_length;
  if (rpc.in_send) payload.stands = payload.octets.empty() ? Stands::with_message : Stands::copied;
  const auto index = static_cast<std::uint32_t>(record_.payloads.size());
  if (message != none) {
    Message& owner = record_.messages[message];
    payload.sender = owner.sender;
    shown_with_rpc(payload, frame);
    if (rpc.in_send) {
      if (payload.stands == Stands::with_message) owner.payload = index;
      payload.wire_length = payload::length_behind(owner.octets.wire_length, owner.header_length);
    }
  }
  if (of != nullptr && rpc.call) {
    payload.time = of->call.time;
    of->call_whole = home;
  }
  if (!rpc.in_send) needs_parts(payload, frame);
  record_.payloads.push_back(std::move(payload));
  late_.add(record_, NoteKind::payload, index, frame, number(home));
}

/// Put together of its message, its pieces, and RDMA where the Call says.
void Payloads::needs_parts(const Payload& payload, std::uint32_t told) {
  const NeededFrames::Shown shown{told, number(payload.home)};
  if (const Exchange* of = record_.exchange(payload.connection, payload.exchange)) {
    record_.needed.add(shown, number(of->call));
  }
  for (std::uint32_t at = payload.message; at != none; at = record_.messages[at].before) {
    record_.needed.add(shown, record_.messages[at].last_frame);
  }
  record_.needed.put_together(payload.connection, payload.exchange, shown);
}

/// Its message, and the pieces of it, say where the RPC message is shown.
void Payloads::shown_with_rpc(const Payload& payload, std::uint32_t frame) {
  for (std::uint32_t at = payload.message; at != none; at = record_.messages[at].before) {
    record_.messages[at].rpc_frame = frame;
  }
}

void Payloads::stands_at_home(std::uint32_t index) {
  Payload& payload = record_.payloads[index];
  shown_with_rpc(payload, number(payload.home));
  if (payload.stands == Stands::copied) {
    payload.stands = Stands::with_message;
    payload.octets = {};
    record_.messages[payload.message].payload = index;
  }
}

void Payloads::give_up(std::uint32_t id) {
  const auto assembler = assemblers_.find(id);
  if (assembler == assemblers_.end()) return;
  const auto connection = record_.connections.find(id);
  if (connection != record_.connections.end()) {
    for (const std::uint32_t waiting : assembler->second.waiting()) {
      while (auto rpc = assembler->second.give_up(waiting)) {
        show_given_up(connection->second, waiting, std::move(*rpc));
      }
    }
  }
  assemblers_.erase(assembler);
}

/// Where that becomes known; with the message that offered it, in the end, where nothing of it is there to be shown.
void Payloads::show_given_up(Connection& connection, std::uint32_t exchange, payload::RpcMessage rpc) {
  const std::uint32_t message = rpc.tag;
  const trace::Frame* now = late_.current();
  const Message& offered = record_.messages[message];
  const bool elsewhere = now != nullptr && !rpc.stream.octets.empty();
  show(connection, exchange, message, std::move(rpc),
       elsewhere ? now->ref : trace::FrameRef{offered.last_frame, offered.time});
}

void Payloads::give_up_all() {
  std::vector<std::uint32_t> open;
  for (const auto& [id, assembler] : assemblers_) open.push_back(id);
  std::sort(open.begin(), open.end());
  for (const std::uint32_t id : open) give_up(id);
}

}  // namespace rpcrdma::journal
