// SPDX-License-Identifier: GPL-2.0-or-later
// Group K, version 1: RDMA_ERROR, its absence, and versions.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint32_t garbage_arguments = 4;
/// Who goes on for so long without a refusal will not send it any more.
constexpr TimeNs patience = 1'000'000'000;

[[nodiscard]] bool contradicts(const wire::HeaderV1& header, std::uint32_t refused) noexcept {
  return header.vers_low <= refused && refused <= header.vers_high;
}

void judge_range(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                 const Transaction* call) {
  const Role role = Role::responder;
  const FrameRef call_frame = call != nullptr ? call->call : FrameRef{};
  const bool upside_down = header.vers_low > header.vers_high;
  const bool contains = call != nullptr && contradicts(header, call->version);
  if (upside_down || contains) {
    context.book.add(
        {RuleId::err_vers_range_invalid,
         connection.id(),
         {event.frame, call_frame},
         upside_down
             ? fmt::format("The {}'s ERR_VERS says that it speaks versions {} to {}: the lower is above the upper.",
                           name(event.side), header.vers_low, header.vers_high)
             : fmt::format("The {} refused version {} with ERR_VERS and says in it that it speaks versions {} to {}.",
                           name(event.side), call->version, header.vers_low, header.vers_high),
         std::nullopt,
         header.fixed.xid,
         party(event.side),
         role});
  }
  if (call == nullptr) {
    context.book.unchecked(RuleId::err_vers_range_invalid, connection.id(), "the refused Call is not known");
    return;
  }
  const ErrorDiary::Version& settled = connection.diary.settled;
  const bool answered_before = settled.version == 1 && settled.by == event.side;
  if (call->version == 1 && (contradicts(header, 1) || answered_before)) {
    context.book.add(
        {RuleId::err_vers_unwarranted,
         connection.id(),
         {event.frame, call_frame, answered_before ? settled.frame : FrameRef{}},
         fmt::format("The {} refused a Call of version 1 with ERR_VERS although it speaks version 1{}.",
                     name(event.side),
                     answered_before ? fmt::format(" (it answered with it in frame {})", settled.frame.number)
                                     : std::string(" by its own account")),
         std::nullopt,
         header.fixed.xid,
         party(event.side),
         role});
  }
}

[[nodiscard]] bool has_chunks(const Transaction& call) noexcept {
  return !call.reads.empty() || !call.writes.empty() || call.reply_chunk.has_value();
}

}  // namespace

void judge_version_constancy(Context& context, Connection& connection, const trace::Send& event,
                             const wire::FixedWords& fixed, Direction direction) {
  const ErrorDiary::Version& refused = connection.diary.refused[index(event.side)];
  if (direction != Direction::reply && refused.version == fixed.version &&
      connection.of(refused.by).acknowledged >= refused.ordinal && !connection.whole()) {
    context.book.unchecked(RuleId::version_after_refusal, connection.id(), connection.why_not_whole());
  } else if (direction != Direction::reply && refused.version == fixed.version &&
             connection.of(refused.by).acknowledged >= refused.ordinal) {
    context.book.add({RuleId::version_after_refusal,
                      connection.id(),
                      {event.frame, refused.frame, refused.call},
                      fmt::format("The {} sent version {} again after it had received the ERR_VERS that refused it "
                                  "(frame {}).",
                                  name(event.side), fixed.version, refused.frame.number),
                      std::nullopt,
                      fixed.xid,
                      party(event.side),
                      Role::requester});
  }
  const ErrorDiary::Version& settled = connection.diary.settled;
  if (settled.version == 0 || settled.version == fixed.version) return;
  if (fixed.version != 1 && fixed.version != 2) return;  // bad-version says it all
  // What was under way when the Reply came may still have tried the other version.
  if (event.side != settled.by && connection.of(settled.by).acknowledged < settled.ordinal) {
    context.book.unchecked(RuleId::version_changed, connection.id(),
                           "a message of another version may have been sent before the first Reply arrived");
    return;
  }
  const bool reverse = direction == Direction::call && event.side == Side::passive;
  context.book.add({reverse ? RuleId::reverse_version_mismatch : RuleId::version_changed,
                    connection.id(),
                    {event.frame, settled.frame, settled.call},
                    reverse ? fmt::format("The server's Call has version {}; the client's Calls settled version {} "
                                          "(frame {}).",
                                          fixed.version, settled.version, settled.frame.number)
                            : fmt::format("The {} sent version {} on a connection that had settled version {} (frame "
                                          "{}).",
                                          name(event.side), fixed.version, settled.version, settled.frame.number),
                    std::nullopt,
                    fixed.xid,
                    party(event.side),
                    direction == Direction::call ? std::optional(Role::requester) : std::nullopt});
}

