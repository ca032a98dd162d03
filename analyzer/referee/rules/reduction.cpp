// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: what was moved into chunks of its own, and what was not (RFC 8166 sections 3.4 and 4.3, RFC 8267).
//
// The walks of wire/nfs_items read a message only as far as they understand it. What lies behind is not judged.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "referee/state/procedures.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::size_t nfs4_segments_most = 16;  // RFC 8267 section 6.4.2
constexpr std::size_t pads_most = 4;            // octets of pads left behind at the end of a message
constexpr std::string_view unread_credential =
    "the credential of a Call is cut, or names a service of RPCSEC_GSS that is not known";

class Chunked {
 public:
  Chunked(const Witness& witness, const Transaction& call, FrameRef frame, FrameRef evidence, Role role) noexcept
      : witness_(witness),
        call_(call),
        frame_(frame),
        evidence_(evidence),
        role_(role),
        side_(role == Role::requester ? call.requester : other(call.requester)) {}

  void say(RuleId rule, std::string message) { tell(rule, std::move(message), Severity::error); }
  /// Legal, or not known to be wrong, and likely to be a habit.
  template <class... Parts>
  void note(RuleId rule, fmt::format_string<Parts...> text, Parts&&... parts) {
    if (witness_.again(rule, frame_, witness_.connection.accused(side_))) return;
    tell(rule, fmt::format(text, std::forward<Parts>(parts)...), Severity::note);
  }
  void unchecked(RuleId rule, std::string_view why) { witness_.unchecked(rule, why); }
  [[nodiscard]] const char* who() const noexcept { return name(side_); }
  [[nodiscard]] bool version2() const noexcept { return call_.version == 2; }

 private:
  void tell(RuleId rule, std::string message, Severity at_most) {
    witness_.say(rule, {.frames = {frame_, evidence_},
                        .by = witness_.connection.accused(side_),
                        .as = role_,
                        .xid = call_.xid,
                        .at_most = at_most,
                        .habit = at_most == Severity::note,
                        .what = std::move(message)});
  }

  const Witness& witness_;
  const Transaction& call_;
  FrameRef frame_;
  FrameRef evidence_;
  Role role_;
  Side side_;
};

[[nodiscard]] std::string_view why_not(wire::WalkEnd end, const RpcStream& stream) noexcept {
  switch (end) {
    case wire::WalkEnd::truncated:
      return stream.more ? "an RPC message is longer than what is kept of it"
                         : "the end of an RPC message is not in the capture, or was moved before its beginning";
    case wire::WalkEnd::unsupported:
      return "an RPC message has a form that the analyzer does not know";
    default:
      return "an RPC message cannot be read to its end";
  }
}

[[nodiscard]] std::string named(const ProcedureId& procedure) {
  return wire::procedure_name(std::get<0>(procedure), std::get<1>(procedure), std::get<2>(procedure));
}

[[nodiscard]] std::string named(const ProcedureId& procedure, const wire::NfsItem& item) {
  if (std::get<1>(procedure) != 4) return named(procedure);
  return fmt::format("NFSv4 {} (operation {} of the COMPOUND)", wire::nfs4_operation_name(item.operation, false),
                     item.index + 1);
}

// --- Calls

}  // namespace

const Row rows::nfs_chunk_complexity{
    .group = 'E',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .repetition = Repetition::few,
    .source = "RFC 8267 section 6.4.2",
    .who = "requester",
    .title = "More chunks than every NFSv4 server has to take",
    .explanation =
        "A client that does not know its server's limits should keep to one Read chunk beside the message, one Write "
        "chunk and 16 segments in a chunk. Servers may refuse more with ERR_CHUNK or GARBAGE_ARGS; one kernel was seen "
        "to never answer.",
    .evidence = "The chunk lists of an NFSv4 COMPOUND. A client may know by other means what its server takes.",
    .next =
        "Server: rpcrdma:svcrdma_decode_parse_err. Client: rsize and wsize, and the adapter's registration depth, "
        "decide how many segments a chunk has."};

