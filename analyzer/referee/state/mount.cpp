// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/mount.hpp"

#include <algorithm>
#include <utility>

#include "trace/spans.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

/// With nconnect there are sixteen beside each other; where they fall silent and the client connects again, twice as
/// many, and so on.
constexpr std::size_t connections_looked_at = 64;

/// With the same XID: the same request? Where an argument was moved to or from a chunk, what is inline changes with it.
[[nodiscard]] bool same_request(const Likeness& before, const Likeness& now) {
  if (before.payload == now.payload) return true;
  const bool same_procedure = !before.procedure || !now.procedure || before.procedure == now.procedure;
  return before.reduced != now.reduced && same_procedure;
}

/// Where the capture has not both of them: as far as it tells.
[[nodiscard]] bool perhaps_same_request(const Likeness& before, std::uint32_t length, const Transaction& now) {
  if (before.payload && now.payload) return same_request(before, now.likeness());
  if (before.procedure && now.procedure) return before.procedure == now.procedure;
  return before.reduced != !now.reads.empty() || length == now.wire_length;
}

/// The same, of two that the capture cut.
[[nodiscard]] bool as_long(const Transaction& before, const Transaction& now) noexcept {
  return !before.payload && !now.payload && before.wire_length == now.wire_length;
}

enum class Look : std::uint8_t { on, no_more };
enum class LookedAt : std::uint8_t { enough, some };
/// The other connections of the mount that have Calls, the newest first.
template <class Visit>
LookedAt each_beside(const Connection& connection, Visit visit) {
  std::size_t looked_at = 0;
  const auto& calling = connection.mount->calling;
  for (auto at = calling.rbegin(); at != calling.rend(); ++at) {
    if (at->second == &connection) continue;
    if (looked_at++ == connections_looked_at) return LookedAt::some;
    if (visit(*at->second) == Look::no_more) break;
  }
  return LookedAt::enough;
}

/// Of the Call, on another connection.
struct EarlierCopy {
  Transaction* call = nullptr;
  enum class Answer : std::uint8_t {
    none,
    refused,  ///< by who had asked
    late      ///< it stands behind the newer copy
  } answer = Answer::none;
};

/// Where the beginning of a connection is not in the capture, it may be known late, and what was said on it with it: so
/// the copy may come here behind the answer that it stands in front of.
[[nodiscard]] bool answered_behind(const Transaction& earlier, const Transaction& copy) noexcept {
  return earlier.answers == 1 && earlier.call.number < copy.call.number && earlier.reply.number > copy.call.number;
}

/// For which its requester waited when it sent the Call.
[[nodiscard]] EarlierCopy open_elsewhere(Connection& connection, const Transaction& call) {
  if (!in_time_to_repeat(connection)) return {};
  EarlierCopy found;
  const LookedAt looked_at = each_beside(connection, [&](Connection& beside) {
    Transaction* same = beside.find(call.requester, call.xid);
    if (same == nullptr || same->settled_elsewhere()) return Look::on;
    auto answer = EarlierCopy::Answer::none;
    if (same->answers != 0) {
      const bool refused = same->answers == 1 && beside.refused(same->reply);
      if (!refused && !answered_behind(*same, call)) return Look::on;
      answer = refused ? EarlierCopy::Answer::refused : EarlierCopy::Answer::late;
    }
    const bool read = same->payload && call.payload;
    if (!as_long(*same, call) && !(read && same_request(same->likeness(), call.likeness()))) return Look::on;
    found = {same, answer};
    return Look::no_more;
  });
  if (looked_at == LookedAt::some) connection.mount->not_compared.note(call.requester, call.xid, call.call);
  return found;
}

}  // namespace

