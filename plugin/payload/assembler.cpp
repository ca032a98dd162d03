// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/assembler.hpp"

#include <algorithm>
#include <iterator>

#include "payload/placing.hpp"

namespace rpcrdma::payload {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;

[[nodiscard]] wire::Bytes behind_header(const MessageSeen& seen) {
  return behind(seen.send->octets, seen.header->length);
}
[[nodiscard]] std::uint64_t length_behind_header(const MessageSeen& seen) {
  return length_behind(seen.send->wire_length, seen.header->length);
}

void pad(Stream& stream) {
  const std::uint64_t over = stream.wire_length % 4;
  if (over != 0) stream.append_padding(4 - over);
}

[[nodiscard]] RpcMessage as_sent(const MessageSeen& seen) {
  RpcMessage message;
  message.call = true;
  message.in_send = true;
  message.placing = placing_of(*seen.send);
  return message;
}

}  // namespace

void Assembler::wait(Open& open, const MessageSeen& seen) {
  open.reads = seen.header->reads;
  open.here = 0;
  open.here_octets = 0;
  const wire::Bytes rest = behind_header(seen);
  open.inline_part.assign(rest.begin(), rest.end());
  open.inline_length = length_behind_header(seen);
  open.inline_placing = placing_of(*seen.send);
  open.needed = without_pads(open);
  open.waiting = true;
  open.for_reply = seen.kind == MessageSeen::Kind::reply;
  open.written = open.for_reply ? Written{seen.header->writes, seen.procedure} : Written{};
}

/// An item stands behind its length, which is inline where no Read chunk of Position 0 has the message. What a Read
/// chunk has beyond it is its XDR pad, in a segment of its own perhaps (RFC 8166 section 3.4.5.2).
std::vector<std::uint32_t> Assembler::without_pads(const Open& open) {
  std::vector<std::size_t> order(open.reads.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto position = [&](std::size_t i) { return open.reads[i].position; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return position(a) < position(b); });
  std::vector<std::uint32_t> needed(open.reads.size());
  for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = open.reads[i].target.length;
  if (order.empty() || position(order.front()) == 0) return needed;
  std::uint64_t before = 0;  // octets of the stream that stood in chunks so far
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::uint64_t length = 0;
    for (; end < order.size() && position(order[end]) == position(order[begin]); ++end) length += needed[order[end]];
    const std::uint64_t at = position(order[begin]) - std::min<std::uint64_t>(before, position(order[begin]));
    before += (length + 3) / 4 * 4;
    if (at < 4 || at > open.inline_part.size()) continue;
    const std::uint64_t item = wire::load_be32(open.inline_part.data() + at - 4);
    if (length % 4 != 0 || item >= length || length - item > 3) continue;
    std::uint64_t pad = length - item;
    for (std::size_t i = end; i-- > begin && pad > 0;) {
      const auto less = static_cast<std::uint32_t>(std::min<std::uint64_t>(pad, needed[order[i]]));
      needed[order[i]] -= less;
      pad -= less;
    }
  }
  return needed;
}

/// Looks only at what was still missing: each segment is walked through once, however many packets it takes.
bool Assembler::arrived(Open& open, const Pieces& pieces) {
  for (; open.here < open.reads.size(); ++open.here, open.here_octets = 0) {
    const wire::Segment& target = open.reads[open.here].target;
    const std::uint32_t needed = open.needed[open.here];
    open.here_octets += pieces.covered(target.handle, target.offset + open.here_octets, needed - open.here_octets);
    if (open.here_octets < needed) return false;
  }
  return true;
}

/// A message whose Read chunks are here: first the stream they belong into, then each at its Position, with the
/// alignment that XDR gives it (RFC 8166 section 3.4.5).
RpcMessage Assembler::pulled(const Open& open, const Pieces& pieces) {
  RpcMessage message;
  message.call = !open.for_reply;
  Stream body;
  body.most = Pieces::most_uses * pieces.octets() + open.inline_part.size();
  bool nothing_inline = false;
  for (const wire::ReadSegment& read : open.reads) {
    if (read.position != 0) continue;
    nothing_inline = true;
    pieces.copy(read.target.handle, read.target.offset, read.target.length, body);
  }
  if (!nothing_inline) {
    body.append(open.inline_part, open.inline_length);
    message.placing = open.inline_placing;
    if (message.placing == RpcMessage::Placing::torn) body.cut = true;
  }

  struct Part {
    wire::ReadSegment read;
    std::uint32_t needed;
  };
  std::vector<Part> rest;
  for (std::size_t i = 0; i < open.reads.size(); ++i) {
    if (open.reads[i].position != 0) rest.push_back({open.reads[i], open.needed[i]});
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.read.position < b.read.position; });
  if (rest.empty()) {
    message.stream = std::move(body);
  } else {
    std::uint64_t taken = 0;
    Stream& out = message.stream;
    out.most = Pieces::most_uses * pieces.octets() + body.octets.size() + 3 * rest.size();
    const auto take = [&](std::uint64_t count) {
      const std::uint64_t captured = body.octets.size() - std::min<std::uint64_t>(taken, body.octets.size());
      const auto begin = static_cast<std::size_t>(std::min<std::uint64_t>(taken, body.octets.size()));
      out.append(wire::Bytes(body.octets).subspan(begin, static_cast<std::size_t>(std::min(captured, count))), count);
      taken += count;
    };
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const std::uint64_t position = rest[i].read.position;
      if (position > out.wire_length) take(std::min(position - out.wire_length, body.wire_length - taken));
      // What stands in front of the chunk is not there: neither is its place.
      const bool lost = message.placing == RpcMessage::Placing::torn && position > out.wire_length;
      if (lost) out.append({}, position - out.wire_length);
      const wire::Segment& target = rest[i].read.target;
      pieces.copy(target.handle, target.offset, rest[i].needed, out);
      out.append_padding(target.length - rest[i].needed);
      if (i + 1 == rest.size() || rest[i + 1].read.position != position) pad(out);
    }
    take(body.wire_length - taken);
  }
  if (message.stream.cut) message.lacks(RpcMessage::Placing::missing);
  put_written_into(message, open.written, pieces);
  return message;
}

