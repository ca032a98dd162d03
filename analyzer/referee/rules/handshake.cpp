// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: how a connection comes about.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "trace/spans.hpp"
#include "wire/cm.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

namespace {

constexpr TimeNs unanswered_after = 10'000'000'000;

/// The request got no answer until `end`, and what came then.
[[nodiscard]] std::string unanswered_text(const Connection& connection, FrameRef end, std::string_view then = {}) {
  const FrameRef receipt = connection.receipt;
  return fmt::format("The client's connection request got no answer in {:.1f} s ({}{}){}.",
                     seconds(trace::elapsed(connection.request_frame.time, end.time)),
                     counted(connection.handshake_repeats, "repetition"),
                     receipt.number == 0 ? std::string()
                                         : fmt::format("; the server acknowledged it in frame {} (MRA): it has the "
                                                       "request and has not decided",
                                                       receipt.number),
                     then);
}

/// A REJ refuses the connection, or ends the request.
void note_reject(Connection& connection, Closed&& closed) {
  if (connection.over()) return;
  connection.stage = Connection::Stage::rejected;
  connection.facts.closed = std::move(closed);
}

}  // namespace

const Row rows::service_port_unusual{
    .group = 'L',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "RFC 8166 section 5; RFC 8267 section 9",
    .who = "nobody",
    .title = "The service is not on port 20049",
    .explanation =
        "NFS over RDMA has port 20049; any other works as well if both sides agree. Tools that look only at 20049 miss "
        "such a connection when its handshake is not captured.",
    .evidence = "The port in the service ID or the TCP port. Not decided without the handshake.",
    .next = "Expected if the mount says port=...; name it with --port for captures that start in the middle."};

void judge_service_port(const Witness& witness, FrameRef request) {
  witness.say(RuleId::service_port_unusual,
              {.frames = {request},
               .what = fmt::format("The server's port is {}; NFS/RDMA uses {} by default. Any port is allowed.",
                                   *witness.connection.facts.server.port, wire::nfs_port)});
}

const Row rows::mpa_mismatch{
    .group = 'L',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 5044; RFC 6581",
    .who = "nobody",
    .title = "The two ends of the MPA start-up do not agree",
    .explanation =
        "Revision, markers and CRC are settled in the MPA Request and Reply. If the answer does not fit the question, "
        "the peers may frame the stream differently and the connection dies with its first data.",
    .evidence = "Revision and flags of MPA Request and Reply. Not decided when either was not captured.",
    .next =
        "The MPA revision, CRC and marker settings of both drivers; in soft-iWARP (siw) they are fixed at compile "
        "time."};

const Row rows::rnr_retry_zero{
    .group = 'L',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "IBA",
    .who = "nobody",
    .title = "RNR retry count is zero",
    .explanation =
        "The first missing receive buffer ends the connection instead of being retried. Linux clients and servers set "
        "it on purpose, so that a credit error is seen and not hidden.",
    .evidence =
        "The RNR retry count in REQ or REP. It governs the adapter of the side that receives the message. Not decided "
        "without the handshake.",
    .next = "Expected on Linux. It explains why a single RNR NAK was fatal."};

namespace {

/// 0, which no revision has, stands also for one that was not captured; what lies behind it shows that it was.
[[nodiscard]] std::optional<unsigned> mpa_revision(const Connection& connection, Side side) {
  if (connection.facts.transport != trace::Transport::iwarp) return std::nullopt;
  const SideState& state = connection.of(side);
  using Status = PeerPrivateData::Status;
  const bool behind = state.private_data.status == Status::valid || state.private_data.status == Status::unusable;
  if (state.mpa_revision == 0 && !behind) return std::nullopt;
  return state.mpa_revision;
}

}  // namespace

