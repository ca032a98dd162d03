// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of the two directions are taken in the order that their answers prove: what waits, for what, and how long.
#include <utility>

#include "trace/ib/connection.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace::ib {

namespace {

/// Queues of an adapter that are read in turn: frames change places in the file, with the stamps that they have. More
/// than that is a clock that was set.
[[nodiscard]] bool stamped_before(FrameRef a, FrameRef b) noexcept {
  return a.time != 0 && b.time != 0 && a.time < b.time && !passed(a.time, b.time, change_of_places);
}

[[nodiscard]] bool acknowledges(wire::IbKind kind) noexcept {
  using Kind = wire::IbKind;
  return kind == Kind::acknowledge || kind == Kind::read_response || kind == Kind::atomic_acknowledge;
}

/// Is the request among what this acknowledges? It acknowledges all in front of it, too.
[[nodiscard]] bool acknowledged_by(const wire::IbHeader& request, const wire::IbHeader& answer) noexcept {
  if (!is_request(request.op.kind) || is_request(answer.op.kind)) return false;
  const bool refuses =
      answer.op.kind == wire::IbKind::acknowledge && wire::aeth_type(answer.syndrome) != wire::AethType::ack;
  return !refuses && psn_distance(request.psn, answer.psn) >= 0;
}

[[nodiscard]] bool sent_before(FrameRef a, FrameRef b) noexcept {
  return stamped_before(a, b) || (a.number < b.number && !stamped_before(b, a));
}

}  // namespace

void Connection::deliver(Side sender, const Captured& packet) {
  if (of_epoch_before(sender, packet.header, packet.ref)) return;
  last_used = packet.ref;
  const FrameRef before = shared.heard[index(sender)].frame();
  shared.heard[index(sender)].see(packet.ref);
  if (acknowledges(packet.header.op.kind)) shared.acknowledging[index(sender)].see(packet.ref);
  EarlyPackets& early = early_[index(sender)];
  if (!early.empty() || !come(sender, packet.header)) {
    if (early.hold(packet)) {
      shared.waits(sender, packet.ref, packet.header);
      release_proven(packet.ref);
      return;
    }
    shared.say_limit(sender, packet.ref);
    while (!early.empty()) release(static_cast<int>(sender));
  }
  const EarlyPackets& awaiting = early_[index(other(sender))];
  if (!awaiting.empty() && stamped_before(packet.ref, before)) shared.say_shuffled(sender, packet.ref);
  pass(sender, packet);
  if (awaiting.empty()) {
    if (!farewells_.empty()) tell_farewells(false, last_used);
    return;
  }
  const wire::IbHeader& early_answer = awaiting.front().header;
  const bool answered_before = acknowledged_by(packet.header, early_answer) || come(other(sender), early_answer);
  if (answered_before) shared.say_late(sender, packet.ref);
  release_proven(packet.ref);
}

/// What it answers has been seen.
bool Connection::come(Side sender, const wire::IbHeader& header) const noexcept {
  if (is_request(header.op.kind)) return true;
  const Stream& asked = streams[index(other(sender))];
  if (waited_in_vain_[index(sender)] && !asked.requests_seen()) return true;
  return !asked.not_yet_asked(header, handshake() || start_known_[index(other(sender))]);
}

bool Connection::front_come(int direction) const noexcept {
  return come(static_cast<Side>(direction), early(direction).front().header);
}

/// The request that the oldest waiting packet answers waits itself. One that is a request answers nothing.
bool Connection::awaited_waits(int direction) const noexcept {
  const EarlyPackets& waiting = early(direction);
  if (waiting.empty() || is_request(waiting.front().header.op.kind)) return false;
  return early(1 - direction).request_up_to(waiting.front().header.psn);
}

bool Connection::front_given_up(int direction, FrameRef now) {
  const Side sender = static_cast<Side>(direction);
  const Stream& asked = streams[index(other(sender))];
  if (asked.overtaken(early(direction).front().header.psn, now.time)) return true;
  // Its peer answered something that was sent behind this, and so behind what this answers.
  const bool answered_beyond = !awaited_waits(direction) && awaited_waits(1 - direction);
  if (answered_beyond && passed(early(direction).front().ref.time, now.time, change_of_places)) return true;
  if (!ProvenOrder::waited_long(*this, direction, now)) return false;
  waited_in_vain_[index(sender)] = !asked.requests_seen();
  return true;
}