namespace {

/// RFC 8267 section 6.4.2: what every NFSv4 server has to take, and no client should go beyond.
void judge_complexity(Chunked& chunked, const Transaction& call, const std::vector<wire::ReadChunk>& reads) {
  std::size_t segments = 0;
  std::size_t body = 0;
  for (const wire::ReadChunk& chunk : reads) segments = std::max<std::size_t>(segments, chunk.segments);
  for (const wire::ReadSegment& read : call.reads) body += read.position == 0 ? 1U : 0U;
  for (const wire::WriteChunk& chunk : call.writes) segments = std::max(segments, chunk.size());
  if (call.reply_chunk) segments = std::max(segments, call.reply_chunk->size());
  segments = std::max(segments, body);
  if (reads.size() <= 1 && call.writes.size() <= 1 && segments <= nfs4_segments_most) return;
  chunked.say(
      RuleId::nfs_chunk_complexity,
      fmt::format("The {}'s NFSv4 Call has {} beside the message, {}, and up to {} in "
                  "a chunk; servers need to take one, one, and {}.",
                  chunked.who(), counted(reads.size(), "Read chunk"), counted(call.writes.size(), "Write chunk"),
                  counted(segments, "segment"), nfs4_segments_most));
}

}  // namespace

const Row rows::read_chunk_pad_included{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.5.2; version 2 draft section 4.5.3.1",
    .who = "requester",
    .title = "A Read chunk holds its item's XDR pad",
    .explanation =
        "The octets that fill an item up to a multiple of four carry nothing and should be left out of its chunk. "
        "Servers take both; the pad costs a registered segment or a few octets on the wire.",
    .evidence =
        "The chunk is exactly as long as the item (by the count word in front of it) and its pad, in one segment or in "
        "one of its own. NFS arguments only, as far as they are captured and can be read.",
    .next = "Linux client: it sends a segment with the pad to servers without private data (implicit roundup off)."};

const Row rows::read_chunk_length_wrong{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.5.2; version 2 draft section 4.5.3.1",
    .who = "requester",
    .title = "A Read chunk is not as long as its item",
    .explanation =
        "The count word of a moved item stays in the message, and the chunk has to hold that many octets, at most with "
        "the pad behind them. Otherwise the server stores too little, or octets that belong to something else.",
    .evidence =
        "The count word in front of the Position against the sum of the chunk's segments. NFS arguments only; not "
        "decided when they are not captured or have a form that is not known.",
    .next =
        "Client: rpcrdma:xprtrdma_chunk_read and xprtrdma_marshal. Server: rpcrdma:svcrdma_decode_rseg; nfsd answers "
        "GARBAGE_ARGS or an NFS error."};

const Row rows::ineligible_item_reduced{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 sections 3.4.2 and 6.1; RFC 8267 sections 4 and 6.1",
    .who = "sender",
    .title = "Something was moved into a chunk that has to stay in the message",
    .explanation =
        "Only what the upper layer's binding names may travel in a chunk of its own: for NFS the data of READ and "
        "WRITE and the text of a symbolic link. The receiver knows no other and cannot put the message together.",
    .evidence =
        "Calls: a Position at which no such item begins, found by reading the arguments. Replies: a used Write chunk, "
        "and a procedure, or operations, without such a result. A note for programs without a known binding; not "
        "decided when the message is cut or has a form that is not known.",
    .next =
        "Client: rpcrdma:xprtrdma_marshal (rtype, wtype). Server: rpcrdma:svcrdma_decode_rseg, svcrdma_encode_wseg."};

namespace {

/// True when an error was found.
bool judge_moved_argument(Chunked& chunked, const ProcedureId& procedure, const wire::NfsItem& item) {
  if (!item.eligible) {
    chunked.say(RuleId::ineligible_item_reduced,
                fmt::format("The {} moved {} of {} into a Read chunk (Position {}); this item must stay in the "
                            "message.",
                            chunked.who(), counted(item.length, "octet"), named(procedure, item), item.position));
    return true;
  }
  if (item.chunk_length == item.length) return false;
  if (item.chunk_length == item.length + item.pad() && chunked.version2()) {
    chunked.say(RuleId::read_chunk_pad_included,
                fmt::format("The {}'s Read chunk at position {} is {} long, its item {}: the pad does not belong "
                            "to it.",
                            chunked.who(), item.position, counted(item.chunk_length, "octet"), item.length));
    return true;
  }
  if (item.chunk_length == item.length + item.pad()) {
    chunked.note(RuleId::read_chunk_pad_included,
                 "The {}'s Read chunk at Position {} holds {} octets: the {} of the item and its pad, which should be "
                 "left out.",
                 chunked.who(), item.position, item.chunk_length, item.length);
    return false;
  }
  chunked.say(RuleId::read_chunk_length_wrong,
              fmt::format("The {}'s Read chunk at Position {} holds {}; the data of {} that belong there are {} "
                          "long.",
                          chunked.who(), item.position, counted(item.chunk_length, "octet"), named(procedure, item),
                          counted(item.length, "octet")));
  return true;
}

bool judge_moved_arguments(Chunked& chunked, const ProcedureId& procedure, const std::vector<wire::ReadChunk>& reads,
                           const wire::NfsItems& found, const RpcStream& stream) {
  for (const wire::NfsItem& item : found.items) {
    if (item.moved() && judge_moved_argument(chunked, procedure, item)) return true;
  }
  if (found.end == wire::WalkEnd::misplaced) {
    chunked.say(RuleId::ineligible_item_reduced,
                fmt::format("The {}'s Read chunk has Position {}, where no item of this {} begins that may be moved.",
                            chunked.who(), reads[found.chunks_used].position, named(procedure)));
    return true;
  }
  if (found.chunks_used < reads.size()) {
    chunked.unchecked(RuleId::ineligible_item_reduced, why_not(found.end, stream));
    chunked.unchecked(RuleId::read_chunk_length_wrong, why_not(found.end, stream));
  }
  return false;
}

/// Memory is often given by the page: then the end of the room says nothing about a pad.
[[nodiscard]] bool ends_with_a_page(const wire::WriteChunk& chunk, std::uint64_t room) noexcept {
  constexpr std::uint64_t page = 4096;
  return room % page == 0 || (chunk.back().offset + chunk.back().length) % page == 0;
}

}  // namespace

