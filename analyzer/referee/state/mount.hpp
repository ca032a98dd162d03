// SPDX-License-Identifier: GPL-2.0-or-later
// One client address and one server address, and what the wire has shown between them: attempts to connect,
// connections, Calls that wait. Counts and remembers; bounded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "referee/facts.hpp"
#include "referee/held_finding.hpp"
#include "referee/state/attempt.hpp"
#include "referee/state/connection.hpp"
#include "referee/state/nfs_watch.hpp"
#include "referee/state/not_compared.hpp"
#include "referee/state/obstacle.hpp"
#include "referee/state/operation_clocks.hpp"
#include "trace/events.hpp"
#include "trace/recent.hpp"

namespace rpcrdma::referee {

using trace::Recent;

/// Attempts that fail one after the other.
struct AttemptSeries {
  std::uint64_t attempts = 0;
  std::uint64_t rejected = 0, declined = 0, unconfirmed = 0, unheard = 0, refused = 0, unreachable = 0, unanswered = 0;
  std::uint64_t by_others = 0;     ///< of the unreachable ones: somebody before the server says so
  std::uint64_t only_tcp = 0;      ///< of the unanswered ones: TCP was taken, and nothing asked for
  std::uint64_t acknowledged = 0;  ///< of the unanswered ones: the server has the request (MRA), and has not decided
  FrameRef receipt;                ///< of the newest attempt, if it is one of these; number 0: it is not
  FrameRef first;
  FrameRef foremost;                    ///< the same, or the answer to it that stands in front
  FrameRef newest;                      ///< with which the newest attempt began
  FrameRef last;                        ///< of the newest attempt
  FrameRef last_answer;                 ///< number 0: none of them was answered
  std::optional<std::uint16_t> reason;  ///< of the newest REJ
  std::optional<std::uint16_t> port;    ///< of the newest attempt: the service that is asked for
  Attempt::Port port_is = Attempt::Port::usual;
  FrameRef ended_by;                      ///< the attempt that came through; number 0: none
  std::vector<ConnectionId> connections;  ///< those of them that are connections of the report, a few
};

/// A Call without a Reply when its connection, or the capture, came to its end.
struct OpenCall {
  ConnectionId connection = 0;  ///< that carried its newest copy
  std::uint32_t xid = 0;
  trace::Side requester = trace::Side::active;
  FrameRef first;         ///< first copy, on whatever connection
  FrameRef frame;         ///< newest copy
  FrameRef ended;         ///< end of that connection; number 0: it is open
  std::string operation;  ///< empty: its procedure was not read
  Likeness likeness;
  std::uint32_t wire_length = 0;  ///< of its Send
  std::optional<wire::SessionId> session;
  TimeNs waited = 0;       ///< to the end, or to that of its connection when nobody tried again
  bool delivered = false;  ///< acknowledged by the responder's adapter
  /// Its client takes leave with it, and of what: nobody misses the answer.
  enum class Leaves : std::uint8_t {
    nothing,
    state  ///< a session, a client ID, a context of RPCSEC_GSS
  } leaves = Leaves::nothing;
  /// What else the capture shows of it.
  enum class Wrong : std::uint8_t {
    nothing,
    call,   ///< its header cannot be decoded, and it was neither refused nor answered
    answer  ///< there was an answer that its requester cannot take: not to be decoded, or not allowed
  } wrong = Wrong::nothing;
  /// Does it wait for an answer?
  enum class Waits : std::uint8_t {
    surely,
    perhaps,         ///< its answer may be what the capture lacks
    perhaps_beside,  ///< likewise: nothing is known to be missing of its connection, and much of others, or how they
                     ///< began
    perhaps_cut,     ///< likewise: all frames are there, and the capture cut what would tell
    perhaps_again,   ///< it may have been sent again on one of more connections than are compared
    perhaps_no_call  ///< it may as well be a Reply that is offered to be read
  } waits = Waits::surely;
  /// Version 2: has all of it been sent?
  enum class Sent : std::uint8_t {
    whole,              ///< or what is left of it may be what the capture lacks
    in_part,            ///< its requester could have sent the rest
    in_part_perhaps,    ///< whether it could is not known
    for_want_of_credit  ///< only a part of it, as its responder lets nothing more be sent
  } sent = Sent::whole;
  FrameRef refused;          ///< what refused it, or its answer, and ended the connection; number 0: it was not
  FrameRef perhaps_refused;  ///< what ended the connection, and may be meant for it
  FrameRef answer;  ///< the Reply that was refused, here or to an earlier copy, or is sent in vain; number 0: none
  /// It, or its answer, is sent again to the end of the capture and never taken.
  enum class Vain : std::uint8_t {
    no,
    lost,       ///< on its way, or nobody is there
    no_receive  ///< it arrives, and its receiver is not ready
  } vain = Vain::no;
  FrameRef newest_copy;  ///< of what is sent in vain
  /// InfiniBand: its responder's last word is that it has not taken it (NAK for a lost packet, RNR NAK), and it was not
  /// sent again since; number 0: not so.
  FrameRef denied;
  FrameRef no_credit;  ///< version 2: since then its responder may send nothing, to the end; number 0: not so
  FrameRef no_window;  ///< iWARP: since then its requester's TCP takes nothing, to the end; number 0: not so
  /// RDMA operation of its responder that its requester has not answered.
  struct AtWork {
    FrameRef op;           ///< number 0: none
    FrameRef newest_copy;  ///< sent again and again to the end, and never answered; number 0: not so
  };
  AtWork pulling;  ///< Read of its chunks
  AtWork pushing;  ///< Write of its results
  /// Its Reply is offered to be read, and the requester's Read of that has no answer.
  struct Fetching {
    FrameRef reply;  ///< number 0: not so
    FrameRef read;
  } fetching;
  /// Up to here nothing of its responder is missing; number 0: whatever is, it has no answer.
  FrameRef quiet_since;
  FrameRef lack_beside;  ///< newest gap in another connection of the mount, until its own ended; number 0: none

