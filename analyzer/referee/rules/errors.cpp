// SPDX-License-Identifier: GPL-2.0-or-later
// Group K, version 1: RDMA_ERROR, its absence, and versions.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/ending.hpp"
#include "referee/rules/rows.hpp"
#include "wire/rpc_numbers.hpp"

namespace rpcrdma::referee {

namespace {

/// Who goes on for so long without a refusal will not send it any more.
constexpr TimeNs patience = 1'000'000'000;

[[nodiscard]] bool contradicts(const wire::HeaderV1& header, std::uint32_t refused) noexcept {
  return header.vers_low <= refused && refused <= header.vers_high;
}

}  // namespace

const Row rows::err_vers_range_invalid{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.5.1; version 2 draft section 7.1.1",
    .who = "responder",
    .title = "ERR_VERS names a range of versions that makes no sense",
    .explanation =
        "ERR_VERS tells which versions the responder does speak, so that the requester can choose one. The lowest must "
        "not be above the highest, and the version that was refused cannot be among them. A requester that believes "
        "such a range gives up, or tries the same version again for ever.",
    .evidence =
        "The two numbers of ERR_VERS, and the version of the Call that it refuses. The second half is not decided "
        "without the Call.",
    .next = "Linux servers say 1 to 1 (rpcrdma:svcrdma_err_vers). Look at how the responder fills in the range."};

const Row rows::err_vers_unwarranted{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .source = "RFC 8166 section 4.5.1",
    .who = "responder",
    .title = "Version 1 was refused by a peer that speaks version 1",
    .explanation =
        "ERR_VERS is for versions that a responder does not know. Sent for another reason, it makes a requester give "
        "up a version that works: the mount fails although both sides could talk to each other.",
    .evidence =
        "ERR_VERS for a Call of version 1, from a responder whose range contains version 1, or that has answered "
        "version 1 on this connection.",
    .next = "See what else is wrong with the call: a fault in its header is to be answered with ERR_CHUNK."};

namespace {

void judge_range(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                 const Transaction* call) {
  Connection& connection = witness.connection;
  const Role role = Role::responder;
  const FrameRef call_frame = call != nullptr ? call->call : FrameRef{};
  const bool upside_down = header.vers_low > header.vers_high;
  const bool contains = call != nullptr && contradicts(header, call->version);
  if (upside_down || contains) {
    witness.say(
        RuleId::err_vers_range_invalid,
        {.frames = {event.frame, call_frame},
         .by = event.side,
         .as = role,
         .xid = header.fixed.xid,
         .call = contains ? call : nullptr,
         .what =
             upside_down
                 ? fmt::format("The {}'s ERR_VERS says that it speaks versions {} to {}: the lower is above the upper.",
                               name(event.side), header.vers_low, header.vers_high)
                 : fmt::format(
                       "The {} refused version {} with ERR_VERS and says in it that it speaks versions {} to {}.",
                       name(event.side), call->version, header.vers_low, header.vers_high)});
  }
  if (call == nullptr) {
    witness.unchecked(RuleId::err_vers_range_invalid, "the refused Call is not known");
    return;
  }
  const std::optional<ErrorDiary::Version>& settled = connection.diary.settled;
  const bool answered_before = settled && settled->version == 1 && settled->by == event.side;
  if (call->version == 1 && (contradicts(header, 1) || answered_before)) {
    witness.say(
        RuleId::err_vers_unwarranted,
        {.frames = {event.frame, call_frame, answered_before ? settled->frame : FrameRef{}},
         .by = event.side,
         .as = role,
         .xid = header.fixed.xid,
         .call = call,
         .what = fmt::format("The {} refused a Call of version 1 with ERR_VERS although it speaks version 1{}.",
                             name(event.side),
                             answered_before ? fmt::format(" (it answered with it in frame {})", settled->frame.number)
                                             : std::string(" by its own account"))});
  }
}

[[nodiscard]] bool has_chunks(const Transaction& call) noexcept {
  return !call.reads.empty() || !call.writes.empty() || call.reply_chunk.has_value();
}

}  // namespace

const Row rows::reverse_version_mismatch{
    .group = 'J',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8167 section 5.1; version 2 draft section 4.6.1",
    .who = "server",
    .title = "A callback uses another protocol version than the forward direction",
    .explanation =
        "Both directions of a connection use one version of RPC-over-RDMA, the one that the client's calls have "
        "settled. A client drops a callback with another version.",
    .evidence =
        "The version word of the server's Call against that of the Call and Reply which settled the version. Not "
        "decided before a Reply has come.",
    .next = "Look at how the server chooses the version of its callbacks: it has to keep it for each connection."};

const Row rows::version_after_refusal{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole},
    .source = "version 2 draft section 7.1.1; RFC 8166 section 4.5.1",
    .who = "requester",
    .title = "A refused version was used again",
    .explanation =
        "ERR_VERS is final for its connection: the responder does not learn the version meanwhile. A requester that "
        "goes on with it gets nothing but refusals.",
    .evidence =
        "A message with a version that ERR_VERS refused, sent after that ERR_VERS had been acknowledged. Before the "
        "acknowledgement it may have been under way already: not decided.",
    .next =
        "Linux client: rpcrdma:xprtrdma_err_vers. Look at how the requester falls back to a version within the range."};

