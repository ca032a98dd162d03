// SPDX-License-Identifier: GPL-2.0-or-later
// Group L: connection management, and why a connection was lost.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "referee/cause/causes.hpp"
#include "referee/cause/not_taken.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/missing_receive.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/v2_turn.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::referee {

namespace {

/// What a Terminate means (RFC 5040 section 4.8, 5041 section 8, 5044 section 8).
enum class Meaning : std::uint8_t { access, no_buffer, too_long, invalidate, own_failure, other };

[[nodiscard]] Meaning meaning(std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode) noexcept {
  // Local catastrophic error, whose one code is 0: soft-iWARP uses the type with code 255 for anything it cannot name.
  if (etype == 0 && layer <= 1 && ecode == 0) return Meaning::own_failure;
  if (layer == 0 && etype == 1) return ecode == 9 ? Meaning::invalidate : Meaning::access;
  if (layer == 0 && etype == 2) return ecode == 9 ? Meaning::invalidate : Meaning::other;
  constexpr std::uint8_t bad_version = 4;  // of the segment that asks for the access, not of what it may access
  if (layer == 1 && etype == 1) return ecode == bad_version ? Meaning::other : Meaning::access;
  if (layer == 1 && etype == 2) {
    if (ecode == 2) return Meaning::no_buffer;
    if (ecode == 5) return Meaning::too_long;
  }
  return Meaning::other;
}

/// Which of its two readings a Terminate has, and what it then means.
struct TerminateRead {
  enum class As : std::uint8_t { book, swapped, either } as = As::either;
  Meaning meaning = Meaning::other;
};

/// soft-iWARP packs layer and type the other way round: both readings, the one that fits what was refused first.
[[nodiscard]] TerminateRead read_terminate(const trace::Refusal& refusal) noexcept {
  using As = TerminateRead::As;
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
  if (book == Meaning::own_failure && swapped == book) return {As::book, book};  // 0x00: the same both ways
  if (fits(book) && book != Meaning::own_failure) return {As::book, book};
  // 0x10 is a DDP failure by the book and an RDMAP protection fault from soft-iWARP: which one is not certain, unless
  // what it refused tells.
  const bool told = refusal.refused != Refused::unknown && refusal.refused != Refused::nothing;
  if (book == Meaning::own_failure && !told) return {};
  if (fits(swapped) && swapped != Meaning::own_failure) return {As::swapped, swapped};
  if (book == Meaning::own_failure || swapped == Meaning::own_failure) return {};
  if (book != Meaning::other) return {As::book, book};
  return swapped != Meaning::other ? TerminateRead{As::swapped, swapped} : TerminateRead{};
}

/// "The client sent a Terminate (layer 2, type 0, code 2: MPA, CRC error)." Both readings where nothing tells which.
[[nodiscard]] std::string terminate_text(const trace::Refusal& refusal, TerminateRead::As as) {
  if (refusal.truncated) {
    return fmt::format("The {} sent a Terminate; the capture cut it before it says why.", name(refusal.side));
  }
  using As = TerminateRead::As;
  std::string_view book = wire::terminate_words(refusal.layer, refusal.etype, refusal.ecode);
  std::string_view swapped = wire::terminate_words(refusal.etype, refusal.layer, refusal.ecode);
  using Refused = trace::Refusal::Refused;
  const bool told = refusal.refused != Refused::unknown && refusal.refused != Refused::nothing;
  if (told && as == As::book && !book.empty()) swapped = {};
  if (told && as == As::swapped && !swapped.empty()) book = {};
  if (refusal.layer == refusal.etype) swapped = {};
  std::string words;
  if (!book.empty()) words = fmt::format(": {}", book);
  if (!swapped.empty()) words += fmt::format("{} as soft-iWARP packs it, {}", book.empty() ? ":" : ", or,", swapped);
  return fmt::format("The {} sent a Terminate (layer {}, type {}, code {}{}).", name(refusal.side), refusal.layer,
                     refusal.etype, refusal.ecode, words);
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
bool explained_by_invalidation(const Witness& witness, const trace::Refusal& refusal, const RecentSend* send) {
  Connection& connection = witness.connection;
  if (send == nullptr || !send->invalidate_finding) return false;
  if (!witness.context.book.stands(send->invalidate_finding)) return false;
  const Finding& finding = witness.context.book.at(send->invalidate_finding);
  Suspect suspect = suspect_from(refusal, finding.rule, send->frame, finding.message);
  suspect.proven = true;
  if (finding.violator) suspect.culprit = side(*finding.violator);
  witness.context.book.evidence(send->invalidate_finding, refusal.frame);
  connection.suspect(std::move(suspect));
  return true;
}

/// A Send was refused before it was complete: its size so far may prove that it is too large.
bool partial_send_too_large(const Witness& witness, const trace::Refusal& refusal) {
  Connection& connection = witness.connection;
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
  send.extent = RecentSend::Extent::partial;
  if (sender == Side::active) send.direction = Direction::call;
  judge_send_size(witness, event, send);
  connection.of(sender).judged_partial = event.ordinal;
  return judge_refused_size(witness, refusal, send);
}

/// An RDMA Read or Write inside of what was exposed. It takes no Receive, so no size of a message can be the cause.
[[nodiscard]] bool refused_rightful_access(Connection& connection, const trace::Refusal& refusal) {
  using Refused = trace::Refusal::Refused;
  const bool writing = refusal.refused == Refused::write;
  if ((!writing && refusal.refused != Refused::read) || refusal.refused_op == 0) return false;
  const JudgedOp* judged = connection.of(other(refusal.side)).ops.newest([&](const JudgedOp& op) {
    return op.op == refusal.refused_op && writes(op.verb) == writing;
  });
  return judged != nullptr && judged->state == JudgedOp::State::inside;
}

/// Version 2, also where no answer to it was seen: how much its receiver takes was never read, or was read too late to
/// judge it.
[[nodiscard]] bool may_be_too_large(const Connection& connection, const trace::Refusal& refusal,
                                    const RecentSend& send) {
  const bool version2 = connection.version2() || send.version == 2;
  if (!version2 || send.wire_length <= default_threshold) return false;
  const v2::Announced& receiver = connection.v2.of(refusal.side).announced;
  const bool announced = receiver.final.number != 0 && receiver.unsure == 0;
  const auto limit = connection.threshold(other(refusal.side));
  return !announced || !limit || send.wire_length > *limit || !v2::all_seen(connection) || connection.order_lost();
}

void refused_unexplained(const Witness& witness, const trace::Refusal& refusal, RuleId rule, std::string message,
                         std::optional<Side> culprit, const RecentSend* send) {
  Connection& connection = witness.connection;
  // A verdict needs the threshold: without it the size may be the cause (U1), and with gaps anything may be (U2).
  const bool sized = connection.threshold(other(refusal.side)).has_value() && send != nullptr &&
                     send->extent != RecentSend::Extent::holes && send->credits_known() &&
                     !may_be_too_large(connection, refusal, *send);
  const bool decided = connection.trusted() && (sized || refused_rightful_access(connection, refusal));
  const std::optional<Side> named = decided ? culprit : std::optional<Side>();
  const FrameRef refused = send != nullptr ? send->frame : refusal.refused_frame;
  // The codes of a Terminate mean more than one thing: without a culprit it proves nothing.
  const bool certain = decided && (named || rule != RuleId::iwarp_terminate);
  HeldFinding said = witness.say(rule, {.frames = {refusal.frame, refused},
                                        .by = named,
                                        .xid = when(send, &RecentSend::xid),
                                        .at_most = certain ? Severity::error : Severity::warning,
                                        .what = message});
  Suspect suspect = suspect_from(refusal, rule, refused, std::move(message));
  suspect.finding = std::move(said);
  suspect.culprit = named;
  suspect.proven = suspect.culprit.has_value();
  connection.suspect(std::move(suspect));
}

}  // namespace

const Row rows::iwarp_terminate{
    .group = 'L',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 5040; RFC 5041; RFC 5044",
    .who = "by evidence",
    .title = "An adapter terminated the iWARP stream",
    .explanation =
        "The side that found an error says what it was and closes the connection; the fault usually lies with the "
        "other side. The code tells: no buffer (credits), message too long (inline threshold), or a bad steering tag "
        "or range (memory).",
    .evidence =
        "A Terminate message with layer, type and code. Soft-iWARP swaps the first two and says 'no buffer' also for a "
        "message that is too long; both readings are tried against what was refused. Undecided when it is cut short.",
    .next =
        "dmesg of the host that sent it; rpcrdma:xprtrdma_wc_receive and xprtrdma_wc_send, svcrdma_wc_recv_err and "
        "svcrdma_qp_error for the status."};

namespace {

/// Version 2: the limit was kept, and the size as well: who gave the limit has no Receive behind it.
bool kept_but_unbacked(const Witness& witness, const trace::Refusal& refusal, const RecentSend& send) {
  Connection& connection = witness.connection;
  const bool kept = send.credits_known() && send.in_flight <= send.limit && send.extent != RecentSend::Extent::holes;
  const bool decided = v2::all_seen(connection) && connection.whole() && connection.threshold(other(refusal.side));
  if (!kept || !decided || may_be_too_large(connection, refusal, send)) return false;
  Suspect suspect =
      suspect_from(refusal, RuleId::iwarp_terminate, send.frame, v2::unbacked(refusal.side, send.frame, send.limit));
  suspect.culprit = refusal.side;
  witness.say(suspect.rule, {.frames = {refusal.frame, send.frame},
                             .by = refusal.side,
                             .xid = send.xid,
                             .at_most = Severity::warning,
                             .what = suspect.message});
  connection.suspect(std::move(suspect));
  return true;
}

void judge_own_failure(const Witness& witness, const trace::Refusal& refusal) {
  const bool decided = witness.connection.trusted();
  Suspect suspect = suspect_from(
      refusal, RuleId::iwarp_terminate, refusal.refused_frame,
      fmt::format("The {}'s adapter failed and said so: Terminate, local catastrophic error.", name(refusal.side)));
  suspect.proven = decided;
  suspect.culprit = when(decided, refusal.side);
  witness.say(RuleId::iwarp_terminate, {.frames = {refusal.frame, refusal.refused_frame},
                                        .by = suspect.culprit,
                                        .at_most = decided ? Severity::error : Severity::warning,
                                        .what = suspect.message});
  witness.connection.suspect(std::move(suspect));
}

/// A Send for which its receiver had no buffer, or too small a one.
struct SendRefused {
  RecentSend* send;  ///< null: none is known
  /// Only where it cannot have been another one its peer may be blamed.
  enum class Is : std::uint8_t { certain, likely } is = Is::certain;

