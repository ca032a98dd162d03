// SPDX-License-Identifier: GPL-2.0-or-later
// Group D: the header and its XDR.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"

namespace rpcrdma::referee {

const Row rows::header_too_short{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.5; version 2 draft section 7",
    .who = "sender",
    .title = "A message is shorter than its header",
    .explanation =
        "Every message begins with four fixed words, and RDMA_MSG and RDMA_NOMSG need at least 28 octets. A receiver "
        "drops what is shorter without a word, so a call sent like this hangs until it times out.",
    .evidence =
        "The Send's length on the wire. ERR_CHUNK (20 octets) and RDMA_DONE (16) are complete at their own size, and "
        "the empty start-up messages of iWARP are no messages at all. Not decided when only the capture cut the frame.",
    .next = "Linux server: rpcrdma:svcrdma_decode_short_err; Linux client: rpcrdma:xprtrdma_reply_short_err."};

const Row rows::xdr_malformed{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.5.2; version 2 draft section 7.2.1",
    .who = "sender",
    .title = "The transport header cannot be decoded",
    .explanation =
        "The chunk lists have to end inside the message, counts have to fit what follows, and the words that say "
        "whether something is present are 0 or 1. A responder answers a header it cannot decode with ERR_CHUNK, a "
        "requester drops it silently; either way the RPC fails or hangs.",
    .evidence =
        "The decoder fails although every octet of the message is in the capture, on a connection known to carry "
        "RPC-over-RDMA. A message cut by the capture is called truncated, not malformed.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_parse_err and svcrdma_err_chunk; Linux client: "
        "rpcrdma:xprtrdma_reply_hdr_err and bad_reply_count in the xprt line of /proc/self/mountstats."};

const Row rows::xdr_bool_invalid{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 4506 section 4.19; RFC 8166 section 4.3",
    .who = "sender",
    .title = "A presence word of the header is neither 0 nor 1",
    .explanation =
        "Each list of the header begins with a word that says whether something follows: 1 for yes, 0 for no. XDR "
        "allows no other value. Some receivers take anything that is not zero for a yes and read on, others refuse the "
        "message, so the same header works with one peer and fails with the next; read on, it names memory that nobody "
        "offered.",
    .evidence =
        "The word in front of a list item, or in front of the Reply chunk, is above 1, with every octet of the header "
        "in the capture. A header that the capture cut short is called truncated. Other damage to the lists is "
        "xdr-malformed.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_parse_err; nfsd takes the word for a yes and uses what stands behind it. "
        "Look at the sender's encoder: a count or a flag was probably written where a presence word belongs, or the "
        "header is shifted by a word."};

const Row rows::unknown_proc{.group = 'D',
                             .severity = Severity::error,
                             .versions = Versions::v1,
                             .source = "RFC 8166 sections 4.1.2 and 4.5.2",
                             .who = "sender",
                             .title = "Unknown message type in a version 1 header",
                             .explanation =
                                 "The fourth word is one of RDMA_MSG, RDMA_NOMSG, RDMA_MSGP, RDMA_DONE and RDMA_ERROR "
                                 "(0 to 4). A responder answers anything else with ERR_CHUNK.",
                             .evidence = "The fourth word of a version 1 message is above 4.",
                             .next =
                                 "Linux server: rpcrdma:svcrdma_decode_badproc_err. Look at what the sender builds; a "
                                 "header that is shifted by a word looks like this too."};

HeldFinding judge_undecodable(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed,
                              const wire::DecodeError& error) {
  if (error.fault == wire::Fault::truncated || event.holes) {
    witness.unchecked(RuleId::xdr_malformed,
                      fmt::format("frame {} was cut inside the RPC-over-RDMA header", event.frame.number));
    return {};
  }
  const bool has_xid = event.wire_length >= 4 && event.octets.size() >= 4;
  const auto xid = when(has_xid, has_xid ? wire::load_be32(event.octets.data()) : 0U);
  if (event.wire_length < 16 || (event.wire_length < 28 && fixed.proc <= 1)) {
    return witness.say(
        RuleId::header_too_short,
        {.frames = {event.frame},
         .by = event.side,
         .xid = xid,
         .what = fmt::format("The {} sent {}: too short for an RPC-over-RDMA header (28 for a message with or "
                             "without RPC payload, 16 at least for anything).",
                             name(event.side), counted(event.wire_length, "octet"))});
  }
  if (fixed.version == 1 && fixed.proc > 4) {
    return witness.say(RuleId::unknown_proc,
                       {.frames = {event.frame},
                        .by = event.side,
                        .xid = xid,
                        .what = fmt::format("The {}'s header has procedure {}; version 1 knows 0 to 4.",
                                            name(event.side), fixed.proc)});
  }
  if (error.field == "list discriminator") {
    const std::size_t at = error.offset;
    return witness.say(
        RuleId::xdr_bool_invalid,
        {.frames = {event.frame},
         .by = event.side,
         .xid = xid,
         .what = fmt::format("The {}'s header has the value {:#x} at octet {}, where 1 says that a list goes on "
                             "and 0 that it ends.",
                             name(event.side), wire::load_be32(event.octets.data() + at), at)});
  }
  const bool ends_early = error.field == "header too short";
  return witness.say(
      RuleId::xdr_malformed,
      {.frames = {event.frame},
       .by = event.side,
       .xid = xid,
       .what = ends_early ? fmt::format("The {}'s header has {}, fewer than its procedure ({}) takes.",
                                        name(event.side), counted(event.wire_length, "octet"), fixed.proc)
                          : fmt::format("The {}'s header cannot be decoded: {} at octet {} of {}.", name(event.side),
                                        error.field, error.offset, event.wire_length)});
}

const Row rows::bad_version{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.2.2; version 2 draft section 6.2.1",
    .who = "sender",
    .title = "Unknown protocol version in the header",
    .explanation =
        "The second word of each message is the version, 1 or 2. A responder answers any other with ERR_VERS, and the "
        "requester cannot use the connection that way.",
    .evidence =
        "The version word of a message on a connection known to carry RPC-over-RDMA. A version 2 probe to a server "
        "that only knows version 1 is legal, and so is the refusal, which repeats the probe's version.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_badvers_err and svcrdma_err_vers; Linux client: "
        "rpcrdma:xprtrdma_err_vers or xprtrdma_reply_vers_err."};

void judge_version(const Witness& witness, const trace::Send& event, const wire::FixedWords& fixed) {
  witness.say(RuleId::bad_version, {.frames = {event.frame},
                                    .by = event.side,
                                    .xid = fixed.xid,
                                    .what = fmt::format("The {}'s header says version {}; versions 1 and 2 exist.",
                                                        name(event.side), fixed.version)});
}

const Row rows::xid_mismatch{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.2.1; version 2 draft section 7.2",
    .who = "sender",
    .title = "The transport header and the RPC message carry different XIDs",
    .explanation =
        "The XID stands twice, in the transport header and in the RPC message, and both have to be equal. The receiver "
        "may trust the header alone: with two values a reply goes to the wrong call or to none, and the right call "
        "hangs.",
    .evidence =
        "The first word of the header against the first word of the RPC message, inline or in the octets that were "
        "pulled or written. Not decided when that payload is encrypted, cut short, or its RDMA packets were not "
        "captured.",
    .next =
        "Linux client: bad_xids in the xprt line of /proc/self/mountstats; rpcrdma:xprtrdma_reply_rqst_err. Compare "
        "with the reply cache of the server: a stale transport header on a replayed reply looks like this."};

void judge_xid(const Witness& witness, const trace::Send& event, std::uint32_t header_xid, std::uint32_t rpc_xid) {
  if (header_xid == rpc_xid) return;
  witness.say(RuleId::xid_mismatch,
              {.frames = {event.frame},
               .by = event.side,
               .xid = header_xid,
               .what = fmt::format("The {}'s transport header has XID {:#010x}, the RPC message behind it {:#010x}.",
                                   name(event.side), header_xid, rpc_xid)});
}

void judge_xid_by_rdma(const Witness& witness, FrameRef frame, Side violator, std::optional<Role> role,
                       std::uint32_t header_xid, std::uint32_t rpc_xid, FrameRef data, const Transaction* call) {
  if (header_xid == rpc_xid) return;
  witness.say(RuleId::xid_mismatch,
              {.frames = {frame, data},
               .by = violator,
               .as = role,
               .xid = header_xid,
               .call = call,
               .what = fmt::format("The {}'s transport header has XID {:#010x}, the RPC message in its chunk {:#010x}.",
                                   name(violator), header_xid, rpc_xid)});
}

namespace {

[[nodiscard]] std::optional<Role> role_of(Direction direction, bool guessed) noexcept {
  if (guessed || direction == Direction::unknown) return {};
  return direction == Direction::call ? Role::requester : Role::responder;
}

[[nodiscard]] const char* kind(std::uint32_t type) noexcept { return type == 0 ? "a CALL" : "a REPLY"; }

}  // namespace

const Row rows::nomsg_without_body{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 sections 4.2.4 and 4.5.2",
    .who = "sender",
    .title = "RDMA_NOMSG, and the RPC message is nowhere",
    .explanation =
        "RDMA_NOMSG says that the RPC message is not behind the header but in a chunk: a Position-Zero Read chunk for "
        "a call, a Reply chunk with data for a reply. Without such a chunk there is no message at all. A responder "
        "answers ERR_CHUNK; a requester can only give up on the RPC.",
    .evidence =
        "RDMA_NOMSG whose three lists are empty, or whose Read segments at Position 0, or Reply chunk, hold fewer than "
        "the eight octets of an XID and a message type. Not decided when the capture cut the lists.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_parse_err and svcrdma_err_chunk; Linux client: a failed RPC after "
        "rpcrdma:xprtrdma_reply, bad_reply_count in /proc/self/mountstats. If the message stands inline behind the "
        "lists, only the message type is wrong."};

const Row rows::nomsg_trailing_bytes{
    .group = 'D',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.2.4; version 2 draft section 6.6.3",
    .who = "sender",
    .title = "Octets behind the header of a message that carries nothing inline",
    .explanation =
        "A message of the type RDMA_NOMSG ends with its chunk lists; the RPC message travels in a chunk. RDMA_DONE is "
        "four words and nothing else. What follows is not looked at by anybody, so it is either waste or a sign that "
        "sender and receiver disagree about where the message is.",
    .evidence =
        "The Send is longer on the wire than its decoded header. One to three octets may be padding and are a note, as "
        "is what stands behind RDMA_DONE. Not decided when packets of the message are missing.",
    .next =
        "Compare the sender's message type with what it put behind the header: a message meant to go inline has to be "
        "RDMA_MSG. Linux shows the header's length in rpcrdma:xprtrdma_marshal and rpcrdma:svcrdma_decode_rqst."};

const Row rows::payload_unaligned{
    .group = 'D',
    .severity = Severity::warning,
    .versions = Versions::both,
    .repetition = Repetition::few,
    .source = "RFC 4506 section 3; RFC 8166 section 3.4.4.4",
    .who = "sender",
    .title = "The RPC message is not a whole number of XDR words",
    .explanation =
        "Everything in an RPC message is made of words of four octets; an opaque item of another length is followed by "
        "one to three zeros. A message that ends between two words has a wrong pad or was cut. Receivers that check "
        "the pad fail the RPC, others read the next item from the wrong place.",
    .evidence =
        "The Send's length on the wire, without the packet's own pad, less the header, is no multiple of 4, although "
        "the RPC message behind the header begins as it should; nor is that of a chunk that holds a whole message. Not "
        "decided when packets of the message are missing.",
    .next =
        "Look at how the sender pads the last opaque item, usually file data or a name: n octets need (4 - n mod 4) "
        "mod 4 zeros; adding n mod 4 is a mistake that has been seen. A responder that moves data into a Write chunk "
        "has to leave out the pad as well."};

namespace {

void settle_nowhere(const Witness& witness, const Case& waited) {
  if (!waited.proven()) {
    leave_unproven(witness, waited);  // a callback that it answers
    return;
  }
  const Case::Said& said = *waited.is<Case::Said>();
  witness.conclude(
      waited, {.frames = {waited.frame}, .by = waited.accused, .as = said.as, .xid = waited.xid, .what = said.what});
}

/// An RDMA_NOMSG, and where its lists say that its RPC message is.
struct NomsgSeen {
  const Witness& witness;
  const trace::Send& event;
  const wire::HeaderV1& header;
  std::optional<Role> role;  ///< of its sender; nullopt: not known
  bool reply = false;        ///< it surely is one
  bool reply_chunk = false;  ///< its Reply chunk holds octets of it: that of a Call is room for the answer
  std::uint64_t by_read = 0;
  std::uint64_t written = 0;

