// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: connection management, and why a connection was lost.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/v2/turn.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::string_view reject_reason(std::uint16_t reason) noexcept {
  switch (reason) {
    case 1:
      return "no queue pair available";
    case 3:
      return "no resources";
    case 4:
      return "timeout";
    case 5:
      return "unsupported request";
    case 6:
      return "invalid communication ID";
    case 8:
      return "nobody listens on this service ID";
    case 10:
      return "stale connection";
    case 12:
      return "invalid GID";
    case 24:
      return "port and CM redirection";
    case 25:
      return "port redirection";
    case 26:
      return "invalid path MTU";
    case 27:
      return "insufficient responder resources";
    case 28:
      return "rejected by the consumer";
    case 29:
      return "RNR retry count rejected";
    default:
      return "see the CM specification";
  }
}

/// What a Terminate means (RFC 5040 section 4.8, 5041 section 8, 5044 section 8).
enum class Meaning : std::uint8_t { access, no_buffer, too_long, invalidate, own_failure, other };

[[nodiscard]] Meaning meaning(std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode) noexcept {
  // Local catastrophic error, whose one code is 0: soft-iWARP uses the type with code 255 for anything it cannot name.
  if (etype == 0 && layer <= 1 && ecode == 0) return Meaning::own_failure;
  if (layer == 0 && etype == 1) return ecode == 9 ? Meaning::invalidate : Meaning::access;
  if (layer == 0 && etype == 2) return ecode == 9 ? Meaning::invalidate : Meaning::other;
  if (layer == 1 && etype == 1) return Meaning::access;
  if (layer == 1 && etype == 2) {
    if (ecode == 2) return Meaning::no_buffer;
    if (ecode == 5) return Meaning::too_long;
  }
  return Meaning::other;
}

/// soft-iWARP packs layer and type the other way round: both readings, the one that fits what was refused first.
[[nodiscard]] Meaning terminate_meaning(const trace::Refusal& refusal) noexcept {
  const Meaning book = meaning(refusal.layer, refusal.etype, refusal.ecode);
  const Meaning swapped = meaning(refusal.etype, refusal.layer, refusal.ecode);
  using Refused = trace::Refusal::Refused;
  const auto fits = [&](Meaning m) {
    switch (refusal.refused) {
      case Refused::read:
      case Refused::write:
        return m == Meaning::access;
      case Refused::send:
        return m == Meaning::no_buffer || m == Meaning::too_long || m == Meaning::invalidate;
      default:
        return m != Meaning::other;
    }
  };
  if (book == Meaning::own_failure && swapped == book) return book;  // 0x00: the same both ways
  if (fits(book) && book != Meaning::own_failure) return book;
  if (fits(swapped) && swapped != Meaning::own_failure) return swapped;
  // 0x10 is a DDP failure by the book and an RDMAP protection fault from soft-iWARP: which one is not certain.
  if (book == Meaning::own_failure || swapped == Meaning::own_failure) return Meaning::other;
  return book != Meaning::other ? book : swapped;
}

[[nodiscard]] Suspect suspect_from(const trace::Refusal& refusal, RuleId rule, FrameRef refused, std::string message) {
  Suspect suspect;
  suspect.rule = rule;
  suspect.refused = refused;
  if (refused.number != 0) suspect.frames.push_back(refused.number);
  suspect.frames.push_back(refusal.frame.number);
  suspect.message = std::move(message);
  suspect.how = refusal.kind == trace::Refusal::Kind::terminate ? Closed::How::terminate : Closed::How::nak;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  return suspect;
}

/// The refused Send invalidated what it must not: true when that explains the refusal.
bool explained_by_invalidation(Context& context, Connection& connection, const trace::Refusal& refusal,
                               const RecentSend* send) {
  if (send == nullptr || !send->invalidate_finding) return false;
  const Finding& finding = context.book.at(send->invalidate_finding);
  Suspect suspect = suspect_from(refusal, finding.rule, send->frame, finding.message);
  suspect.proven = true;
  suspect.culprit = finding.violator;
  context.book.evidence(send->invalidate_finding, refusal.frame);
  connection.suspect(std::move(suspect));
  return true;
}

