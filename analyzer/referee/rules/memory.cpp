// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: RDMA operations against advertised memory.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/long_messages.hpp"
#include "referee/pending.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/regions.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::string range(std::uint64_t offset, std::uint64_t length) {
  return fmt::format("{} at {:#x}", counted(length, "octet"), offset);
}

struct Access_ {
  Side initiator;
  FrameRef frame;
  std::uint64_t op;
  std::uint32_t handle;
  std::uint64_t offset;
  std::uint64_t length;
  bool writing;
  FrameRef start;  ///< of the operation, when `frame` is a later packet of it
};

/// Judges one operation against the owner's map and remembers how, for a later refusal.
JudgedOp& judge_access(Context& context, Connection& connection, const Access_& access, MemoryMap::Hit& hit) {
  using Verdict = MemoryMap::Hit::Verdict;
  const Side owner = other(access.initiator);
  hit = connection.of(owner).memory.find(access.handle, access.offset, access.length, access.writing);
  JudgedOp judged;
  judged.op = access.op;
  judged.frame = access.frame;
  judged.writing = access.writing;
  judged.handle = access.handle;
  judged.offset = access.offset;
  judged.length = access.length;
  const Region* region = hit.region;
  std::optional<std::uint32_t> xid;
  if (region != nullptr) {
    judged.transaction = region->owner;
    judged.offer = region->access == Access::offer;
    xid = static_cast<std::uint32_t>(region->owner.key);
  }
  // Where the owner's own broken message may name the handle, who acts on it is no violator.
  if (hit.verdict != Verdict::inside) {
    const Doubtful* doubtful = connection.of(owner).doubtful.newest([&](const Doubtful& message) {
      return message.frame.number < access.frame.number && !message.refused && message.may_name(access.handle);
    });
    // A Call that offered the handle since says what it is worth.
    const bool offered_since =
        region != nullptr && doubtful != nullptr && region->exposed.number > doubtful->frame.number;
    if (doubtful != nullptr && !offered_since) {
      judged.state = JudgedOp::State::misled;
      judged.finding = doubtful->finding;
      context.book.unchecked(access.writing ? RuleId::rdma_write_out_of_bounds : RuleId::rdma_read_out_of_bounds,
                             connection.id(),
                             fmt::format("what the {} exposes in frame {} cannot be told from its header", name(owner),
                                         doubtful->frame.number));
      return connection.of(access.initiator).ops.add(std::move(judged));
    }
  }
  const Role role = judged.offer ? Role::requester : Role::responder;
  const char* verb = access.writing ? "wrote" : "read";
  const auto pending_for = [&](Pending::Kind kind, RuleId rule) {
    Pending pending;
    pending.kind = kind;
    pending.rule = rule;
    pending.side = access.initiator;
    pending.frame = access.frame;
    pending.start = access.start;
    pending.handle = access.handle;
    pending.offset = access.offset;
    pending.length = access.length;
    pending.writing = access.writing;
    pending.op = access.op;
    return pending;
  };
  // Held back: a Call that offers the memory anew may still be on its way here, behind a hole.
  const auto accuse = [&](RuleId rule, std::string message, FrameRef evidence) {
    if (!connection.trusted()) {
      context.book.unchecked(rule, connection.id(), connection.why_not_whole());
      return;
    }
    judged.state = JudgedOp::State::undecided;
    Pending pending = pending_for(Pending::Kind::access, rule);
    pending.evidence = region->exposed;
    pending.call = evidence;
    pending.message = std::move(message);
    pending.role = role;
    pending.xid = xid.value_or(0);
    hold_back(connection, std::move(pending));
  };
  const auto after_invalidate = [&] {
    accuse(RuleId::rdma_after_invalidate,
           fmt::format("The {} {} {} of handle {:#010x}, which it had itself invalidated before (frame {}).",
                       name(access.initiator), verb, range(access.offset, access.length), access.handle,
                       region->invalidated.number),
           region->invalidated);
  };
  switch (hit.verdict) {
    case Verdict::inside:
      judged.state = JudgedOp::State::inside;
      if (region->invalidated.number != 0) after_invalidate();
      break;
    case Verdict::wrong_kind:
      accuse(RuleId::rdma_access_mode,
             fmt::format("The {} {} {} of handle {:#010x}, which the {} had exposed to be {} only (frame {}).",
                         name(access.initiator), verb, range(access.offset, access.length), access.handle, name(owner),
                         access.writing ? "read" : "written", region->exposed.number),
             {});
      break;
    case Verdict::outside:
      if (region->access == Access::offer && access.writing) {
        accuse(RuleId::rdma_access_mode,
               fmt::format("The {} wrote {} of handle {:#010x}, which the {} had only offered to be read (frame {}).",
                           name(access.initiator), range(access.offset, access.length), access.handle, name(owner),
                           region->exposed.number),
               {});
        break;
      }
      accuse(access.writing ? RuleId::rdma_write_out_of_bounds : RuleId::rdma_read_out_of_bounds,
             fmt::format("The {} {} {} of handle {:#010x}; the {} exposed {} (frame {}).", name(access.initiator), verb,
                         range(access.offset, access.length), access.handle, name(owner),
                         range(region->begin, region->end - region->begin), region->exposed.number),
             region->retired);
      break;
    case Verdict::retired:
      if (region->access == Access::offer) {
        accuse(RuleId::read_after_done,
               fmt::format(
                   "The {} read {} of handle {:#010x} after its RDMA_DONE (frame {}) said it was finished with it.",
                   name(access.initiator), range(access.offset, access.length), access.handle, region->retired.number),
               region->retired);
      } else {
        if (region->invalidated.number != 0) after_invalidate();
        accuse(
            access.writing ? RuleId::rdma_write_after_reply : RuleId::rdma_read_after_reply,
            fmt::format("The {} {} {} of handle {:#010x} after its Reply (frame {}) had ended the use of that memory.",
                        name(access.initiator), verb, range(access.offset, access.length), access.handle,
                        region->retired.number),
            region->retired);
      }
      break;
    case Verdict::unknown_handle:
      if (!connection.whole()) {
        context.book.unchecked(
            RuleId::rdma_unknown_handle, connection.id(),
            fmt::format("the Call that named the handle may not be known: {}", connection.why_not_whole()));
        break;
      }
      // The client has work to do only in memory that the server offered: reverse calls, replies to be read.
      hold_back(connection, pending_for(Pending::Kind::unknown_handle,
                                        access.initiator == Side::active && !connection.of(owner).memory.ever()
                                            ? RuleId::rdma_by_requester
                                            : RuleId::rdma_unknown_handle));
      break;
  }
  return connection.of(access.initiator).ops.add(std::move(judged));
}

