// SPDX-License-Identifier: GPL-2.0-or-later
#include "renumber.hpp"

#include "repair.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::fuzz {
namespace {

void add_be(std::uint8_t* p, unsigned octets, std::int32_t amount) noexcept {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < octets; ++i) value = (value << 8U) | p[i];
  value += static_cast<std::uint32_t>(amount);
  for (unsigned i = octets; i > 0; --i, value >>= 8U) p[i - 1] = static_cast<std::uint8_t>(value);
}

/// The TCP header before `payload`, which lies in `record`; null where it does not begin as it should.
std::uint8_t* tcp_header(Record& record, const trace::TcpSegment& tcp) {
  constexpr std::size_t shortest = 20;
  constexpr std::size_t longest = 60;
  if (tcp.payload.data() == nullptr) return nullptr;
  const auto end = static_cast<std::size_t>(tcp.payload.data() - record.octets.data());
  for (std::size_t size = shortest; size <= longest && size <= end; size += 4) {
    std::uint8_t* p = record.octets.data() + end - size;
    const bool begins = wire::load_be16(p) == tcp.source_port && wire::load_be16(p + 2) == tcp.destination_port;
    if (begins && (p[12] >> 4U) * std::size_t{4} == size) return p;
  }
  return nullptr;
}

void renumber_tcp(Record& record, const trace::TcpSegment& tcp, const trace::TcpSegment& changed, Shift shift) {
  constexpr std::size_t sequence = 4;
  constexpr std::size_t acknowledgement = 8;
  const bool same = tcp.source == changed.source && tcp.destination == changed.destination &&
                    tcp.source_port == changed.source_port && tcp.destination_port == changed.destination_port;
  const bool answer = tcp.source == changed.destination && tcp.destination == changed.source &&
                      tcp.source_port == changed.destination_port && tcp.destination_port == changed.source_port;
  const std::uint32_t number = same ? tcp.sequence : tcp.acknowledgement;
  const auto distance = static_cast<std::int32_t>(number - changed.sequence);
  const bool behind = distance > 0 || (same && shift.also_equal && distance == 0);
  if ((!same && !answer) || !behind) return;
  if (std::uint8_t* header = tcp_header(record, tcp))
    add_be(header + (same ? sequence : acknowledgement), 4, shift.octets);
}

bool is_response(wire::IbKind kind) noexcept {
  return kind == wire::IbKind::acknowledge || kind == wire::IbKind::read_response ||
         kind == wire::IbKind::atomic_acknowledge;
}

/// Requests are numbered by who sends them, and answers carry the numbers of the requests.
void renumber_ib(Record& record, const trace::IbPacket& packet, const trace::IbPacket& changed, Shift shift) {
  constexpr std::size_t psn = 9;
  if (packet.octets.size() < wire::bth_octets || changed.octets.size() < wire::bth_octets) return;
  const auto qp = [](const trace::IbPacket& p) { return wire::load_be24(p.octets.data() + 5); };
  const auto number = [](const trace::IbPacket& p) { return wire::load_be24(p.octets.data() + psn); };
  if (qp(changed) <= 1 || is_response(wire::ib_opcode(changed.octets[0]).kind)) return;
  const bool response = is_response(wire::ib_opcode(packet.octets[0]).kind);
  const bool same = !response && packet.source == changed.source && packet.destination == changed.destination &&
                    qp(packet) == qp(changed);
  const bool answer = response && packet.source == changed.destination && packet.destination == changed.source;
  const std::uint32_t distance = (number(packet) - number(changed)) & wire::psn_mask;
  if ((!same && !answer) || distance > wire::psn_mask / 2 || (distance == 0 && !shift.also_equal)) return;
  add_be(record.octets.data() + (packet.octets.data() - record.octets.data()) + psn, 3, shift.packets);
}

}  // namespace

void renumber(trace::LinkType link, const Record& changed, std::span<Record> later, Shift shift) {
  const trace::Opened from = open(link, changed.octets, changed.missing);
  if (from.content != trace::Content::tcp && from.content != trace::Content::infiniband) return;
  for (Record& record : later) {
    const trace::Opened to = open(link, record.octets, record.missing);
    if (to.content != from.content) continue;
    if (to.content == trace::Content::tcp) {
      renumber_tcp(record, to.tcp, from.tcp, shift);
    } else {
      renumber_ib(record, to.ib, from.ib, shift);
    }
  }
}

}  // namespace rpcrdma::fuzz