const Row rows::version_changed{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8167 section 5.1; version 2 draft section 4.3.3",
    .who = "sender",
    .title = "The protocol version changed on one connection",
    .explanation =
        "The version is settled by the first call that gets a reply, and stays for the life of the connection. A "
        "receiver is entitled to drop a message with another one.",
    .evidence =
        "A Call and its Reply with one version, then a message with the other one, after the Reply had arrived. Trying "
        "a version and being refused is no change.",
    .next =
        "Look at the sender's state at that time: it may have mixed up two connections, or negotiated anew without "
        "connecting anew."};

void judge_refused_version(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed) {
  Connection& connection = witness.connection;
  const ErrorDiary::Version* const refused = connection.diary.refusal(event.side, fixed.version);
  if (refused == nullptr) return;
  if (!connection.heard(refused->by, refused->ordinal)) {
    witness.unchecked(RuleId::version_after_refusal, "the refusal may not have arrived by then");
    return;
  }
  witness.say(RuleId::version_after_refusal,
              {.frames = {event.frame, refused->frame, refused->call},
               .by = event.side,
               .as = Role::requester,
               .xid = fixed.xid,
               .what = fmt::format("The {} sent version {} again after it had received the ERR_VERS that refused it "
                                   "(frame {}).",
                                   name(event.side), fixed.version, refused->frame.number)});
}

void judge_version_constancy(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                             Direction direction) {
  Connection& connection = witness.connection;
  if (direction != Direction::reply) judge_refused_version(witness, event, fixed);
  const std::optional<ErrorDiary::Version>& settled = connection.diary.settled;
  if (!settled || settled->version == fixed.version) return;
  if (fixed.version != 1 && fixed.version != 2) return;  // bad-version says it all
  // What was under way when the Reply came may still have tried the other version.
  if (event.side != settled->by && !connection.heard(settled->by, settled->ordinal)) {
    witness.unchecked(RuleId::version_changed,
                      "a message of another version may have been sent before the first Reply arrived");
    return;
  }
  const bool reverse = direction == Direction::call && event.side == Side::passive;
  witness.say(
      reverse ? RuleId::reverse_version_mismatch : RuleId::version_changed,
      {.frames = {event.frame, settled->frame, settled->call},
       .by = event.side,
       .as = when(direction == Direction::call, Role::requester),
       .xid = fixed.xid,
       .what = reverse ? fmt::format("The server's Call has version {}; the client's Calls settled version {} "
                                     "(frame {}).",
                                     fixed.version, settled->version, settled->frame.number)
                       : fmt::format("The {} sent version {} on a connection that had settled version {} (frame "
                                     "{}).",
                                     name(event.side), fixed.version, settled->version, settled->frame.number)});
}