void judge_handshake(const Witness& witness) {
  Connection& connection = witness.connection;
  for (const Side side : {Side::active, Side::passive}) {
    const SideState& state = connection.of(side);
    if (state.depths.rnr_retry && *state.depths.rnr_retry == 0) {
      witness.say(
          RuleId::rnr_retry_zero,
          {.frames = {state.private_data.frame},
           .what = fmt::format("The {} asks its peer not to retry after an RNR NAK: the first missing Receive ends the "
                               "connection. Linux does so on purpose, to make credit faults visible.",
                               name(side))});
    }
  }
  const std::optional<unsigned> asked = mpa_revision(connection, Side::active);
  const std::optional<unsigned> answered = mpa_revision(connection, Side::passive);
  if (asked && answered && *asked != *answered) {
    witness.say(
        RuleId::mpa_mismatch,
        {.frames = {connection.reply_frame, connection.request_frame},
         .what = fmt::format("The MPA Request has revision {}, the MPA Reply revision {}.", *asked, *answered)});
  }
}

const Row rows::cm_rejected{
    .group = 'L',
    .severity = Severity::warning,
    .versions = Versions::both,
    .of_attempt = true,
    .source = "IBA; RFC 5044; RFC 6581",
    .who = "by evidence",
    .title = "The connection was refused",
    .explanation =
        "The other side did not accept the connection: nobody listens on that port, it lacks resources, or the "
        "application said no. The mount fails or keeps trying. A refusal as stale connection is normal after a crash, "
        "and the client tries again. A timeout refuses nothing: who says so has waited in vain for the RTU, or for the "
        "REP, and where that is in the capture it was lost behind it, or came too late.",
    .evidence =
        "A REJ with its reason (8: no listener, 10: stale, 28: refused by the application), or an MPA Reply with the "
        "reject bit, or a FIN or RST of the server where its MPA Reply was due.",
    .next =
        "Reason 8: on the server cat /proc/fs/nfsd/portlist has to show 'rdma' with the port asked for (rdma=y in the "
        "[nfsd] "
        "section of /etc/nfs.conf; the mount option port=). 28, or by MPA: the log and dmesg of who refused. 1, 3: "
        "rdma "
        "resource show there, what has used up its queue pairs and memory. 6, 7, 10, 30: rdma resource show cm_id, an "
        "earlier connection is still held. 4: whether everything comes through, a capture at either end. 24, 25: the "
        "service is at another port. Any other: addresses, GIDs and MTU of both, adapters and drivers (ibv_devinfo "
        "-v). "
        "Client: rpcrdma:xprtrdma_op_connect, rdma_cma:cm_event_handler."};

Attempt::Outcome outcome_of(const Connection& connection, const trace::ConnectReject& event) {
  using Outcome = Attempt::Outcome;
  const bool timeout = event.reason == wire::reject_reason::timeout;
  if (event.side == Side::active) {
    if (!timeout) return Outcome::declined;
    return connection.reply_seen() ? Outcome::unheard : Outcome::given_up;
  }
  if (!timeout) return Outcome::rejected;
  // A server has nothing else to wait for but what confirms its REP, whether the capture has that or not.
  return connection.ready_seen || !connection.reply_seen() ? Outcome::unheard : Outcome::unconfirmed;
}

bool closed_in_place_of_reply(const Connection& connection, const trace::Disconnect& event) {
  using How = trace::Disconnect::How;
  const bool by_server = event.side == Side::passive && (event.how == How::fin || event.how == How::reset);
  const bool client_first = connection.of(Side::active).farewell.number != 0;
  const bool may_have_answered = connection.gaps() != 0 || connection.of(Side::passive).unread.number != 0;
  return connection.rpcrdma() && connection.awaits_answer() && by_server && !client_first && !may_have_answered;
}

bool give_up_over_tcp(Connection& connection, const trace::Disconnect& event) {
  using How = trace::Disconnect::How;
  const bool by_client = event.side == Side::active && (event.how == How::fin || event.how == How::reset);
  const bool may_have_answered = connection.gaps() != 0 || connection.of(Side::passive).unread.number != 0;
  if (!connection.rpcrdma() || !connection.awaits_answer() || !by_client || may_have_answered) return false;
  note_reject(connection, {Closed::How::unanswered, event.frame, {}, {}});
  return true;
}