  [[nodiscard]] bool surely_waits() const noexcept { return waits == Waits::surely; }
  /// In a sentence.
  [[nodiscard]] std::string_view called() const noexcept {
    return operation.empty() ? std::string_view("call") : std::string_view(operation);
  }
};

/// A Call of the client that had no answer, as far as is proven, when its connection ended. It may come again.
struct Unheard {
  std::uint32_t xid = 0;
  FrameRef call;
  FrameRef answer;  ///< which nobody acknowledged; number 0: there was none
  Likeness likeness;
  std::uint32_t wire_length = 0;
};

/// The newest gap of all connections, and of those beside that one: one tap sees them all.
class NewestGaps {
 public:
  void note(ConnectionId connection, FrameRef frame) noexcept {
    if (connection != of_) beside_ = newest_;
    of_ = connection;
    newest_ = frame;
  }
  /// Number 0: none.
  [[nodiscard]] FrameRef beside(ConnectionId connection) const noexcept {
    return connection == of_ ? beside_ : newest_;
  }

 private:
  ConnectionId of_ = 0;
  FrameRef newest_;
  FrameRef beside_;
};

/// What was concluded as nothing seemed to be missing from a place in which a gap may still turn out to lie.
struct Resting {
  enum class On : std::uint8_t {
    close,      ///< in good order, with nothing missing in front of it
    first_copy  ///< no earlier connection seemed to have a copy of the Call
  };
  HeldFinding finding;
  RuleId rule = RuleId{};
  ConnectionId connection = 0;
  On on = On::close;
  trace::Side side = trace::Side::passive;  ///< what was missing is of this one
  std::uint64_t behind = 0;  ///< a frame: newest Send of that side; the first one of the Call's connection
  std::uint64_t before = 0;  ///< in front of this frame it stood
};

/// What is left of a connection when it, or the capture, is over.
struct Life {
  ConnectionId id = 0;
  FrameRef opened;
  std::optional<std::uint16_t> server_port;  ///< on InfiniBand only its REQ names it
  FrameRef last_reply;                       ///< newest answer to a Call; number 0: none
  std::uint64_t messages = 0;
  std::uint64_t readable = 0;   ///< messages whose header could be read
  std::uint64_t cut = 0;        ///< those that the capture cut before that
  std::uint64_t callbacks = 0;  ///< Calls of the server
  std::uint64_t forward = 0;    ///< Calls of the client, and Replies to them
  std::uint64_t errors = 0;     ///< RDMA_ERRORs
  /// Of what was sent on it, does the capture have everything?
  enum class Seen : std::uint8_t { whole, in_part } seen = Seen::whole;
  std::uint64_t open_calls = 0;  ///< when it ended, or sent behind that
  struct Behind {
    std::uint64_t calls = 0;
    FrameRef first;
  } behind_close;  ///< of these, those that were sent behind it
  std::optional<Closed> closed;
  enum class Left : std::uint8_t {
    otherwise,           ///< or not at all
    in_order,            ///< closed in good order
    perhaps_for_a_fault  ///< likewise; that a fault is why is a guess
  } left = Left::otherwise;
  [[nodiscard]] bool orderly() const noexcept { return left == Left::in_order; }
  /// Of who had nothing open the guess makes no loss.
  [[nodiscard]] bool left_in_order() const noexcept {
    return orderly() || (left == Left::perhaps_for_a_fault && open_calls == 0);
  }
  std::optional<trace::Side> fault;          ///< whose fault ended it, where that is proven
  std::optional<trace::Side> asked_in_vain;  ///< who asked whether the other is still there, and had nothing to repeat
  bool one_way = false;
  MountFacts::Roles roles = MountFacts::Roles::known;
  trace::RolesFrom roles_from = trace::RolesFrom::unknown;
  /// Of the server to the request.
  enum class Answer : std::uint8_t {
    none,      ///< or it was refused
    taken,     ///< or traffic shows it
    repeated,  ///< again and again, although the client had confirmed it, and nothing was sent since
    missing,   ///< it may stand in what the capture lacks
  } answer = Answer::none;
  [[nodiscard]] bool established() const noexcept { return answer == Answer::taken; }
  /// The request to connect: does the capture have it?
  enum class Request : std::uint8_t { seen, missing } request = Request::missing;
  /// The server ended it before anything was called. Not for having been idle.
  [[nodiscard]] bool sent_away() const noexcept {
    const bool ended = closed && closed->by == Party::server && !closed->cause &&
                       (closed->how == Closed::How::disconnect || closed->how == Closed::How::reset);
    const bool unused = messages == 0 && cut == 0;
    return established() && ended && unused && !one_way && newest_lack[0].number == 0 && newest_lack[1].number == 0;
  }
  /// Packets are missing all over both directions.
  [[nodiscard]] bool sampled() const noexcept;
  std::array<FrameRef, 2> heard;        ///< newest frame of each side
  std::array<FrameRef, 2> newest_lack;  ///< of each side's direction
  FrameRef last_words;  ///< message of the client that was cut, and the server has sent none since; number 0: none
  std::array<std::optional<trace::Liveness>, 2> liveness;
};

/// Calls answered after W or longer, and how many there were of any.
struct LongWaits {
  std::uint64_t answered = 0;  ///< Calls of the client, all of them
  std::uint64_t refused = 0;   ///< of these: by an RDMA_ERROR or RDMA2_ERROR, which is no Reply
  std::uint64_t count = 0;     ///< those that waited long
  TimeNs counts_from = 0;      ///< so long
  TimeNs worst_time = 0;
  MountFacts::LongestWait worst;  ///< of all Calls, long or not; frame number 0: none
  std::uint32_t xid = 0;
  ConnectionId connection = 0;  ///< of the worst
  /// The worst before the newest one of these, which may turn out to be no answer.
  struct Before {
    TimeNs time = 0;
    MountFacts::LongestWait wait;
    std::uint32_t xid = 0;
    ConnectionId connection = 0;
  } before;
  std::vector<ConnectionId> connections;  ///< of those that waited long, a few
};

/// Attempts to reach one port, which are no longer kept one by one.
struct FoldedAttempts {
  MountFacts::Attempts counted;
  AttemptSeries series;
};

/// Newest frame of an address, also of other connections or without RDMA; number 0: none.
struct Present {
  FrameRef surely;
  FrameRef perhaps;  ///< of more addresses than are noted one by one
};

struct Mount {
  static constexpr std::size_t most_attempts = 512;
  static constexpr std::size_t most_series = 64;
  static constexpr std::size_t most_lost_calls = 1024;
  static constexpr std::size_t most_left_out = 16'384;
  static constexpr std::size_t most_unheard = 256;
  static constexpr std::size_t most_lives = 1024;
  static constexpr std::size_t most_connections_named = 4096;
  static constexpr std::size_t most_resting = 128;

