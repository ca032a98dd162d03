// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/notes.hpp"

#include "trace/spans.hpp"

namespace rpcrdma::journal {

void take_header(wire::Bytes octets, const wire::HeaderV1* header, Message& message) {
  if (octets.size() >= 4) message.xid = wire::load_be32(octets.data());
  if (octets.size() >= 16) {
    message.version = wire::load_be32(octets.data() + 4);
    message.credit = wire::load_be32(octets.data() + 8);
    message.proc = wire::load_be32(octets.data() + 12);
  }
  if (header == nullptr) return;
  message.header_length = static_cast<std::uint32_t>(header->length);
  message.read_segments = static_cast<std::uint32_t>(header->reads.size());
  message.write_chunks = static_cast<std::uint32_t>(header->writes.size());
  message.reply_chunk = header->reply.has_value();
  for (const wire::ReadSegment& read : header->reads) message.read_octets += read.target.length;
  for (const auto& chunk : header->writes) message.write_octets += wire::chunk_length(chunk);
  if (header->reply) message.reply_octets = wire::chunk_length(*header->reply);
}

std::optional<std::int64_t> took(const Message& message, const Exchange* exchange) noexcept {
  const bool reply = message.kind == referee::MessageSeen::Kind::reply && !message.piece;
  const bool answer = reply || message.kind == referee::MessageSeen::Kind::error;
  if (!answer || exchange == nullptr || exchange->call.number == 0 || exchange->reply.number == 0) return std::nullopt;
  return trace::elapsed(exchange->call.time, message.time);
}

}  // namespace rpcrdma::journal