[[nodiscard]] std::uint64_t written(Connection& connection, const Transaction& call, const wire::Segment& segment,
                                    bool& known) {
  const Region* region =
      region_of(connection.of(call.requester).memory, call.id, segment.handle, segment.offset, Access::write);
  if (region == nullptr || region->touched.overflow()) known = false;
  return region == nullptr ? 0 : region->touched.within(segment.offset, segment.offset + segment.length);
}

/// Legal: written, and then returned as unused.
void note_unreported(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                     const Transaction& call) {
  MemoryMap& memory = connection.of(call.requester).memory;
  std::uint64_t octets = 0;
  const auto add = [&](const wire::WriteChunk& chunk) {
    for (const wire::Segment& segment : chunk) {
      // One that was empty from the start may name the place of the next one, which is in use.
      const bool in_use = std::any_of(chunk.begin(), chunk.end(), [&](const wire::Segment& s) {
        return s.length != 0 && s.handle == segment.handle && s.offset == segment.offset;
      });
      if (segment.length != 0 || in_use) continue;
      const Region* region = region_of(memory, call.id, segment.handle, segment.offset, Access::write);
      if (region != nullptr) octets += region->touched.within(region->begin, region->end);
    }
  };
  for (const wire::WriteChunk& chunk : header.writes) add(chunk);
  if (header.reply) add(*header.reply);
  if (octets == 0) return;
  Cost& cost = connection.unreported;
  ++cost.times;
  cost.octets += octets;
  if (context.book.fold_again(RuleId::write_bytes_unreported, connection.id(), event.frame)) return;
  cost.finding = context.book.fold(
      {RuleId::write_bytes_unreported,
       connection.id(),
       {event.frame, call.call},
       fmt::format("The {} wrote {} octets into the chunks of XID {:#010x} and returned those segments as unused, "
                   "which it may.",
                   name(event.side), octets, call.xid),
       std::nullopt,
       call.xid,
       std::nullopt,
       Role::responder});
}