void take_up_wait(Connection& connection, Transaction& call) {
  Mount& mount = *connection.mount;
  if (const auto [earlier, answer] = open_elsewhere(connection, call); earlier != nullptr) {
    earlier->sent_again = call.call;
    call.first_copy = earlier->first_copy.number != 0 ? earlier->first_copy : earlier->call;
    call.refused_answer = answer == EarlierCopy::Answer::refused ? earlier->reply : earlier->refused_answer;
    if (answer == EarlierCopy::Answer::late) call.answered_as = earlier->call;
    return;
  }
  const auto same = [&](const OpenCall& lost) {
    return lost.xid == call.xid && lost.requester == call.requester &&
           perhaps_same_request(lost.likeness, lost.wire_length, call);
  };
  const auto lost = std::find_if(mount.lost_calls.begin(), mount.lost_calls.end(), same);
  if (lost == mount.lost_calls.end()) {
    if (call.requester != Side::active) return;
    if (const auto left = mount.left_out.find(call.xid); left != mount.left_out.end()) {
      mount.left_out.erase(left);
      --mount.lost_left_out;
    }
    return;
  }
  call.first_copy = lost->first;
  call.refused_answer = lost->answer;
  mount.lost_calls.erase(lost);
}

bool unacknowledged_answer(const Connection& connection, const Transaction& call) {
  if (call.answers == 0) return false;
  const SideState& responder = connection.of(other(call.requester));
  if (responder.sent <= responder.acknowledged) return false;
  return responder.sends.newest([&](const RecentSend& send) {
    return send.reply() && send.exchange == call.id && send.ordinal > responder.acknowledged;
  }) != nullptr;
}

namespace {

/// Its adapter has acknowledged the answer, and the connection ended before it need have done more with it.
[[nodiscard]] bool answered_last(const Connection& connection, const Transaction& call) {
  constexpr TimeNs a_moment = 100'000'000;
  return connection.facts.closed && call.reply.number != 0 &&
         !trace::passed(call.reply.time, connection.facts.closed->frame.time, a_moment);
}

}  // namespace

void keep_unheard(const Connection& connection) {
  if (connection.mount == nullptr) return;
  std::vector<Unheard>& unheard = connection.mount->unheard;
  for (const auto& [key, call] : connection.transactions) {
    if (call.requester != Side::active) continue;
    const Unheard left{call.xid, call.call, call.reply, call.likeness(), call.wire_length};
    if (call.answers != 0 && !unacknowledged_answer(connection, call)) {
      if (answered_last(connection, call)) connection.mount->answered_last.add(Unheard(left));
      continue;
    }
    if (unheard.size() >= Mount::most_unheard) {
      keep_later(connection.mount->forgotten_unheard, unheard.front().call);
      unheard.erase(unheard.begin());
    }
    unheard.push_back(left);
  }
}

std::optional<Unheard> take_up_unheard(Connection& connection, Transaction& call) {
  std::vector<Unheard>& unheard = connection.mount->unheard;
  if (call.requester != Side::active) return std::nullopt;
  const auto same = [&](const Unheard& lost) {
    return lost.xid == call.xid && perhaps_same_request(lost.likeness, lost.wire_length, call);
  };
  const auto before = std::find_if(unheard.begin(), unheard.end(), same);
  if (before == unheard.end()) {
    if (!in_time_to_repeat(connection)) return std::nullopt;
    const Unheard* answered = connection.mount->answered_last.newest(same);
    if (answered != nullptr) call.unheard_copy = answered->call;
    return std::nullopt;
  }
  const Unheard found = *before;
  call.unheard_copy = found.call;
  unheard.erase(before);
  return found;
}

