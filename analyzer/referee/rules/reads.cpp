// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: how many Reads are in flight at once, and whether a Call's data was read before it succeeded.
#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/mount.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t most_excess = 64;
constexpr std::uint32_t not_negotiated = 0x3FFF;  // RFC 6581 section 4: IRD and ORD are left to others

/// How many RDMA Reads of `initiator` its peer answers at once. Empty: not known, or the field says nothing.
[[nodiscard]] std::optional<std::uint32_t> depth_limit(const Connection& connection, Side initiator) {
  const std::optional<std::uint32_t> accepted = connection.of(other(initiator)).depths.responder_resources;
  if (!accepted || *accepted == 0) return {};  // 0: written by a side that expects none
  if (connection.facts.transport != trace::Transport::iwarp) return accepted;
  if (*accepted >= not_negotiated) return {};
  if (initiator == Side::active) return accepted;
  // An MPA Reply may ask for more than the Request granted; a client that goes on has agreed (RFC 6581 section 4).
  const std::optional<std::uint32_t> asked = connection.of(initiator).depths.initiator_depth;
  if (asked && *asked >= not_negotiated) return {};
  return std::max(*accepted, asked.value_or(0));
}

}  // namespace

const Row rows::read_depth_exceeded{
    .group = 'F',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .needs = {.past = Needs::Past::whole, .file_order = true},
    .source = "IBA; RFC 5040; RFC 6581",
    .who = "by evidence",
    .title = "More RDMA Reads in flight than the peer accepts",
    .explanation =
        "Each side says during the handshake how many RDMA Reads it can answer at once (responder resources, or IRD on "
        "iWARP). Its adapter has state for that many; one more may be refused as an invalid request, which ends the "
        "connection, or works only as long as nothing has to be repeated.",
    .evidence =
        "RDMA Read Requests whose last response has not come yet, counted against the number in the peer's REQ or REP "
        "(MPA Request or Reply). Only counted when every one of them was answered, or the refusal is in the capture. A "
        "value of 0 belongs to a side that expects no Reads and decides nothing. Not decided without the handshake, "
        "across a gap, or where the two sides' packets stand in the file in another order than on the wire.",
    .next =
        "What both stacks pass as initiator_depth and responder_resources to rdma_connect() and rdma_accept(); "
        "ibv_devinfo -v shows max_qp_rd_atom and max_qp_init_rd_atom of the adapter."};