void mark_guilty(Connection& connection, const Pending& pending, HeldFinding finding) {
  JudgedOp* judged = connection.of(pending.side).ops.newest([&](const JudgedOp& op) {
    return op.op == pending.op && op.writing == pending.writing;
  });
  if (judged == nullptr) return;
  judged->state = JudgedOp::State::guilty;
  judged->rule = pending.rule;
  judged->finding = std::move(finding);
}

}  // namespace

void judge_write(Context& context, Connection& connection, const trace::Write& event) {
  const Side owner = other(event.side);
  if (connection.unjudged()) return;
  if (event.first) {
    const std::uint64_t length = std::max<std::uint64_t>(event.announced, event.length);
    if (length == 0) return;  // touches no memory
    MemoryMap::Hit hit;
    judge_access(context, connection, {event.side, event.frame, event.op, event.handle, event.offset, length, true, {}},
                 hit);
    if (hit.verdict == MemoryMap::Hit::Verdict::inside) keep_written(context, connection, *hit.region, event);
  } else if (event.announced == 0) {
    JudgedOp* judged = connection.of(event.side).ops.newest([&](const JudgedOp& op) { return op.op == event.op; });
    if (judged != nullptr && judged->state == JudgedOp::State::inside) {
      const MemoryMap::Hit hit = connection.of(owner).memory.find(event.handle, event.offset, event.length, true);
      if (hit.verdict != MemoryMap::Hit::Verdict::inside) {
        // The Write as a whole is the offence: its first frame stands in front.
        MemoryMap::Hit again;
        judge_access(context, connection,
                     {event.side, event.frame, event.op, event.handle, event.offset, event.length, true, judged->frame},
                     again);
      }
    }
  }
  if (!event.first && connection.body_writes[index(event.side)].left != 0)
    keep_more_written(context, connection, event);
  connection.of(owner).memory.touch(event.handle, event.offset, event.length, false, true);
}

void judge_read(Context& context, Connection& connection, const trace::ReadRequest& event) {
  read_asked(context, connection, event);
  if (connection.unjudged() || event.length == 0) return;
  const Side owner = other(event.side);
  MemoryMap::Hit hit;
  const JudgedOp judged =
      judge_access(context, connection,
                   {event.side, event.frame, event.op, event.handle, event.offset, event.length, false, {}}, hit);
  connection.of(owner).memory.touch(event.handle, event.offset, event.length, true, false);
  if (judged.offer && judged.state == JudgedOp::State::inside) {
    if (Offer* offer = find_offer(connection, judged.transaction)) offer_read(connection, *offer, event.frame);
  }
}

void judge_read_response(Context& context, Connection& connection, const trace::ReadResponse& event) {
  read_answered(context, connection, event);
  if (connection.unjudged()) return;
  const Side owner = event.side;
  connection.of(owner).memory.touch(event.handle, event.offset, event.length, false, false);
  if (!event.octets.empty()) keep_pulled(context, connection, event);
  if (connection.offers.empty()) return;
  const JudgedOp* judged =
      connection.of(other(owner)).ops.newest([&](const JudgedOp& op) { return op.op == event.op && !op.writing; });
  if (judged == nullptr || !judged->offer || judged->state != JudgedOp::State::inside) return;
  Offer* offer = find_offer(connection, judged->transaction);
  if (offer == nullptr) return;
  offer_content(context, connection, *offer, event);
  if (event.last) offer_read_answered(context, connection, *offer, event.frame);
}