/// A Send was refused before it was complete: its size so far may prove that it is too large.
bool partial_send_too_large(Context& context, Connection& connection, const trace::Refusal& refusal) {
  if (refusal.refused != trace::Refusal::Refused::send || refusal.refused_op == 0) return false;
  const Side sender = other(refusal.side);
  trace::Send event;
  event.connection = connection.id();
  event.side = sender;
  event.frame = refusal.refused_frame;
  event.last = refusal.refused_frame;
  event.wire_length = refusal.refused_length;
  event.ordinal = refusal.refused_op;
  const std::optional<std::uint32_t> limit = connection.threshold(sender);
  if (!limit || event.wire_length <= *limit) return false;
  RecentSend send;
  send.ordinal = event.ordinal;
  send.frame = event.frame;
  send.wire_length = event.wire_length;
  send.partial = true;
  send.call = sender == Side::active;
  judge_send_size(context, connection, event, send);
  connection.of(sender).judged_partial = event.ordinal;
  return judge_refused_size(context, connection, refusal, send);
}

void refused_send_unexplained(Context& context, Connection& connection, const trace::Refusal& refusal, RuleId rule,
                              std::string message, std::optional<Party> culprit, const RecentSend* send) {
  // A verdict needs the threshold: without it the size may be the cause (U1), and with gaps anything may be (U2).
  const bool decided = connection.trusted() && connection.threshold(other(refusal.side)).has_value() &&
                       send != nullptr && !send->holes && send->credits_known;
  const FrameRef refused = send != nullptr ? send->frame : refusal.refused_frame;
  context.book.add({rule,
                    connection.id(),
                    {refusal.frame, refused},
                    message,
                    decided ? std::nullopt : std::optional(Severity::warning),
                    send != nullptr ? std::optional(send->xid) : std::nullopt,
                    decided ? culprit : std::nullopt,
                    std::nullopt});
  Suspect suspect = suspect_from(refusal, rule, refused, std::move(message));
  suspect.culprit = decided ? culprit : std::nullopt;
  suspect.proven = suspect.culprit.has_value();
  connection.suspect(std::move(suspect));
}