  NomsgSeen(const Witness& said_by, const trace::Send& sent, const wire::HeaderV1& decoded, Direction direction,
            std::optional<Role> sender)
      : witness(said_by), event(sent), header(decoded), role(sender) {
    reply = direction == Direction::reply && role;
    reply_chunk = header.reply && !(direction == Direction::call && role);
    if (reply_chunk) written = wire::chunk_length(*header.reply);
    for (const wire::ReadSegment& read : header.reads) by_read += read.position == 0 ? read.target.length : 0;
  }

  [[nodiscard]] std::uint64_t body() const noexcept { return by_read + written; }
  /// Behind the header, inline.
  [[nodiscard]] std::uint64_t left() const noexcept {
    return event.wire_length > header.length ? event.wire_length - header.length : 0;
  }
  void say(RuleId rule, std::string what, Severity at_most = Severity::error) const {
    witness.say(rule, {.frames = {event.frame},
                       .by = witness.connection.accused(event.side),
                       .as = role,
                       .xid = header.fixed.xid,
                       .at_most = at_most,
                       .what = std::move(what)});
  }
};

/// No chunk holds the message. True when that is said, or will be.
bool judge_nowhere(const NomsgSeen& seen) {
  const wire::HeaderV1& header = seen.header;
  // A Call with Read chunks at other positions only lacks its body chunk, which is group E's business.
  if (seen.body() != 0 || !(header.reads.empty() || wire::has_position_zero(header) || seen.reply)) return false;
  const std::uint64_t left = seen.left();
  std::string what = fmt::format(
      "The {} sent RDMA_NOMSG, but no chunk holds the RPC message: {}{}.", name(seen.event.side),
      header.reads.empty() && header.writes.empty() && !header.reply ? "all three lists are empty"
      : seen.reply_chunk || !header.reply                            ? "no octet at Position 0, none in a Reply chunk"
                                          : "no octet at Position 0, and the Reply chunk is for the answer",
      left >= wire::rpc_start_octets ? fmt::format("; {} octets stand inline, as in RDMA_MSG", grouped(left))
                                     : std::string());
  if (header.reply && !seen.reply_chunk && wire::chunk_length(*header.reply) != 0) {
    // Or it is the answer to a Call of the other side that is missing.
    seen.witness.wait({.rule = RuleId::nomsg_without_body,
                       .accused = seen.event.side,
                       .frame = seen.event.frame,
                       .xid = header.fixed.xid,
                       .about = Case::Said{seen.role, std::move(what)},
                       .settle = settle_nowhere});
  } else {
    seen.say(RuleId::nomsg_without_body, std::move(what));
  }
  return true;
}

/// The chunks are too short for any message. True when that is said.
bool judge_too_short(const NomsgSeen& seen) {
  const std::uint64_t body = seen.body();
  if (body == 0 || body >= wire::rpc_start_octets || !(wire::has_position_zero(seen.header) || seen.reply))
    return false;
  seen.say(
      RuleId::nomsg_without_body,
      fmt::format("The {} sent RDMA_NOMSG, and what is to hold the RPC message has {}; an RPC message has at least "
                  "{}.",
                  name(seen.event.side), counted(body, "octet"), wire::rpc_start_octets));
  return true;
}

void judge_alignment(const NomsgSeen& seen) {
  const bool written = seen.reply && seen.by_read == 0;
  const std::uint64_t message = written ? seen.written : seen.by_read;
  if (message % xdr_word == 0) return;
  seen.say(RuleId::payload_unaligned,
           fmt::format("The {}'s {}, an RPC message, is {}.", name(seen.event.side),
                       written ? "Reply chunk" : "Read chunk at Position 0", beyond_xdr_words(message)));
}

void judge_trailing(const NomsgSeen& seen) {
  constexpr std::uint64_t most_pad = 3;
  const std::uint64_t left = seen.left();
  if (left == 0 || seen.event.holes) return;
  seen.say(RuleId::nomsg_trailing_bytes,
           fmt::format("The {}'s RDMA_NOMSG goes on for {} behind its {} octets of header, where nothing belongs.",
                       name(seen.event.side), counted(left, "octet"), grouped(seen.header.length)),
           left <= most_pad ? Severity::note : Severity::error);
}

/// True when the RPC message is nowhere.
bool judge_nomsg(const NomsgSeen& seen) {
  if (judge_nowhere(seen) || judge_too_short(seen)) return true;
  judge_alignment(seen);
  judge_trailing(seen);
  return false;
}

}  // namespace

const Row rows::msg_without_rpc{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8166 section 4.2.4; version 2 draft section 6.3",
    .who = "sender",
    .title = "RDMA_MSG without an RPC message behind it",
    .explanation =
        "RDMA_MSG carries the RPC message behind the header, and no RPC message is shorter than its XID and its "
        "message type, eight octets. With less the receiver cannot tell a call from a reply; it drops the message or "
        "answers ERR_CHUNK, and the RPC hangs until it times out.",
    .evidence =
        "Fewer than eight octets of the Send, by its length on the wire, are left behind the chunk lists, or are in "
        "the body chunk of an external message of version 2. Not decided when packets of the message are missing.",
    .next =
        "Linux server: rpcrdma:svcrdma_decode_short_err or svcrdma_decode_parse_err; Linux client: "
        "rpcrdma:xprtrdma_reply_short_err. If the RPC message went into a chunk, the type has to be RDMA_NOMSG."};

const Row rows::position_zero_in_msg{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 sections 3.5.3 and 4.3.1 (derived)",
    .who = "requester",
    .title = "A Position-Zero Read chunk in RDMA_MSG",
    .explanation =
        "Position 0 is the very start of the RPC message, where its XID stands: a Read chunk there holds the whole "
        "message, and the header then has to be RDMA_NOMSG. In RDMA_MSG the message is there twice, once inline and "
        "once in memory, and a responder may take either.",
    .evidence =
        "A Call of the type RDMA_MSG whose Read list has a segment at Position 0. Not decided when the capture cut the "
        "lists, or when the message cannot be told from a Reply.",
    .next =
        "Requester: rpcrdma:xprtrdma_chunk_read shows the position of each segment. Responder: "
        "rpcrdma:svcrdma_decode_rseg and svcrdma_decode_parse_err."};

const Row rows::direction_mismatch{
    .group = 'D',
    .severity = Severity::error,
    .versions = Versions::both,
    .source = "RFC 8167 sections 5.1 and 5.2; version 2 draft section 6.3",
    .who = "sender",
    .title = "The RPC message is not of the kind that its header says",
    .explanation =
        "The word behind the RPC message's XID is 0 for a call and 1 for a reply. In version 1 the form of the header "
        "often says the same: a Position-Zero Read chunk offered by a requester holds a call, a Reply chunk that was "
        "filled holds a reply. Where the two disagree the receiver files the message under the wrong kind, and it is "
        "lost.",
    .evidence =
        "The second word of the RPC message, inline or in the octets that were pulled or written, with an XID equal to "
        "the header's. Not decided when those octets are not in the capture, when frames are missing, or for a "
        "Position-Zero Read chunk from the server, which may be a reply offered for pulling.",
    .next =
        "Compare the message that was encoded with its transport header in rpcrdma:xprtrdma_marshal on the client or "
        "rpcrdma:svcrdma_post_send on the server. A buffer that was reused before it was sent looks like this."};

bool judge_form(const Witness& witness, const trace::Send& event, const wire::HeaderV1& header, Direction direction,
                bool guessed, const std::optional<wire::RpcStart>& rpc) {
  Connection& connection = witness.connection;
  const auto proc = static_cast<wire::Proc>(header.fixed.proc);
  const std::optional<Role> role = role_of(direction, guessed);
  if (proc == wire::Proc::nomsg) return judge_nomsg({witness, event, header, direction, role});
  if (proc != wire::Proc::msg) return false;
  const auto say = [&](RuleId rule, std::string message, std::optional<Role> who) {
    witness.say(rule, {.frames = {event.frame},
                       .by = connection.accused(event.side),
                       .as = who,
                       .xid = header.fixed.xid,
                       .what = std::move(message)});
  };
  const std::uint64_t left = event.wire_length > header.length ? event.wire_length - header.length : 0;
  if (left < wire::rpc_start_octets && event.holes) return false;
  bool ill = false;
  if (direction == Direction::call && !guessed && wire::has_position_zero(header)) {
    say(RuleId::position_zero_in_msg,
        fmt::format("The {}'s RDMA_MSG has {} octets of RPC message inline and a Read chunk at Position 0, which holds "
                    "a whole message and belongs into RDMA_NOMSG.",
                    name(event.side), grouped(left)),
        Role::requester);
    ill = true;
  }
  if (left < wire::rpc_start_octets) {
    say(RuleId::msg_without_rpc,
        fmt::format("The {}'s RDMA_MSG ends {} behind its header; an RPC message has at least {}.", name(event.side),
                    counted(left, "octet"), wire::rpc_start_octets),
        role);
    return true;
  }
  if (!rpc || rpc->xid != header.fixed.xid) return ill;
  if (rpc->type > 1) {
    say(RuleId::direction_mismatch,
        fmt::format("The {}'s RPC message has the message type {}; 0 is a CALL and 1 a REPLY.", name(event.side),
                    rpc->type),
        {});
    return true;
  }
  if (left % xdr_word != 0 && !event.holes) {
    witness.say(RuleId::payload_unaligned,
                {.frames = {event.frame},
                 .by = connection.accused(event.side),
                 .as = role,
                 .xid = header.fixed.xid,
                 .what = fmt::format("The {}'s RPC message is {}.", name(event.side), beyond_xdr_words(left))});
  }
  return ill;
}

namespace {

[[nodiscard]] std::string mismatch(Side sender, std::uint32_t xid, std::uint32_t wanted, std::uint32_t type) {
  return fmt::format("The {}'s message with XID {:#010x} has the form of {}, but what its chunk holds is {}.",
                     name(sender), xid, kind(wanted),
                     type <= 1 ? std::string(kind(type)) : fmt::format("of the message type {}", type));
}

/// A Reply in the chunk of what looks like a Call.
void settle_reply_in_call(const Witness& witness, const Case& waited) {
  witness.conclude(waited, {.frames = {waited.frame, waited.evidence},
                            .by = waited.accused,
                            .as = Role::requester,
                            .xid = waited.xid,
                            .at_most = waited.at_most(),
                            .what = mismatch(waited.accused, waited.xid, 0, 1)});
}

}  // namespace

void judge_direction_by_rdma(const Witness& witness, FrameRef frame, const Transaction& call, Role role,
                             std::uint32_t type, FrameRef data) {
  Connection& connection = witness.connection;
  const std::uint32_t wanted = role == Role::requester ? 0 : 1;
  if (type == wanted) return;
  if (!connection.whole() || (role == Role::requester && call.requester == Side::passive)) {
    witness.unchecked(RuleId::direction_mismatch, "the message may belong to another one that is not in the capture");
    return;
  }
  const Side violator = role == Role::requester ? call.requester : other(call.requester);
  if (wanted == 0 && type == 1) {
    // A Reply that offers itself to be read, if a Call with that XID stands behind it, or is still on its way.
    if (connection.find(other(violator), call.xid) != nullptr) {
      witness.unchecked(RuleId::direction_mismatch, "it may answer a Call of its peer, whose place is not certain");
      return;
    }
    witness.wait({.rule = RuleId::direction_mismatch,
                  .accused = violator,
                  .frame = frame,
                  .evidence = data,
                  .xid = call.xid,
                  .about = Case::HoldsReply{{{}, call.call_ordinal}},
                  .settle = settle_reply_in_call});
    return;
  }
  witness.say(RuleId::direction_mismatch, {.frames = {frame, data},
                                           .by = violator,
                                           .as = role,
                                           .xid = call.xid,
                                           .what = mismatch(violator, call.xid, wanted, type)});
}

const Row rows::rdma_msgp_sent{.group = 'D',
                               .severity = Severity::error,
                               .versions = Versions::v1,
                               .source = "RFC 8166 section 4.6.1",
                               .who = "sender",
                               .title = "RDMA_MSGP was sent",
                               .explanation =
                                   "The padded message type of the first generation of the protocol must no longer be "
                                   "sent. A responder should refuse it with ERR_CHUNK; a requester drops it.",
                               .evidence = "A version 1 header with message type 2.",
                               .next =
                                   "Linux server: rpcrdma:svcrdma_decode_badproc_err. The sender is a stack from the "
                                   "time of RFC 5666 or configured to pad inline data: switch that off."};

void judge_msgp(const Witness& witness, const trace::Send& event, std::uint32_t xid, Direction direction) {
  witness.say(RuleId::rdma_msgp_sent,
              {.frames = {event.frame},
               .by = event.side,
               .as = direction == Direction::call ? Role::requester : Role::responder,
               .xid = xid,
               .what = fmt::format("The {} sent RDMA_MSGP, which must not be used.", name(event.side))});
}

}  // namespace rpcrdma::referee