void settle_version(Connection& connection, const trace::Send& event, std::uint32_t version, const Transaction& call) {
  std::optional<ErrorDiary::Version>& settled = connection.diary.settled;
  if (settled || version != call.version || call.requester != Side::active) return;
  settled = {version, event.side, event.frame, call.call, event.ordinal};
}

const Row rows::error_fields{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.5; version 2 draft section 7",
    .who = "responder",
    .title = "An RDMA_ERROR is not made as it has to be",
    .explanation =
        "An RDMA_ERROR carries the XID and the version of the call that it refuses, and nothing behind its code: 20 "
        "octets for ERR_CHUNK, 28 for ERR_VERS. A requester that gets another version, or more octets, may not "
        "recognise it and waits for its timeout.",
    .evidence =
        "Length and version word of RDMA_ERROR against the Call. Where the Call was well-formed, another version is "
        "reply-version-differs. Not decided without the Call.",
    .next = "Look at the responder's encoder for errors. Linux servers copy the version and send 20 or 28 octets."};

void judge_error_fields(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                        const Transaction* call) {
  Connection& connection = witness.connection;
  const auto accuse = [&](std::string message) {
    witness.say(RuleId::error_fields, {.frames = {event.frame, call != nullptr ? call->call : FrameRef{}},
                                       .by = event.side,
                                       .as = Role::responder,
                                       .xid = header.fixed.xid,
                                       .what = std::move(message)});
  };
  if (!event.holes && event.wire_length > header.length) {
    accuse(fmt::format("The {}'s RDMA_ERROR has {} behind its code; it carries nothing else.", name(event.side),
                       counted(event.wire_length - header.length, "octet")));
  }
  if (call != nullptr && call->malformed() && header.fixed.version != call->version) {
    accuse(fmt::format("The {}'s RDMA_ERROR says version {}; it has to repeat the Call's, which is {}.",
                       name(event.side), header.fixed.version, call->version));
  }
  if (header.error != wire::err_vers && call != nullptr && call->malformed() && call->version > 2) {
    accuse(
        fmt::format("The {} refused version {}, which does not exist, without saying so: the answer to it is "
                    "ERR_VERS.",
                    name(event.side), call->version));
  }
  if (header.error != wire::err_vers) return;
  judge_range(witness, event, header, call);
  if (call == nullptr || header.vers_low > header.vers_high || contradicts(header, call->version)) return;
  connection.diary.refused[index(call->requester)].add(
      {call->version, event.side, event.frame, call->call, event.ordinal});
}

const Row rows::error_code_unknown{.group = 'K',
                                   .severity = Severity::note,
                                   .versions = Versions::both,
                                   .source = "RFC 8166 section 4.5; version 2 draft section 7",
                                   .who = "sender",
                                   .title = "An RDMA_ERROR with an unknown code",
                                   .explanation =
                                       "Version 1 has two codes, ERR_VERS and ERR_CHUNK. A receiver drops what it does "
                                       "not know; the call it meant is lost. The sender may follow an extension.",
                                   .evidence = "The code word of RDMA_ERROR is neither 1 nor 2.",
                                   .next = "Find out what the sender is; a Linux client fails the RPC with EREMOTEIO."};

void judge_error_code(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                      std::uint32_t code) {
  witness.say(RuleId::error_code_unknown,
              {.frames = {event.frame},
               .xid = fixed.xid,
               .what = fmt::format("The {}'s RDMA_ERROR has code {}; version 1 knows 1 (ERR_VERS) and 2 (ERR_CHUNK).",
                                   name(event.side), code)});
}

const Row rows::error_to_reply{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 4.5",
    .who = "requester",
    .title = "A reply was answered with RDMA_ERROR",
    .explanation =
        "Only a call can be refused. A requester that cannot use a reply drops it silently; there is nobody who waits "
        "for its complaint. The responder has no transaction with that XID any more, and the message takes a receive "
        "buffer that no credit accounts for.",
    .evidence =
        "RDMA_ERROR whose XID belongs only to a Call of its own sender, answered by the other side. If both sides use "
        "that XID, the other one may be meant. Not decided across a gap.",
    .next =
        "The receiver ignores it (Linux server: rpcrdma:svcrdma_decode_drop_err). Look at what the sender disliked in "
        "the reply: the second frame named here."};