void judge_terminate(Context& context, Connection& connection, const trace::Refusal& refusal, RecentSend* send) {
  const Side sender = other(refusal.side);
  SideState& state = connection.of(sender);
  const std::string text = fmt::format("The {} sent a Terminate (layer {}, type {}, code {}).", name(refusal.side),
                                       refusal.layer, refusal.etype, refusal.ecode);
  const auto note = [&] {
    context.book.add({RuleId::iwarp_terminate,
                      connection.id(),
                      {refusal.frame, refusal.refused_frame},
                      text,
                      Severity::note,
                      std::nullopt,
                      std::nullopt,
                      std::nullopt});
  };
  const Meaning what = refusal.truncated ? Meaning::other : terminate_meaning(refusal);
  if (what == Meaning::access) {
    judge_access_refused(context, connection, refusal);
    note();
    return;
  }
  if (what == Meaning::own_failure) {
    const bool decided = connection.trusted();
    const std::string message =
        fmt::format("The {}'s adapter failed and said so: Terminate, local catastrophic error.", name(refusal.side));
    context.book.add({RuleId::iwarp_terminate,
                      connection.id(),
                      {refusal.frame, refusal.refused_frame},
                      message,
                      decided ? std::nullopt : std::optional(Severity::warning),
                      std::nullopt,
                      decided ? std::optional(party(refusal.side)) : std::nullopt,
                      std::nullopt});
    Suspect suspect = suspect_from(refusal, RuleId::iwarp_terminate, refusal.refused_frame, message);
    suspect.proven = decided;
    suspect.culprit = decided ? std::optional(party(refusal.side)) : std::nullopt;
    connection.suspect(std::move(suspect));
    return;
  }
  if (what == Meaning::invalidate || what == Meaning::other) {
    if (send == nullptr)
      send = state.sends.newest([](const RecentSend& s) { return static_cast<bool>(s.invalidate_finding); });
    if (explained_by_invalidation(context, connection, refusal, send)) {
      note();
      return;
    }
  }
  if (what == Meaning::no_buffer || what == Meaning::too_long) {
    const bool exact = send != nullptr;  // the Terminate names the Send: only then its peer may be blamed
    if (send == nullptr)
      send = state.sends.newest([](const RecentSend& s) { return static_cast<bool>(s.size_finding); });
    if (send == nullptr) {
      send = state.sends.newest([](const RecentSend& s) { return s.call && s.in_flight > s.limit; });
    }
    if (send == nullptr) send = state.sends.newest([](const RecentSend&) { return true; });
    if ((send != nullptr && judge_refused_size(context, connection, refusal, *send)) ||
        partial_send_too_large(context, connection, refusal)) {
      note();
      return;
    }
    if (connection.version2 && what == Meaning::no_buffer) {
      if (!exact) send = state.sends.newest([](const RecentSend& s) { return s.in_flight > s.limit; });
      if (send != nullptr && send->in_flight > send->limit && connection.whole()) {
        Suspect suspect = suspect_from(refusal, RuleId::credit_overrun_fatal, send->frame, {});
        v2::name_overrun(refusal, *send, suspect);
        context.book.add({suspect.rule,
                          connection.id(),
                          {send->frame, refusal.frame},
                          suspect.message,
                          std::nullopt,
                          send->xid,
                          party(sender),
                          std::nullopt});
        connection.suspect(std::move(suspect));
        note();
        return;
      }
      refused_send_unexplained(context, connection, refusal, RuleId::iwarp_terminate, text, std::nullopt,
                               exact ? send : nullptr);
      return;
    }
    if (send != nullptr && what == Meaning::no_buffer && connection.whole() && send->credits_known) {
      const Ledger& ledger = connection.ledger(sender);
      Suspect suspect = suspect_from(refusal, RuleId::credit_overrun_fatal, send->frame, {});
      if (send->call && send->in_flight > send->limit) {
        suspect.proven = true;
        suspect.culprit = party(sender);
        suspect.message = fmt::format(
            "The {} had {} outstanding with {} granted; its peer had no Receive left (Terminate, frame {}).",
            name(sender), counted(send->in_flight, "Call"), counted(send->limit, "credit"), refusal.frame.number);
        context.book.add({RuleId::credit_overrun_fatal,
                          connection.id(),
                          {send->frame, refusal.frame},
                          suspect.message,
                          std::nullopt,
                          send->xid,
                          party(sender),
                          Role::requester});
      } else if (exact && send->call && ledger.answered && connection.threshold(sender) &&
                 send->in_flight + send->unanswered <= send->limit) {
        suspect.rule = RuleId::credit_grant_unbacked;
        suspect.proven = true;
        suspect.culprit = party(refusal.side);
        suspect.message = fmt::format("The {} had no Receive for a Call within its grant of {} (Terminate, frame {}).",
                                      name(refusal.side), send->limit, refusal.frame.number);
        context.book.add({RuleId::credit_grant_unbacked,
                          connection.id(),
                          {refusal.frame, send->frame, ledger.last_reply},
                          suspect.message,
                          std::nullopt,
                          send->xid,
                          party(refusal.side),
                          Role::responder});
      } else if (exact && send->reply && !send->guessed && send->unanswered == 0 && connection.threshold(sender)) {
        suspect.rule = RuleId::requester_receives_missing;
        suspect.culprit = party(refusal.side);
        suspect.message = fmt::format("The {} had no Receive for a Reply (Terminate, frame {}).", name(refusal.side),
                                      refusal.frame.number);
        context.book.add({RuleId::requester_receives_missing,
                          connection.id(),
                          {refusal.frame, send->frame},
                          suspect.message,
                          std::nullopt,
                          send->xid,
                          party(refusal.side),
                          Role::requester});
      } else {
        refused_send_unexplained(context, connection, refusal, RuleId::iwarp_terminate, text, std::nullopt,
                                 exact ? send : nullptr);
        return;
      }
      connection.suspect(std::move(suspect));
      note();
      return;
    }
  }
  refused_send_unexplained(context, connection, refusal, RuleId::iwarp_terminate, text, std::nullopt, send);
}

}  // namespace