  [[nodiscard]] RecentSend* certain() const noexcept { return is == Is::certain ? send : nullptr; }
};

/// `named`: null where the Terminate names none, or one that is not kept. Then it is one that was too large, or above
/// its grant, or the only one that may be meant.
[[nodiscard]] SendRefused refused_send(Connection& connection, const trace::Refusal& refusal, RecentSend* named) {
  if (named != nullptr || refusal.refused != trace::Refusal::Refused::unknown) return {named};
  const NotTaken sent(connection, refusal);
  RecentSend* send = sent.oldest_send([](const RecentSend& s) { return static_cast<bool>(s.size_finding); });
  if (send == nullptr) send = sent.oldest_send([](const RecentSend& s) { return s.in_flight > s.limit; });
  if (send != nullptr) return {send, SendRefused::Is::likely};
  return {sent.only_send()};
}

/// Version 2: it was above its limit in each reading of the draft. True when that is said.
bool overran_limit(const Witness& witness, const trace::Refusal& refusal, const RecentSend* send) {
  Connection& connection = witness.connection;
  const Side sender = other(refusal.side);
  if (send == nullptr || send->in_flight <= send->limit || !connection.whole() || !send->credits_known()) return false;
  Suspect suspect = suspect_from(refusal, RuleId::credit_overrun_fatal, send->frame, {});
  suspect.xid = send->known_xid();
  v2::name_overrun(refusal, *send, suspect);
  witness.say(suspect.rule,
              {.frames = {send->frame, refusal.frame}, .by = sender, .xid = send->xid, .what = suspect.message});
  connection.suspect(std::move(suspect));
  return true;
}

/// Version 1: whose credits were too few, or too many. True when that is said.
bool no_receive_left(const Witness& witness, const trace::Refusal& refusal, const SendRefused& refused) {
  Connection& connection = witness.connection;
  if (refused.send == nullptr) return false;
  const RecentSend& send = *refused.send;
  const Lacked lacked = what_lacked(witness, refusal, send);
  const bool blames_receiver = refused.certain() != nullptr && connection.threshold(other(refusal.side)).has_value();
  if (lacked == Lacked::cannot_tell || (!blames_sender(lacked) && !blames_receiver)) return false;
  Suspect suspect = suspect_from(refusal, RuleId::credit_overrun_fatal, send.frame, {});
  suspect.xid = send.known_xid();
  blame(suspect, lacked, refusal, send);
  say_lack(witness, suspect, lacked, refusal, send);
  connection.suspect(std::move(suspect));
  return true;
}

/// What the Terminate of a receiver without a fitting buffer comes from.
enum class Explained : std::uint8_t {
  no,
  yes,
  by_terminate  ///< by the finding about the Terminate itself
};

[[nodiscard]] Explained explain_refused_send(const Witness& witness, const trace::Refusal& refusal,
                                             const SendRefused& refused, Meaning what) {
  const auto yes_if = [](bool explained) { return explained ? Explained::yes : Explained::no; };
  if (refused.send != nullptr && judge_refused_size(witness, refusal, *refused.send)) return Explained::yes;
  if (partial_send_too_large(witness, refusal)) return Explained::yes;
  if (what != Meaning::no_buffer) return Explained::no;
  if (!witness.connection.version2()) return yes_if(no_receive_left(witness, refusal, refused));
  if (overran_limit(witness, refusal, refused.send)) return Explained::yes;
  const RecentSend* certain = refused.certain();
  return certain != nullptr && kept_but_unbacked(witness, refusal, *certain) ? Explained::by_terminate : Explained::no;
}

/// `send`: that which the Terminate names; null: none.
void judge_terminate(const Witness& witness, const trace::Refusal& refusal, RecentSend* send) {
  Connection& connection = witness.connection;
  const TerminateRead read = refusal.truncated ? TerminateRead{} : read_terminate(refusal);
  const std::string text = terminate_text(refusal, read.as);
  if (read.meaning != Meaning::access) judge_refused_read(witness, refusal);
  Explained explained = Explained::no;
  switch (read.meaning) {
    case Meaning::own_failure:
      return judge_own_failure(witness, refusal);
    case Meaning::access:
      judge_access_refused(witness, refusal);
      explained = Explained::yes;
      break;
    case Meaning::no_buffer:
    case Meaning::too_long:
      explained = explain_refused_send(witness, refusal, refused_send(connection, refusal, send), read.meaning);
      break;
    case Meaning::invalidate:
      if (send == nullptr && refusal.refused == trace::Refusal::Refused::unknown) {
        send = NotTaken(connection, refusal).oldest_send([](const RecentSend& s) {
          return static_cast<bool>(s.invalidate_finding);
        });
      }
      [[fallthrough]];
    case Meaning::other:
      if (explained_by_invalidation(witness, refusal, send)) explained = Explained::yes;
      break;
  }
  if (explained == Explained::yes) {
    witness.say(RuleId::iwarp_terminate,
                {.frames = {refusal.frame, refusal.refused_frame}, .at_most = Severity::note, .what = text});
  } else if (explained == Explained::no) {
    refused_unexplained(witness, refusal, RuleId::iwarp_terminate, text, {}, send);
  }
}

}  // namespace

const Row rows::nak_sequence{
    .group = 'L',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::once,
    .source = "IBA",
    .who = "nobody",
    .title = "The fabric lost packets (NAK, sequence error)",
    .explanation =
        "A receiver found a packet missing and asked for it again. Each one costs a round trip or more; many of them "
        "mean congestion, missing flow control or a bad cable.",
    .evidence = "NAK 0x60. Packets missing only in the capture cause no NAK.",
    .next =
        "rdma statistic show: out_of_sequence and packet_seq_err (mlx5), out_of_seq_request and rcvd_seq_err "
        "(soft-RoCE). Then ethtool -S on both ports for discards and pause frames, and PFC and ECN on the switches."};

const Row rows::nak_invalid_request{
    .group = 'L',
    .severity = Severity::error,
    .versions = Versions::both,
    .consequence = true,
    .source = "IBA",
    .who = "by evidence",
    .title = "An adapter refused a request as invalid (NAK 0x61)",
    .explanation =
        "On a Send this is nearly always a message longer than the receive buffer; it can also be an operation that is "
        "not allowed or too many RDMA Reads at once. The connection is lost.",
    .evidence =
        "NAK 0x61. Who is at fault depends on what was refused: see inline-overrun-fatal. Undecided when the refused "
        "packet was not captured.",
    .next =
        "rdma statistic show: resp_local_length_error and req_remote_invalid_request (mlx5); "
        "rpcrdma:xprtrdma_wc_receive or svcrdma_wc_recv_err with LOC_LEN_ERR."};

const Row rows::nak_remote_op{
    .group = 'L',
    .severity = Severity::error,
    .versions = Versions::both,
    .consequence = true,
    .source = "IBA",
    .who = "by evidence",
    .title = "An adapter reported a failure of its own (NAK 0x63)",
    .explanation =
        "The receiving adapter could not complete a request for a reason of its own, and the connection is lost. "
        "Soft-RoCE is the exception: it answers with this code to a message that is too large for the receive buffer, "
        "where the sender is at fault.",
    .evidence = "NAK 0x63. When the refused Send is larger than the threshold, the size proves the sender's fault.",
    .next =
        "dmesg of the host that sent the NAK (adapter or driver errors); svcrdma_qp_error or xprtrdma_wc_receive "
        "there."};

namespace {

/// What was refused as invalid, and what may be wrong with it.
struct InvalidRequest {
  std::string_view what;
  std::string_view why;
};

[[nodiscard]] InvalidRequest invalid_request(trace::Refusal::Refused refused) noexcept {
  using Refused = trace::Refusal::Refused;
  switch (refused) {
    case Refused::send:
      return {"a message", "one that is larger than its Receive, or an operation that it does not support"};
    case Refused::read:
      return {"an RDMA Read", "one too many at once, or an operation that it does not support"};
    case Refused::write:
      return {"an RDMA Write", "one that is not as long as it says, or an operation that it does not support"};
    case Refused::atomic:
      return {"an atomic operation", "RPC-over-RDMA has none, and it need not support them"};
    case Refused::unknown:
    case Refused::nothing:
      break;
  }
  return {"a request",
          "a message larger than its Receive, an operation it does not support, or too many outstanding Reads"};
}

}  // namespace

void judge_refusal(const Witness& witness, const trace::Refusal& refusal) {
  Connection& connection = witness.connection;
  using Kind = trace::Refusal::Kind;
  const Side sender = other(refusal.side);
  RecentSend* send = nullptr;
  if (refusal.refused == trace::Refusal::Refused::send && refusal.refused_op != 0) {
    send = connection.of(sender).sends.newest([&](const RecentSend& s) { return s.ordinal == refusal.refused_op; });
  }
  if (connection.unjudged() && refusal.kind != Kind::nak_sequence) {
    witness.unchecked(RuleId::nak_invalid_request, "traffic of an early draft of version 2 is not judged");
    return;
  }
  switch (refusal.kind) {
    case Kind::nak_sequence:
      witness.say(
          RuleId::nak_sequence,
          {.frames = {refusal.frame},
           .what = fmt::format("The {} missed a packet and asked for it again (NAK, PSN sequence error): loss or "
                               "reordering on the fabric.",
                               name(refusal.side))});
      return;
    case Kind::rnr:
      judge_rnr(witness, refusal, send);
      return;
    case Kind::remote_access:
      if (explained_by_invalidation(witness, refusal, send)) return;
      judge_access_refused(witness, refusal);
      return;
    case Kind::terminate:
      judge_terminate(witness, refusal, send);
      return;
    case Kind::invalid_request:
    case Kind::remote_operational:
    case Kind::nak_other:
      break;
  }
  if (refusal.kind == Kind::invalid_request) judge_refused_read(witness, refusal);
  if (send != nullptr && judge_refused_size(witness, refusal, *send)) return;
  if (send == nullptr && partial_send_too_large(witness, refusal)) return;
  if (explained_by_invalidation(witness, refusal, send)) return;
  if (refusal.kind == Kind::remote_operational) {
    refused_unexplained(witness, refusal, RuleId::nak_remote_op,
                        fmt::format("The {}'s adapter failed (NAK, remote operational error).", name(refusal.side)),
                        refusal.side, send);
  } else if (refusal.kind == Kind::nak_other) {
    const FrameRef refused = send != nullptr ? send->frame : refusal.refused_frame;
    connection.suspect(suspect_from(
        refusal, RuleId::connection_lost, refused,
        fmt::format("The {} refused something by a NAK whose code reliable connections do not have (frame {}).",
                    name(refusal.side), refusal.frame.number)));
  } else {
    const auto [what, why] = invalid_request(refusal.refused);
    refused_unexplained(witness, refusal, RuleId::nak_invalid_request,
                        fmt::format("The {} refused {} as invalid (NAK): {}.", name(refusal.side), what, why), {},
                        send);
  }
}

}  // namespace rpcrdma::referee