const Row rows::error_to_error{
    .group = 'K',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole},
    .source = "RFC 8166 section 4.2.4 (derived); version 2 draft section 7",
    .who = "sender",
    .title = "RDMA_ERROR was answered with RDMA_ERROR",
    .explanation =
        "An error ends its transaction and is never answered, or two peers could go on complaining to each other "
        "without an end.",
    .evidence =
        "RDMA_ERROR with the XID of an RDMA_ERROR that the other side sent before, and no Call of the other side with "
        "that XID. Not decided across a gap.",
    .next = "Look at how the sender of the second one takes an RDMA_ERROR that it cannot match with a call."};

namespace {

void settle_answer_to_answer(const Witness& witness, const Case& waited) {
  const FrameRef call = waited.is<Case::Answer>()->call;
  const bool to_error = waited.rule == RuleId::error_to_error;
  witness.conclude(
      waited,
      {.frames = {waited.frame, waited.evidence, call},
       .by = waited.accused,
       .as = to_error && call.number == 0 ? Role::responder : Role::requester,
       .xid = waited.xid,
       .at_most = waited.at_most(),
       .what = to_error ? fmt::format("The {} answered the RDMA_ERROR in frame {} with an RDMA_ERROR (XID {:#010x}).",
                                      name(waited.accused), waited.evidence.number, waited.xid)
                        : fmt::format("The {} answered the Reply in frame {} with RDMA_ERROR (XID {:#010x}); what it "
                                      "cannot use of a Reply it has to drop silently.",
                                      name(waited.accused), waited.evidence.number, waited.xid)});
}

}  // namespace

bool judge_answer_to_answer(const Witness& witness, const trace::Send& event, std::uint32_t xid) {
  Connection& connection = witness.connection;
  const ErrorDiary::Sent* error = connection.diary.errors.newest(
      [&](const ErrorDiary::Sent& e) { return e.xid == xid && e.side == other(event.side); });
  const Transaction* mine = connection.find(event.side, xid);
  const bool answered = mine != nullptr && ((mine->answers > 0 && mine->answer != Transaction::Answer::refusal) ||
                                            mine->broken_reply.number != 0);
  if (error == nullptr && !answered) return false;
  const RuleId rule = error != nullptr ? RuleId::error_to_error : RuleId::error_to_reply;
  if (error == nullptr && mine->answer_uncertain()) {
    witness.unchecked(rule, "it may refuse a Long Call that looks like the Reply");
    return true;
  }
  const FrameRef answer = mine != nullptr && mine->broken_reply.number != 0 ? mine->broken_reply
                          : mine != nullptr                                 ? mine->reply
                                                                            : FrameRef{};
  witness.wait({.rule = rule,
                .accused = event.side,
                .frame = event.frame,
                .evidence = error != nullptr ? error->frame : answer,
                .xid = xid,
                .about = Case::Answer{{mine != nullptr ? mine->call : FrameRef{}, event.ordinal}},
                .settle = settle_answer_to_answer});
  return true;
}

const Row rows::msgp_not_refused{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .needs = {.past = Needs::Past::whole, .call = Needs::Call::answered_whole},
    .source = "RFC 8166 section 4.6.1",
    .who = "responder",
    .title = "RDMA_MSGP was not refused",
    .explanation =
        "RDMA_MSGP is not to be used any more, and a responder should refuse it with ERR_CHUNK, so that an old client "
        "learns at once that it has to stop. A responder that takes it, or drops it, hides the fault.",
    .evidence =
        "RDMA_MSGP that was answered by a Reply, or by nothing for a second or more while the responder goes on "
        "sending. Not decided across a gap.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_badproc_err and svcrdma_err_chunk. Find out what the client is: it "
        "follows RFC 5666."};

