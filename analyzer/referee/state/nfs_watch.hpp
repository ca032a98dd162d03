// SPDX-License-Identifier: GPL-2.0-or-later
// What NFS lets a mount wait for, read out of its messages: what was promised, the callback channel, lost state,
// delays. Counts and remembers; bounded. The operations are those of RFC 8881, RFC 7862 and RFC 1813.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/nfs_clients.hpp"
#include "referee/state/outcomes.hpp"
#include "referee/state/promises.hpp"
#include "trace/events.hpp"
#include "wire/bytes.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::referee {

struct Connection;
struct Transaction;

/// A time in which the SEQUENCE replies of one session carry status flags.
struct FlagEpisode {
  wire::SessionId session;  ///< or the one that its client has made in its place since
  std::uint32_t flags = 0;  ///< all that were seen in it
  std::uint64_t replies = 0;
  FrameRef first;
  FrameRef last;
  FrameRef reaction;  ///< BIND_CONN_TO_SESSION or CREATE_SESSION of the client; number 0: none
  FrameRef cleared;   ///< the first reply without them; number 0: they last to the end
  ConnectionId connection = 0;
};

/// Replies of one operation that say "later" in the same words, without another answer to it in between. Where all are
/// about one file, without another answer about that.
struct DelayRun {
  enum class Files : std::uint8_t { not_known, one, several } files = Files::not_known;
  std::uint64_t file = 0;  ///< if it is one
  std::uint64_t times = 0;
  FrameRef first;
  FrameRef last;
  FrameRef over;  ///< the other answer that ended it; number 0: it lasts
  enum class Then : std::uint8_t { success, failure, other_delay } then = Then::success;
  ConnectionId connection = 0;

  [[nodiscard]] TimeNs lasted() const noexcept { return (over.number != 0 ? over : last).time - first.time; }
};

/// What was read of a message last. Large, and taken anew for each: one for all mounts.
struct StepsRead {
  wire::CallSteps asked;
  wire::ReplySteps reply;
};

/// Messages that could not be read to their end, of NFSv4 or of what is not known: the newest; number 0: none.
struct UnreadMessages {
  FrameRef any;
  FrameRef of_copies;  ///< of NFSv4.2, or perhaps: no other minor version has COPY, and what ends one (RFC 7862)
  FrameRef copy;       ///< likewise, of the client, or what answers it: a COPY that is asynchronous
  FrameRef recall;     ///< the server's

  /// Those of others in which what is awaited here may end.
  void keep_ends(const UnreadMessages& others) noexcept {
    keep_later(any, others.any);
    keep_later(of_copies, others.of_copies);
  }
};

struct NfsWatch {
  static constexpr std::size_t most_episodes = 64;
  static constexpr std::size_t most_errors = 256;

  struct ErrorCount {
    std::uint64_t times = 0;
    FrameRef newest;
    ConnectionId connection = 0;
  };
  /// By operation (one of wire's names, which last), status, and whether it is one of NFSv3.
  using ErrorKey = std::tuple<std::string_view, std::uint32_t, bool>;
  struct Restart {
    std::uint64_t replies = 0;
    std::uint32_t status = 0;  ///< of the first; 0: RESTART_RECLAIM_NEEDED
    FrameRef first;
    FrameRef last;
    ConnectionId connection = 0;
  };

  NfsClients clients;
  Promises promises;
  FrameRef channel_made;                ///< the newest BIND_CONN_TO_SESSION or CREATE_SESSION; number 0: none
  std::vector<FlagEpisode> channel;     ///< the callback channel is down
  std::vector<FlagEpisode> revoked;     ///< state was taken away
  std::map<ErrorKey, DelayRun> delays;  ///< while they last
  /// Of Calls it is read which file they are about: since the server has asked to wait for the first time.
  enum class Files : std::uint8_t { not_read, read } files = Files::not_read;
  std::map<ErrorKey, DelayRun> delays_over;  ///< the longest of those that are over
  std::map<ErrorKey, ErrorCount> errors;
  Restart restart;
  Outcomes outcomes;
  FrameRef newest_callback;
  UnreadMessages unread;
  StepsRead* read = nullptr;  ///< whoever has the mounts owns it
};

/// Does anybody wait for what this operation asks for, or says?
[[nodiscard]] bool watches(std::uint32_t operation, bool callback) noexcept;
/// What matters of a Call or callback. `message` begins with the XID; `places`: where its data stand.
void watch_call(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length,
                const wire::DataPlaces& places);
/// Does it matter which file a Call is about?
[[nodiscard]] bool watches_files(const Connection& connection) noexcept;
/// Of NFSv3, where that matters. `arguments`: from the first on, which mostly is a file handle.
void watch_file(const Connection& connection, Transaction& call, wire::Bytes arguments);
/// The Call, or its Reply, of that frame could not be read to its end: it may have been what somebody waits for.
void watch_unread(Connection& connection, const Transaction& call, FrameRef frame);
/// Can all that a Call asks for be read from so much of it?
[[nodiscard]] bool reads_to_the_end(Connection& connection, wire::Bytes message, std::size_t wire_length,
                                    const wire::DataPlaces& places);
/// A Reply to a Call of the client that is not in the capture: that may have returned what was recalled since.
void watch_orphan(Connection& connection, FrameRef reply);
/// The Call was answered, and how is not known: a recall may have been excused.
void watch_unseen_reply(Connection& connection, Transaction& call);
/// The Call has got its first answer, which did not refuse what it asked for as far as that was read (watch_reply).
void watch_answered(Connection& connection, Transaction& call, FrameRef reply);
/// What matters of its first Reply.
/// `writes`: its Write list; nullptr: not known.
void watch_reply(Connection& connection, Transaction& call, FrameRef frame, wire::Bytes message,
                 std::size_t wire_length, const std::vector<wire::WriteChunk>* writes);

}  // namespace rpcrdma::referee