const Row rows::write_chunk_pad_provisioned{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.6.2; version 2 draft section 4.5.2.4",
    .who = "requester",
    .title = "A Write chunk has room for an XDR pad",
    .explanation = "Responders write no pads, so room for one is never used. Some clients register it all the same.",
    .evidence = "A Write chunk is longer than the count of its READ by exactly the pad.",
    .next = "Nothing to do; a Linux client does this towards servers without private data (implicit roundup off)."};

namespace {

/// Room for a pad behind the most that a READ may bring.
void judge_provisioned(Chunked& chunked, const Transaction& call, const wire::NfsItems& found) {
  std::size_t next = 0;
  for (const wire::WantedItem& wanted : found.wanted) {
    if (next == call.writes.size()) return;
    const wire::WriteChunk& chunk = call.writes[next++];
    const std::uint64_t room = wire::chunk_length(chunk);
    if (wanted.most == wire::WantedItem::no_limit || wanted.most % 4 == 0 || room <= wanted.most) continue;
    if (room != wanted.most + (4 - wanted.most % 4)) continue;
    if (chunked.version2() && !ends_with_a_page(chunk, room)) {
      chunked.say(RuleId::write_chunk_pad_provisioned,
                  fmt::format("The {} asks for at most {} and gives a Write chunk of {}: room for a pad, which "
                              "version 2 forbids.",
                              chunked.who(), counted(wanted.most, "octet"), grouped(room)));
      continue;
    }
    chunked.note(RuleId::write_chunk_pad_provisioned,
                 "The {} asks for at most {} octets and gives a Write chunk of {}: room for a pad that nobody writes.",
                 chunked.who(), wanted.most, room);
  }
}

// --- Replies

struct Returned {
  const std::vector<wire::WriteChunk>& provided;
  const std::vector<std::uint64_t>& lengths;
  [[nodiscard]] bool used() const {
    return std::any_of(lengths.begin(), lengths.end(), [](std::uint64_t length) { return length != 0; });
  }
  [[nodiscard]] bool used_behind(std::size_t first) const {
    return first < lengths.size() && std::any_of(lengths.begin() + static_cast<std::ptrdiff_t>(first), lengths.end(),
                                                 [](std::uint64_t length) { return length != 0; });
  }
};

}  // namespace

const Row rows::write_chunk_pad_written{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 3.4.6.2; version 2 draft section 4.5.2.4",
    .who = "responder",
    .title = "A returned Write chunk is not as long as its item",
    .explanation =
        "The count word of a moved result stays in the reply, and the chunk holds exactly so many octets: no pad, no "
        "more, no less. A requester that adds up chunk lengths otherwise hands out octets that are not part of the "
        "file, or misses some.",
    .evidence =
        "The count word of the result against the lengths in the Reply's Write list. NFS READ and READLINK only; not "
        "decided when the Call or the reply is cut, or the reply cannot be read to its end.",
    .next =
        "Server: rpcrdma:svcrdma_encode_wseg and svcrdma_wc_write. A length that was never updated shows up here as "
        "well as in write-bytes-missing."};