HeldFinding judge_close_in_place_of_reply(const Witness& witness, const trace::Disconnect& event) {
  Connection& connection = witness.connection;
  note_reject(connection, {Closed::How::refused, event.frame, party(event.side), {}});
  const bool reset = event.how == trace::Disconnect::How::reset;
  return witness.say(
      RuleId::cm_rejected,
      {.frames = {event.frame, connection.request_frame},
       .what = fmt::format("The server {} TCP in place of an answer to the MPA Request.", reset ? "reset" : "closed")});
}

namespace {

/// The client ends its own request: nobody has answered it in time.
HeldFinding judge_give_up(const Witness& witness, const trace::ConnectReject& event) {
  Connection& connection = witness.connection;
  note_reject(connection, {Closed::How::unanswered, event.frame, {}, {}});
  if (connection.undelivered.number != 0) return {};  // connect-refused says so
  const std::string then =
      fmt::format("; then it gave up (REJ, reason {}: {})", event.reason, wire::reject_reason_text(event.reason));
  return witness.say(RuleId::cm_unanswered, {.frames = {connection.request_frame, event.frame},
                                             .what = unanswered_text(connection, event.frame, then)});
}

/// One of the two has waited in vain for what the other one had sent.
HeldFinding judge_unheard(const Witness& witness, const trace::ConnectReject& event) {
  const Connection& connection = witness.connection;
  const std::string gave_up = fmt::format("the {} gave up (REJ, reason {}: {})", name(event.side), event.reason,
                                          wire::reject_reason_text(event.reason));
  std::string what;
  if (!connection.reply_seen()) {
    what = fmt::format(
        "After the request {}: it has waited in vain. Its acceptance (REP), and what may have confirmed "
        "that, are not in the capture.",
        gave_up);
  } else {
    what = fmt::format("The server accepted the connection, and {:.1f} s later {}: {}.",
                       seconds(trace::elapsed(connection.reply_frame.time, event.frame.time)), gave_up,
                       event.side == Side::active
                           ? "what the server had answered (REP) did not come to it, or came too late"
                           : "what the client had said since (RTU, data) did not come to it");
  }
  return witness.say(RuleId::cm_rejected, {.frames = {event.frame, connection.reply_frame, connection.request_frame},
                                           .what = std::move(what)});
}

}  // namespace

HeldFinding judge_reject(const Witness& witness, const trace::ConnectReject& event, Attempt::Outcome outcome) {
  if (outcome == Attempt::Outcome::given_up) return judge_give_up(witness, event);
  Connection& connection = witness.connection;
  note_reject(connection, {Closed::How::refused, event.frame, party(event.side), {}});
  if (outcome == Attempt::Outcome::unconfirmed) {
    return witness.say(
        RuleId::cm_rejected,
        {.frames = {event.frame, connection.reply_frame, connection.request_frame},
         .what = fmt::format("The server accepted the connection, and {:.1f} s later gave up (REJ, reason {}: {}): "
                             "neither an RTU nor data of the client confirmed it.",
                             seconds(trace::elapsed(connection.reply_frame.time, event.frame.time)), event.reason,
                             wire::reject_reason_text(event.reason))});
  }
  if (outcome == Attempt::Outcome::unheard) return judge_unheard(witness, event);
  std::string what = fmt::format("The {} refused the connection", name(event.side));
  if (connection.facts.transport == trace::Transport::iwarp) {
    what += " (MPA Reply with the reject flag).";
  } else if (event.reason == 0) {
    what += "; its reason is not in the capture.";
  } else {
    what += fmt::format(": reason {} ({}).", event.reason, wire::reject_reason_text(event.reason));
  }
  return witness.say(RuleId::cm_rejected,
                     {.frames = {event.frame, connection.request_frame},
                      // Only who lacks something of its own is to blame; the others may be right to refuse.
                      .by = when(wire::reject_subject(event.reason) == wire::RejectSubject::own_lack, event.side),
                      .what = std::move(what)});
}

