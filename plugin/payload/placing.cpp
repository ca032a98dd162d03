// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/placing.hpp"

#include <algorithm>
#include <array>

namespace rpcrdma::payload {

namespace {

constexpr std::array<std::uint8_t, 4> zeros{};

[[nodiscard]] std::uint64_t length_of(const wire::WriteChunk& chunk) {
  std::uint64_t sum = 0;
  for (const wire::Segment& segment : chunk) sum += segment.length;
  return sum;
}

void copy_chunk(const Pieces& pieces, const wire::WriteChunk& chunk, Stream& out) {
  for (const wire::Segment& segment : chunk) pieces.copy(segment.handle, segment.offset, segment.length, out);
}

/// Where one chunk's octets belong when the procedure is not known: behind the last word that is their length.
[[nodiscard]] std::optional<std::size_t> behind_its_length(wire::Bytes body, std::uint64_t length) {
  for (std::size_t at = body.size() / 4 * 4; at >= 28; at -= 4) {
    if (wire::load_be32(body.data() + at - 4) == length) return at;
  }
  return std::nullopt;
}

struct Place {
  std::size_t position = 0;  // in the reduced stream
  const wire::WriteChunk* chunk = nullptr;
  std::uint64_t length = 0;
};

[[nodiscard]] bool find_places(const referee::MessageSeen& reply, const Stream& body, std::vector<Place>& places) {
  for (const wire::WriteChunk& chunk : reply.header->writes) {
    if (const std::uint64_t length = length_of(chunk); length != 0) places.push_back({0, &chunk, length});
  }
  if (places.size() > 1) return false;
  for (Place& place : places) {
    const auto position = behind_its_length(body.octets, place.length);
    if (!position) return false;
    place.position = *position;
  }
  return true;
}

}  // namespace

RpcMessage put_back(const referee::MessageSeen& reply, const Pieces& pieces) {
  const wire::HeaderV1& header = *reply.header;
  RpcMessage message;
  Stream body;
  const bool by_chunk = header.reply && static_cast<wire::Proc>(header.fixed.proc) == wire::Proc::nomsg;
  const bool any_written = std::any_of(header.writes.begin(), header.writes.end(),
                                       [](const wire::WriteChunk& chunk) { return length_of(chunk) != 0; });
  if (!by_chunk && !any_written) {
    message.in_send = true;
    return message;
  }
  if (by_chunk) {
    copy_chunk(pieces, *header.reply, body);
  } else {
    const wire::Bytes octets = reply.send->octets;
    body.append(octets.subspan(std::min(octets.size(), header.length)),
                reply.send->wire_length - std::min<std::uint64_t>(reply.send->wire_length, header.length));
  }
  std::vector<Place> places;
  if (any_written && !find_places(reply, body, places)) {
    message.placing = RpcMessage::Placing::reduced;
    places.clear();
  }
  if (places.empty()) {
    message.stream = std::move(body);
  } else {
    Stream& out = message.stream;
    std::size_t taken = 0;
    for (const Place& place : places) {
      out.append(wire::Bytes(body.octets).subspan(taken, place.position - taken), place.position - taken);
      taken = place.position;
      copy_chunk(pieces, *place.chunk, out);
      if (const std::uint64_t over = place.length % 4; over != 0) {
        out.append(wire::Bytes(zeros).first(4 - over), 4 - over);
      }
    }
    out.append(wire::Bytes(body.octets).subspan(taken), body.wire_length - taken);
  }
  if (message.stream.cut && message.placing == RpcMessage::Placing::whole) {
    message.placing = RpcMessage::Placing::missing;
  }
  return message;
}

}  // namespace rpcrdma::payload
