// SPDX-License-Identifier: GPL-2.0-or-later
// Group A: RFC 8797 private data, and the thresholds that follow from it.
#include <algorithm>

#include <fmt/format.h>

#include "referee/counted.hpp"
#include "referee/rules/checks.hpp"
#include "wire/private_data.hpp"

namespace rpcrdma::referee {

namespace {

constexpr std::uint32_t default_size = 1024;  // RFC 8797 section 5.1

}  // namespace

void judge_private_data(Context& context, Connection& connection, Side side, const trace::PrivateDataArea& area,
                        FrameRef frame) {
  using Status = PeerPrivateData::Status;
  PeerPrivateData& peer = connection.of(side).private_data;
  const wire::PrivateDataSearch search = wire::find_private_data(area.octets, area.wire_length);
  peer.frame = frame;
  const auto say = [&](RuleId rule, std::string message, std::optional<Party> violator) {
    context.book.add(
        {rule, connection.id(), {frame}, std::move(message), std::nullopt, std::nullopt, violator, std::nullopt});
  };

  if (search.cut_by_capture) {
    // U3: a block that was found may not be all there is, and one that was not may stand in the missing octets.
    peer.status = Status::cut;
    context.book.unchecked(RuleId::private_data_absent, connection.id(),
                           fmt::format("frame {} was cut before the end of the private data", frame.number));
  } else if (search.found) {
    const wire::PrivateDataFields& f = *search.found;
    peer.status = Status::valid;
    peer.fields =
        PrivateData{frame.number, f.offset, f.version, f.remote_invalidation, f.send_size, f.receive_size, f.reserved};
    if (f.reserved != 0) {
      say(RuleId::private_data_reserved_set,
          fmt::format(
              "The {} set reserved bits in its private data (flags {:#04x}): all bits but R have to be sent as 0.",
              name(side), f.reserved | (f.remote_invalidation ? 1U : 0U)),
          party(side));
    }
    if (search.duplicate_offset) {
      say(RuleId::private_data_duplicate,
          fmt::format("The {}'s private data holds a second valid block at octet {}; the first one (octet {}) counts.",
                      name(side), *search.duplicate_offset, f.offset),
          std::nullopt);
    }
    if (area.exact_length && area.wire_length != 8) {
      say(RuleId::private_data_length_odd,
          fmt::format("The {}'s private data is {} long; a version 1 block alone is exactly 8.", name(side),
                      counted(area.wire_length, "octet")),
          std::nullopt);
    }
  } else if (search.unknown_version_offset) {
    peer.status = Status::unusable;
    say(RuleId::private_data_unknown_version,
        fmt::format("The {}'s private data has version {}; only version 1 is defined, so its peer has to take it as "
                    "absent: 1024 octets each way, no remote invalidation.",
                    name(side), search.unknown_version),
        party(side));
  } else if (search.truncated_offset) {
    peer.status = Status::unusable;
    say(RuleId::private_data_truncated,
        fmt::format("The {}'s private data begins with the identifier at octet {}, but only {} octets follow of the 8 "
                    "that the block needs; it counts as absent.",
                    name(side), *search.truncated_offset, area.wire_length - *search.truncated_offset),
        party(side));
  } else {
    peer.status = Status::absent;
    say(RuleId::private_data_absent,
        fmt::format(
            "The {} sent no RPC-over-RDMA private data: in version 1 its peer has to assume 1024 octets each way "
            "and no remote invalidation.",
            name(side)),
        std::nullopt);
  }
  (side == Side::active ? connection.facts.private_data_client : connection.facts.private_data_server) = peer.fields;

  const PeerPrivateData& client = connection.of(Side::active).private_data;
  const PeerPrivateData& server = connection.of(Side::passive).private_data;
  if (side == Side::passive && client.fields && server.fields && client.fields->remote_invalidation &&
      !server.fields->remote_invalidation) {
    say(RuleId::private_data_server_r_clear,
        "The client offers remote invalidation, the server's private data says R=0. Linux servers always do, and "
        "invalidate all the same.",
        std::nullopt);
  }
}

void judge_stray_private_data(Context& context, Connection& connection, Side side, const trace::PrivateDataArea& area,
                              FrameRef frame) {
  if (area.octets.empty()) return;
  const wire::PrivateDataSearch search = wire::find_private_data(area.octets, area.wire_length);
  if (!search.found) return;
  context.book.add(
      {RuleId::private_data_wrong_message,
       connection.id(),
       {frame},
       fmt::format("The {} put RPC-over-RDMA private data into a message other than the connection request "
                   "and its acceptance; nobody looks for it there.",
                   name(side)),
       std::nullopt,
       std::nullopt,
       std::nullopt,
       std::nullopt});
}

void settle_thresholds(Connection& connection) {
  const PeerPrivateData& client = connection.of(Side::active).private_data;
  const PeerPrivateData& server = connection.of(Side::passive).private_data;
  Thresholds& thresholds = connection.facts.thresholds;
  if (!client.known() || !server.known()) return;  // U1: unknown, never assumed
  const auto send = [](const PeerPrivateData& p) { return p.fields ? p.fields->send_size : default_size; };
  const auto receive = [](const PeerPrivateData& p) { return p.fields ? p.fields->receive_size : default_size; };
  thresholds.client_to_server = std::min(send(client), receive(server));
  thresholds.server_to_client = std::min(send(server), receive(client));
  thresholds.basis = client.fields && server.fields ? Basis::negotiated : Basis::default_;
}

}  // namespace rpcrdma::referee
