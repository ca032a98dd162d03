// SPDX-License-Identifier: GPL-2.0-or-later
// What the two ends of a mount owe each other behind their Replies: the end of a copy (RFC 7862 section 15.2), state
// that the server wants back (RFC 8881 sections 10.4 and 12.5.5). Counts and remembers; bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/nfs_clients.hpp"
#include "trace/events.hpp"
#include "trace/recent.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::referee {

using trace::Recent;

/// What ended over other addresses of a session since something is awaited.
enum class Elsewhere : std::uint8_t {
  all_kept,        ///< is known
  more_than_kept,  ///< is so much that what is awaited may be among what was forgotten
};

/// Signs since that one end has begun anew, and knows nothing of it any more; number 0: none.
struct Forgotten {
  FrameRef sign;     ///< on a connection that was opened since
  FrameRef perhaps;  ///< on one of which the capture does not show when it was opened
};

/// An operation of a Call, or of a callback.
struct Operation {
  FrameRef call;          ///< number 0: none
  std::size_t place = 0;  ///< which of them it is, from 0
};

/// A COPY that the server does behind the reply.
struct AsyncCopy {
  wire::StateId state;
  FrameRef call;
  FrameRef reply;
  std::uint32_t xid = 0;
  ConnectionId connection = 0;
  std::optional<wire::SessionId> session;  ///< of the client that asked for it
  Forgotten forgotten;
  FrameRef ended;      ///< CB_OFFLOAD, a poll that says so, or OFFLOAD_CANCEL; number 0: still awaited
  Operation ended_by;  ///< what that was
  FrameRef put_off;    ///< a CB_OFFLOAD that the client refused, or wants later; number 0: none
  Elsewhere elsewhere = Elsewhere::all_kept;
};

/// State that the server wants back.
struct Recall {
  enum class Of : std::uint8_t { delegation, layout } of = Of::delegation;
  std::optional<wire::StateId> state;  ///< nothing: all of a file system, or all
  FrameRef callback;
  std::size_t place = 0;  ///< which operation of its CB_COMPOUND, from 0
  FrameRef answer;        ///< the client's reply to it
  /// What that says, where it is not refused.
  enum class Answered : std::uint8_t {
    agreed,
    later  ///< NFS4ERR_DELAY
  } answered = Answered::agreed;
  std::uint32_t xid = 0;
  ConnectionId connection = 0;
  std::optional<wire::SessionId> session;  ///< of the client that has it
  Forgotten forgotten;
  FrameRef ended;      ///< returned, excused by an error, or taken away; number 0: still awaited
  Operation returned;  ///< if it was
  /// Did the server take it away, which then waits for nothing?
  enum class Revoked : std::uint8_t {
    no,
    perhaps,  ///< this or another state
    surely    ///< with `ended`
  } revoked = Revoked::no;
  FrameRef perhaps_returned;  ///< a Reply since, to a Call that the capture lacks; number 0: none
  Elsewhere elsewhere = Elsewhere::all_kept;
};

/// What nobody waits for any more.
struct StateOver {
  wire::StateId state;
  FrameRef frame;
  std::size_t place = 0;  ///< if it is a Call: which operation of it
};

struct Promises {
  static constexpr std::size_t most_copies = 1024;
  static constexpr std::size_t most_recalls = 1024;
  static constexpr std::size_t most_returning = 64;

  std::vector<AsyncCopy> copies;
  std::vector<Recall> recalls;
  FrameRef copy_not_kept;    ///< newest for which there was no room: what became of it is not known; number 0: none
  FrameRef recall_not_kept;  ///< the same
  Recent<StateOver, most_copies> copies_over;  ///< the newest: their reply may not have been seen yet, or elsewhere
  Recent<StateOver, most_recalls> returned;    ///< delegations given back, the newest
  Recent<StateOver, most_recalls> layouts_returned;  ///< those of files, the newest
  FrameRef all_layouts_returned;                     ///< the newest of those of a file system, or all; number 0: none
  std::size_t all_layouts_place = 0;                 ///< which operation of that Call
  std::deque<FrameRef> layouts_returning;            ///< LAYOUTRETURNs that are not answered, the newest
  /// That one end has begun anew: the newest signs. What was promised before `opened` is read late, behind a hole.
  struct Sign {
    FrameRef opened;  ///< the connection that shows it
    FrameRef frame;
    ConnectionId on = 0;
  };
  Sign begun;
  Sign perhaps_begun;  ///< when its connection was opened is not in the capture

  /// A server that has lost its state knows nothing of what it had promised, or asked for, before this connection; a
  /// client that makes itself known anew has none of it, and waits for none of it, any more. `owner`: which client it
  /// is that begins anew; nothing: of all. Those whose session is served behind that (NfsClients) are not meant.
  void forget(const ConnectionFacts& on, FrameRef sign, const NfsClients& clients, std::optional<std::uint64_t> owner);

  /// It is done, or nobody waits for it: CB_OFFLOAD, OFFLOAD_CANCEL, an answer to OFFLOAD_STATUS.
  void end_copy(const wire::StateId& state, const Operation& by);
  void begin_copy(AsyncCopy copy);

  void begin_recall(Recall recall);
  /// DELEGRETURN, FREE_STATEID
  void give_back_delegation(const wire::StateId& state, const Operation& by);
  /// LAYOUTRETURN
  void give_back_layouts(const wire::Layouts& layouts, const Operation& by);
  /// The Reply proves that the server has not done this operation, nor what stands behind it in the Call: what was
  /// given back, or canceled, with these is awaited as before.
  void not_done(const Operation& first);
  /// DESTROY_CLIENTID has succeeded, with which nothing of this client's is left (RFC 8881 section 18.50.3).
  void client_gone(std::uint64_t client, FrameRef reply, const NfsClients& clients);
  void layouts_answered(FrameRef call);
  /// The client's answer to a CB_COMPOUND. To a recall: an error that says it has nothing to give back ends it, and so
  /// does one in front of it, with which it did not come to the recall. A CB_OFFLOAD that it has not come to, or wants
  /// later, has ended nothing.
  void answer_callback(FrameRef callback, const wire::ReplySteps& reply, FrameRef frame);
  /// RPC, or the transport, refused the callback, with all that it says.
  void refuse_callback(FrameRef callback, FrameRef frame);
  /// It was answered, and how is not known: its recalls may have been excused.
  void recalls_answered_unseen(FrameRef callback);
  /// A SEQUENCE of this session says for the first time that state of its client was revoked: `flags`, those that are
  /// new. Of what was recalled it is all (EXPIRED_ALL_STATE_REVOKED), or what was not returned
  /// (RECALLABLE_STATE_REVOKED), or whatever it may be (RFC 8881 section 18.46.3).
  void revoke(std::uint32_t flags, FrameRef reply, const wire::SessionId& session, const NfsClients& clients);
  /// A Reply to a Call of the client that is not in the capture: that may have returned what was recalled since.
  void perhaps_given_back(FrameRef reply);

 private:
  /// The client has not taken this operation of a callback, nor what stands behind it.
  void not_taken(const Operation& first);
};

}  // namespace rpcrdma::referee
