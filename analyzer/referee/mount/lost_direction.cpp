// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/lost_direction.hpp"

#include <array>

#include "referee/mount/lives.hpp"

namespace rpcrdma::referee {

namespace {

using State = MountFacts::State;

/// Has to move, or would have been heard: that it did not is what the state rests on.
[[nodiscard]] bool rests_on_silence_of(const Assessment& a, Side side) {
  const bool server = side == Side::passive;
  switch (a.owes) {
    case Owes::server:
    case Owes::server_unreachable:
      if (server) return true;
      break;
    case Owes::client:
    case Owes::client_unreachable:
      if (!server) return true;
      break;
    case Owes::nobody:
    case Owes::unknown:
      break;
  }
  if (a.silence && a.silence->side == side) return true;
  const bool unanswered = a.failing != nullptr && a.failing->last_answer.number == 0;
  if (server && unanswered) return true;
  // Of the other one it has something.
  return a.lost != nullptr && a.lost->closed->how == Closed::How::timeout && a.lost->one_way &&
         later(a.lost->heard[index(other(side))], a.lost->heard[index(side)]);
}

}  // namespace

std::optional<LostDirection> lost_direction(const Assessment& a, const Mount& mount) {
  if (a.state != State::waiting && a.state != State::down && a.state != State::never_up) return std::nullopt;
  const std::array<FrameRef, 2> heard = newest_of_each_side(mount);
  for (const Side side : {Side::active, Side::passive}) {
    FrameRef shown;
    for (const Life& life : mount.lives) keep_later(shown, life.newest_lack[index(side)]);
    if (later(shown, heard[index(side)]) && rests_on_silence_of(a, side)) {
      return LostDirection{side, heard[index(side)], shown};
    }
  }
  return std::nullopt;
}

void forget_silence(Assessment& a, const LostDirection& lost) {
  a.lost_direction = lost;
  a.doubt = Assessment::Doubt::direction_lost;
  a.state = State::unknown;
  a.obstacle = Obstacle::not_known;
  a.owes = Owes::unknown;
  a.since.reset();
  a.lost = nullptr;
  a.hidden += a.hanging.size();  // what would have ended their waiting may be what the capture lacks
  a.hanging.clear();
}

}  // namespace rpcrdma::referee
