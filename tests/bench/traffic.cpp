// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "wire/icrc.hpp"

namespace bench {
namespace {

using Octets = std::vector<std::uint8_t>;

constexpr std::size_t ip_start = 14;
constexpr std::size_t ip_size = 20;
constexpr std::size_t udp_size = 8;
constexpr std::size_t bth_start = ip_start + ip_size + udp_size;
constexpr std::size_t bth_size = 12;
constexpr std::size_t mad_start = bth_start + bth_size + 8;
constexpr std::size_t cm_size = 256;

// Opcodes of reliable connections
enum Opcode : std::uint8_t {
  send_first = 0,
  send_only = 4,
  write_first = 6,
  write_only = 10,
  read_request = 12,
  read_first = 13,
  read_last = 15,
  read_only = 16,
  acknowledge = 17,
  atomic_acknowledge = 18,
  send_only_invalidate = 23,
  datagram_send_only = 100,
};

std::uint32_t get32(const Octets& o, std::size_t at) {
  return static_cast<std::uint32_t>(o[at]) << 24U | static_cast<std::uint32_t>(o[at + 1]) << 16U |
         static_cast<std::uint32_t>(o[at + 2]) << 8U | o[at + 3];
}
std::uint32_t get24(const Octets& o, std::size_t at) { return get32(o, at) >> 8U; }
std::uint32_t get16(const Octets& o, std::size_t at) {
  return static_cast<std::uint32_t>(o[at]) << 8U | static_cast<std::uint32_t>(o[at + 1]);
}
void put16(Octets& o, std::size_t at, std::uint32_t v) {
  o[at] = static_cast<std::uint8_t>(v >> 8U);
  o[at + 1] = static_cast<std::uint8_t>(v);
}
void put24(Octets& o, std::size_t at, std::uint32_t v) {
  o[at] = static_cast<std::uint8_t>(v >> 16U);
  put16(o, at + 1, v);
}
void put32(Octets& o, std::size_t at, std::uint32_t v) {
  put16(o, at, v >> 16U);
  put16(o, at + 2, v);
}

bool is_ipv4(const Octets& o, std::uint8_t protocol) {
  return o.size() >= bth_start + bth_size && get16(o, 12) == 0x0800 && o[ip_start] == 0x45 &&
         o[ip_start + 9] == protocol;
}
bool is_roce(const Octets& o) { return is_ipv4(o, 17) && get16(o, ip_start + ip_size + 2) == 4791; }
std::uint32_t source_of(const Octets& o) { return get32(o, ip_start + 12); }
std::uint32_t destination_of(const Octets& o) { return get32(o, ip_start + 16); }
bool is_response(std::uint8_t opcode) { return opcode >= read_first && opcode <= atomic_acknowledge; }
bool has_aeth(std::uint8_t opcode) {
  return opcode == read_first || opcode == read_last || opcode == read_only || opcode == acknowledge;
}
std::uint32_t queue_pair_of(const Octets& o) { return get24(o, bth_start + 5); }
std::uint32_t psn_of(const Octets& o) { return get24(o, bth_start + 9); }

/// The CM attribute of a frame that is a CM datagram.
std::optional<std::uint32_t> cm_attribute(const Octets& o) {
  if (!is_roce(o) || o[bth_start] != datagram_send_only || queue_pair_of(o) != 1) return std::nullopt;
  if (o.size() < mad_start + cm_size || o[mad_start + 1] != 0x07) return std::nullopt;
  return get16(o, mad_start + 16);
}
constexpr std::uint32_t cm_req = 0x10;
constexpr std::uint32_t cm_rej = 0x12;
constexpr std::uint32_t cm_rep = 0x13;
constexpr std::uint32_t cm_rtu = 0x14;
constexpr std::uint32_t cm_dreq = 0x15;
constexpr std::uint32_t cm_drep = 0x16;

/// Where the payload behind the headers starts; 0 for a packet that carries none of a message's first octets.
std::size_t payload_start(std::uint8_t opcode) {
  switch (opcode) {
    case send_first:
    case send_only:
      return bth_start + bth_size;
    case send_only_invalidate:
    case read_first:
    case read_only:
      return bth_start + bth_size + 4;
    case write_first:
    case write_only:
    case read_request:
      return bth_start + bth_size + 16;
    default:
      return 0;
  }
}

/// Where the offsets of the chunk segments stand, and where the RPC message starts (0 where there is none).
struct Lists {
  std::vector<std::size_t> offsets;
  std::size_t rpc = 0;
};

Lists walk_lists(const Octets& o, std::size_t header) {
  Lists lists;
  const std::size_t end = o.size() - rpcrdma::wire::icrc_size;
  std::size_t at = header + 16;
  auto word = [&](std::size_t where) { return where + 4 <= end ? get32(o, where) : 0xffffffffU; };
  // A counted array of segments of handle, length and offset.
  auto chunk = [&] {
    const std::uint32_t count = word(at);
    at += 4;
    for (std::uint32_t i = 0; i < count && at + 16 <= end; ++i, at += 16) lists.offsets.push_back(at + 8);
  };
  const std::uint32_t procedure = word(header + 12);
  if (word(header + 4) != 1 || procedure > 1) return lists;
  for (; word(at) == 1; at += 24) {
    if (at + 24 <= end) lists.offsets.push_back(at + 16);
  }
  for (at += 4; word(at) == 1;) {
    at += 4;
    chunk();
  }
  at += 4;
  if (word(at) == 1) {
    at += 4;
    chunk();
  } else {
    at += 4;
  }
  if (procedure == 0 && at + 4 <= end) lists.rpc = at;
  return lists;
}

std::uint32_t mapped(std::uint32_t address, std::uint32_t network) {
  return network == 0 ? address : 0x0a000000U | (network & 0xffffU) << 8U | (address & 0xffU);
}

std::uint32_t of(const std::map<std::uint32_t, std::uint32_t>& shifts, std::uint32_t address) {
  const auto found = shifts.find(address);
  return found == shifts.end() ? 0 : found->second;
}

void renew_checksum(Octets& o) {
  put16(o, ip_start + 10, 0);
  std::uint32_t sum = 0;
  for (std::size_t at = ip_start; at < ip_start + ip_size; at += 2) sum += get16(o, at);
  while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
  put16(o, ip_start + 10, ~sum);
}

void renew_icrc(Octets& o) {
  const std::size_t end = ip_start + get16(o, ip_start + 2);
  if (end > o.size() || end < bth_start + bth_size + rpcrdma::wire::icrc_size) return;
  const std::span<const std::uint8_t> all(o);
  const auto sum =
      rpcrdma::wire::icrc(rpcrdma::wire::IcrcLayout::rocev2_ipv4, all.subspan(ip_start, ip_size + udp_size),
                          all.subspan(bth_start, end - rpcrdma::wire::icrc_size - bth_start));
  if (!sum) return;
  for (std::size_t i = 0; i < 4; ++i) o[end - 4 + i] = static_cast<std::uint8_t>(*sum >> (8 * i));
}

}  // namespace

Traffic::Traffic(std::vector<Frame> frames) : frames_(std::move(frames)) {
  find_steady_part();
  measure_spans();
  collect_xids();
}

void Traffic::find_steady_part() {
  steady_last_ = frames_.size();
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const auto attribute = cm_attribute(frames_[i].octets);
    if (attribute == cm_rtu) steady_first_ = i + 1;
    if (attribute == cm_dreq) steady_last_ = std::min(steady_last_, i);
  }
  if (steady_first_ >= steady_last_) steady_first_ = steady_last_ = 0;
}