void Connection::release(int direction) {
  const Side sender = static_cast<Side>(direction);
  const EarlyPackets::Held held = early_[index(sender)].take_first();
  pass_in_turn(sender, held);
}

/// What its peer sent behind the next request that waits in this direction, and of which nothing else is known, stays
/// behind that.
void Connection::pass_in_turn(Side sender, const EarlyPackets::Held& held) {
  Stream& asked = streams[index(other(sender))];
  asked.stay_behind(early_[index(sender)].next_request());
  pass(sender, held.captured());
  asked.go_on();
}

void Connection::release_proven(FrameRef now) {
  bool released = ProvenOrder::release_proven(*this, now);
  // Each waits for a request behind the other: something changed places. Where PSNs do not tell what, it was an answer
  // with a request of its own side. Of which side, nobody knows: as they are stamped, and then as they stand.
  while (awaited_waits(0) && awaited_waits(1)) {
    const bool told = early_[0].any_displaced() || early_[1].any_displaced();
    const bool client =
        told ? early_[0].any_displaced() : sent_before(*early_[0].next_request(), *early_[1].next_request());
    const Side sender = client ? Side::active : Side::passive;
    EarlyPackets& waiting = early_[index(sender)];
    const EarlyPackets::Held held = told ? waiting.take_displaced() : waiting.take_first_request();
    pass_in_turn(sender, held);
    shared.say_shuffled(sender, held.ref);
    ProvenOrder::release_proven(*this, now);
    released = true;
  }
  if (released) tell_farewells(false, now);
}

void Connection::says_farewell(Side side, Disconnect::How how, FrameRef ref, SavedArea area) {
  Farewell farewell{side, how, ref, std::move(area)};
  if (announced) return hear_out(std::move(farewell));
  farewells_.push_back(std::move(farewell));
}

void Connection::hear_out(Farewell farewell) {
  const Side side = farewell.side;
  farewells_.push_back(std::move(farewell));
  // Its sender has said all: what its peer waits for does not come. What this side waits for may, where the other side
  // is known to be late in this capture, and has not said all, too.
  const bool late = shared.late[index(other(side))] && farewells_.size() == 1;
  if (early_[index(side)].empty() || !late) ProvenOrder::release_all(*this, last_used);
  tell_farewells(false, last_used);
}

void Connection::time_passed(FrameRef now) {
  release_proven(now);
  if (!farewells_.empty()) tell_farewells(false, now);
}

/// What that side sent before it learned of the farewell: it is known to come late in this capture.
bool Connection::may_say_more(Side side, FrameRef farewell, FrameRef now) const noexcept {
  const std::size_t i = index(side);
  return shared.late[i] && !dreq_seen[i] && !drep_seen[i] && !passed(farewell.time, now.time, ProvenOrder::patience);
}

/// Those of a side of which nothing waits any more, or `all`. Who asks goes before who answers, also where it comes
/// late: neighbours may have changed places in the file, so what answers waits a while for what asks.
void Connection::tell_farewells(bool all, FrameRef now) {
  for (const Disconnect::How how : {Disconnect::How::request, Disconnect::How::reply}) {
    for (auto it = farewells_.begin(); it != farewells_.end();) {
      const Side peer = other(it->side);
      const bool over = passed(it->frame.time, now.time, ProvenOrder::patience);
      const bool asked =
          how == Disconnect::How::request ? !may_say_more(peer, it->frame, now) : over || dreq_seen[index(peer)];
      if (it->how != how || !(all || (asked && early_[index(it->side)].empty()))) {
        ++it;
        continue;
      }
      const Farewell told = std::move(*it);
      it = farewells_.erase(it);
      for (Stream& stream : streams) stream.close(told.frame);
      tell_liveness(told.frame);
      Disconnect d;
      shared.fill(d, told.side, told.frame);
      d.how = told.how;
      d.private_data = told.private_data.area();
      shared.sink.on(d);
    }
  }
}

}  // namespace rpcrdma::trace::ib