const Pieces& Assembler::pieces_of(std::uint32_t exchange) const {
  static const Pieces nothing;
  const auto at = pieces_.find(exchange);
  return at == pieces_.end() ? nothing : at->second;
}

void Assembler::drop_pieces(std::map<std::uint32_t, Pieces>::iterator at) {
  octets_ -= at->second.octets();
  pieces_.erase(at);
}

void Assembler::drop(std::uint32_t exchange) {
  open_.erase(exchange);
  if (const auto at = pieces_.find(exchange); at != pieces_.end()) drop_pieces(at);
}

Assembler::Open& Assembler::enter(std::uint32_t exchange) {
  if (open_.size() >= most_open && open_.count(exchange) == 0) {
    const std::uint32_t oldest = open_.begin()->first;
    if (auto message = give_up(oldest)) displaced_ = {oldest, std::move(*message)};
    drop(oldest);
  }
  return open_[exchange];
}

void Assembler::make_room(std::uint32_t exchange, std::size_t octets) {
  const auto full = [&] { return octets_ + octets > octets_allowed_; };
  while (full() && !pieces_.empty() && pieces_.begin()->first < exchange) drop_pieces(pieces_.begin());
}

std::optional<RpcMessage> Assembler::message(const MessageSeen& seen) {
  if (seen.header == nullptr) return std::nullopt;
  switch (seen.kind) {
    case MessageSeen::Kind::call:
      return call(seen);
    case MessageSeen::Kind::reply:
      return reply(seen);
    case MessageSeen::Kind::error:
      drop(seen.exchange.id);
      return std::nullopt;
    case MessageSeen::Kind::done:
    case MessageSeen::Kind::other:
      break;
  }
  return std::nullopt;
}

std::optional<RpcMessage> Assembler::call(const MessageSeen& seen) {
  const wire::HeaderV1& header = *seen.header;
  const std::uint32_t id = seen.exchange.id;
  if (header.reads.empty()) {
    if (id != 0 && (!header.writes.empty() || header.reply)) enter(id);
    return as_sent(seen);
  }
  if (id == 0) return std::nullopt;
  Open& open = enter(id);
  wait(open, seen);
  if (!arrived(open, pieces_of(id))) return std::nullopt;
  open.waiting = false;
  return pulled(open, pieces_of(id));
}

std::optional<RpcMessage> Assembler::reply(const MessageSeen& seen) {
  const std::uint32_t id = seen.exchange.id;
  if (!seen.header->reads.empty()) {
    if (id == 0) return std::nullopt;
    Open& open = enter(id);
    wait(open, seen);
    if (!arrived(open, pieces_of(id))) return std::nullopt;
    RpcMessage message = pulled(open, pieces_of(id));
    drop(id);
    return message;
  }
  RpcMessage message = put_back(seen, pieces_of(id));
  drop(id);
  return message;
}

std::optional<RpcMessage> Assembler::operation(const OperationSeen& seen) {
  const std::uint32_t id = seen.exchange.id;
  if (seen.kind == OperationSeen::Kind::read_request || id == 0) return std::nullopt;
  const auto at = open_.find(id);
  if (at == open_.end()) return std::nullopt;
  Open& open = at->second;
  make_room(id, seen.octets.size());
  const bool room = octets_ + seen.octets.size() <= octets_allowed_;
  Pieces& pieces = pieces_[id];
  octets_ -= pieces.octets();
  pieces.add(seen.handle, seen.offset, seen.length, room ? seen.octets : wire::Bytes{});
  octets_ += pieces.octets();
  if (!open.waiting || seen.kind != OperationSeen::Kind::read_response || !arrived(open, pieces)) return std::nullopt;
  open.waiting = false;
  RpcMessage message = pulled(open, pieces);
  if (open.for_reply) drop(id);
  return message;
}

std::optional<RpcMessage> Assembler::give_up(std::uint32_t exchange) {
  const auto at = open_.find(exchange);
  if (at == open_.end() || !at->second.waiting) return std::nullopt;
  at->second.waiting = false;
  return pulled(at->second, pieces_of(exchange));
}

std::vector<std::uint32_t> Assembler::waiting() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, open] : open_) {
    if (open.waiting) ids.push_back(id);
  }
  return ids;
}

}  // namespace rpcrdma::payload
