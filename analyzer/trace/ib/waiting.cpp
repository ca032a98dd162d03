// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of the two directions are taken in the order that their answers prove: what waits, for what, and how long.
#include <utility>

#include "trace/ib/connection.hpp"

namespace rpcrdma::trace::ib {

void Connection::deliver(Leg& leg, FrameRef ref, Bytes octets, std::uint32_t wire_length, const wire::IbHeader& header,
                         bool crc_bad) {
  last_used = ref;
  const Side sender = leg.sender;
  heard[index(sender)] = ref;
  EarlyPackets& early = early_[index(sender)];
  if (!early.empty() || !come(sender, header)) {
    if (early.hold(ref, octets, wire_length, header, crc_bad)) {
      release_proven(ref);
      return;
    }
    while (!early.empty()) release(sender);
  }
  pass(sender, ref, octets, wire_length, header, crc_bad);
  const EarlyPackets& awaiting = early_[index(other(sender))];
  if (awaiting.empty()) return;
  if (come(other(sender), awaiting.front().header)) shared.say_reordered(sender, ref);
  release_proven(ref);
}

/// What it answers has been seen.
bool Connection::come(Side sender, const wire::IbHeader& header) const noexcept {
  if (is_request(header.op.kind)) return true;
  const Stream& asked = streams[index(other(sender))];
  if (waited_in_vain_[index(sender)] && !asked.requests_seen()) return true;
  return !asked.not_yet_asked(header, handshake() || start_known_[index(other(sender))]);
}

/// What the oldest waiting packet answers waits itself.
bool Connection::awaited_waits(Side sender) const noexcept {
  const EarlyPackets& early = early_[index(sender)];
  return !early.empty() && early_[index(other(sender))].request_up_to(early.front().header.psn);
}

/// What the oldest waiting packet answers is not in the capture.
bool Connection::given_up(Side sender, FrameRef now) {
  const EarlyPackets::Held& front = early_[index(sender)].front();
  const Stream& asked = streams[index(other(sender))];
  if (asked.overtaken(front.header.psn, now.time)) return true;
  const bool waits = awaited_waits(sender);
  // Its peer answered something that was sent behind this, and so behind what this answers.
  if (!waits && awaited_waits(other(sender))) return true;
  if (!passed(front.ref.time, now.time, EarlyPackets::patience)) return false;
  // What waits itself is not missing: the other side gives up first.
  if (waits && !awaited_waits(other(sender))) return false;
  waited_in_vain_[index(sender)] = !asked.requests_seen();
  return true;
}

void Connection::release(Side sender) {
  const EarlyPackets::Held held = early_[index(sender)].take_first();
  pass(sender, held.ref, held.octets, held.wire_length, held.header, held.crc_bad);
}

/// Those whose requests have come by now, or do not come.
void Connection::release_proven(FrameRef now) {
  bool released = false;
  for (bool any = true; any;) {
    any = false;
    for (const Side sender : {Side::active, Side::passive}) {
      if (early_[index(sender)].empty()) continue;
      if (!come(sender, early_[index(sender)].front().header) && !given_up(sender, now)) continue;
      release(sender);
      any = released = true;
    }
  }
  if (released) tell_farewells(false);
}

void Connection::release_all() {
  while (!early_[0].empty() || !early_[1].empty()) {
    Side oldest = Side::active;
    if (early_[0].empty() || (!early_[1].empty() && early_[1].front().ref.number < early_[0].front().ref.number)) {
      oldest = Side::passive;
    }
    if (awaited_waits(oldest) && !awaited_waits(other(oldest))) oldest = other(oldest);
    if (early_[index(oldest)].empty()) oldest = other(oldest);
    release(oldest);
    release_proven(last_used);
  }
}

void Connection::says_farewell(Side side, Disconnect::How how, FrameRef ref, SavedArea area) {
  farewells_.push_back({side, how, ref, std::move(area)});
  if (!announced) return;
  // Its sender has said all: what its peer waits for does not come. What this side waits for may, where the other side
  // is known to be late in this capture, and has not said all, too.
  const bool late = shared.reordered_said[index(other(side))] && farewells_.size() == 1;
  if (early_[index(side)].empty() || !late) release_all();
  tell_farewells(false);
}

/// Those of a side of which nothing waits any more, or `all`. Who asks goes before who answers, also where it comes
/// late.
void Connection::tell_farewells(bool all) {
  for (const Disconnect::How how : {Disconnect::How::request, Disconnect::How::reply}) {
    for (auto it = farewells_.begin(); it != farewells_.end();) {
      const std::size_t peer = index(other(it->side));
      const bool asked = how == Disconnect::How::request || dreq_seen[peer] || !shared.reordered_said[peer];
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