void judge_msgp_answer(const Witness& witness, const trace::Send& event, const Transaction& call) {
  if (call.refusal != Transaction::Refusal::due_for_msgp) return;
  witness.say(
      RuleId::msgp_not_refused,
      {.frames = {event.frame, call.call},
       .by = event.side,
       .as = Role::responder,
       .xid = call.xid,
       .what = fmt::format("The {} answered RDMA_MSGP (frame {}) as if it were allowed; it should refuse it with "
                           "ERR_CHUNK.",
                           name(event.side), call.call.number)});
}

const Row rows::reverse_chunk_refusal_missing{
    .group = 'J',
    .severity = Severity::warning,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole, .call = Needs::Call::answered_whole},
    .source = "RFC 8167 section 5.3; version 2 draft section 4.6.4",
    .who = "responder",
    .title = "A callback with chunks was neither answered nor refused",
    .explanation =
        "A client need not take chunks in the reverse direction, but then it has to say so with ERR_CHUNK. If it only "
        "drops the call, the server waits for a timeout, takes the back channel for broken and stops handing out "
        "delegations.",
    .evidence =
        "A Call of the server with a chunk list, proven to have arrived and open for a second or more, while the "
        "client goes on sending. A client that Reads or Writes what the Call names takes chunks, and owes no refusal. "
        "Not decided across a gap, or when the server itself ends the connection first.",
    .next =
        "Linux clients drop such a call without a word (rpcrdma:xprtrdma_reply_rqst_err counts it as an unknown XID). "
        "On the server, keep callbacks small enough to go inline: fewer arguments, or a larger inline threshold."};

const Row rows::error_missing{
    .group = 'K',
    .severity = Severity::warning,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::whole, .call = Needs::Call::answered_whole},
    .source = "RFC 8166 section 4.5; version 2 draft section 7",
    .who = "responder",
    .title = "A broken call was not refused",
    .explanation =
        "A responder that cannot decode the header of a call has to say so with RDMA_ERROR. Without it the requester "
        "waits until its timeout for a reply that never comes, and the credit is lost for as long. A message too short "
        "for a header is the one exception: it is dropped silently.",
    .evidence =
        "A Call with a broken header, an unknown procedure or version, proven to have arrived, and no RDMA_ERROR for a "
        "second or more while the responder goes on sending. Not decided across a gap, or when the connection ends "
        "first.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_parse_err, svcrdma_decode_badproc_err, svcrdma_decode_badvers_err and "
        "svcrdma_send_err show that it saw the fault and what it sent."};

namespace {

/// Its responder Read or Wrote what the Call names: it does take chunks.
[[nodiscard]] bool chunks_taken(Connection& connection, const Transaction& call) {
  if (call.first_pushed.number != 0 || call.last_pulled.number != 0) return true;
  const MemoryMap& memory = connection.of(call.requester).memory;
  return std::any_of(call.reads.begin(), call.reads.end(), [&](const wire::ReadSegment& read) {
    const Exposure* exposure = memory.of(call.id, read.target.handle, Access::read);
    return exposure != nullptr && !exposure->requested.empty();
  });
}

}  // namespace