const Row rows::cm_rtu_missing{
    .group = 'L',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "IBA",
    .who = "nobody",
    .title = "The connection carries data without a captured RTU",
    .explanation =
        "The last message of the handshake may be lost; the first data establishes the connection just as well.",
    .evidence = "Data from the client behind REQ and REP and no RTU. Not decided across a gap.",
    .next = "Nothing to do; it hints at packet loss on the fabric or in the capture."};

void judge_missing_ready(const Witness& witness, FrameRef first) {
  witness.say(
      RuleId::cm_rtu_missing,
      {.frames = {first},
       .what = "The connection carries data without an RTU in the capture: legal, the first message of the client "
               "establishes it as well."});
}

const Row rows::cm_unanswered{
    .group = 'L',
    .severity = Severity::warning,
    .versions = Versions::both,
    .of_attempt = true,
    .source = "IBA",
    .who = "nobody",
    .title = "The connection request, or its acceptance, was never answered",
    .explanation =
        "The request was sent, perhaps several times, and no answer came: the host is down, the path is broken, or "
        "something in between drops RDMA packets. Or the server accepted it, again and again, and heard nothing more "
        "of the client. The mount hangs until its connect timeout.",
    .evidence =
        "A REQ without an answer, or one that the client itself ends with a REJ (timeout); a REP that is repeated "
        "twice or more, over a second or longer, and neither an RTU nor data. A capture of one direction "
        "only looks the same. On iWARP it is "
        "connect-unanswered.",
    .next =
        "ping and rping between the hosts; firewalls for UDP port 4791 (RoCEv2) or the TCP port (iWARP); rdma link "
        "show; RoCE GID type and priority flow control on the switches."};

HeldFinding judge_unanswered_request(const Witness& witness, FrameRef last) {
  Connection& connection = witness.connection;
  const TimeNs waited = trace::elapsed(connection.request_frame.time, last.time);
  if (connection.facts.transport == trace::Transport::iwarp) {  // connect-unanswered says so
    // TCP does not repeat what has been acknowledged.
    const SideState& client = connection.of(Side::active);
    const std::uint64_t copies = client.liveness ? client.liveness->copies : 0;
    const bool long_since = waited >= witness.context.options.wait || std::max(client.repeats, copies) >= 2;
    if (long_since && connection.gaps() == 0) {
      connection.facts.closed = Closed{Closed::How::unanswered, connection.request_frame, {}, {}};
    }
    return {};
  }
  if (connection.undelivered.number != 0) {  // connect-refused says so
    connection.facts.closed = Closed{Closed::How::unanswered, connection.request_frame, {}, {}};
    return {};
  }
  if (connection.handshake_repeats < 2 && waited <= unanswered_after) return {};
  if (connection.handshake_repeats < 2) {  // CM goes on repeating what is not answered
    witness.unchecked(RuleId::cm_unanswered,
                      "the request was not repeated any more: its answer may be missing from the capture");
    return {};
  }
  connection.facts.closed = Closed{Closed::How::unanswered, connection.request_frame, {}, {}};
  return witness.say(RuleId::cm_unanswered, {.frames = {connection.request_frame, connection.receipt},
                                             .what = unanswered_text(connection, last)});
}

HeldFinding judge_unconfirmed_reply(const Witness& witness) {
  const trace::Liveness& sent = *witness.connection.of(Side::passive).liveness;
  witness.connection.facts.closed = Closed{Closed::How::unanswered, sent.last_copy, {}, {}};
  return witness.say(
      RuleId::cm_unanswered,
      {.frames = {witness.connection.reply_frame, sent.last_copy, witness.connection.request_frame},
       .what = fmt::format("The server accepted the connection, and neither an RTU nor data of the client confirmed it "
                           "in {:.1f} s ({}).",
                           seconds(trace::elapsed(sent.first_copy.time, sent.last_copy.time)),
                           counted(sent.copies, "repetition"))});
}

}  // namespace rpcrdma::referee
