// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/version2.hpp"

#include <algorithm>
#include <iterator>

#include "payload/pieces.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::journal {

/// By rdma_remaining as most read it: without the piece that it stands in. With it, a piece that is missing and as long
/// as the one before would not show.
void Version2::Open::look_for_lost(std::uint64_t rest) {
  if (behind_gap && remaining != rest) {
    torn = true;
    wire_length += remaining > rest ? remaining - rest : 1;
  }
  behind_gap = false;
}

/// What the Call chunk holds is what a chunk at Position zero holds in version 1.
void Version2::translate(const wire::HeaderV2& header) {
  as_version1_.clear();
  as_version1_.fixed = header.lists.fixed;
  for (wire::ReadSegment segment : header.call_chunk) {
    segment.position = 0;
    as_version1_.reads.push_back(segment);
  }
  as_version1_.reads.insert(as_version1_.reads.end(), header.lists.reads.begin(), header.lists.reads.end());
  as_version1_.writes = header.lists.writes;
  as_version1_.reply = header.lists.reply;
  as_version1_.length = header.length;
}

Version2::Pieces::iterator Version2::forget(Pieces::iterator message) {
  octets_ -= message->second.octets.size();
  return open_.erase(message);
}

void Version2::add(const Key& key, const trace::Send& send, const wire::HeaderV2& header) {
  auto at = open_.find(key);
  if (at == open_.end()) {
    if (open_.size() >= most_open) return;
    at = open_.try_emplace(key).first;
  }
  Open& open = at->second;
  const wire::Bytes behind = payload::behind(send.octets, header.length);
  const std::uint64_t length = payload::length_behind(send.wire_length, header.length);
  open.look_for_lost(length + header.remaining);
  const bool contiguous =
      !open.torn && open.octets.size() == open.wire_length && octets_ + behind.size() <= most_octets;
  if (contiguous) {
    open.octets.insert(open.octets.end(), behind.begin(), behind.end());
    octets_ += behind.size();
  }
  open.wire_length += length;
  if (send.holes) open.torn = true;
  open.remaining = header.remaining;
}

void Version2::join(Open& open, const trace::Send& last, const wire::HeaderV2& header) {
  const wire::Bytes behind = payload::behind(last.octets, header.length);
  const std::uint64_t length = payload::length_behind(last.wire_length, header.length);
  open.look_for_lost(length);
  joined_.assign(last.octets.begin(), last.octets.begin() + static_cast<std::ptrdiff_t>(header.length));
  joined_.insert(joined_.end(), open.octets.begin(), open.octets.end());
  const bool contiguous = !open.torn && open.octets.size() == open.wire_length;
  if (contiguous) joined_.insert(joined_.end(), behind.begin(), behind.end());
  send_ = last;
  send_.octets = joined_;
  send_.holes = send_.holes || open.torn;
  send_.wire_length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(header.length + open.wire_length + length, UINT32_MAX));
}

bool Version2::take(std::uint32_t connection, const referee::MessageSeen& seen, Taken& taken) {
  const trace::Send& send = *seen.send;
  if (seen.header2 == nullptr || wire::earlier_draft(send.octets, send.wire_length)) return false;
  const wire::HeaderV2& header = *seen.header2;
  const wire::HeaderType type = header.type();
  const bool call = wire::is_call(type);
  if (!call && !wire::is_reply(type)) return false;

  translate(header);
  taken.seen = seen;
  taken.seen.header = &as_version1_;
  taken.seen.kind = call ? referee::MessageSeen::Kind::call : referee::MessageSeen::Kind::reply;
  taken.piece = wire::is_middle(type);
  taken.joined = false;

  const Key key{connection, send.side, call, header.fixed.xid};
  auto before = open_.find(key);
  // Where an RPC message begins, what came before with its XID was another, or was given up.
  const auto type_of_message = call ? wire::MessageType::call : wire::MessageType::reply;
  const bool begins =
      wire::begins_message(payload::behind(send.octets, header.length), header.fixed.xid, type_of_message);
  if (before != open_.end() && (!wire::has_payload(type) || begins)) {
    forget(before);
    before = open_.end();
  }
  taken.continued = before != open_.end();
  if (taken.piece) {
    add(key, send, header);
  } else if (taken.continued) {
    join(before->second, send, header);
    taken.seen.send = &send_;
    taken.joined = true;
    forget(before);
  }
  return true;
}

void Version2::gap(std::uint32_t connection, trace::Side side) {
  for (auto& [key, open] : open_) {
    if (std::get<0>(key) == connection && std::get<1>(key) == side) open.behind_gap = true;
  }
}

void Version2::close(std::uint32_t connection) {
  for (auto at = open_.begin(); at != open_.end();) {
    at = std::get<0>(at->first) == connection ? forget(at) : std::next(at);
  }
}

}  // namespace rpcrdma::journal
