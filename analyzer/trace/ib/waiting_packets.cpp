// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/waiting_packets.hpp"

#include "trace/ib/psn.hpp"
#include "trace/ib/shared.hpp"

namespace rpcrdma::trace::ib {

/// No further back than to the end of the Send before: over all that wait, each packet is looked at once.
std::optional<std::vector<std::uint8_t>> WaitingPackets::newest_send() const {
  std::vector<wire::Bytes> backwards;
  std::size_t length = 0;
  std::uint32_t psn = 0;  // of the foremost so far
  for (auto packet = packets_.rbegin(); packet != packets_.rend(); ++packet) {
    const auto h = wire::decode_ib(packet->octets, packet->wire_length);
    if (!h) return std::nullopt;
    if (!is_request(h->op.kind)) continue;
    const bool newest = backwards.empty();
    if (h->op.kind != wire::IbKind::send || wire::ends(h->op.part) != newest) return std::nullopt;
    if (!newest && h->psn == psn) continue;  // captured twice
    if (!newest && psn_distance(h->psn, psn) != 1) return std::nullopt;
    if (!newest && h->payload.size() < h->payload_length) return std::nullopt;
    psn = h->psn;
    backwards.push_back(h->payload);
    length += h->payload.size();
    if (!wire::begins(h->op.part)) continue;
    std::vector<std::uint8_t> whole;
    whole.reserve(length);
    for (auto part = backwards.rbegin(); part != backwards.rend(); ++part)
      whole.insert(whole.end(), part->begin(), part->end());
    return whole;
  }
  return std::nullopt;
}

}  // namespace rpcrdma::trace::ib