  // Lists take no room while they are empty: a capture may hold thousands of mounts.
  std::uint32_t id = 0;
  std::string client;
  std::string server;
  std::list<Attempt> attempts;        ///< newest ones, by first frame
  MountFacts::Attempts counted;       ///< those that are no longer in `attempts`
  std::vector<AttemptSeries> series;  ///< of attempts that are no longer in `attempts`; the last one may go on
  std::map<std::uint16_t, FoldedAttempts> undecided;  ///< by port: whether they are for a mount shows at the end
  std::vector<OpenCall> lost_calls;                   ///< of connections that are over
  std::vector<OpenCall> open_calls;                   ///< at the end of the capture, of connections that are open
  std::uint64_t lost_left_out = 0;              ///< Calls of the client for which there was no room in `lost_calls`
  std::multiset<std::uint32_t> left_out;        ///< their XIDs, as far as there is room: they may be sent again
  std::uint64_t open_left_out = 0;              ///< the same: younger than all in `open_calls`
  std::vector<Unheard> unheard;                 ///< of connections that are over
  Recent<Unheard, most_unheard> answered_last;  ///< right before the close: their client may have taken no notice
  FrameRef forgotten_unheard;                   ///< newest of those for which there was no room; number 0: none
  std::list<Life> lives;                        ///< by end, those that are open at the end of the capture by number
  std::uint64_t forgotten_lives = 0;
  FrameRef forgotten_lack;  ///< the newest of what they lacked; number 0: nothing
  NotCompared not_compared;
  FrameRef input_lost;  ///< of the capture: what stands in front of this frame could not be read; number 0: all could
  FrameRef clock_set;   ///< of the capture: set back before this frame; number 0: never
  /// Do the frames of the capture say when they were taken?
  enum class Times : std::uint8_t {
    told,
    none  ///< simple packets of pcapng, or a program that wrote zeros: how long anything took is not known
  } times = Times::told;
  NewestGaps gaps;
  std::vector<Resting> resting;
  /// Some of its connections may have been left with a DREQ that got no answer.
  bool left_unanswered = false;
  FrameRef unrecognised;  ///< newest request for a connection of which the capture cut what it is for; number 0: none
  std::vector<ConnectionId> connections;                ///< all of the report
  MountFacts::Roles told = MountFacts::Roles::guessed;  ///< by one of them
  std::map<ConnectionId, Connection*> alive;            ///< that may still be seen
  std::map<ConnectionId, Connection*> calling;          ///< those of them of which Calls are remembered
  LongWaits waits;
  LongWaits callback_waits;  ///< of the server's Calls; `answered` and `refused` are not counted
  NfsWatch nfs;
  OperationClocks clocks;
  std::optional<MountFacts::NfsOverTcp> nfs_over_tcp;
  std::array<Present, 2> present;  ///< at the end, by side

