// SPDX-License-Identifier: GPL-2.0-or-later
// What NFS lets a mount wait for, read out of its messages: what was promised, the callback channel, lost state,
// delays. Counts and remembers; bounded. The operations are those of RFC 8881, RFC 7862 and RFC 1813.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/outcomes.hpp"
#include "referee/state/promises.hpp"
#include "trace/events.hpp"
#include "wire/bytes.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::referee {

struct Connection;
struct Transaction;

/// A time in which SEQUENCE replies carry status flags.
struct FlagEpisode {
  std::uint32_t flags = 0;  ///< all that were seen in it
  std::uint64_t replies = 0;
  FrameRef first;
  FrameRef last;
  FrameRef reaction;  ///< BIND_CONN_TO_SESSION or CREATE_SESSION of the client; number 0: none
  FrameRef cleared;   ///< the first reply without them; number 0: they last to the end
  ConnectionId connection = 0;
};

/// Replies of one operation that say "later", without a success of it in between.
struct DelayRun {
  std::uint32_t status = 0;
  std::uint64_t times = 0;
  FrameRef first;
  FrameRef last;
  FrameRef over;  ///< the success that ended it; number 0: it lasts
  ConnectionId connection = 0;

  [[nodiscard]] TimeNs lasted() const noexcept { return (over.number != 0 ? over : last).time - first.time; }
};

/// What was read of a message last. Large, and taken anew for each: one for all mounts.
struct StepsRead {
  wire::CallSteps asked;
  wire::ReplySteps reply;
};

struct NfsWatch {
  static constexpr std::size_t most_episodes = 32;
  static constexpr std::size_t most_errors = 256;
  static constexpr std::size_t most_sessions = 4;

  struct ErrorCount {
    std::uint64_t times = 0;
    FrameRef newest;
    ConnectionId connection = 0;
  };
  /// By operation, status, and whether it is one of NFSv3.
  using ErrorKey = std::tuple<std::string, std::uint32_t, bool>;
  struct Restart {
    std::uint64_t replies = 0;
    std::uint32_t status = 0;  ///< of the first; 0: RESTART_RECLAIM_NEEDED
    FrameRef first;
    FrameRef last;
    ConnectionId connection = 0;
  };

  Promises promises;
  FrameRef channel_made;                          ///< the newest BIND_CONN_TO_SESSION or CREATE_SESSION; number 0: none
  std::vector<FlagEpisode> channel;               ///< the callback channel is down
  std::vector<FlagEpisode> revoked;               ///< state was taken away
  using DelayKey = std::pair<std::string, bool>;  ///< the operation, and whether it is one of NFSv3
  std::map<DelayKey, DelayRun> delays;            ///< while they last
  std::map<DelayKey, DelayRun> delays_over;       ///< the longest of those that are over
  std::map<ErrorKey, ErrorCount> errors;
  Restart restart;
  /// NFSv4.0: a client that begins anew confirms another verifier; one that only names its callbacks anew, the same.
  std::optional<std::uint64_t> asked_verifier;  ///< of the newest SETCLIENTID
  std::optional<std::uint64_t> verifier;        ///< of the newest that was confirmed
  Outcomes outcomes;
  FrameRef newest_callback;
  FrameRef unread;                        ///< newest message that could not be read to its end; number 0: none
  std::vector<wire::SessionId> sessions;  ///< that are used here, the newest last
  StepsRead* read = nullptr;              ///< whoever has the mounts owns it
  std::uint64_t connections_opened = 0;   ///< SEQUENCE and others behind the second one may speak of a restart
};

/// Does anybody wait for what this operation asks for, or says?
[[nodiscard]] bool watches(std::uint32_t operation, bool callback) noexcept;
/// What matters of a Call or callback. `message` begins with the XID; `places`: where its data stand.
void watch_call(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length,
                const wire::DataPlaces& places);
/// A Call or Reply of that frame could not be read to its end: it may have been what somebody waits for.
void watch_unread(Connection& connection, FrameRef frame);
/// Can all that a Call asks for be read from so much of it?
[[nodiscard]] bool reads_to_the_end(Connection& connection, wire::Bytes message, std::size_t wire_length,
                                    const wire::DataPlaces& places);
/// A Reply to a Call of the client that is not in the capture: that may have returned what was recalled since.
void watch_orphan(Connection& connection, FrameRef reply);
/// The Call was answered, and how is not known: a recall may have been excused.
void watch_unseen_reply(Connection& connection, Transaction& call);
/// The Call has got its first answer, which did not refuse what it asked for as far as that was read (watch_reply).
void watch_answered(Connection& connection, Transaction& call);
/// What matters of its first Reply.
/// `writes`: its Write list; nullptr: not known.
void watch_reply(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                 std::size_t wire_length, const std::vector<wire::WriteChunk>* writes);

}  // namespace rpcrdma::referee