void Traffic::measure_spans() {
  constexpr std::uint32_t path_mtu = 1024;
  std::map<std::uint32_t, std::uint32_t> first;
  std::map<std::uint32_t, std::uint32_t> next;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> counts;
  for (std::size_t i = steady_first_; i < steady_last_; ++i) {
    const Octets& o = frames_[i].octets;
    if (!is_roce(o) || queue_pair_of(o) <= 1) continue;
    const std::uint8_t opcode = o[bth_start];
    const std::uint32_t source = source_of(o);
    if (is_response(opcode)) {
      if (!has_aeth(opcode)) continue;
      const std::uint32_t count = get24(o, bth_start + bth_size + 1);
      auto [entry, added] = counts.try_emplace(source, count, count);
      if (!added && ((count - entry->second.second) & 0xffffffU) < 0x800000U) entry->second.second = count;
      continue;
    }
    std::uint32_t used = 1;
    if (opcode == read_request) used = std::max(1U, (get32(o, bth_start + bth_size + 12) + path_mtu - 1) / path_mtu);
    first.try_emplace(source, psn_of(o));
    const std::uint32_t after = psn_of(o) + used;
    auto [entry, added] = next.try_emplace(source, after);
    if (!added && ((after - entry->second) & 0xffffffU) < 0x800000U) entry->second = after;
  }
  for (const auto& [source, start] : first) psn_span_[source] = (next[source] - start) & 0xffffffU;
  // The first acknowledge of the steady part already counts the first message.
  for (const auto& [source, range] : counts) msn_span_[source] = (range.second - range.first + 1) & 0xffffffU;
}

void Traffic::collect_xids() {
  for (const Frame& frame : frames_) {
    const Octets& o = frame.octets;
    if (!is_roce(o) || queue_pair_of(o) <= 1) continue;
    const std::uint8_t opcode = o[bth_start];
    if (opcode != send_first && opcode != send_only && opcode != send_only_invalidate) continue;
    const std::size_t header = payload_start(opcode);
    if (o.size() >= header + 28 && get32(o, header + 4) == 1) xids_.insert(get32(o, header));
  }
}

