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

[[nodiscard]] bool same_memory(const std::vector<wire::ReadSegment>& a, const std::vector<wire::ReadSegment>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.position == y.position && x.target == y.target; });
}

[[nodiscard]] RpcMessage as_sent(const MessageSeen& seen) {
  RpcMessage message;
  message.call = true;
  message.in_send = true;
  message.placing = placing_of(*seen.send);
  return message;
}

}  // namespace

std::optional<RpcMessage> Assembler::wait(const MessageSeen& seen, Pull::Of of, std::uint32_t tag) {
  const std::uint32_t id = seen.exchange.id;
  std::vector<Pull>& pulls = open_[id].pulls;
  const auto& reads = seen.header->reads;
  // Sent again as it was: what is read is for both.
  const auto same = [&](const Pull& each) { return same_memory(each.reads, reads); };
  if (std::any_of(pulls.begin(), pulls.end(), same)) return {};
  if (pulls.size() == most_pulls) pulls.pop_back();
  Pull& pull = pulls.emplace_back();
  pull.of = of;
  pull.tag = tag;
  pull.reads = reads;
  const wire::Bytes rest = behind_header(seen);
  pull.inline_part.assign(rest.begin(), rest.end());
  pull.inline_length = length_behind_header(seen);
  pull.inline_placing = placing_of(*seen.send);
  pull.needed = without_pads(pull);
  if (of == Pull::Of::reply) pull.written = {seen.header->writes, seen.procedure};
  return next_whole(id);
}

std::optional<RpcMessage> Assembler::next_whole(std::uint32_t exchange) {
  Open& open = open_[exchange];
  const Pieces& pieces = pieces_of(exchange);
  const auto whole = std::find_if(open.pulls.begin(), open.pulls.end(), [&](Pull& p) { return arrived(p, pieces); });
  if (whole == open.pulls.end()) return std::nullopt;
  RpcMessage message = pulled(*whole, pieces);
  const bool replied = whole->of == Pull::Of::reply;
  open.pulls.erase(whole);
  if (replied || (open.stage == Open::Stage::answered && open.pulls.empty())) drop(exchange);
  return message;
}

