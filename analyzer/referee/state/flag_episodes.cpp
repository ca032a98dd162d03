// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/flag_episodes.hpp"

namespace rpcrdma::referee {

namespace {

/// Where there is no room: what is over goes first.
[[nodiscard]] FlagEpisode& new_episode(std::vector<FlagEpisode>& episodes) {
  if (episodes.size() >= NfsWatch::most_episodes) {
    const auto over = std::find_if(episodes.begin(), episodes.end(),
                                   [](const FlagEpisode& episode) { return episode.cleared.number != 0; });
    episodes.erase(over != episodes.end() ? over : episodes.begin());
  }
  return episodes.emplace_back();
}

}  // namespace

void take_flags(std::vector<FlagEpisode>& episodes, const wire::Sequenced& said, std::uint32_t which, FrameRef frame,
                ConnectionId connection) {
  const std::uint32_t flags = said.flags & which;
  FlagEpisode* episode =
      lasting_episode(episodes, [&](const wire::SessionId& session) { return session == said.session; });
  if (flags == 0) {
    if (episode != nullptr) episode->cleared = frame;
    return;
  }
  if (episode == nullptr) {
    episode = &new_episode(episodes);
    episode->session = said.session;
    episode->first = frame;
    episode->connection = connection;
  }
  episode->flags |= flags;
  ++episode->replies;
  episode->last = frame;
}

void take_renewal(std::vector<FlagEpisode>& channel, std::optional<std::uint32_t> alone, std::uint32_t status,
                  FrameRef frame, ConnectionId connection) {
  // The lease was renewed, and the client cannot be called (RFC 7530 section 16.28.4). Of other errors nothing follows.
  const bool down = status == wire::nfs4err_cb_path_down;
  if (alone != wire::operation::renew || (!down && status != wire::nfs4_ok)) return;
  wire::Sequenced said;
  said.session = no_session;
  said.flags = down ? wire::seq4_cb_path_down : 0;
  take_flags(channel, said, channel_down, frame, connection);
}

}  // namespace rpcrdma::referee