  /// Whoever asks for a connection is the client.
  [[nodiscard]] MountFacts::Roles roles() const noexcept {
    const bool asked = counted.made != 0 || std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
                         return attempt.outcome != Attempt::Outcome::other;
                       });
    return asked ? MountFacts::Roles::known : told;
  }
  /// The newest attempt between these ports that may still be decided.
  [[nodiscard]] Attempt* open_attempt(std::optional<std::uint16_t> client_port,
                                      std::optional<std::uint16_t> server_port) noexcept {
    for (auto at = attempts.rbegin(); at != attempts.rend(); ++at) {
      if (at->client_port == client_port && at->server_port == server_port) return &*at;
    }
    return nullptr;
  }
  [[nodiscard]] Attempt* attempt_of(ConnectionId connection) noexcept {
    for (auto at = attempts.rbegin(); at != attempts.rend(); ++at) {
      if (at->connection == connection) return &*at;
    }
    return nullptr;
  }
};

/// Something that was sent behind `frame` is not in the capture, or may not be, as of a sample nothing proves that it
/// is whole: what would have ended a wait, or the Call that shows what a Reply is about.
[[nodiscard]] bool gap_behind(const Mount& mount, FrameRef frame) noexcept;

/// Another connection of the same mount lacks frames there: one tap sees them all, and what was said last here, with
/// its acknowledgement, leaves no gap. Over TCP it does.
[[nodiscard]] bool gap_beside(const Connection& connection, std::uint64_t behind) noexcept;

/// What comes on it may have been open on an earlier one.
[[nodiscard]] bool in_time_to_repeat(const Connection& connection) noexcept;