namespace {

void accuse(const Witness& witness, Side initiator, const ReadsInFlight::Excess& excess, FrameRef refused) {
  Connection& connection = witness.connection;
  const SideState& peer = connection.of(other(initiator));
  witness.say(RuleId::read_depth_exceeded,
              {.frames = {excess.frame, peer.private_data.frame, refused},
               .by = initiator,
               .what = fmt::format(
                   "The {} had {} in flight; the {} accepts {} at once (handshake, frame {}){}.", name(initiator),
                   counted(excess.open, "RDMA Read"), name(other(initiator)),
                   depth_limit(connection, initiator).value_or(0), peer.private_data.frame.number,
                   refused.number != 0 ? fmt::format(" and refused one (frame {})", refused.number) : std::string())});
}

/// Octets of the Call's Read chunks that no READ asked for, pads left out: three octets or fewer that nobody read
/// behind others that were. Empty: not known.
[[nodiscard]] std::optional<std::uint64_t> not_asked_for(Connection& connection, const Transaction& call) {
  constexpr std::uint64_t most_pad = 3;
  MemoryMap& memory = connection.of(call.requester).memory;
  struct Octets {
    std::uint64_t given = 0, asked = 0;
  };
  std::map<std::uint32_t, Octets> chunks;  // by Position; a pad may have a segment of its own
  for (const wire::ReadSegment& read : call.reads) {
    if (read.target.length == 0) continue;
    const Exposure* exposure = memory.of(call.id, read.target.handle, Access::read);
    const auto region = exposure != nullptr ? exposure->at(read.target.offset) : std::nullopt;
    if (!region || exposure->requested.overflow()) return {};
    Octets& chunk = chunks[read.position];
    chunk.given += region->length();
    chunk.asked += exposure->requested.within(region->begin, region->end);
  }
  std::uint64_t sum = 0;
  for (const auto& [position, chunk] : chunks) {
    const std::uint64_t left = chunk.given - chunk.asked;
    if (chunk.asked == 0 || left > most_pad) sum += left;
  }
  return sum;
}

enum class Outcome : std::uint8_t { success, failure, unknown };

struct Asked {
  std::uint32_t program;
  std::uint32_t procedure;
};

/// What the Call asks for. Of a Long Call it stands in what was pulled. Empty: not in the capture.
[[nodiscard]] std::optional<Asked> asked_for(const Transaction& call) {
  if (call.procedure) return Asked{std::get<0>(*call.procedure), std::get<2>(*call.procedure)};
  const wire::Bytes body = call.call_body.octets();
  const auto decoded = wire::decode_rpc_call(body, std::max<std::size_t>(body.size(), call.body_length));
  if (!decoded) return {};
  return Asked{decoded->program, decoded->procedure};
}

/// Whether the responder read any of a Long Call. What it read may be missing from the capture; that it asked is not.
[[nodiscard]] bool body_was_read(Connection& connection, const Transaction& call) {
  MemoryMap& memory = connection.of(call.requester).memory;
  return std::any_of(call.reads.begin(), call.reads.end(), [&](const wire::ReadSegment& read) {
    if (read.position != 0 || read.target.length == 0) return false;
    const Exposure* exposure = memory.of(call.id, read.target.handle, Access::read);
    const auto region = exposure != nullptr ? exposure->at(read.target.offset) : std::nullopt;
    return !region || exposure->requested.within(region->begin, region->end) != 0;
  });
}

/// What the Reply reports: RPC's own status, and that of NFS, which stands first in nearly all of its results.
[[nodiscard]] Outcome outcome(Connection& connection, const std::optional<RpcStream>& stream, const Transaction& call) {
  if (!stream) return Outcome::unknown;
  const wire::Bytes message = stream->octets;
  const auto reply = wire::decode_rpc_reply(message, stream->wire_length);
  if (!reply) return Outcome::unknown;
  if (!reply->succeeded()) return Outcome::failure;
  if (reply->flavor == wire::flavor_gss) return Outcome::unknown;  // the results may be wrapped
  const std::optional<Asked> asked = asked_for(call);
  if (!asked) {
    // Whoever never read the Call cannot have refused it; of any other it is not known what its Reply begins with.
    return call.body_length != 0 && call.call_body.empty() && !body_was_read(connection, call) ? Outcome::success
                                                                                               : Outcome::unknown;
  }
  const auto [program, procedure] = *asked;
  const bool status_first =
      (program == wire::nfs_program || program == wire::nfsacl_program || wire::callback_program(program)) &&
      procedure != 0;
  if (!status_first) return Outcome::success;
  if (message.size() < reply->body + 4) return Outcome::unknown;
  return wire::load_be32(message.data() + reply->body) == 0 ? Outcome::success : Outcome::failure;
}

}  // namespace

void read_asked(const Witness& witness, const trace::ReadRequest& event) {
  Connection& connection = witness.connection;
  if (event.length == 0) return;
  ReadsInFlight& reads = connection.of(event.side).reads;
  if (reads.open.size() >= ReadsInFlight::most) {
    witness.unchecked(RuleId::read_depth_exceeded, "more RDMA Reads are unanswered than the analyzer keeps");
    reads.clear();
  }
  reads.open.push_back({event.op, event.frame});  // whoever waits for one of them wants to know, limit or not
  const std::optional<std::uint32_t> limit = depth_limit(connection, event.side);
  if (!limit) {
    witness.unchecked(RuleId::read_depth_exceeded,
                      "how many RDMA Reads the peer accepts is not in the capture, or it said 0");
    return;
  }
  if (reads.open.size() <= *limit) return;
  if (reads.excess.size() >= most_excess) {
    witness.unchecked(RuleId::read_depth_exceeded, "more accusations than can be kept were waiting for their proof");
    return;
  }
  if (!witness.may(RuleId::read_depth_exceeded)) return;
  reads.excess.push_back({event.frame, reads.open.front().op, event.op, reads.open.size()});
}

