// SPDX-License-Identifier: GPL-2.0-or-later
// Group A: RFC 8797 private data, and the thresholds that follow from it.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "wire/private_data.hpp"

namespace rpcrdma::referee {

const Row rows::private_data_absent{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 sections 5.1 and 5.2",
    .who = "nobody",
    .title = "A peer sent no RPC-over-RDMA private data",
    .explanation =
        "Private data in the connection handshake is how a peer says how large a message it sends and receives, and "
        "whether it supports remote invalidation. A peer that stays silent is treated as if it had said 1024 octets "
        "both ways and no remote invalidation. That is legal and usual for old stacks, but a mount between a silent "
        "and a talkative peer runs with small inline messages and breaks if either side does not fall back to 1024.",
    .evidence =
        "The whole private data area of the CM REQ or REP (MPA Request or Reply) is in the capture and the identifier "
        "0xF6AB0E18 occurs at no offset. Not decided when the handshake was not captured or its frame is cut short.",
    .next =
        "Linux client: tracepoint rpcrdma:xprtrdma_inline_thresh shows the sizes it settled on. An implementation that "
        "sends none (older Solaris, some user-space servers) cannot be told to by a setting."};

const Row rows::private_data_unknown_version{
    .group = 'A',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .source = "RFC 8797 sections 4, 5.2 and 6",
    .who = "sender",
    .title = "Private data carries a version other than 1",
    .explanation =
        "Only version 1 of the private data format is defined. A receiver has to treat any other version as if nothing "
        "had been sent, so both peers fall back to 1024 octets and no remote invalidation for that side. If the sender "
        "believes its values were accepted, its first larger message ends the connection.",
    .evidence =
        "The identifier 0xF6AB0E18 is found and the octet behind it is not 1. The search goes on behind such a hit, so "
        "a valid block later in the area wins. Not decided when the frame is cut before that octet.",
    .next =
        "Find out what the sending stack puts there; on a Linux peer rpcrdma:xprtrdma_inline_thresh shows whether the "
        "defaults are in use."};

const Row rows::private_data_truncated{
    .group = 'A',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .source = "RFC 8797 section 5.2",
    .who = "sender",
    .title = "The private data area ends inside the private data block",
    .explanation =
        "The eight octets of the block have to lie inside the private data the peer sent. A block that runs out of the "
        "area has to be ignored, and the defaults of 1024 octets apply.",
    .evidence =
        "The identifier is found fewer than eight octets before the end of the area. On MPA the length is exact; an "
        "InfiniBand area is padded with zeros, so there only the very end of the area can show it. A frame cut by the "
        "capture's snap length proves nothing and is not reported here.",
    .next = "Look at the private_data_len the sender passes to rdma_connect() or rdma_accept()."};

const Row rows::private_data_reserved_set{
    .group = 'A',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4",
    .who = "sender",
    .title = "Reserved bits of the private data are not zero",
    .explanation =
        "All bits of the flags octet except the R bit are reserved: a sender has to write zero, a receiver ignores "
        "them. Nothing breaks today, but a peer that writes rubbish there will be misunderstood as soon as a bit gets "
        "a meaning, and often the other fields of such a block are wrong as well.",
    .evidence =
        "Octet 5 of a valid version 1 block has a bit other than 0x01 set. Not decided when the frame is cut before "
        "it.",
    .next = "A defect of the sending implementation: compare how it fills the structure (byte order, missing memset)."};

const Row rows::private_data_duplicate{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 section 5.2 (derived)",
    .who = "sender",
    .title = "Two valid private data blocks in one handshake message",
    .explanation =
        "One block is expected. With two, receivers may disagree about which one counts: one that searches takes the "
        "first, one that looks only at a fixed place may take the other.",
    .evidence =
        "Two valid blocks at different offsets of the consumer's private data. The 36 octets of the RDMA IP CM header "
        "are not searched.",
    .next =
        "If both blocks name different sizes, check rpcrdma:xprtrdma_inline_thresh on a Linux client for the one it "
        "used."};

const Row rows::private_data_length_odd{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4",
    .who = "sender",
    .title = "MPA private data is longer than the block",
    .explanation =
        "Version 1 of the block is exactly eight octets. Other data around it is possible and harmless as long as the "
        "receiver searches for the identifier instead of expecting it at the start.",
    .evidence =
        "MPA's PD_Length (less four octets in the enhanced set-up of revision 2) is not eight. InfiniBand and RoCE "
        "have no such length, so there it is never decided.",
    .next =
        "Linux reads the block only at the very start of the private data: if other data stands before it, a Linux "
        "peer falls back to 1024 octets (rpcrdma:xprtrdma_inline_thresh)."};

const Row rows::private_data_server_r_clear{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4.1",
    .who = "server",
    .title = "The server does not offer remote invalidation",
    .explanation =
        "The client offers remote invalidation and the server leaves its R bit clear. By the letter replies then use "
        "plain Sends, and the client has to invalidate its memory itself, one work request more for each call.",
    .evidence =
        "R is 1 in the client's private data and 0 in the server's. Not decided when a side of the handshake is "
        "missing.",
    .next =
        "Expected with Linux servers, which leave R at 0 and invalidate anyway (see "
        "remote-invalidation-server-r-clear)."};

namespace {

/// A block that counts was found.
void judge_block(const Witness& witness, Side side, const trace::PrivateDataArea& area,
                 const wire::PrivateDataSearch& search, FrameRef frame) {
  const wire::PrivateDataFields& f = *search.found;
  const auto say = [&](RuleId rule, std::string message, std::optional<Side> by = {}) {
    witness.say(rule, {.frames = {frame}, .by = by, .what = std::move(message)});
  };
  if (f.reserved != 0) {
    say(RuleId::private_data_reserved_set,
        fmt::format(
            "The {} set reserved bits in its private data (flags {:#04x}): all bits but R have to be sent as 0.",
            name(side), f.reserved | (f.remote_invalidation ? 1U : 0U)),
        side);
  }
  if (search.duplicate_offset) {
    say(RuleId::private_data_duplicate,
        fmt::format("The {}'s private data holds a second valid block at octet {}; the first one (octet {}) counts.",
                    name(side), *search.duplicate_offset, f.offset));
  }
  if (area.exact_length && area.wire_length != 8) {
    say(RuleId::private_data_length_odd,
        fmt::format("The {}'s private data is {} long; a version 1 block alone is exactly 8.", name(side),
                    counted(area.wire_length, "octet")));
  }
}

/// Both are known now.
void judge_offered_invalidation(const Witness& witness, FrameRef reply) {
  const PeerPrivateData& client = witness.connection.of(Side::active).private_data;
  const PeerPrivateData& server = witness.connection.of(Side::passive).private_data;
  if (!client.fields || !server.fields) return;
  if (!client.fields->remote_invalidation || server.fields->remote_invalidation) return;
  witness.say(
      RuleId::private_data_server_r_clear,
      {.frames = {reply},
       .what = "The client offers remote invalidation, the server's private data says R=0. Linux servers always "
               "do, and invalidate all the same."});
}

}  // namespace

void judge_private_data(const Witness& witness, Side side, const trace::PrivateDataArea& area, FrameRef frame) {
  Connection& connection = witness.connection;
  using Status = PeerPrivateData::Status;
  PeerPrivateData& peer = connection.of(side).private_data;
  const wire::PrivateDataSearch search = wire::find_private_data(area.octets, area.wire_length);
  peer.frame = frame;
  const auto say = [&](RuleId rule, std::string message, std::optional<Side> by = {}) {
    witness.say(rule, {.frames = {frame}, .by = by, .what = std::move(message)});
  };

  if (search.cut_by_capture) {
    // U3: a block that was found may not be all there is, and one that was not may stand in the missing octets.
    peer.status = Status::cut;
    witness.unchecked(RuleId::private_data_absent,
                      fmt::format("frame {} was cut before the end of the private data", frame.number));
  } else if (search.found) {
    const wire::PrivateDataFields& f = *search.found;
    peer.status = Status::valid;
    peer.fields =
        PrivateData{frame.number, f.offset, f.version, f.remote_invalidation, f.send_size, f.receive_size, f.reserved};
    judge_block(witness, side, area, search, frame);
  } else if (search.unknown_version_offset) {
    peer.status = Status::unusable;
    say(RuleId::private_data_unknown_version,
        fmt::format("The {}'s private data has version {}; only version 1 is defined, so its peer has to take it as "
                    "absent: 1024 octets each way, no remote invalidation.",
                    name(side), search.unknown_version),
        side);
  } else if (search.truncated_offset) {
    peer.status = Status::unusable;
    say(RuleId::private_data_truncated,
        fmt::format("The {}'s private data begins with the identifier at octet {}, but only {} octets follow of the 8 "
                    "that the block needs; it counts as absent.",
                    name(side), *search.truncated_offset, grouped(area.wire_length - *search.truncated_offset)),
        side);
  } else {
    peer.status = Status::absent;
    say(RuleId::private_data_absent,
        fmt::format(
            "The {} sent no RPC-over-RDMA private data: in version 1 its peer has to assume 1024 octets each way "
            "and no remote invalidation.",
            name(side)));
  }
  (side == Side::active ? connection.facts.private_data_client : connection.facts.private_data_server) = peer.fields;
  if (side == Side::passive) judge_offered_invalidation(witness, frame);
}

const Row rows::private_data_wrong_message{
    .group = 'A',
    .severity = Severity::note,
    .versions = Versions::v1,
    .source = "RFC 8797 section 4 (derived)",
    .who = "sender",
    .title = "Private data in a message other than REQ and REP",
    .explanation =
        "The block is exchanged in the connection request and in its reply, nowhere else. Elsewhere it is ignored.",
    .evidence =
        "The identifier occurs in the private data of an RTU, REJ, DREQ or DREP, or of an MPA Reply that rejects.",
    .next = "Nothing breaks. Look at the sender only if its values in REQ or REP are missing."};

void judge_stray_private_data(const Witness& witness, Side side, const trace::PrivateDataArea& area, FrameRef frame) {
  if (area.octets.empty()) return;
  const wire::PrivateDataSearch search = wire::find_private_data(area.octets, area.wire_length);
  if (!search.found) return;
  witness.say(
      RuleId::private_data_wrong_message,
      {.frames = {frame},
       .what = fmt::format("The {} put RPC-over-RDMA private data into a message other than the connection request "
                           "and its acceptance; nobody looks for it there.",
                           name(side))});
}

void settle_thresholds(Connection& connection) {
  const PeerPrivateData& client = connection.of(Side::active).private_data;
  const PeerPrivateData& server = connection.of(Side::passive).private_data;
  Thresholds& thresholds = connection.facts.thresholds;
  if (!client.known() || !server.known()) return;  // U1: unknown, never assumed
  const auto send = [](const PeerPrivateData& p) { return p.fields ? p.fields->send_size : default_threshold; };
  const auto receive = [](const PeerPrivateData& p) { return p.fields ? p.fields->receive_size : default_threshold; };
  thresholds.client_to_server = std::min(send(client), receive(server));
  thresholds.server_to_client = std::min(send(server), receive(client));
  thresholds.basis = client.fields && server.fields ? Basis::negotiated : Basis::default_;
}

}  // namespace rpcrdma::referee
