// SPDX-License-Identifier: GPL-2.0-or-later
// What the connections of a mount show together.
#pragma once

#include <array>

#include "referee/state/connection.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

/// What is kept of a connection when nothing more will be heard of it.
[[nodiscard]] Life life_of(const Connection& connection);

/// null: none of the mount's.
[[nodiscard]] const Life* life_with(const Mount& mount, ConnectionId id);
/// The newest attempt of the client to connect again after this; null: it makes none.
[[nodiscard]] const Attempt* tries_again(const Mount& mount, FrameRef after, ConnectionId ended);
/// A connection, not this one, that carried a Reply behind `frame`.
[[nodiscard]] bool worked_after(const Mount& mount, FrameRef frame, const Life* but);
/// The newest connection on which the client could have sent again what was lost with another one: it is open, or the
/// client itself closed it in good order. null: there is none.
[[nodiscard]] const Life* connected_since(const Mount& mount, FrameRef ended);
/// It has been there for so short a time that what waits may be on its way to be sent again.
[[nodiscard]] bool connected_just_now(const Life& life, FrameRef end) noexcept;
/// The connection that ended last with Calls of the client open, if nothing has carried a Reply since: they are still
/// outstanding, also where the newest connection was closed in good order. null: there is none.
[[nodiscard]] const Life* left_calls_open(const Mount& mount);
/// Whose answers may be missing, as other connections show, or a sample. Once, when all lives are known. `wait`: the
/// shortest that counts.
void doubt_answers(Mount& mount, TimeNs wait);
/// What would have ended a wait that began there may stand where nobody captured it.
[[nodiscard]] bool end_may_be_lost(const Mount& mount, FrameRef begun);
/// The capture shows all that was ever asked on these connections.
[[nodiscard]] bool begins_with_the_mount(const Mount& mount);
/// How many connections the server closed when it had made a client or a session on them, and nothing else. 0 where any
/// other was of use, or may have been.
[[nodiscard]] std::uint64_t closed_at_the_door(const Mount& mount);

/// The newest frame of each side, on any connection or attempt; number 0: none.
[[nodiscard]] std::array<FrameRef, 2> newest_of_each_side(const Mount& mount);

}  // namespace rpcrdma::referee
