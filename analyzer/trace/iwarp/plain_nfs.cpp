// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/plain_nfs.hpp"

#include <algorithm>

#include "wire/rpc.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

using wire::Bytes;
using wire::load_be32;

constexpr std::uint32_t last_fragment = 0x80000000U;
/// A record is a Call or a Reply with at most some megabytes of data; a READDIR or a WRITE may come in fragments.
constexpr std::uint32_t longest_fragment = 16U << 20U;

bool fragment_of(std::uint32_t mark, std::uint32_t least) noexcept {
  const std::uint32_t length = mark & ~last_fragment;
  return length >= least && length <= longest_fragment;
}

bool nfs_call(Bytes p) noexcept {
  constexpr std::uint32_t least = 40;  // empty credential and verifier
  return p.size() >= 20 && load_be32(p.data() + 8) == static_cast<std::uint32_t>(wire::MessageType::call) &&
         load_be32(p.data() + 12) == 2 && load_be32(p.data() + 16) == wire::nfs_program &&
         fragment_of(load_be32(p.data()), least);
}

bool rpc_reply(Bytes p) noexcept {
  if (p.size() < 20 || load_be32(p.data() + 8) != static_cast<std::uint32_t>(wire::MessageType::reply)) return false;
  if (!fragment_of(load_be32(p.data()), 20)) return false;
  const std::uint32_t status = load_be32(p.data() + 12);
  if (status == wire::reply_stat::denied) return load_be32(p.data() + 16) <= wire::reject_stat::auth_error;
  if (status != wire::reply_stat::accepted || p.size() < 24) return false;
  const std::uint32_t flavor = load_be32(p.data() + 16);
  return flavor <= 7 && load_be32(p.data() + 20) <= wire::most_auth_octets;
}

}  // namespace

std::size_t plain_nfs_head(Bytes payload) noexcept {
  constexpr std::size_t call = 28;   // to the procedure
  constexpr std::size_t reply = 24;  // to the verifier's length
  if (nfs_call(payload)) return std::min(payload.size(), call);
  return rpc_reply(payload) ? std::min(payload.size(), reply) : 0;
}

PlainPair PlainNfs::look(const TcpSegment& segment, bool to_service, bool from_service) {
  const bool call = (to_service || segment.destination_port == port) && nfs_call(segment.payload);
  const bool reply = !call && (from_service || segment.source_port == port) && rpc_reply(segment.payload);
  if (!call && !reply) return 0;
  const Address& client = call ? segment.source : segment.destination;
  const Address& server = call ? segment.destination : segment.source;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].client == client && pairs_[i].server == server) return static_cast<PlainPair>(i + 1);
  }
  if (pairs_.size() >= max_pairs) return 0;
  pairs_.push_back({client, server, call ? segment.destination_port : segment.source_port, {}, 0, false, false, 0});
  return static_cast<PlainPair>(pairs_.size());
}

void PlainNfs::judge(Pair& pair, const TcpSegment& segment) noexcept {
  constexpr unsigned plenty = 8;  // in one direction alone: more than a handshake of security contexts
  const Bytes p = segment.payload;
  const bool call = nfs_call(p);
  pair.called = pair.called || call;
  ++pair.watched;
  pair.used = (call && p.size() >= 28 && load_be32(p.data() + 24) != 0) || (!pair.called && pair.watched > plenty);
}

void PlainNfs::count(PlainPair pair, FrameRef first, std::uint64_t frames) noexcept {
  if (pair == 0 || pair > pairs_.size() || frames == 0) return;
  Pair& of = pairs_[pair - 1U];
  if (of.first.number == 0 || first.number < of.first.number) of.first = first;
  of.frames += frames;
}

void PlainNfs::tell(EventSink& sink) const {
  for (const Pair& pair : pairs_) {
    if (pair.frames == 0 || !pair.used) continue;
    NfsOverTcp e;
    e.frame = pair.first;
    e.client.address = pair.client.text();
    e.server.address = pair.server.text();
    e.client.network = pair.client.network;
    e.server.network = pair.server.network;
    e.server.port = pair.server_port;
    e.frames = pair.frames;
    sink.on(e);
  }
}

}  // namespace rpcrdma::trace::iwarp