namespace {

/// A Call of NFSv4 that was cut before it says which request of its session it is may be one of another connection.
[[nodiscard]] bool slot_not_read(const Mount& mount, const Transaction& call) {
  if (!call.procedure || call.session || call.payload || mount.lives.size() + mount.alive.size() < 2) return false;
  return std::get<0>(*call.procedure) == wire::nfs_program && std::get<1>(*call.procedure) == 4;
}

/// Where an earlier connection is not in the capture as a whole, or more was open on it than is kept, a first copy may
/// be missing of all that comes right behind the next.
[[nodiscard]] bool first_copy_may_be_missing(const Connection& connection) {
  const Mount& mount = *connection.mount;
  if (!in_time_to_repeat(connection)) return false;
  const auto earlier = [&](FrameRef opened) { return opened.number < connection.facts.opened.number; };
  const auto gap = [](const FrameRef& at) { return at.number != 0; };
  if (gap(mount.forgotten_unheard) && earlier(mount.forgotten_unheard)) return true;
  if (gap(mount.input_lost) && !later(mount.input_lost, connection.facts.opened)) return true;
  return std::any_of(mount.lives.begin(), mount.lives.end(),
                     [&](const Life& life) {
                       return earlier(life.opened) &&
                              (life.one_way || life.seen == Life::Seen::in_part ||
                               std::any_of(life.newest_lack.begin(), life.newest_lack.end(), gap));
                     }) ||
         std::any_of(mount.alive.begin(), mount.alive.end(), [&](const auto& other) {
           const Connection& one = *other.second;
           return earlier(one.facts.opened) && (one.gaps() != 0 || !one.facts.handshake_seen);
         });
}

}  // namespace

bool Life::sampled() const noexcept {
  constexpr std::uint64_t most_places = 20;
  constexpr std::uint64_t share = 20;  // one in twenty
  const auto all_over = [](const std::optional<trace::Liveness>& side) {
    return side && side->places > 0 && side->missing > (side->amount + side->missing) / share;
  };
  return all_over(liveness[0]) && all_over(liveness[1]) && liveness[0]->places + liveness[1]->places > most_places;
}

bool gap_behind(const Mount& mount, FrameRef frame) noexcept {
  if (later(mount.forgotten_lack, frame) || later(mount.input_lost, frame)) return true;
  return std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& life) {
    return life.sampled() || std::max(life.newest_lack[0].number, life.newest_lack[1].number) > frame.number;
  });
}

bool in_time_to_repeat(const Connection& connection) noexcept {
  // A client sends again right after it has connected, what it had open.
  constexpr std::uint64_t calls_sent_again = 1024;
  return connection.facts.messages.calls <= calls_sent_again;
}

bool gap_beside(const Connection& connection, std::uint64_t behind) noexcept {
  if (connection.mount == nullptr || connection.facts.transport == trace::Transport::iwarp) return false;
  return connection.mount->gaps.beside(connection.id()).number > behind;
}

bool may_be_repetition(const Connection& connection, const Transaction& call) {
  const auto copy = [](FrameRef earlier) { return earlier.number != 0; };
  if (copy(call.first_copy) || copy(call.unheard_copy) || copy(call.slot_copy)) return true;
  if (connection.mount == nullptr) return false;
  if (first_copy_may_be_missing(connection) || slot_not_read(*connection.mount, call)) return true;
  bool found = false;
  const LookedAt looked_at = each_beside(connection, [&](const Connection& beside) {
    const Transaction* same = beside.find(call.requester, call.xid);
    if (same == nullptr || same->call.number > call.call.number) return Look::on;
    if (same->answers != 0 && !unacknowledged_answer(beside, *same)) return Look::on;
    found = !same->payload || !call.payload || same_request(same->likeness(), call.likeness());
    return found ? Look::no_more : Look::on;
  });
  return found || (looked_at == LookedAt::some && in_time_to_repeat(connection));
}

CallTimes times_of(const Transaction& call, const trace::Send& answer) noexcept {
  CallTimes times;
  times.octets = call.wire_length + answer.wire_length + call.moved;
  times.whole = answer.last.time - call.call.time;
  const bool pulled = call.last_pulled.number > call.call.number;
  const bool pushed = call.first_pushed.number > call.call.number && call.first_pushed.number < answer.frame.number;
  const FrameRef asked = pulled ? call.last_pulled : call.call_last;
  const FrameRef begun = pushed ? call.first_pushed : answer.frame;
  if (pulled) times.pull = call.last_pulled.time - call.call.time;
  times.server = begun.time - asked.time;
  if (pushed) times.push = answer.last.time - call.first_pushed.time;
  return times;
}