void judge_returned_lengths(Context& context, Connection& connection, const trace::Send& event,
                            const wire::HeaderV1& header, Transaction& call) {
  if (!call.lists_known) return;
  note_unreported(context, connection, event, header, call);
  if (!connection.trusted() || connection.of(event.side).gaps != call.responder_gaps) {
    context.book.unchecked(
        RuleId::write_bytes_missing, connection.id(),
        connection.trusted() ? std::string_view("frames of the responder are missing") : connection.why_not_whole());
    return;
  }
  std::uint64_t returned = 0;
  std::uint64_t seen = 0;
  bool known = true;
  const auto add = [&](const wire::WriteChunk& chunk) {
    for (const wire::Segment& segment : chunk) {
      if (segment.length == 0 || segment.offset > std::numeric_limits<std::uint64_t>::max() - segment.length) continue;
      returned += segment.length;
      seen += written(connection, call, segment, known);
    }
  };
  for (const wire::WriteChunk& chunk : header.writes) add(chunk);
  if (header.reply) add(*header.reply);
  if (!known || seen >= returned) return;
  context.book.add(
      {RuleId::write_bytes_missing,
       connection.id(),
       {event.frame, call.call},
       fmt::format("The {}'s Reply says that {} octets were written into the Call's chunks; RDMA Writes brought "
                   "only {}.",
                   name(event.side), returned, seen),
       std::nullopt,
       call.xid,
       party(event.side),
       Role::responder});
}

void settle_unknown_handle(Context& context, Connection& connection, const Pending& pending, bool proven) {
  const bool by_requester = pending.rule == RuleId::rdma_by_requester;
  HeldFinding finding = context.book.add(
      {pending.rule,
       connection.id(),
       {pending.frame},
       fmt::format(
           "The {} {} {} of handle {:#010x}, {}.", name(pending.side), pending.writing ? "wrote" : "read",
           range(pending.offset, pending.length), pending.handle,
           by_requester
               ? fmt::format("although the {} has not offered any memory: only responders read and write",
                             name(other(pending.side)))
               : fmt::format("which no message of the {} on this connection ever named", name(other(pending.side)))),
       proven ? std::nullopt : std::optional(Severity::warning),
       std::nullopt,
       party(pending.side),
       by_requester ? std::optional(Role::requester) : std::nullopt});
  connection.of(pending.side).unknown_ops = true;
  mark_guilty(connection, pending, std::move(finding));
}

void settle_access(Context& context, Connection& connection, const Pending& pending) {
  const bool later_packet = pending.start.number != 0;
  HeldFinding finding =
      context.book.add({pending.rule,
                        connection.id(),
                        {later_packet ? pending.start : pending.frame, pending.frame, pending.evidence, pending.call},
                        pending.message,
                        std::nullopt,
                        pending.xid,
                        party(pending.side),
                        pending.role});
  mark_guilty(connection, pending, std::move(finding));
}