namespace {

void judge_moved_result(Chunked& chunked, const ProcedureId& procedure, const wire::NfsItem& item) {
  if (!item.eligible) {
    chunked.say(RuleId::ineligible_item_reduced,
                fmt::format("The {} moved {} of {} into Write chunk {}; this item must stay in the message.",
                            chunked.who(), counted(item.length, "octet"), named(procedure, item), item.chunk + 1));
  } else if (item.chunk_length != item.length) {
    chunked.say(RuleId::write_chunk_pad_written,
                fmt::format("The {}'s Reply says that Write chunk {} holds {}; the data of {} in it are {} "
                            "long.",
                            chunked.who(), item.chunk + 1, counted(item.chunk_length, "octet"), named(procedure, item),
                            counted(item.length, "octet")));
  }
}

}  // namespace

const Row rows::write_chunk_skipped{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 section 4.3.2.2",
    .who = "responder",
    .title = "A result went past an unused Write chunk",
    .explanation =
        "Results take the Write chunks in their order; a chunk that was passed over belongs to the next result. A "
        "requester that looks for its first result in the first chunk finds nothing there.",
    .evidence =
        "A result is in a chunk, and an earlier chunk with room came back unused without a result of no octets that "
        "could have taken it. NFS READ and READLINK only, in replies that can be read to their end.",
    .next = "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."};

const Row rows::eligible_item_inline{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 sections 4.3.2 and 6.1; version 2 draft appendix A.1",
    .who = "responder",
    .title = "A result came inline although its Write chunk was given",
    .explanation =
        "A responder has to use the Write chunks of a call for results that may be moved. A requester that gave one "
        "has its pages waiting there, and may have too little room for the data inline.",
    .evidence =
        "A READ or READLINK result with octets in the message, while the Write chunk that is its turn came back unused "
        "and has room enough. A chunk of no segments asks for just that.",
    .next =
        "Server: rpcrdma:svcrdma_decode_wseg and svcrdma_encode_wseg; RPCSEC_GSS with integrity or privacy is the one "
        "good reason."};

namespace {

/// Follows the chunks as a responder has to use them: in order, each for the next result that may be moved.
void judge_use(Chunked& chunked, const ProcedureId& procedure, const wire::NfsItems& found, const Returned& returned) {
  std::size_t next = 0;
  std::size_t without_data = 0;  // results of no octets: each may have taken a chunk, or none
  for (const wire::NfsItem& item : found.items) {
    if (item.moved()) {
      std::size_t skipped = 0;
      for (std::size_t i = next; i < item.chunk; ++i) {
        skipped += wire::chunk_length(returned.provided[i]) == 0 ? 0U : 1U;
      }
      if (skipped > without_data && !chunked.version2()) {  // version 2 has no such rule
        chunked.say(RuleId::write_chunk_skipped,
                    fmt::format("The {} put the data of {} into Write chunk {} and left chunk {} unused, which comes "
                                "first.",
                                chunked.who(), named(procedure, item), item.chunk + 1, next + 1));
      }
      without_data = 0;
      next = item.chunk + 1;
      judge_moved_result(chunked, procedure, item);
      continue;
    }
    if (!item.eligible) continue;
    if (item.length == 0) {
      ++without_data;
      continue;
    }
    if (next >= returned.provided.size()) continue;
    const wire::WriteChunk& chunk = returned.provided[next++];
    const std::uint64_t room = wire::chunk_length(chunk);
    if (without_data != 0 || chunk.empty() || room < item.length) continue;
    chunked.say(RuleId::eligible_item_inline,
                fmt::format("The {} returned {} of {} inline and did not use Write chunk {} of the Call, with room for "
                            "{}, for them.",
                            chunked.who(), counted(item.length, "octet"), named(procedure, item), next, grouped(room)));
  }
}

}  // namespace

const Row rows::unused_write_chunk_shape{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::trusted, .call = Needs::Call::sent_once, .lists = true},
    .source = "RFC 8166 section 4.3.2.2; version 2 draft section 4.5.2.1; RFC 8267 section 6.4.1",
    .who = "responder",
    .title = "An unused Write chunk is not returned as unused",
    .explanation =
        "A chunk that took no result comes back with all its segments and lengths of zero. A chunk that claims octets "
        "without a result makes the requester hand out memory that nobody filled.",
    .evidence =
        "A returned chunk has no segments although the Call's had some: a note for NFS, whose binding describes that "
        "form too. Or it claims octets, while the reply, read to its end, has no result that could be in it.",
    .next = "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."};