namespace {

void count_operation(Mount& mount, const Transaction& call, const trace::Send& answer) {
  const char* place = call.operation.empty() ? nullptr : call.operation.data();
  OperationClock* clock = place != nullptr ? mount.clocks.known(place) : nullptr;
  if (clock == nullptr) clock = mount.clocks.named(operation_name(call), place);
  if (clock != nullptr) clock->add(times_of(call, answer));
}

[[nodiscard]] FrameRef first_sent(const Transaction& call) noexcept {
  return call.first_copy.number != 0 ? call.first_copy : call.call;
}

/// It was sent on another connection as well, and is answered here: nobody waits there any more.
void settle_copies(Connection& connection, const Transaction& call) {
  Mount& mount = *connection.mount;
  const std::uint64_t first = first_sent(call).number;
  each_beside(connection, [&](Connection& beside) {
    Transaction* copy = beside.find(call.requester, call.xid);
    if (copy != nullptr && copy->answers == 0 && first_sent(*copy).number == first) copy->answered_as = call.call;
    return Look::on;
  });
  std::erase_if(mount.lost_calls, [&](const OpenCall& lost) {
    return lost.xid == call.xid && lost.requester == call.requester && lost.first.number == first;
  });
}

}  // namespace

namespace {

void count_long(LongWaits& waits, const Connection& connection, const Transaction& call, const trace::Send& answer,
                TimeNs long_wait) {
  const FrameRef first = first_sent(call);
  const TimeNs took = std::max<TimeNs>(answer.last.time - first.time, 0);  // of two taps one may be ahead
  waits.counts_from = long_wait;
  if (took >= long_wait) {
    ++waits.count;
    std::vector<ConnectionId>& named = waits.connections;
    if (named.size() < Mount::most_connections_named &&
        std::find(named.begin(), named.end(), connection.id()) == named.end()) {
      named.push_back(connection.id());
    }
  }
  if (waits.worst.frame.number != 0 && took <= waits.worst_time) return;
  waits.before = {waits.worst_time, std::move(waits.worst), waits.xid, waits.connection};
  waits.worst_time = took;
  waits.xid = call.xid;
  waits.connection = connection.id();
  waits.worst.frame = first;
  waits.worst.again = call.first_copy.number != 0 ? call.call : FrameRef{};
  waits.worst.reply_frame = answer.frame;
  waits.worst.seconds = static_cast<double>(took) / 1e9;
  waits.worst.operation = operation_name(call);
}

}  // namespace

void count_wait(Connection& connection, Transaction& call, const trace::Send& answer, TimeNs long_wait) {
  if (connection.mount == nullptr) return;
  Mount& mount = *connection.mount;
  if (call.sent_again.number != 0 || call.first_copy.number != 0) settle_copies(connection, call);
  // However often it was sent, its first answer ends the wait.
  const bool ends_wait = call.answered_as.number == 0;
  const bool refused = call.ended_by == Transaction::EndedBy::error;
  if (call.requester != Side::active) {
    if (refused) {
      mount.nfs.promises.refuse_callback(call.call, answer.frame);
    } else if (ends_wait) {
      count_long(mount.callback_waits, connection, call, answer, long_wait);
    }
    return;
  }
  note_program(mount.nfs, call);
  if (refused) {
    take_transport_error(mount.nfs, call, answer.octets, {answer.frame, connection.id()});
  } else if (call.outcome == Transaction::Outcome::unread) {
    count_unread(mount.nfs, call);
  }
  connection.answer_before = std::exchange(connection.last_answer, answer.frame);
  if (!ends_wait) return;
  ++mount.waits.answered;
  count_operation(mount, call, answer);
  if (refused) {
    ++mount.waits.refused;
    return;
  }
  count_long(mount.waits, connection, call, answer, long_wait);
}

