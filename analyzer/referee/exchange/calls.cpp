// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/calls.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/state/lifetime.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/nfs_watch.hpp"
#include "trace/spans.hpp"
#include "wire/crc32c.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_open = 65536;

}  // namespace

constexpr std::string_view no_room = "more memory is exposed than the analyzer keeps";

void expose_chunks(const Witness& witness, const Transaction& call, FrameRef frame) {
  if (!expose(witness.connection, call, frame)) witness.unchecked(RuleId::rdma_unknown_handle, no_room);
}

Transaction& enter_exchange(const Witness& witness, const trace::Send& event, Transaction&& fresh) {
  Connection& connection = witness.connection;
  const std::uint64_t key = Transactions::key(event.side, fresh.xid);
  Transaction* old = connection.find(event.side, fresh.xid);
  const bool open = old != nullptr && !old->answered() && !old->answer_dropped() &&
                    old->awaits != Transaction::Awaits::perhaps_nothing;
  if (open && !old->malformed() && !fresh.malformed()) {
    judge_repeated_call(witness, event, *old, fresh);
    ++old->copies;
    old->awaits = Transaction::Awaits::answer;
    fresh.id = old->id;
    if (!expose_copy(connection, *old, fresh, event.frame)) witness.unchecked(RuleId::rdma_unknown_handle, no_room);
    return *old;
  }
  if (old != nullptr) {
    if (old->answer == Transaction::Answer::refusal && !fresh.malformed()) judge_retry(witness, event, *old, fresh);
    if (!connection.offers.empty() && !fresh.malformed()) judge_xid_reuse(witness, event, *old, fresh);
    if (old->answer_uncertain()) fresh.earlier = Transaction::Earlier::perhaps_open;
    forget(connection, *old);
    connection.transactions.erase(key);
  }
  if (connection.transactions.size() >= most_open) {
    witness.unchecked(RuleId::call_unanswered, "more Calls are open than the analyzer keeps");
    for (const auto& [k, call] : connection.transactions) forget(connection, call);
    connection.transactions.clear();
    connection.finished.clear();
    connection.answered_in_part.clear();
    connection.distrust(2 * kept_finished, Doubt::bound);
  }
  fresh.id = {key, ++connection.generation};
  fresh.completed_before = connection.completed;
  Transaction& call = connection.transactions.enter(key, std::move(fresh));
  if (connection.mount != nullptr) {
    if (connection.transactions.size() == 1) connection.mount->calling[connection.id()] = &connection;
    take_up_wait(connection, call);
    if (const auto before = take_up_unheard(connection, call)) judge_sent_again(witness, call, *before);
  }
  expose_chunks(witness, call, event.frame);
  return call;
}

/// A Reply or RDMA_ERROR that was delivered before its Call (held back behind a hole, or in wrong order in the file) is
/// not without a Call: this is the first thing heard of its requester since.
bool answered_before(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Connection& connection = witness.connection;
  const auto early = std::find_if(connection.cases.begin(), connection.cases.end(), [&](const Case& waited) {
    const Case::Answering* answer = waited.answer();
    if (answer == nullptr || waited.xid != xid || waited.accused != other(event.side)) return false;
    // Nobody knows an XID that no Call has had yet: what proves that the answer had arrived stands in the wrong place.
    if (answer->call.number == 0) return !came_long_before(connection, waited, event.frame);
    if (answer->received.number == 0 || event.frame.number < answer->received.number) return true;
    // So does it where answers are known to stand in front of what they answer.
    return connection.order_lost() && !trace::passed(waited.frame.time, event.frame.time, trace::change_of_places);
  });
  if (early != connection.cases.end()) {
    if (early->frame.number < event.frame.number) lose_order(witness, Connection::FileOrder::skewed);
    connection.cases.erase(early);
    return true;
  }
  // Where nobody is accused of it, it is remembered among the newest. Mostly nothing behind the Call has come yet.
  SideState& responder = connection.of(other(event.side));
  const bool skewed = connection.order_lost();
  // Where packets are missing nobody is accused: the Call may have stood further in front, or this be its repetition.
  const bool lossy = !connection.whole();
  if (!skewed && !lossy && responder.last_event.number < event.frame.number) return false;
  const auto answers = [](const RecentSend& send) {
    return send.reply() || send.htype == static_cast<std::uint32_t>(wire::Proc::error);  // of version 2 as well
  };
  return responder.sends.newest([&](const RecentSend& send) {
    const bool taken = send.exchange.generation != 0 && send.answers == RecentSend::Answers::open_call;
    if (!answers(send) || send.xid != xid || taken) return false;
    if (send.frame.number > event.frame.number) return true;
    if (trace::passed(send.frame.time, event.frame.time, trace::two_taps_apart)) return false;
    // What its receiver has acknowledged it had before it sent the Call.
    const bool heard = connection.acknowledgements_in_order() && send.ordinal <= responder.acknowledged;
    return lossy || (skewed && !heard);
  }) != nullptr;
}

void end_unseen(Connection& connection, Transaction& call) {
  call.answers = call.copies;
  call.answer = Transaction::Answer::inferred;
  count_unseen_wait(connection, call);
  watch_unseen_reply(connection, call);
  end_outstanding(connection, call);
  remember_finished(connection, call);
}

std::uint32_t hash_of_payload(wire::Bytes octets) {
  // RPCSEC_GSS gives a request a new sequence number each time it is sent (RFC 2203 section 5.3.3.1), and checksums
  // change with it: the same request is told by XID, program and procedure, and by its length.
  constexpr std::size_t flavor_at = 24;
  constexpr std::size_t flavor_end = flavor_at + 4;
  if (octets.size() >= flavor_end && wire::load_be32(octets.data() + flavor_at) == wire::flavor_gss) {
    octets = octets.first(flavor_end);
  }
  return wire::crc32c(octets);
}

}  // namespace rpcrdma::referee