/// `answer`: the first one.
[[nodiscard]] CallTimes times_of(const Transaction& call, const trace::Send& answer) noexcept;
/// By the name that mountstats uses, as far as it was read (MountFacts::operation_not_read).
[[nodiscard]] std::string operation_name(const Transaction& call);
/// The Call may be a copy of one that was lost with an earlier connection, or with one that fell silent and has not
/// ended yet: its wait began there.
void take_up_wait(Connection& connection, Transaction& call);
/// The connection is over.
void keep_unheard(const Connection& connection);
/// The Call was one of these, on an earlier connection.
[[nodiscard]] std::optional<Unheard> take_up_unheard(Connection& connection, Transaction& call);
/// Its Reply, or the RDMA_ERROR that answers it, was sent, and nothing proves that it arrived.
[[nodiscard]] bool unacknowledged_answer(const Connection& connection, const Transaction& call);
/// It may have been sent on another connection before, and have got no answer there: the responder knows what comes of
/// it already.
[[nodiscard]] bool may_be_repetition(const Connection& connection, const Transaction& call);
/// A Reply on `connection` that answers no Call there: that of a Call that was lost with an earlier connection, whose
/// copy is not in the capture.
void end_wait(Connection& connection, trace::Side requester, std::uint32_t xid, FrameRef reply);
/// A Reply that stands behind the DREQ of its own connection. The two have no order on the wire: they crossed, or
/// stand in the file the other way round. So do the Reply of one side and the FIN of the other, which closes one
/// direction. False: it came too late for that, and ends no wait.
bool end_wait_behind_close(Connection& connection, trace::Side requester, std::uint32_t xid, FrameRef reply);
/// It was closed in such a way that an answer may do so, and RDMA_DONE.
[[nodiscard]] bool may_cross_with_close(const Connection& connection) noexcept;
/// This one does.
[[nodiscard]] bool crosses_with_close(const Connection& connection, FrameRef message) noexcept;
/// A Call of a client whose answer stands in front of it: how long it waited is not known.
void count_unseen_wait(Connection& connection, const Transaction& call);
/// What came as the answer to the Call was none: how long it was waited for is nobody's longest wait.
void forget_wait(LongWaits& waits, const Transaction& call);
/// The Call's first answer, or what refuses it.
void count_wait(Connection& connection, Transaction& call, const trace::Send& answer, TimeNs long_wait);

/// A side of which the capture has nothing any more, though it did send.
struct LostDirection {
  trace::Side side = trace::Side::passive;
  FrameRef heard;  ///< its newest frame; number 0: none
  FrameRef shown;  ///< tells that it has sent something since
};