namespace {

void judge_results(Chunked& chunked, const ProcedureId& asked, bool wants_none, const RpcStream& stream,
                   const Returned& returned, wire::NfsItems& found) {
  const auto [program, version, procedure] = asked;
  const bool used = returned.used();
  const wire::DdpBinding binding = wire::ddp_binding(program, version, procedure);
  if (!binding.known) {
    if (used) {
      chunked.note(RuleId::ineligible_item_reduced,
                   "The {} used a Write chunk for {}: whether that is allowed, no specification known here says.",
                   chunked.who(), named(asked));
    }
    return;
  }
  if (!binding.results || wants_none) {
    if (used) {
      chunked.say(RuleId::ineligible_item_reduced,
                  fmt::format("The {} used a Write chunk for the results of {}, none of which may be moved.",
                              chunked.who(), named(asked)));
    }
    return;
  }
  wire::list_reply_items(stream.octets, stream.wire_length, program, version, procedure, returned.lengths, found);
  const bool whole = found.end == wire::WalkEnd::whole && found.left < pads_most;
  // Where no chunk was used, what was read is as it stands even if the message goes on.
  if (whole || (!used && found.end == wire::WalkEnd::truncated)) {
    judge_use(chunked, asked, found, returned);
    if (whole && returned.used_behind(found.chunks_used)) {
      chunked.say(RuleId::unused_write_chunk_shape,
                  fmt::format("The {}'s Reply to {} says that a Write chunk holds octets, but has no result that could "
                              "be in it.",
                              chunked.who(), named(asked)));
    }
    if (whole) return;
  }
  chunked.unchecked(used ? RuleId::write_chunk_pad_written : RuleId::eligible_item_inline, why_not(found.end, stream));
}

}  // namespace

const Row rows::reduction_under_gss{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 8.2.2.3; version 2 draft section 11.2.2.3",
    .who = "sender",
    .title = "Part of a protected message was moved into a chunk",
    .explanation =
        "With RPCSEC_GSS integrity or privacy the whole of the arguments or results is checksummed or encrypted. A "
        "part that travels on its own is outside of that: the receiver fails to verify the message, or takes "
        "unprotected data.",
    .evidence =
        "A credential of RPCSEC_GSS service 2 or 3 and a Read chunk at a Position other than 0, or a used Write chunk. "
        "Body chunks are fine, and so is a Write chunk that was given and stays unused.",
    .next = "Client: the flavor (krb5i, krb5p) in /proc/mounts and rpcrdma:xprtrdma_marshal."};

void judge_call_items(const Witness& witness, Transaction& call, const RpcStream& stream, FrameRef frame,
                      FrameRef evidence) {
  Connection& connection = witness.connection;
  const auto rpc = wire::decode_rpc_call(stream.octets, stream.wire_length);
  ChunkScratch& scratch = connection.scratch;
  wire::collect_read_chunks(call.reads, scratch.reads);
  Chunked chunked(witness, call, frame, evidence, Role::requester);
  if (!rpc) {
    if (!scratch.reads.empty()) {
      chunked.unchecked(RuleId::ineligible_item_reduced, "an RPC Call's header cannot be read to its end");
    }
    return;
  }
  if (rpc->flavor != wire::flavor_gss) {
    call.wrapped = false;
  } else if (rpc->gss_service && *rpc->gss_service <= wire::gss_service::privacy) {
    call.wrapped = *rpc->gss_service != wire::gss_service::none;  // control messages may name none at all: 0
  }
  const ProcedureId procedure{rpc->program, rpc->version, rpc->procedure};
  const bool nfs4 = rpc->program == wire::nfs_program && rpc->version == 4;
  if (nfs4 && !chunked.version2()) judge_complexity(chunked, call, scratch.reads);
  if (call.ill_formed()) return;  // the positions are not to be relied on
  wire::DdpBinding binding = wire::ddp_binding(rpc->program, rpc->version, rpc->procedure);
  // The number of a callback program is the client's choice: what an NFSv4 server calls there has no items to be moved
  // (RFC 8267 section 6.5).
  const bool back = call.requester == Side::passive && connection.back_channel.nfs4;
  binding.known = binding.known || (back && wire::callback_program(rpc->program));
  if (call.wrapped == true) {
    if (scratch.reads.empty()) return;
    chunked.say(RuleId::reduction_under_gss,
                fmt::format("The {} moved an argument of {} into a Read chunk (Position {}) although {}.",
                            chunked.who(), named(procedure), scratch.reads.front().position,
                            // The service of a control message means nothing (RFC 2203 section 5.2.2).
                            rpc->gss_service.value_or(0) == 0 ? "nothing of an RPCSEC_GSS control message may be moved"
                                                              : "RPCSEC_GSS protects the arguments as a whole"));
    call.found_ill_formed();
    return;
  }
  if (!call.wrapped) {
    if (!scratch.reads.empty()) chunked.unchecked(RuleId::reduction_under_gss, unread_credential);
    return;
  }
  if (!binding.known && !scratch.reads.empty()) {
    chunked.note(RuleId::ineligible_item_reduced,
                 "The {} used a Read chunk for {}: whether that is allowed, no specification known here says.",
                 chunked.who(), named(procedure));
    return;
  }
  if (!binding.arguments && !scratch.reads.empty()) {
    chunked.say(RuleId::ineligible_item_reduced,
                fmt::format("The {} used a Read chunk (Position {}) for {}, none of whose arguments may be moved.",
                            chunked.who(), scratch.reads.front().position, named(procedure)));
    call.found_ill_formed();
    return;
  }
  if (!binding.arguments && !binding.results) return;
  wire::NfsItems& found = scratch.items;
  wire::list_call_items(stream.octets, stream.wire_length, scratch.reads, found);
  if (judge_moved_arguments(chunked, procedure, scratch.reads, found, stream)) call.found_ill_formed();
  if (found.end == wire::WalkEnd::whole && found.left < pads_most) call.wanted = found.wanted.size();
  judge_provisioned(chunked, call, found);
}

