// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/early.hpp"

#include <algorithm>

#include "payload/pieces.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::journal {

namespace {

using Kind = referee::MessageSeen::Kind;

[[nodiscard]] bool returns_data(const wire::HeaderV1& header) {
  return std::any_of(header.writes.begin(), header.writes.end(),
                     [](const wire::WriteChunk& chunk) { return wire::chunk_length(chunk) != 0; });
}

/// RDMA_NOMSG, by who offers what. An offered Reply and a Long Call of the server look alike: neither.
[[nodiscard]] Kind without_message(const wire::HeaderV1& header, Side sender) {
  if (sender == Side::active) return header.reads.empty() ? Kind::other : Kind::call;
  return header.reads.empty() && header.reply ? Kind::reply : Kind::other;
}

}  // namespace

std::optional<EarlyMessages::Read> EarlyMessages::read(const trace::HeldSend& held) {
  const auto frame = static_cast<std::uint32_t>(held.frame.number);
  if (shown_.size() >= most || shown_.count(frame) != 0) return std::nullopt;
  if (!wire::decode_header_v1(held.octets, held.wire_length, scratch_)) return std::nullopt;
  const wire::FixedWords& fixed = scratch_.fixed;
  if (fixed.version != 1) return std::nullopt;
  Read read;
  Message& message = read.message;
  message.connection = held.connection;
  message.sender = held.side;
  message.first_frame = message.last_frame = frame;
  take_header(held.octets, &scratch_, message);
  switch (static_cast<wire::Proc>(fixed.proc)) {
    case wire::Proc::msg: {
      const wire::Bytes rpc = payload::behind(held.octets, scratch_.length);
      if (rpc.size() < 8 || wire::load_be32(rpc.data()) != fixed.xid || wire::load_be32(rpc.data() + 4) > 1) break;
      read.call = wire::load_be32(rpc.data() + 4) == 0;
      message.kind = read.call ? Kind::call : Kind::reply;
      read.whole = scratch_.reads.empty() && (read.call || !returns_data(scratch_));
      break;
    }
    case wire::Proc::nomsg:
      message.kind = without_message(scratch_, held.side);
      break;
    case wire::Proc::done:
      message.kind = Kind::done;
      break;
    case wire::Proc::error:
      message.kind = Kind::error;
      break;
    case wire::Proc::msgp:
      break;
  }
  return read;
}

std::optional<Unplaced> EarlyMessages::read_unplaced(const trace::HeldSend& held) {
  if (!wire::decode_header_v1(held.octets, held.wire_length, scratch_)) return std::nullopt;
  const wire::FixedWords& fixed = scratch_.fixed;
  if (fixed.version != 1) return std::nullopt;
  Unplaced read;
  read.flow = held.flow;
  read.xid = fixed.xid;
  read.proc = fixed.proc;
  read.header_length = static_cast<std::uint32_t>(scratch_.length);
  switch (static_cast<wire::Proc>(fixed.proc)) {
    case wire::Proc::msg:
    case wire::Proc::msgp: {
      const wire::Bytes rpc = payload::behind(held.octets, scratch_.length);
      if (wire::begins_message(rpc, fixed.xid, wire::MessageType::call)) {
        // What has to be put back comes later, and RPC wants it whole.
        if (scratch_.reads.empty()) read.rpc = Unplaced::Rpc::call;
        return read;
      }
      if (!wire::begins_message(rpc, fixed.xid, wire::MessageType::reply)) return std::nullopt;
      read.rpc = Unplaced::Rpc::reply;
      return read;
    }
    case wire::Proc::nomsg:
    case wire::Proc::done:
    case wire::Proc::error:
      if (scratch_.length != held.wire_length) return std::nullopt;
      return read;
  }
  return std::nullopt;
}

void EarlyMessages::give_call(const Message& call) {
  calls_.insert_or_assign({call.connection, call.sender, call.xid}, call.last_frame);
}

std::uint32_t EarlyMessages::take(const Message& told) {
  const auto at = shown_.find(told.last_frame);
  if (at == shown_.end()) return none;
  const std::uint32_t message = at->second;
  shown_.erase(at);
  const auto call = calls_.find({told.connection, told.sender, told.xid});
  if (call != calls_.end() && call->second == told.last_frame) calls_.erase(call);  // its exchange knows it from now on
  return message;
}

bool EarlyMessages::call_given(const Connection& connection, const Message& reply) const {
  constexpr std::size_t far = 256;
  const Side requester = trace::other(reply.sender);
  if (calls_.count({connection.id, requester, reply.xid}) != 0) return true;
  const std::vector<Exchange>& all = connection.exchanges;
  return std::any_of(all.rbegin(), all.rbegin() + static_cast<std::ptrdiff_t>(std::min(all.size(), far)),
                     [&](const Exchange& of) {
                       return of.xid == reply.xid && of.requester == requester && of.call_whole.number != 0;
                     });
}

}  // namespace rpcrdma::journal
