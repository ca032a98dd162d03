// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/icmp_report.hpp"

#include <optional>

#include "wire/cm.hpp"
#include "wire/ib.hpp"
#include "wire/icmp.hpp"
#include "wire/ipv4.hpp"
#include "wire/udp.hpp"

namespace rpcrdma::trace {
namespace {

/// The communication ID of a REQ over RoCEv2; nullopt: something else is quoted, or less of it.
std::optional<std::uint32_t> quoted_request(const wire::Undelivered& quoted) noexcept {
  if (quoted.protocol != wire::ip_protocol::udp) return std::nullopt;
  const auto udp = wire::decode_udp(quoted.payload);
  if (!udp || udp->destination_port != wire::rocev2_port) return std::nullopt;
  const auto ib = wire::decode_ib(udp->payload.octets, udp->payload.wire_length);
  if (!ib || ib->op.service != wire::IbService::ud || ib->destination_qp != wire::cm_queue_pair) return std::nullopt;
  const auto message = wire::decode_cm(ib->payload, ib->payload_length);
  return message && message->kind == wire::CmKind::req ? message->local_id : std::nullopt;
}

}  // namespace

bool read_report(Address::Kind kind, const wire::Layer& icmp, Undelivered& out) noexcept {
  const auto quoted =
      kind == Address::Kind::ipv4 ? wire::decode_icmp_unreachable(icmp) : wire::decode_icmpv6_unreachable(icmp);
  if (!quoted) return false;
  if (quoted->protocol == wire::ip_protocol::tcp) {
    const auto tcp = wire::decode_quoted_tcp(quoted->payload);
    if (!tcp) return false;
    out.what = Undelivered::What::segment;
    out.source_port = tcp->source_port;
    out.destination_port = tcp->destination_port;
    out.sequence = tcp->sequence;
  } else if (const auto id = quoted_request(*quoted)) {
    out.what = Undelivered::What::request;
    out.communication_id = *id;
  } else {
    return false;
  }
  out.source.assign(kind, quoted->source);
  out.destination.assign(kind, quoted->destination);
  return true;
}

bool answers_for_others(Address::Kind kind, const wire::Layer& icmp) noexcept {
  constexpr std::uint8_t router_solicitation = 133;
  constexpr std::uint8_t redirect = 137;
  if (kind == Address::Kind::ipv4) return false;
  return icmp.octets.empty() || (icmp.octets[0] >= router_solicitation && icmp.octets[0] <= redirect);
}

}  // namespace rpcrdma::trace