void judge_handshake(Context& context, Connection& connection) {
  if (connection.handshake_judged) return;
  connection.handshake_judged = true;
  for (const Side side : {Side::active, Side::passive}) {
    const SideState& state = connection.of(side);
    if (state.depths.rnr_retry && *state.depths.rnr_retry == 0) {
      context.book.fold(
          {RuleId::rnr_retry_zero,
           connection.id(),
           {state.private_data.frame},
           fmt::format("The {} asks its peer not to retry after an RNR NAK: the first missing Receive ends the "
                       "connection. Linux does so on purpose, to make credit faults visible.",
                       name(side)),
           std::nullopt,
           std::nullopt,
           std::nullopt,
           std::nullopt});
    }
  }
  const std::uint8_t asked = connection.of(Side::active).mpa_revision;
  const std::uint8_t answered = connection.of(Side::passive).mpa_revision;
  if (asked != 0 && answered != 0 && asked != answered) {
    context.book.add({RuleId::mpa_mismatch,
                      connection.id(),
                      {connection.reply_frame, connection.request_frame},
                      fmt::format("The MPA Request has revision {}, the MPA Reply revision {}.", asked, answered),
                      std::nullopt,
                      std::nullopt,
                      std::nullopt,
                      std::nullopt});
  }
}

HeldFinding judge_reject(Context& context, Connection& connection, const trace::ConnectReject& event) {
  connection.rejected = true;
  const bool iwarp = connection.facts.transport == trace::Transport::iwarp;
  // Only who lacks something of its own is to blame; the others may be right to refuse.
  constexpr std::uint16_t no_queue_pair = 1;
  constexpr std::uint16_t no_resources = 3;
  const bool own_lack = !iwarp && (event.reason == no_queue_pair || event.reason == no_resources);
  return context.book.add({RuleId::cm_rejected,
                           connection.id(),
                           {event.frame, connection.request_frame},
                           iwarp ? std::string("The server refused the connection (MPA Reply with the reject flag).")
                                 : fmt::format("The {} refused the connection: reason {} ({}).", name(event.side),
                                               event.reason, reject_reason(event.reason)),
                           std::nullopt,
                           std::nullopt,
                           own_lack ? std::optional(party(event.side)) : std::nullopt,
                           std::nullopt});
}

void judge_refusal(Context& context, Connection& connection, const trace::Refusal& refusal) {
  using Kind = trace::Refusal::Kind;
  const Side sender = other(refusal.side);
  RecentSend* send = nullptr;
  if (refusal.refused == trace::Refusal::Refused::send && refusal.refused_op != 0) {
    send = connection.of(sender).sends.newest([&](const RecentSend& s) { return s.ordinal == refusal.refused_op; });
  }
  if (connection.unjudged() && refusal.kind != Kind::nak_sequence) {
    context.book.unchecked(RuleId::nak_invalid_request, connection.id(),
                           "traffic of an early draft of version 2 is not judged");
    return;
  }
  switch (refusal.kind) {
    case Kind::nak_sequence:
      context.book.fold({RuleId::nak_sequence,
                         connection.id(),
                         {refusal.frame},
                         fmt::format("The {} missed a packet and asked for it again (NAK, PSN sequence error): loss or "
                                     "reordering on the fabric.",
                                     name(refusal.side)),
                         std::nullopt,
                         std::nullopt,
                         std::nullopt,
                         std::nullopt});
      return;
    case Kind::rnr:
      judge_rnr(context, connection, refusal, send);
      return;
    case Kind::remote_access:
      if (explained_by_invalidation(context, connection, refusal, send)) return;
      judge_access_refused(context, connection, refusal);
      return;
    case Kind::terminate:
      judge_terminate(context, connection, refusal, send);
      return;
    case Kind::invalid_request:
    case Kind::remote_operational:
    case Kind::nak_other:
      break;
  }
  if (refusal.kind == Kind::invalid_request) judge_refused_read(context, connection, refusal);
  if (send != nullptr && judge_refused_size(context, connection, refusal, *send)) return;
  if (send == nullptr && partial_send_too_large(context, connection, refusal)) return;
  if (explained_by_invalidation(context, connection, refusal, send)) return;
  if (refusal.kind == Kind::remote_operational) {
    refused_send_unexplained(
        context, connection, refusal, RuleId::nak_remote_op,
        fmt::format("The {}'s adapter failed (NAK, remote operational error).", name(refusal.side)),
        party(refusal.side), send);
  } else {
    refused_send_unexplained(
        context, connection, refusal, RuleId::nak_invalid_request,
        fmt::format("The {} refused a request as invalid (NAK): a message larger than its Receive, an "
                    "operation it does not support, or too many outstanding Reads.",
                    name(refusal.side)),
        std::nullopt, send);
  }
}

}  // namespace rpcrdma::referee