/// What became of a mount, as the rules of group N and the sentence see it.
struct Assessment {
  /// Why nothing can be told of it.
  enum class Doubt : std::uint8_t {
    none,
    one_direction,
    nothing_readable,  ///< of the messages
    only_tcp,          ///< TCP is up, and what went over it was cut before it told what it is
    frames_missing,
    messages_cut,    ///< whether what waits is a Call, or what came since answers it
    more_ended,      ///< elsewhere in its session than is kept: what is awaited may be among it
    not_kept,        ///< more copies or recalls were under way at a time than are kept
    not_compared,    ///< what waits may have been sent again on one of more connections than are compared
    call_or_offer,   ///< what waits may be a Reply that is offered to be read
    message_unread,  ///< of what came in pieces the end could not be read
    last_words_cut,  ///< whether what the client sent last is a Call
    clock_set,       ///< how long somebody waited, or repeated itself
    no_times,        ///< the same, as the capture has no times
    answer_missing,  ///< whether the server took the connection
    direction_lost,  ///< what one side did since it was heard last, as the capture has nothing of it, and it did send
    input_lost,      ///< whether it came up, or worked again, where input could not be read
    purpose_cut,     ///< whether a connection since the mount's own is one of it
    port_missing,    ///< whether the attempts that fail are for the service of this mount
    end_unseen,      ///< whether the newest connection ended, or goes on as another one
    unconfirmed      ///< whether what confirms the connection came to the server
  } doubt = Doubt::none;
  MountFacts::State state = MountFacts::State::unknown;
  Obstacle obstacle = Obstacle::not_known;
  Owes owes = Owes::unknown;
  MountFacts::Roles roles = MountFacts::Roles::known;
  std::optional<FrameRef> since;
  FrameRef begin;  ///< of the capture, or of what is known of the mount
  FrameRef end;    ///< of the capture
  MountFacts::Attempts attempts;
  std::vector<AttemptSeries> series;  ///< of three and more, or still failing
  Assessment() = default;
  Assessment(Assessment&&) = default;  // and no copies: `failing` points into `series`
  Assessment& operator=(Assessment&&) = default;
  ~Assessment() = default;
  const AttemptSeries* failing = nullptr;  ///< the one that lasts to the end; in `series`
  const Life* newest = nullptr;            ///< the connection that opened last
  const Life* lost = nullptr;              ///< the one whose end brought the mount down
  std::uint64_t vain = 0;                  ///< connections since then, closed in good order and without a Reply
  const Life* again = nullptr;             ///< since the oldest of `hanging` was lost with its connection
  const Attempt* reconnects = nullptr;     ///< to have it work again, and is under way
  const OpenCall* pending = nullptr;       ///< the oldest Call of the client that waits for a second or more, but not W
  std::vector<OpenCall> hanging;           ///< Calls that have waited W or longer, the oldest first
  std::vector<OpenCall> given_up;          ///< the same, on a connection after whose end the mount worked again
  std::vector<const AsyncCopy*> copies;    ///< whose completion is awaited for W or longer, the oldest first
  std::vector<const Recall*> recalls;      ///< the same
  Owes recall_owes = Owes::client;         ///< for the oldest; unknown: its connection ended before it was answered
  std::vector<const Recall*> late_recalls;  ///< those that are over, W or longer after they began, the oldest first
  const AsyncCopy* unread_copy = nullptr;   ///< whose completion may stand in a message that could not be read whole
  const Recall* unread_recall = nullptr;    ///< the same
  FrameRef newest_callback;
  const NothingDone* nothing_done = nullptr;  ///< to the end
  /// Of `nothing_done`, if there is any.
  enum class Since : std::uint8_t {
    a_while,   ///< W or longer
    the_start  ///< RPC, or the minor version, refused every Call that there was, but perhaps NULL
  } nothing_since = Since::a_while;
  /// Likewise.
  enum class Whose : std::uint8_t {
    all,         ///< of all who use the mount
    one_session  ///< of one of its sessions: others are served
  } nothing_of = Whose::all;
  /// The newest connections, since the newest Reply, if the server ended the newest of all before anything was called,
  /// and those before it; the oldest first.
  std::vector<const Life*> sent_away;
  /// Connections on which the server let the client in, and which it closed then: all that there were. 0: it is not so.
  std::uint64_t left_at_the_door = 0;
  const Recall* perhaps_late = nullptr;   ///< given back, and perhaps late: frames are missing
  const Recall* hidden_recall = nullptr;  ///< the oldest of those that may have been returned unseen
  std::uint64_t hidden_recalls = 0;       ///< of `hidden`
  std::uint64_t hidden = 0;               ///< Calls and others that may have been answered where the capture has gaps
  std::uint64_t more_ended = 0;           ///< of these: what may have ended among more than is kept
  std::uint64_t not_compared = 0;         ///< of these: what may have been sent again where that was not looked for
  std::uint64_t cut = 0;                  ///< of these: what the capture cut would tell
  std::uint64_t not_kept = 0;             ///< of these: kinds of what was promised and not kept
  std::uint64_t doubtful = 0;             ///< of `hidden`: what may be no Call
  FrameRef doubted;                       ///< the oldest of those
  FrameRef last_words;                    ///< of the client, which were cut
  FrameRef waits_unknown_since;           ///< with Doubt::clock_set and no_times
  std::optional<LostDirection> lost_direction;  ///< with Doubt::direction_lost
  /// Silence of one side while the other repeats itself.
  struct Silence {
    trace::Side side = trace::Side::passive;
    FrameRef first_copy;  ///< of what is repeated to it
    FrameRef last_copy;
    std::uint64_t copies = 0;
    FrameRef heard;      ///< its newest frame; number 0: none
    FrameRef elsewhere;  ///< behind the first repeat, from its address: another connection, a ping; number 0: nothing
    FrameRef perhaps_elsewhere;  ///< likewise, and whether it is from its address is not known

    [[nodiscard]] bool gone() const noexcept { return elsewhere.number == 0 && perhaps_elsewhere.number == 0; }
  };
  std::optional<Silence> silence;
};

}  // namespace rpcrdma::referee
