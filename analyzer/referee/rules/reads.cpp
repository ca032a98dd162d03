// SPDX-License-Identifier: GPL-2.0-or-later
// Group F: how many Reads are in flight at once, and whether a Call's data was read before it succeeded.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/docket/resting.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/mount.hpp"
#include "wire/nfs_files.hpp"
#include "wire/nfs_steps.hpp"
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

/// A Read chunk, or the whole Call.
struct Given {
  std::uint64_t octets = 0;
  std::uint64_t asked = 0;  ///< by RDMA Reads

  /// Of so many of its octets, those that no RDMA Read asked for. Pads left out: three octets or fewer that nobody read
  /// behind others that were.
  [[nodiscard]] std::uint64_t not_read(std::uint64_t needed) const noexcept {
    constexpr std::uint64_t most_pad = 3;
    const std::uint64_t most = std::min(needed, octets);
    const std::uint64_t left = most > asked ? most - asked : 0;
    return asked == 0 || left > most_pad ? left : 0;
  }
};
using GivenAt = std::map<std::uint32_t, Given>;  ///< by Position; a pad may have a segment of its own

/// Empty: not known.
[[nodiscard]] std::optional<GivenAt> given_by(Connection& connection, const Transaction& call) {
  MemoryMap& memory = connection.of(call.requester).memory;
  GivenAt chunks;
  for (const wire::ReadSegment& read : call.reads) {
    Given& chunk = chunks[read.position];
    if (read.target.length == 0) continue;
    const Exposure* exposure = memory.of(call.id, read.target.handle, Access::read);
    const auto region = exposure != nullptr ? exposure->at(read.target.offset) : std::nullopt;
    if (!region || exposure->requested.overflow()) return {};
    chunk.octets += region->length();
    chunk.asked += exposure->requested.within(region->begin, region->end);
  }
  return chunks;
}

[[nodiscard]] std::uint64_t not_read(const GivenAt& chunks) {
  std::uint64_t sum = 0;
  for (const auto& [position, chunk] : chunks) sum += chunk.not_read(chunk.octets);
  return sum;
}

enum class Outcome : std::uint8_t { success, failure, unknown };

struct Asked {
  std::uint32_t program;
  std::uint32_t version;
  std::uint32_t procedure;
};

/// What the Call asks for. Of a Long Call it stands in what was pulled. Empty: not in the capture.
[[nodiscard]] std::optional<Asked> asked_for(const Transaction& call) {
  if (call.procedure) {
    const auto [program, version, procedure] = *call.procedure;
    return Asked{program, version, procedure};
  }
  const wire::Bytes body = call.call_body.octets();
  const auto decoded = wire::decode_rpc_call(body, std::max<std::size_t>(body.size(), call.body_length));
  if (!decoded) return {};
  return Asked{decoded->program, decoded->version, decoded->procedure};
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
  const auto [program, version, procedure] = *asked;
  const bool status_first =
      (program == wire::nfs_program || program == wire::nfsacl_program || wire::callback_program(program)) &&
      procedure != 0;
  if (!status_first) return Outcome::success;
  if (message.size() < reply->body + 4) return Outcome::unknown;
  return wire::load_be32(message.data() + reply->body) == 0 ? Outcome::success : Outcome::failure;
}

constexpr std::uint64_t all_of_it = UINT64_MAX;

/// A WRITE of NFSv3 or NFSv4 may take fewer octets than it was given (RFC 1813 section 3.3.7, RFC 8881 section
/// 18.32.3), all else takes all.
[[nodiscard]] bool may_write(const Asked& asked) noexcept {
  constexpr std::uint32_t write3 = 7;
  return asked.program == wire::nfs_program &&
         (asked.version == 4 || (asked.version == 3 && asked.procedure == write3));
}

/// Octets that a successful Reply to such a Call says were taken of each argument that may be in a Read chunk, in the
/// order of the Call. Empty: that cannot be read.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> taken_by(const RpcStream& stream, const Asked& asked) {
  const wire::Asked procedure{asked.program, asked.version, asked.procedure, wire::Protection::none};
  std::vector<std::uint64_t> taken;
  if (asked.version == 3) {
    wire::FileAnswers answers;
    wire::read_file_answers(stream.octets, procedure, answers);
    if (answers.size() != 1) return {};
    taken.push_back(answers[0].written);
    return taken;
  }
  wire::ReplySteps reply;
  wire::read_reply_steps(stream.octets, stream.wire_length, procedure, wire::PlacesUnknown(), reply);
  if (!reply.whole()) return {};
  for (const wire::ReplyStep& step : reply.steps) {
    const auto* written = std::get_if<wire::Written>(&step.result);
    if (written != nullptr) taken.push_back(written->count);
    if (step.operation == wire::operation::create) taken.push_back(all_of_it);
  }
  return taken;
}

