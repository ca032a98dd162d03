// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/calls.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "referee/lifetime.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_open = 65536;

/// Is `fresh` the Call that was refused, sent once more? XIDs wrap. nullopt: cannot be told.
[[nodiscard]] std::optional<bool> same_request(const trace::Send& event, const Transaction& old,
                                               const Transaction& fresh) {
  const bool both_known = old.payload_known && fresh.payload_known;
  if (both_known && old.payload_length == fresh.payload_length && old.payload_hash == fresh.payload_hash) return true;
  wire::HeaderV1 header;
  constexpr std::size_t to_procedure = 24;
  if (old.procedure && wire::decode_header_v1(event.octets, event.wire_length, header) &&
      header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg) &&
      event.octets.size() >= header.length + to_procedure) {
    const std::uint8_t* rpc = event.octets.data() + header.length;
    const std::tuple procedure(wire::load_be32(rpc + 12), wire::load_be32(rpc + 16), wire::load_be32(rpc + 20));
    if (procedure != *old.procedure) return false;
    // Moving an argument to or from a chunk changes what is inline, and nothing else may.
    const bool comparable = both_known && old.reads.empty() && fresh.reads.empty();
    return comparable ? std::nullopt : std::optional(true);
  }
  if (old.body_length != 0 && old.body_length == fresh.body_length) return true;
  return std::nullopt;
}

void judge_retry(Context& context, Connection& connection, const trace::Send& event, const Transaction& old,
                 const Transaction& fresh) {
  const std::optional<bool> same = same_request(event, old, fresh);
  if (!same) {
    context.book.unchecked(RuleId::error_retried_same_xid, connection.id(),
                           "a later Call with the XID of a refused one may be another request");
    return;
  }
  if (!*same) return;
  context.book.add(
      {RuleId::error_retried_same_xid,
       connection.id(),
       {event.frame, old.reply, old.call},
       fmt::format("The {} sent a Call with XID {:#010x} again after ERR_CHUNK (frame {}) had ended it: a retry "
                   "needs a new XID.",
                   name(event.side), fresh.xid, old.reply.number),
       std::nullopt,
       fresh.xid,
       party(event.side),
       Role::requester});
}

}  // namespace

Transaction& enter_exchange(Context& context, Connection& connection, const trace::Send& event, Transaction&& fresh) {
  const std::uint64_t key = Connection::key(event.side, fresh.xid);
  Transaction* old = connection.find(event.side, fresh.xid);
  if (old != nullptr && old->answers < old->copies && !old->malformed && !fresh.malformed) {
    judge_repeated_call(context, connection, event, *old, fresh);
    ++old->copies;
    fresh.id = old->id;
    expose(context, connection, fresh, event.frame);
    return *old;
  }
  if (old != nullptr) {
    if (old->refused_by_error && !fresh.malformed && connection.trusted()) {
      judge_retry(context, connection, event, *old, fresh);
    }
    forget(connection, *old);
    connection.transactions.erase(key);
  }
  if (connection.transactions.size() >= most_open) {
    context.book.unchecked(RuleId::call_unanswered, connection.id(), "more Calls are open than the analyzer keeps");
    for (const auto& [k, call] : connection.transactions) forget(connection, call);
    connection.transactions.clear();
    connection.finished.clear();
    connection.distrust(2 * kept_finished, Doubt::bound);
  }
  fresh.id = {key, ++connection.generation};
  fresh.completed_before = connection.completed;
  Transaction& call = connection.transactions.emplace(key, std::move(fresh)).first->second;
  expose(context, connection, call, event.frame);
  return call;
}

/// A Reply that was delivered before its Call (held back behind a hole, or in wrong order in the file) is not without a
/// Call: this is the first thing heard of its requester since.
bool answered_before(Connection& connection, const trace::Send& event, std::uint32_t xid) {
  const auto held = std::find_if(connection.pending.begin(), connection.pending.end(), [&](const Pending& p) {
    return (p.kind == Pending::Kind::reply_without_call || p.kind == Pending::Kind::duplicate_reply ||
            p.kind == Pending::Kind::error_from_requester) &&
           p.xid == xid && p.side == other(event.side);
  });
  if (held == connection.pending.end()) return false;
  connection.pending.erase(held);
  return true;
}

/// What was held back about operations on memory that this Call offers: it may have been sent before them.
void cancel_accesses_of(Context& context, Connection& connection, const Transaction& call) {
  if (connection.pending.empty()) return;
  MemoryMap& memory = connection.of(call.requester).memory;
  std::optional<RuleId> cancelled;
  std::erase_if(connection.pending, [&](const Pending& p) {
    if (p.side == call.requester) return false;
    const bool access = p.kind == Pending::Kind::unknown_handle || p.kind == Pending::Kind::access;
    if (!call.lists_known) return access;  // cut: what it offers is not known
    if (p.kind == Pending::Kind::unknown_handle) {
      if (memory.regions(p.handle) == nullptr) return false;
    } else if (p.kind == Pending::Kind::access) {
      const MemoryMap::Hit hit = memory.find(p.handle, p.offset, p.length, p.writing);
      if (hit.verdict != MemoryMap::Hit::Verdict::inside || !(hit.region->owner == call.id)) return false;
    } else {
      return false;
    }
    memory.touch(p.handle, p.offset, p.length, !p.writing, p.writing);
    cancelled = p.kind == Pending::Kind::access ? p.rule : RuleId::rdma_before_call;
    return true;
  });
  if (cancelled) {
    context.book.unchecked(*cancelled, connection.id(),
                           "nothing proves that the order of the two directions in the capture is that on the wire");
  }
}

std::uint64_t hash_of_payload(wire::Bytes octets) {
  // RPCSEC_GSS gives a request a new sequence number each time it is sent (RFC 2203 section 5.3.3.1), and checksums
  // change with it: the same request is told by XID, program and procedure, and by its length.
  constexpr std::size_t flavor_at = 24;
  constexpr std::size_t flavor_end = flavor_at + 4;
  if (octets.size() >= flavor_end && wire::load_be32(octets.data() + flavor_at) == wire::flavor_gss) {
    octets = octets.first(flavor_end);
  }
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(octets.data()), octets.size()});
}

}  // namespace rpcrdma::referee