void judge_pulled_call(const Witness& witness, Transaction& call, FrameRef answer) {
  Connection& connection = witness.connection;
  if (call.call_body.empty() || call.ill_formed() || call.copies != 1 || !connection.trusted()) return;
  const wire::Bytes body = call.call_body.octets();
  const RpcStream stream{body, std::max<std::size_t>(body.size(), call.body_length), call.call_body.full()};
  note_procedure(connection, call, stream.octets, stream.wire_length);
  judge_call_items(witness, call, stream, call.call, answer);
}

std::optional<RpcStream> reply_stream(const trace::Send& event, const wire::HeaderV1& header, const Transaction& call) {
  if (header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg)) {
    if (event.octets.size() < header.length) return {};
    return RpcStream{event.octets.subspan(header.length), event.wire_length - header.length, false};
  }
  if (!header.reply || call.reply_body.empty()) return {};
  const std::uint64_t length = wire::chunk_length(*header.reply);
  const wire::Bytes body = call.reply_body.octets();
  // More may have been written than the Reply says.
  return RpcStream{body.first(static_cast<std::size_t>(std::min<std::uint64_t>(body.size(), length))),
                   static_cast<std::size_t>(length), call.reply_body.full()};
}

void judge_reply_items(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header,
                       Transaction& call, const std::optional<RpcStream>& stream) {
  Connection& connection = witness.connection;
  if (call.copies != 1 || !connection.trusted()) return;
  if (call.writes.empty() || call.ill_formed() || event.holes) return;
  ChunkScratch& scratch = connection.scratch;
  scratch.lengths.clear();
  for (const wire::WriteChunk& chunk : header.writes) scratch.lengths.push_back(wire::chunk_length(chunk));
  const Returned returned{call.writes, scratch.lengths};
  Chunked chunked(witness, call, event.frame, call.call, Role::responder);
  const std::optional<ProcedureId>& asked = call.procedure;
  if (!asked || !call.wrapped) {
    if (!returned.used()) return;
    if (asked) chunked.unchecked(RuleId::reduction_under_gss, unread_credential);
    chunked.unchecked(RuleId::ineligible_item_reduced,
                      asked ? unread_credential : "the Call's header is not in the capture");
    return;
  }
  if (*call.wrapped) {
    if (!returned.used()) return;
    chunked.say(RuleId::reduction_under_gss,
                fmt::format("The {} moved a result of {} into a Write chunk although RPCSEC_GSS protects the results "
                            "as a whole.",
                            chunked.who(), named(*asked)));
    return;
  }
  const bool wants_none = call.wanted == std::size_t{0};
  if (!stream) {
    chunked.unchecked(RuleId::eligible_item_inline,
                      header.reads.empty() ? "a Reply that was written by RDMA is not in the capture"
                                           : "a Reply that is offered to be read is not there yet when it is judged");
    return;
  }
  judge_results(chunked, *asked, wants_none, *stream, returned, scratch.items);
}

}  // namespace rpcrdma::referee