std::uint32_t Traffic::xid_span() const noexcept {
  return xids_.empty() ? 0 : std::max(1024U, *xids_.rbegin() - *xids_.begin() + 1);
}

void Traffic::copy(const Frame& original, const Shift& shift, std::vector<std::uint8_t>& out) const {
  out = original.octets;
  const bool roce = is_roce(out);
  const bool tcp = is_ipv4(out, 6) && out.size() >= ip_start + ip_size + 20;
  if (!roce && !tcp) return;
  const std::uint32_t source = source_of(out);
  const std::uint32_t destination = destination_of(out);
  if (roce) {
    shift_roce(out, shift);
  } else {
    shift_tcp(out, ip_start + ip_size, source, destination, shift);
  }
  put32(out, ip_start + 12, mapped(source, shift.network));
  put32(out, ip_start + 16, mapped(destination, shift.network));
  renew_checksum(out);
  if (roce) renew_icrc(out);
}

void Traffic::shift_roce(Octets& octets, const Shift& shift) const {
  if (cm_attribute(octets)) {
    shift_cm(octets, mad_start, shift);
    return;
  }
  const std::uint32_t queue_pair = queue_pair_of(octets);
  if (queue_pair <= 1) return;
  const std::uint8_t opcode = octets[bth_start];
  put24(octets, bth_start + 5, queue_pair + shift.queue_pair);
  // A response carries a PSN of the side that it answers.
  const std::uint32_t counter = is_response(opcode) ? destination_of(octets) : source_of(octets);
  put24(octets, bth_start + 9, psn_of(octets) + of(shift.psn, counter));
  if (has_aeth(opcode)) {
    const std::size_t count = bth_start + bth_size + 1;
    put24(octets, count, get24(octets, count) + of(shift.msn, source_of(octets)));
  }
  const std::size_t payload = payload_start(opcode);
  if (payload != 0 && payload + 4 <= octets.size()) shift_xids(octets, payload, opcode, shift.xid);
}

void Traffic::shift_xids(Octets& octets, std::size_t payload, std::uint8_t opcode, std::uint32_t amount) const {
  if (amount == 0) return;
  auto add = [&](std::size_t at) {
    const std::uint32_t xid = get32(octets, at);
    if (xids_.contains(xid)) put32(octets, at, xid + amount);
  };
  if (opcode == send_first || opcode == send_only || opcode == send_only_invalidate) {
    const Lists lists = walk_lists(octets, payload);
    // Linux clients put the XID into the upper half of each offset.
    for (const std::size_t at : lists.offsets) add(at);
    if (lists.rpc != 0) add(lists.rpc);
  } else if (opcode == write_first || opcode == write_only || opcode == read_request) {
    add(bth_start + bth_size);
  }
  if (opcode != read_request) add(payload);
}

void Traffic::shift_cm(Octets& octets, std::size_t mad, const Shift& shift) const {
  const std::uint32_t attribute = get16(octets, mad + 16);
  const std::size_t data = mad + 24;
  auto add32 = [&](std::size_t at) { put32(octets, at, get32(octets, at) + shift.communication_id); };
  auto add_queue_pair = [&](std::size_t at) { put24(octets, at, get24(octets, at) + shift.queue_pair); };
  auto address = [&](std::size_t at) { put32(octets, at, mapped(get32(octets, at), shift.network)); };
  add32(mad + 12);
  if (attribute >= cm_req && attribute <= cm_drep) add32(data);
  if (attribute == cm_rej || (attribute >= cm_rep && attribute <= cm_drep)) add32(data + 4);
  if (attribute == cm_req) {
    add_queue_pair(data + 32);
    put24(octets, data + 44, get24(octets, data + 44) + of(shift.psn, source_of(octets)));
    address(data + 56 + 12);
    address(data + 72 + 12);
    address(data + 140 + 4 + 12);
    address(data + 140 + 20 + 12);
  } else if (attribute == cm_rep) {
    add_queue_pair(data + 12);
    put24(octets, data + 20, get24(octets, data + 20) + of(shift.psn, source_of(octets)));
  } else if (attribute == cm_dreq) {
    add_queue_pair(data + 8);
  }
}

void Traffic::shift_tcp(Octets& octets, std::size_t tcp, std::uint32_t source, std::uint32_t destination,
                        const Shift& shift) const {
  for (const std::size_t at : {tcp, tcp + 2}) {
    const std::uint32_t port = get16(octets, at);
    if (port != 20049 && port != 20100) put16(octets, at, 1024 + (port - 1024 + shift.port) % 60000);
  }
  put32(octets, tcp + 4, get32(octets, tcp + 4) + of(shift.tcp, source));
  if ((octets[tcp + 13] & 0x10U) != 0) put32(octets, tcp + 8, get32(octets, tcp + 8) + of(shift.tcp, destination));
}

}  // namespace bench