void settle_version(Connection& connection, const trace::Send& event, std::uint32_t version, const Transaction& call) {
  ErrorDiary::Version& settled = connection.diary.settled;
  if (settled.version != 0 || version != call.version || call.requester != Side::active) return;
  settled = {version, event.side, event.frame, call.call, event.ordinal};
}

void judge_error_fields(Context& context, Connection& connection, const trace::Send& event,
                        const wire::HeaderV1& header, const Transaction* call) {
  const auto accuse = [&](std::string message) {
    context.book.add({RuleId::error_fields,
                      connection.id(),
                      {event.frame, call != nullptr ? call->call : FrameRef{}},
                      std::move(message),
                      std::nullopt,
                      header.fixed.xid,
                      party(event.side),
                      Role::responder});
  };
  if (!event.holes && event.wire_length > header.length) {
    accuse(fmt::format("The {}'s RDMA_ERROR has {} behind its code; it carries nothing else.", name(event.side),
                       counted(event.wire_length - header.length, "octet")));
  }
  if (call != nullptr && call->malformed && header.fixed.version != call->version) {
    accuse(fmt::format("The {}'s RDMA_ERROR says version {}; it has to repeat the Call's, which is {}.",
                       name(event.side), header.fixed.version, call->version));
  }
  if (header.error != wire::err_vers && call != nullptr && call->malformed && call->version > 2) {
    accuse(
        fmt::format("The {} refused version {}, which does not exist, without saying so: the answer to it is "
                    "ERR_VERS.",
                    name(event.side), call->version));
  }
  if (header.error != wire::err_vers) return;
  judge_range(context, connection, event, header, call);
  if (call == nullptr || header.vers_low > header.vers_high || contradicts(header, call->version)) return;
  connection.diary.refused[index(call->requester)] = {call->version, event.side, event.frame, call->call,
                                                      event.ordinal};
}

void judge_error_code(Context& context, Connection& connection, const trace::Send& event, const wire::FixedWords& fixed,
                      std::uint32_t code) {
  context.book.add({RuleId::error_code_unknown,
                    connection.id(),
                    {event.frame},
                    fmt::format("The {}'s RDMA_ERROR has code {}; version 1 knows 1 (ERR_VERS) and 2 (ERR_CHUNK).",
                                name(event.side), code),
                    std::nullopt,
                    fixed.xid,
                    std::nullopt,
                    std::nullopt});
}

bool judge_answer_to_answer(Context& context, Connection& connection, const trace::Send& event, std::uint32_t xid) {
  const ErrorDiary::Sent* error = connection.diary.errors.newest(
      [&](const ErrorDiary::Sent& e) { return e.xid == xid && e.side == other(event.side); });
  const Transaction* mine = connection.find(event.side, xid);
  const bool answered =
      mine != nullptr && ((mine->answers > 0 && !mine->refused_by_error) || mine->broken_reply.number != 0);
  if (error == nullptr && !answered) return false;
  const RuleId rule = error != nullptr ? RuleId::error_to_error : RuleId::error_to_reply;
  if (error == nullptr && mine->reply_inferred) {
    context.book.unchecked(rule, connection.id(), "it may refuse a Long Call that looks like the Reply");
    return true;
  }
  if (!connection.whole()) {
    context.book.unchecked(rule, connection.id(), "a Call that it refuses may be missing from the capture");
    return true;
  }
  Pending pending;
  pending.kind = Pending::Kind::error_from_requester;
  pending.rule = rule;
  pending.side = event.side;
  pending.frame = event.frame;
  pending.evidence = error != nullptr                 ? error->frame
                     : mine->broken_reply.number != 0 ? mine->broken_reply
                                                      : mine->reply;
  pending.call = mine != nullptr ? mine->call : FrameRef{};
  pending.xid = xid;
  hold_back(connection, std::move(pending));
  return true;
}

