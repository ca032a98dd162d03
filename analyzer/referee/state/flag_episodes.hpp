// SPDX-License-Identifier: GPL-2.0-or-later
// The times in which a server says of a session that something is wrong: with each SEQUENCE, or, where NFSv4.0 has no
// sessions, with each RENEW.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "referee/state/nfs_watch.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

inline constexpr std::uint32_t channel_down =
    wire::seq4_cb_path_down | wire::seq4_cb_path_down_session | wire::seq4_backchannel_fault;
/// Whose clients have none: NFSv4.0
inline constexpr wire::SessionId no_session{};

/// The newest of a session that lasts; nullptr: none does.
template <class Matches>
[[nodiscard]] FlagEpisode* lasting_episode(std::vector<FlagEpisode>& episodes, Matches matches) {
  const auto at = std::find_if(episodes.rbegin(), episodes.rend(), [&](const FlagEpisode& episode) {
    return episode.cleared.number == 0 && matches(episode.session);
  });
  return at == episodes.rend() ? nullptr : &*at;
}

/// What a SEQUENCE says: `which` of its flags.
void take_flags(std::vector<FlagEpisode>& episodes, const wire::Sequenced& said, std::uint32_t which, FrameRef frame,
                ConnectionId connection);
/// What an answer of NFSv4 says of the callback channel by its status. `alone`: the one operation that it speaks of.
void take_renewal(std::vector<FlagEpisode>& channel, std::optional<std::uint32_t> alone, std::uint32_t status,
                  FrameRef frame, ConnectionId connection);

}  // namespace rpcrdma::referee