/// An item stands behind its length, which is inline where no Read chunk of Position 0 has the message. What a Read
/// chunk has beyond it is its XDR pad, in a segment of its own perhaps (RFC 8166 section 3.4.5.2).
std::vector<std::uint32_t> Assembler::without_pads(const Pull& pull) {
  std::vector<std::size_t> order(pull.reads.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto position = [&](std::size_t i) { return pull.reads[i].position; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return position(a) < position(b); });
  std::vector<std::uint32_t> needed(pull.reads.size());
  for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = pull.reads[i].target.length;
  if (order.empty() || position(order.front()) == 0) return needed;
  std::uint64_t before = 0;  // octets of the stream that stood in chunks so far
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::uint64_t length = 0;
    for (; end < order.size() && position(order[end]) == position(order[begin]); ++end) length += needed[order[end]];
    const std::uint64_t at = position(order[begin]) - std::min<std::uint64_t>(before, position(order[begin]));
    before += (length + 3) / 4 * 4;
    if (at < 4 || at > pull.inline_part.size()) continue;
    const std::uint64_t item = wire::load_be32(pull.inline_part.data() + at - 4);
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
bool Assembler::arrived(Pull& pull, const Pieces& pieces) {
  for (; pull.here < pull.reads.size(); ++pull.here, pull.here_octets = 0) {
    const wire::Segment& target = pull.reads[pull.here].target;
    const std::uint32_t needed = pull.needed[pull.here];
    pull.here_octets += pieces.covered(target.handle, target.offset + pull.here_octets, needed - pull.here_octets);
    if (pull.here_octets < needed) return false;
  }
  return true;
}

/// A message whose Read chunks are here: first the stream they belong into, then each at its Position, with the
/// alignment that XDR gives it (RFC 8166 section 3.4.5).
RpcMessage Assembler::pulled(const Pull& pull, const Pieces& pieces) {
  RpcMessage message;
  message.tag = pull.tag;
  message.call = pull.of != Pull::Of::reply;
  Stream body;
  body.most = Pieces::most_uses * pieces.octets() + pull.inline_part.size();
  bool nothing_inline = false;
  for (const wire::ReadSegment& read : pull.reads) {
    if (read.position != 0) continue;
    nothing_inline = true;
    pieces.copy(read.target.handle, read.target.offset, read.target.length, body);
  }
  if (!nothing_inline) {
    body.append(pull.inline_part, pull.inline_length);
    message.placing = pull.inline_placing;
    if (message.placing == RpcMessage::Placing::torn) body.cut = true;
  }

  struct Part {
    wire::ReadSegment read;
    std::uint32_t needed;
  };
  std::vector<Part> rest;
  for (std::size_t i = 0; i < pull.reads.size(); ++i) {
    if (pull.reads[i].position != 0) rest.push_back({pull.reads[i], pull.needed[i]});
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
  put_written_into(message, pull.written, pieces);
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

std::optional<RpcMessage> Assembler::message(const MessageSeen& seen, std::uint32_t tag) {
  if (seen.header == nullptr) return std::nullopt;
  switch (seen.kind) {
    case MessageSeen::Kind::call:
      return call(seen, tag);
    case MessageSeen::Kind::reply:
      return reply(seen, tag);
    case MessageSeen::Kind::error:
      drop(seen.exchange.id);
      return std::nullopt;
    case MessageSeen::Kind::done:
    case MessageSeen::Kind::other:
      break;
  }
  return std::nullopt;
}

std::optional<RpcMessage> Assembler::call(const MessageSeen& seen, std::uint32_t tag) {
  const wire::HeaderV1& header = *seen.header;
  const std::uint32_t id = seen.exchange.id;
  if (header.reads.empty()) {
    if (id != 0 && (!header.writes.empty() || header.reply)) enter(id).stage = Open::Stage::called;
    return as_sent(seen);
  }
  if (id == 0) return std::nullopt;
  Open& open = enter(id);
  const bool again = open.stage != Open::Stage::none;
  open.stage = Open::Stage::called;
  return wait(seen, again ? Pull::Of::call_again : Pull::Of::call, tag);
}

std::optional<RpcMessage> Assembler::reply(const MessageSeen& seen, std::uint32_t tag) {
  const std::uint32_t id = seen.exchange.id;
  if (!seen.header->reads.empty()) {
    if (id == 0) return std::nullopt;
    enter(id);
    return wait(seen, Pull::Of::reply, tag);
  }
  RpcMessage message = put_back(seen, pieces_of(id));
  const auto at = open_.find(id);
  if (at == open_.end()) return message;
  Open& open = at->second;
  const bool before = std::exchange(open.stage, Open::Stage::answered) == Open::Stage::answered;
  std::erase_if(open.pulls, [&](const Pull& pull) { return before || pull.of != Pull::Of::call_again; });
  if (open.pulls.empty()) drop(id);
  return message;
}

std::optional<RpcMessage> Assembler::operation(const OperationSeen& seen) {
  const std::uint32_t id = seen.exchange.id;
  if (seen.kind == OperationSeen::Kind::read_request || id == 0) return std::nullopt;
  if (open_.count(id) == 0) return std::nullopt;
  make_room(id, seen.octets.size());
  const bool room = octets_ + seen.octets.size() <= octets_allowed_;
  Pieces& pieces = pieces_[id];
  octets_ -= pieces.octets();
  pieces.add(seen.handle, seen.offset, seen.length, room ? seen.octets : wire::Bytes{});
  octets_ += pieces.octets();
  return seen.kind == OperationSeen::Kind::read_response ? next_whole(id) : std::nullopt;
}

std::optional<RpcMessage> Assembler::give_up(std::uint32_t exchange, Because because) {
  const auto at = open_.find(exchange);
  if (at == open_.end() || at->second.pulls.empty()) return std::nullopt;
  std::vector<Pull>& pulls = at->second.pulls;
  const bool first_answer = because == Because::answered && at->second.stage == Open::Stage::called;
  if (first_answer && pulls.front().of == Pull::Of::call_again) return std::nullopt;
  RpcMessage message = pulled(pulls.front(), pieces_of(exchange));
  pulls.erase(pulls.begin());
  return message;
}

std::vector<std::uint32_t> Assembler::waiting() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, open] : open_) {
    if (!open.pulls.empty()) ids.push_back(id);
  }
  return ids;
}

}  // namespace rpcrdma::payload