void judge_early_access(Context& context, Connection& connection, const Transaction& call) {
  SideState& responder = connection.of(other(call.requester));
  if (!responder.unknown_ops || !call.lists_known) return;
  const auto names = [](const wire::Segment& segment, const JudgedOp& op) {
    return segment.handle == op.handle && segment.length >= op.length && op.offset >= segment.offset &&
           op.offset - segment.offset <= segment.length - op.length;
  };
  const auto in = [&](const wire::WriteChunk& chunk, const JudgedOp& op) {
    return std::any_of(chunk.begin(), chunk.end(), [&](const wire::Segment& s) { return names(s, op); });
  };
  const auto offered = [&](const JudgedOp& op) {
    if (!op.writing) {
      return std::any_of(call.reads.begin(), call.reads.end(),
                         [&](const wire::ReadSegment& read) { return names(read.target, op); });
    }
    return std::any_of(call.writes.begin(), call.writes.end(),
                       [&](const wire::WriteChunk& chunk) { return in(chunk, op); }) ||
           (call.reply_chunk && in(*call.reply_chunk, op));
  };
  while (JudgedOp* op = responder.ops.newest([&](const JudgedOp& each) {
    return each.state == JudgedOp::State::guilty && each.rule == RuleId::rdma_unknown_handle && offered(each);
  })) {
    // Not a stray handle: the Call that names it was on its way, behind something that this requester sent before.
    op->rule = RuleId::rdma_before_call;
    Finding& finding = context.book.at(op->finding);
    if (finding.occurrences > 1) continue;
    finding.rule = RuleId::rdma_before_call;
    finding.xid = call.xid;
    finding.role = Role::responder;
    finding.message = fmt::format("The {} {} {} of handle {:#010x} before the Call that offers it (frame {}) was sent.",
                                  name(other(call.requester)), op->writing ? "wrote" : "read",
                                  range(op->offset, op->length), op->handle, call.call.number);
    context.book.evidence(op->finding, call.call);
  }
}

void judge_opcode(Context& context, Connection& connection, const trace::Quality& event) {
  if (!connection.rpcrdma()) return;  // another protocol's business
  context.book.add_few(
      {RuleId::unexpected_opcode,
       connection.id(),
       {event.frame},
       fmt::format("The {} used immediate data or an atomic operation; RPC-over-RDMA has neither.", name(event.side)),
       std::nullopt,
       std::nullopt,
       party(event.side),
       std::nullopt});
}