void judge_msgp_answer(Context& context, Connection& connection, const trace::Send& event, const Transaction& call) {
  if (!call.msgp) return;
  if (!connection.trusted()) {
    context.book.unchecked(RuleId::msgp_not_refused, connection.id(),
                           "a later Call with the same XID may be missing from the capture");
    return;
  }
  context.book.add({RuleId::msgp_not_refused,
                    connection.id(),
                    {event.frame, call.call},
                    fmt::format("The {} answered RDMA_MSGP (frame {}) as if it were allowed; it should refuse it with "
                                "ERR_CHUNK.",
                                name(event.side), call.call.number),
                    std::nullopt,
                    call.xid,
                    party(event.side),
                    Role::responder});
}

void judge_missing_errors(Context& context, Connection& connection, FrameRef now, bool capture_end,
                          std::optional<Side> closed_by) {
  std::vector<const Transaction*> open;
  for (const auto& [key, call] : connection.transactions) {
    const bool chunked_callback = call.requester == Side::passive && call.lists_known && has_chunks(call);
    if (call.answers == 0 && (call.refusal_due || call.msgp || chunked_callback)) open.push_back(&call);
  }
  std::sort(open.begin(), open.end(),
            [](const Transaction* a, const Transaction* b) { return a->call.number < b->call.number; });
  for (const Transaction* call : open) {
    const Side responder = other(call->requester);
    const SideState& state = connection.of(responder);
    const RuleId rule = call->refusal_due ? RuleId::error_missing
                        : call->msgp      ? RuleId::msgp_not_refused
                                          : RuleId::reverse_chunk_refusal_missing;
    const auto unchecked = [&](std::string_view why) { context.book.unchecked(rule, connection.id(), why); };
    // A message of the server that cannot be decoded may have been meant as a Reply, and then silence is right.
    if (call->refusal_due && call->requester == Side::passive) continue;
    if (!connection.whole() || state.gaps != call->responder_gaps) {
      unchecked("the refusal may be missing from the capture");
      continue;
    }
    if (closed_by == responder && state.last_event.time - call->call.time < patience) {
      unchecked("the responder ended the connection instead");
      continue;
    }
    const bool arrived = connection.of(call->requester).acknowledged >= call->call_ordinal;
    const bool went_on = state.last_event.number > call->call.number && now.time - call->call.time >= patience;
    if (!arrived || !went_on) {
      unchecked("the connection, or the capture, ended before a refusal was due");
      continue;
    }
    const double waited = static_cast<double>(now.time - call->call.time) / 1e9;
    std::string message;
    if (rule == RuleId::error_missing) {
      message = fmt::format(
          "The {}'s Call in frame {} has a broken header; the {} went on for {:.1f} s and never sent "
          "RDMA_ERROR for it.",
          name(call->requester), call->call.number, name(responder), waited);
    } else if (rule == RuleId::msgp_not_refused) {
      message = fmt::format("The {} went on for {:.1f} s after the RDMA_MSGP in frame {} and never refused it.",
                            name(responder), waited, call->call.number);
    } else {
      message = fmt::format(
          "The server's Call in frame {} has a chunk list; the client neither answered nor refused it "
          "in {:.1f} s.",
          call->call.number, waited);
    }
    context.book.add({rule,
                      connection.id(),
                      {call->call, now},
                      std::move(message),
                      capture_end ? std::optional(Severity::note) : std::nullopt,  // it may still have come
                      call->xid,
                      party(responder),
                      Role::responder});
  }
}

void judge_rpc_status(Context& context, Connection& connection, FrameRef reply, Side responder, wire::Bytes message,
                      std::size_t wire_length, const Transaction& call) {
  const auto rpc = wire::decode_rpc_reply(message, wire_length);
  if (!rpc || !rpc->accepted || rpc->status != garbage_arguments) return;
  context.book.add_few(
      {RuleId::garbage_args,
       connection.id(),
       {reply, call.call},
       fmt::format("The {} could not decode the arguments of the Call in frame {} (GARBAGE_ARGS){}.", name(responder),
                   call.call.number,
                   call.reads.empty() ? "" : ": perhaps its Read chunks do not fit the message they belong to"),
       std::nullopt,
       call.xid,
       std::nullopt,
       Role::responder});
}

}  // namespace rpcrdma::referee