namespace {

[[nodiscard]] RuleId rule_of_missing(const Transaction& call) noexcept {
  switch (call.refusal) {
    case Transaction::Refusal::due:
      return RuleId::error_missing;
    case Transaction::Refusal::due_for_msgp:
      return RuleId::msgp_not_refused;
    default:
      return RuleId::reverse_chunk_refusal_missing;
  }
}

[[nodiscard]] std::string missing_text(const Transaction& call, double waited) {
  const Side responder = other(call.requester);
  switch (call.refusal) {
    case Transaction::Refusal::due:
      return fmt::format(
          "The {}'s Call in frame {} has a broken header; the {} went on for {:.1f} s and never sent RDMA_ERROR for "
          "it.",
          name(call.requester), call.call.number, name(responder), waited);
    case Transaction::Refusal::due_for_msgp:
      return fmt::format("The {} went on for {:.1f} s after the RDMA_MSGP in frame {} and never refused it.",
                         name(responder), waited, call.call.number);
    default:
      return fmt::format(
          "The server's Call in frame {} has a chunk list; the client neither answered nor refused it in {:.1f} s.",
          call.call.number, waited);
  }
}

void judge_missing_error(const Witness& witness, const Transaction& call, const Ending& end) {
  Connection& connection = witness.connection;
  const Side responder = other(call.requester);
  const SideState& state = connection.of(responder);
  const RuleId rule = rule_of_missing(call);
  if (rule == RuleId::reverse_chunk_refusal_missing && chunks_taken(connection, call)) return;
  // A message of the server that cannot be decoded may have been meant as a Reply, and then silence is right. What was
  // pulled of one may say that it is a Call.
  const bool says_call = call.body_length != 0 && !call.may_be_offer();
  if (rule == RuleId::error_missing && call.requester == Side::passive && !says_call) {
    witness.unchecked(rule, "a message of the server that cannot be read may have been meant as a Reply");
    return;
  }
  if (!witness.may(rule, call)) return;
  if (end.by == responder && state.last_event.time - call.call.time < patience) {
    witness.unchecked(rule, "the responder ended the connection instead");
    return;
  }
  const bool arrived = connection.of(call.requester).acknowledged >= call.call_ordinal;
  const bool went_on = state.last_event.number > call.call.number && state.last_event.time - call.call.time >= patience;
  if (!arrived || !went_on) {
    const bool late = arrived && end.at.time - call.call.time >= patience;
    witness.unchecked(rule,
                      late ? "the responder sent nothing behind the time for a refusal that would show whether one "
                             "is missing"
                           : "the connection, or the capture, ended before a refusal was due");
    return;
  }
  witness.say(rule, {.frames = {call.call, end.at},
                     .by = responder,
                     .as = Role::responder,
                     .xid = call.xid,
                     .call = &call,
                     .at_most = end.open() ? Severity::note : Severity::error,
                     .what = missing_text(call, static_cast<double>(state.last_event.time - call.call.time) / 1e9)});
}

}  // namespace

void judge_missing_errors(const Witness& witness, const Ending& end) {
  std::vector<const Transaction*> open;
  for (const auto& [key, call] : witness.connection.transactions) {
    const bool chunked_callback = call.requester == Side::passive && call.lists_known && has_chunks(call);
    if (call.surely_open() && (call.refusal != Transaction::Refusal::not_due || chunked_callback))
      open.push_back(&call);
  }
  std::sort(open.begin(), open.end(),
            [](const Transaction* a, const Transaction* b) { return a->call.number < b->call.number; });
  for (const Transaction* call : open) judge_missing_error(witness, *call, end);
}

const Row rows::garbage_args{
    .group = 'K',
    .severity = Severity::note,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .source = "RFC 8166 section 4.5.2",
    .who = "nobody",
    .title = "The responder could not decode the arguments (GARBAGE_ARGS)",
    .explanation =
        "The transport header was fine, but the RPC program could not make sense of the message. On RDMA that often "
        "means that chunks and message do not fit each other: a Read chunk at the wrong position, a wrong length or "
        "pad, or data that was never read.",
    .evidence = "A Reply with accept status 4. Which side is at fault does not show in it.",
    .next =
        "Compare positions and lengths of the call's Read chunks with its message. Server: sunrpc:svc_process and "
        "rpcrdma:svcrdma_decode_rseg; client: rpcrdma:xprtrdma_marshal and xprtrdma_chunk_read."};

void judge_rpc_status(const Witness& witness, FrameRef reply, Side responder, wire::Bytes message,
                      std::size_t wire_length, const Transaction& call) {
  const auto rpc = wire::decode_rpc_reply(message, wire_length);
  if (!rpc || !rpc->accepted || rpc->status != wire::accept_stat::garbage_args) return;
  witness.say(RuleId::garbage_args,
              {.frames = {reply, call.call},
               .as = Role::responder,
               .xid = call.xid,
               .what = fmt::format(
                   "The {} could not decode the arguments of the Call in frame {} (GARBAGE_ARGS){}.", name(responder),
                   call.call.number,
                   call.reads.empty() ? "" : ": perhaps its Read chunks do not fit the message they belong to")});
}

}  // namespace rpcrdma::referee