void judge_access_refused(Context& context, Connection& connection, const trace::Refusal& refusal) {
  const Side initiator = other(refusal.side);
  SideState& state = connection.of(initiator);
  JudgedOp* judged = nullptr;
  using Refused = trace::Refusal::Refused;
  if (refusal.refused_op != 0 && (refusal.refused == Refused::write || refusal.refused == Refused::read)) {
    const bool writing = refusal.refused == Refused::write;
    judged = state.ops.newest([&](const JudgedOp& op) { return op.op == refusal.refused_op && op.writing == writing; });
  }
  if (judged == nullptr && refusal.refused != Refused::send) {
    judged = state.ops.newest([](const JudgedOp& op) { return op.state == JudgedOp::State::guilty; });
  }
  if (judged == nullptr) {
    // A Read that is not in the capture: it may have been one of an offer.
    for (Offer& offer : connection.offers) offer.refused = offer.refused || offer.requester == initiator;
  }
  Suspect suspect;
  suspect.how = refusal.kind == trace::Refusal::Kind::terminate ? Closed::How::terminate : Closed::How::nak;
  suspect.frame = refusal.frame;
  suspect.by = party(refusal.side);
  const std::uint64_t refused_number = judged != nullptr ? judged->frame.number : refusal.refused_frame.number;
  suspect.frames = {refused_number, refusal.frame.number};

  if (judged != nullptr) {
    // What was held back about it is certain: the owner itself says that it gives no such access.
    const std::uint64_t op = judged->op;
    const auto of_it = [&](const Pending& p) {
      return (p.kind == Pending::Kind::unknown_handle || p.kind == Pending::Kind::access) && p.op == op &&
             p.side == initiator;
    };
    for (auto held = std::find_if(connection.pending.begin(), connection.pending.end(), of_it);
         held != connection.pending.end();
         held = std::find_if(connection.pending.begin(), connection.pending.end(), of_it)) {
      const Pending pending = std::move(*held);
      connection.pending.erase(held);
      if (pending.kind == Pending::Kind::access) {
        settle_access(context, connection, pending);
      } else {
        settle_unknown_handle(context, connection, pending, true);
      }
    }
  }
  if (judged != nullptr && judged->state == JudgedOp::State::guilty) {
    context.book.evidence(judged->finding, refusal.frame);
    suspect.rule = judged->rule;
    suspect.proven = true;
    suspect.culprit = party(initiator);
    suspect.message = fmt::format("{} The {} refused it (frame {}).", context.book.at(judged->finding).message,
                                  name(refusal.side), refusal.frame.number);
  } else if (judged != nullptr && judged->state == JudgedOp::State::misled && judged->finding) {
    context.book.evidence(judged->finding, judged->frame);
    context.book.evidence(judged->finding, refusal.frame);
    suspect.rule = context.book.at(judged->finding).rule;
    suspect.proven = true;
    suspect.culprit = party(refusal.side);
    suspect.frames.insert(suspect.frames.begin(), context.book.at(judged->finding).frames.front());
    suspect.message = fmt::format("{} The {} acted on it (frame {}) and was refused (frame {}).",
                                  context.book.at(judged->finding).message, name(initiator), judged->frame.number,
                                  refusal.frame.number);
  } else if (judged != nullptr && judged->state == JudgedOp::State::inside && connection.trusted()) {
    const auto xid = static_cast<std::uint32_t>(judged->transaction.key);
    const char* what = judged->writing ? "Write" : "Read";
    if (judged->offer) {
      Offer* offer = find_offer(connection, judged->transaction);
      if (offer != nullptr) offer->refused = true;
      const bool early = offer == nullptr || refusal.frame.time - offer->frame.time < context.options.pull_timeout;
      suspect.message = fmt::format(
          "The {} refused a Read of memory it had offered (frame {}) before any RDMA_DONE: it took "
          "the memory back{}.",
          name(refusal.side), refusal.frame.number, early ? " early" : " after a while, as it may");
      context.book.add({RuleId::offer_invalidated_early,
                        connection.id(),
                        {judged->frame, refusal.frame},
                        suspect.message,
                        early ? Severity::warning : Severity::note,
                        xid,
                        party(refusal.side),
                        Role::responder});
      suspect.rule = RuleId::remote_access_error;
      suspect.culprit = party(refusal.side);
    } else {
      suspect.message = fmt::format(
          "The {}'s RDMA {} (frame {}) stays inside the memory that the {} exposed for XID {:#010x}, "
          "yet the {} refused it (frame {}): its registration does not hold what its message "
          "promised.",
          name(initiator), what, judged->frame.number, name(refusal.side), xid, name(refusal.side),
          refusal.frame.number);
      context.book.add({RuleId::remote_access_error,
                        connection.id(),
                        {judged->frame, refusal.frame},
                        suspect.message,
                        std::nullopt,
                        xid,
                        party(refusal.side),
                        Role::requester});
      suspect.rule = RuleId::remote_access_error;
      suspect.proven = true;
      suspect.culprit = party(refusal.side);
      const Transaction* call = connection.find(judged->transaction);
      if (judged->writing && call != nullptr && refusal.frame.time - call->call.time > stale_call) {
        context.book.add(
            {RuleId::cancelled_write_hazard,
             connection.id(),
             {judged->frame, call->call, refusal.frame},
             fmt::format("The refused Write belongs to a Call {:.1f} s old: its application may have given up and "
                         "the memory be in other use.",
                         static_cast<double>(refusal.frame.time - call->call.time) / 1e9),
             std::nullopt,
             xid,
             std::nullopt,
             Role::requester});
      }
    }
  } else {
    suspect.message = fmt::format(
        "The {} refused access to its memory (frame {}); which side is at fault cannot be told from "
        "this capture.",
        name(refusal.side), refusal.frame.number);
    context.book.add({RuleId::remote_access_error,
                      connection.id(),
                      {refusal.refused_frame, refusal.frame},
                      suspect.message,
                      Severity::warning,
                      std::nullopt,
                      std::nullopt,
                      std::nullopt});
    suspect.rule = RuleId::remote_access_error;
  }
  std::erase(suspect.frames, 0U);
  connection.suspect(std::move(suspect));
}

}  // namespace rpcrdma::referee
