// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/placing.hpp"

#include <algorithm>

#include "wire/nfs_items.hpp"

namespace rpcrdma::payload {

namespace {

/// The first `most` octets of a chunk.
void copy_chunk(const Pieces& pieces, const wire::WriteChunk& chunk, std::uint64_t most, Stream& out) {
  for (const wire::Segment& segment : chunk) {
    const std::uint64_t length = std::min<std::uint64_t>(segment.length, most);
    pieces.copy(segment.handle, segment.offset, length, out);
    most -= length;
  }
}

[[nodiscard]] bool any_written(const std::vector<wire::WriteChunk>& chunks) {
  return std::any_of(chunks.begin(), chunks.end(),
                     [](const wire::WriteChunk& chunk) { return wire::chunk_length(chunk) != 0; });
}

/// Where one chunk's octets belong when the procedure is not known: behind the last word that is their length.
[[nodiscard]] std::optional<std::size_t> behind_its_length(wire::Bytes body, std::uint64_t length) {
  for (std::size_t at = body.size() / 4 * 4; at >= 28; at -= 4) {
    if (wire::load_be32(body.data() + at - 4) == length) return at;
  }
  return std::nullopt;
}

/// Where each used chunk's octets belong in the reduced stream. False: it cannot be told.
[[nodiscard]] bool find_places(const Written& written, const Stream& body, std::vector<wire::PlacedItem>& places) {
  std::vector<std::uint64_t> lengths;
  std::size_t used = 0;
  for (const wire::WriteChunk& chunk : written.chunks) {
    lengths.push_back(wire::chunk_length(chunk));
    if (lengths.back() != 0) ++used;
  }
  if (written.procedure) {
    const auto [program, version, procedure] = *written.procedure;
    const wire::Placement placement = wire::place_items(body.octets, static_cast<std::size_t>(body.wire_length),
                                                        program, version, procedure, lengths, places);
    if (placement == wire::Placement::placed) return true;
    if (placement != wire::Placement::unsupported) return false;
  }
  places.clear();
  if (used != 1) return false;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    const auto position = behind_its_length(body.octets, lengths[i]);
    if (!position) return false;
    wire::PlacedItem place;
    place.chunk = i;
    place.position = *position;
    place.length = lengths[i];
    place.pad = static_cast<std::uint32_t>((4U - lengths[i] % 4U) % 4U);
    places.push_back(place);
  }
  return true;
}

}  // namespace

RpcMessage put_back(const referee::MessageSeen& reply, const Pieces& pieces) {
  const wire::HeaderV1& header = *reply.header;
  RpcMessage message;
  const bool by_chunk = header.reply && static_cast<wire::Proc>(header.fixed.proc) == wire::Proc::nomsg;
  if (!by_chunk && !any_written(header.writes)) {
    message.in_send = true;
    message.placing = placing_of(*reply.send);
    return message;
  }
  Stream& body = message.stream;
  if (by_chunk) {
    body.most = Pieces::most_uses * pieces.octets();
    copy_chunk(pieces, *header.reply, wire::chunk_length(*header.reply), body);
  } else {
    const wire::Bytes octets = reply.send->octets;
    body.append(behind(octets, header.length), length_behind(reply.send->wire_length, header.length));
    message.placing = placing_of(*reply.send);
    if (message.placing == RpcMessage::Placing::torn) body.cut = true;
  }
  if (body.cut) message.lacks(RpcMessage::Placing::missing);
  put_written_into(message, {header.writes, reply.procedure}, pieces);
  return message;
}

void put_written_into(RpcMessage& message, const Written& written, const Pieces& pieces) {
  if (!any_written(written.chunks)) return;
  Stream body = std::move(message.stream);
  std::vector<wire::PlacedItem> places;
  if (!find_places(written, body, places)) {
    message.lacks(RpcMessage::Placing::reduced);
    // As long as it would be with them, so that nobody takes the end of what is there for the end of the message.
    for (const wire::WriteChunk& chunk : written.chunks) body.append({}, wire::chunk_length(chunk));
    message.stream = std::move(body);
    return;
  }
  Stream out;
  out.most = Pieces::most_uses * pieces.octets() + body.octets.size() + 3 * places.size();
  std::size_t taken = 0;
  for (const wire::PlacedItem& place : places) {
    out.append(wire::Bytes(body.octets).subspan(taken, place.position - taken), place.position - taken);
    taken = place.position;
    copy_chunk(pieces, written.chunks[place.chunk], place.length, out);
    out.append_padding(place.pad);
  }
  out.append(wire::Bytes(body.octets).subspan(taken), body.wire_length - taken);
  if (out.cut) message.lacks(RpcMessage::Placing::missing);
  message.stream = std::move(out);
}

}  // namespace rpcrdma::payload