void forget_wait(LongWaits& waits, const Transaction& call) {
  const FrameRef first = first_sent(call);
  const bool counted = waits.counts_from != 0 && trace::elapsed(first.time, call.reply.time) >= waits.counts_from;
  if (counted && waits.count != 0) --waits.count;
  const auto is_it = [&](const MountFacts::LongestWait& wait) {
    return wait.frame.number != 0 && wait.reply_frame.number == call.reply.number;
  };
  if (is_it(waits.before.wait)) waits.before = {};
  if (!is_it(waits.worst)) return;
  LongWaits::Before next = std::exchange(waits.before, {});
  waits.worst_time = next.time;
  waits.worst = std::move(next.wait);
  waits.xid = next.xid;
  waits.connection = next.connection;
}

void count_unseen_wait(Connection& connection, const Transaction& call) {
  if (connection.mount == nullptr || call.requester != Side::active) return;
  ++connection.mount->waits.answered;
  count_done(connection.mount->nfs);
}

namespace {

/// A copy of the Call is open on another connection: it was sent here before that, which the capture lacks.
void answer_elsewhere(Connection& connection, Side requester, std::uint32_t xid, FrameRef reply) {
  each_beside(connection, [&](Connection& beside) {
    Transaction* copy = beside.find(requester, xid);
    if (copy == nullptr || copy->answers != 0 || copy->settled_elsewhere()) return Look::on;
    if (beside.facts.opened.number < connection.facts.opened.number) return Look::on;
    copy->answered_as = reply;
    if (requester == Side::active) ++connection.mount->waits.answered;
    return Look::no_more;
  });
}

}  // namespace

void end_wait(Connection& connection, Side requester, std::uint32_t xid, FrameRef reply) {
  if (connection.mount == nullptr) return;
  if (requester == Side::active) {
    count_done(connection.mount->nfs);
    // It was carried, whatever it answers; not where nothing is missing, and nobody asked for it.
    if (!connection.whole()) {
      connection.answer_before = std::exchange(connection.last_answer, reply);
      watch_orphan(connection, reply);
    }
  }
  answer_elsewhere(connection, requester, xid, reply);
  std::erase_if(connection.mount->lost_calls, [&](const OpenCall& call) {
    return call.xid == xid && call.requester == requester && call.connection != connection.id();
  });
}

bool may_cross_with_close(const Connection& connection) noexcept {
  const auto& closed = connection.facts.closed;
  return closed && closed->how == Closed::How::disconnect;
}

bool crosses_with_close(const Connection& connection, FrameRef message) noexcept {
  constexpr TimeNs on_its_way = 1'000'000'000;
  return may_cross_with_close(connection) &&
         trace::elapsed(connection.facts.closed->frame.time, message.time) <= on_its_way;
}

bool end_wait_behind_close(Connection& connection, Side requester, std::uint32_t xid, FrameRef reply) {
  if (!crosses_with_close(connection, reply)) return false;
  if (connection.mount == nullptr) return true;
  const auto answered = std::erase_if(connection.mount->lost_calls, [&](const OpenCall& call) {
    return call.xid == xid && call.requester == requester && call.connection == connection.id();
  });
  if (answered == 0 || requester != Side::active) return true;
  ++connection.mount->waits.answered;
  count_done(connection.mount->nfs);
  connection.last_answer = reply;
  return true;
}

std::string operation_name(const Transaction& call) {
  if (!call.operation.empty()) return std::string(call.operation);
  if (!call.procedure) return std::string(MountFacts::operation_not_read);
  const auto [program, version, procedure] = *call.procedure;
  return wire::procedure_name(program, version, procedure);
}

}  // namespace rpcrdma::referee