void read_answered(const Witness& witness, const trace::ReadResponse& event) {
  Connection& connection = witness.connection;
  const Side initiator = other(event.side);
  ReadsInFlight& reads = connection.of(initiator).reads;
  const auto at =
      std::find_if(reads.open.begin(), reads.open.end(), [&](const auto& read) { return read.op == event.op; });
  if (at == reads.open.end()) return;
  // Answers come in the order of the requests: those in front are answered too, but when is not in the capture.
  for (auto earlier = reads.open.begin(); earlier != at; ++earlier) {
    std::erase_if(reads.excess, [&](const auto& e) { return e.first <= earlier->op && earlier->op <= e.last; });
  }
  if (!event.last) {
    reads.open.erase(reads.open.begin(), at);
    return;
  }
  reads.open.erase(reads.open.begin(), at + 1);
  if (reads.excess.empty()) return;
  const std::uint64_t limit = depth_limit(connection, initiator).value_or(0);
  std::erase_if(reads.excess, [&](ReadsInFlight::Excess& excess) {
    if (event.op < excess.first || event.op > excess.last) return false;
    // Delivered late: the answer was there before the Read that seemed to be one too many.
    if (event.frame.number < excess.frame.number || event.frame.time < excess.frame.time) --excess.open;
    if (excess.open <= limit) return true;
    if (event.op != excess.last) return false;
    accuse(witness, initiator, excess, {});
    return true;
  });
}

void judge_refused_read(const Witness& witness, const trace::Refusal& refusal) {
  Connection& connection = witness.connection;
  if (refusal.refused != trace::Refusal::Refused::read || refusal.refused_op == 0 || !connection.whole()) return;
  const Side initiator = other(refusal.side);
  ReadsInFlight& reads = connection.of(initiator).reads;
  const auto excess = std::find_if(reads.excess.begin(), reads.excess.end(),
                                   [&](const auto& e) { return e.last == refusal.refused_op; });
  if (excess == reads.excess.end()) return;
  accuse(witness, initiator, *excess, refusal.frame);
  reads.clear();
}

const Row rows::read_chunk_not_pulled{
    .group = 'F',
    .severity = Severity::warning,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::answered_whole, .lists = true},
    .source = "RFC 8166 section 3.4.5.1 (derived)",
    .who = "responder",
    .title = "A call succeeded although its Read chunk was not read",
    .explanation =
        "Data in a Read chunk is an argument of the call, and a responder has to fetch it before it can do what it is "
        "asked. A reply that reports success without that acknowledges data which never left the requester: what was "
        "to be stored is lost without a word. A reply from a duplicate request cache is the one good reason.",
    .evidence =
        "A Reply with accept status and NFS status 0, while RDMA Reads asked for less than the chunk holds. Pads of up "
        "to three octets need not be read. Not decided when frames are missing, when the status is cut off, wrapped by "
        "RPCSEC_GSS or in unseen octets, or when the call may be a repetition that a cache answered.",
    .next =
        "Server: rpcrdma:svcrdma_post_read_chunk and svcrdma_read_finished for that XID, nfsd:nfsd_write_start for the "
        "length. Compare the file's content with what the application wrote."};

void judge_pulled(const Witness& witness, const trace::Send& event, const Transaction& call,
                  const std::optional<RpcStream>& stream) {
  Connection& connection = witness.connection;
  if ((call.all_lists() && call.reads.empty()) || !witness.may(RuleId::read_chunk_not_pulled, call)) return;
  const auto not_decided = [&](std::string_view why) { witness.unchecked(RuleId::read_chunk_not_pulled, why); };
  const std::optional<std::uint64_t> left = not_asked_for(connection, call);
  if (left && *left == 0) return;
  if (!left) {
    not_decided("which octets were read is not known");
    return;
  }
  switch (outcome(connection, stream, call)) {
    case Outcome::failure:
      return;  // what is refused need not be read
    case Outcome::unknown:
      not_decided("whether the call succeeded does not stand in the captured octets");
      return;
    case Outcome::success:
      break;
  }
  if (may_be_repetition(connection, call)) {
    not_decided("the call is a repetition, which a reply cache may have answered");
    return;
  }
  witness.say(RuleId::read_chunk_not_pulled,
              {.frames = {event.frame, call.call},
               .by = event.side,
               .as = Role::responder,
               .xid = call.xid,
               .call = &call,
               .what = call.body_length != 0 && call.pulled.number == 0
                           ? fmt::format("The {} answered XID {:#010x} without having read the Call: of its Read "
                                         "chunks {} stayed where they were.",
                                         name(event.side), call.xid, counted(*left, "octet"))
                           : fmt::format("The {} reported success for XID {:#010x} but never read {} of the Call's "
                                         "Read chunks: that data stayed where it was.",
                                         name(event.side), call.xid, counted(*left, "octet"))});
}

}  // namespace rpcrdma::referee