/// Octets that were needed and not read.
struct Needed {
  std::uint64_t surely = 0;
  std::uint64_t perhaps = 0;  ///< or more, up to so many
};

/// Where some of the arguments came in the message itself, which of them are in chunks is not known: then a chunk holds
/// one that leaves enough of them in front of it, and behind it, for the others.
[[nodiscard]] Needed needed_of(const GivenAt& chunks, std::vector<std::uint64_t> taken) {
  const std::size_t moved = chunks.size() - chunks.count(0);
  if (moved > taken.size()) return {0, not_read(chunks)};
  const std::size_t in_message = taken.size() - moved;
  Needed needed;
  std::size_t first = 0;
  for (const auto& [position, chunk] : chunks) {
    if (position == 0) continue;
    const auto [least, most] = std::minmax_element(taken.begin() + static_cast<std::ptrdiff_t>(first),
                                                   taken.begin() + static_cast<std::ptrdiff_t>(first + in_message + 1));
    needed.surely += chunk.not_read(*least);
    needed.perhaps += chunk.not_read(*most);
    ++first;
  }
  const auto whole_call = chunks.find(0);
  if (whole_call == chunks.end()) return needed;
  // The Call itself, and what was taken of the arguments in it.
  std::sort(taken.begin(), taken.end());
  std::uint64_t least = in_message == 0 ? all_of_it : 0;
  for (std::size_t i = 0; i < in_message; ++i) least = taken[i] == all_of_it ? all_of_it : least + taken[i];
  needed.surely += whole_call->second.not_read(least);
  needed.perhaps += whole_call->second.not_read(all_of_it);
  return needed;
}

/// By whoever has done what it was asked.
[[nodiscard]] Needed needed(const GivenAt& chunks, const std::optional<RpcStream>& stream, const Transaction& call) {
  const std::uint64_t all = not_read(chunks);
  const std::optional<Asked> asked = asked_for(call);
  if (!asked || !may_write(*asked)) return {all, all};
  const auto taken = stream ? taken_by(*stream, *asked) : std::nullopt;
  return taken ? needed_of(chunks, *taken) : Needed{0, all};
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
        "to be stored is lost without a word. A WRITE may store less than it was given, and says so; what it does not "
        "store it need not fetch. A reply from a duplicate request cache is the one other good reason.",
    .evidence =
        "A Reply with accept status and NFS status 0, while RDMA Reads asked for less than the chunk holds, or than a "
        "WRITE says that it wrote. Pads of up to three octets need not be read. Not decided when frames are missing, "
        "when the status is cut off, wrapped by RPCSEC_GSS or in unseen octets, when the call is not as it should be, "
        "or when it may be a repetition that a cache answered.",
    .next =
        "Server: rpcrdma:svcrdma_post_read_chunk and svcrdma_read_finished for that XID, nfsd:nfsd_write_start for the "
        "length. Compare the file's content with what the application wrote."};

void judge_pulled(const Witness& witness, const trace::Send& event, const Transaction& call,
                  const std::optional<RpcStream>& stream) {
  Connection& connection = witness.connection;
  if ((call.all_lists() && call.reads.empty()) || !witness.may(RuleId::read_chunk_not_pulled, call)) return;
  const auto not_decided = [&](std::string_view why) { witness.unchecked(RuleId::read_chunk_not_pulled, why); };
  const std::optional<GivenAt> given = given_by(connection, call);
  if (given && not_read(*given) == 0) return;
  if (!given) {
    not_decided("which octets were read is not known");
    return;
  }
  if (call.ill_formed()) {
    not_decided("the call is not as it should be: what its Read chunks hold is not known");
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
  const Needed left = needed(*given, stream, call);
  if (left.perhaps == 0) return;
  if (left.surely == 0) {
    not_decided("how much of the call's data was taken does not stand in the captured octets");
    return;
  }
  if (may_be_repetition(connection, call)) {
    not_decided("the call is a repetition, which a reply cache may have answered");
    return;
  }
  const HeldFinding not_pulled =
      witness.say(RuleId::read_chunk_not_pulled,
                  {.frames = {event.frame, call.call},
                   .by = event.side,
                   .as = Role::responder,
                   .xid = call.xid,
                   .call = &call,
                   .what = call.body_length != 0 && call.pulled.number == 0
                               ? fmt::format("The {} answered XID {:#010x} without having read the Call: of its Read "
                                             "chunks {} stayed where they were.",
                                             name(event.side), call.xid, counted(left.surely, "octet"))
                               : fmt::format("The {} reported success for XID {:#010x} but never read {} of the Call's "
                                             "Read chunks: that data stayed where it was.",
                                             name(event.side), call.xid, counted(left.surely, "octet"))});
  rests_on_first_copy(witness, RuleId::read_chunk_not_pulled, call, not_pulled);
}

}  // namespace rpcrdma::referee
