// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/pseudonyms.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include <glib.h>

#include "trace/packet.hpp"

namespace rpcrdma::sanitize {
namespace {

constexpr std::size_t digest_octets = 32;

std::string text_of(const std::uint8_t* address, std::size_t size) {
  trace::Address out;
  std::copy_n(address, size, out.octets.begin());
  out.kind = size == 4 ? trace::Address::Kind::ipv4 : trace::Address::Kind::ipv6;
  return out.text();
}

bool all_of(wire::Bytes octets, std::uint8_t value) noexcept {
  return std::all_of(octets.begin(), octets.end(), [value](std::uint8_t octet) { return octet == value; });
}

/// A prefix of IPv4 whose addresses are given others below `to`, which is at least as large.
struct Range {
  std::uint32_t prefix = 0;
  unsigned host_bits = 0;
  std::uint32_t to = 0;

  [[nodiscard]] bool holds(std::uint32_t address) const noexcept { return address >> host_bits == prefix >> host_bits; }
};

// Where private addresses go nothing else goes, and not where they came from: no address of the original can be that of
// another host in the copy.
constexpr std::array<Range, 5> private_ranges{{
    {0x0A000000, 24, 0xF0000000},  // 10/8 to 240/8
    {0xAC100000, 20, 0x0A000000},  // 172.16/12 to 10.0/12
    {0xC0A80000, 16, 0x0A100000},  // 192.168/16 to 10.16/16
    {0x64400000, 22, 0x0A400000},  // 100.64/10 to 10.64/10
    {0xA9FE0000, 16, 0x0A200000},  // 169.254/16 to 10.32/16
}};

/// Not an address of one host, or of each.
bool of_everybody(std::uint32_t address) noexcept {
  const std::uint32_t first = address >> 24U;
  return first == 0 || first == 127 || (first >= 224 && first < 240) || address == 0xFFFFFFFF;
}

using Mac = std::array<std::uint8_t, 6>;

/// Of IPv6: it ends in the end of the address that is looked for.
bool neighbour_group(const Mac& group) noexcept { return group[0] == 0x33 && group[1] == 0x33 && group[2] == 0xFF; }

/// Groups of IP, and of bridges, of Cisco's, of clocks. Any other is one machine's own: clusters put their address
/// there.
bool of_everybody(const Mac& group) noexcept {
  constexpr std::array<std::array<std::uint8_t, 3>, 4> prefixes{
      {{0x01, 0x00, 0x5E}, {0x01, 0x80, 0xC2}, {0x01, 0x00, 0x0C}, {0x01, 0x1B, 0x19}}};
  if (group[0] == 0x33 && group[1] == 0x33) return !neighbour_group(group);
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const auto& prefix) { return std::equal(prefix.begin(), prefix.end(), group.begin()); });
}

bool taken(std::uint32_t address) noexcept {
  if (of_everybody(address) || address >> 28U == 0xF || address >> 24U == 10) return true;
  return std::any_of(private_ranges.begin(), private_ranges.end(),
                     [address](const Range& range) { return range.holds(address); });
}

}  // namespace

void Pseudonyms::fill(Of of, wire::Bytes from, std::span<std::uint8_t> out) const {
  for (std::uint32_t block = 0; !out.empty(); ++block) {
    const std::unique_ptr<GHmac, decltype(&g_hmac_unref)> hmac(g_hmac_new(G_CHECKSUM_SHA256, key_.data(), key_.size()),
                                                               &g_hmac_unref);
    std::array<std::uint8_t, 5> head{static_cast<std::uint8_t>(of)};
    wire::store_be32(head.data() + 1, block);
    g_hmac_update(hmac.get(), head.data(), static_cast<gssize>(head.size()));
    if (!from.empty()) g_hmac_update(hmac.get(), from.data(), static_cast<gssize>(from.size()));
    std::array<std::uint8_t, digest_octets> digest{};
    gsize length = digest.size();
    g_hmac_get_digest(hmac.get(), digest.data(), &length);
    const std::size_t n = std::min(out.size(), digest.size());
    std::copy_n(digest.begin(), n, out.begin());
    out = out.subspan(n);
  }
}

std::uint32_t Pseudonyms::round(std::uint32_t half, std::uint32_t round, std::uint32_t range) const {
  std::array<std::uint8_t, 12> from{};
  wire::store_be32(from.data(), half);
  wire::store_be32(from.data() + 4, round);
  wire::store_be32(from.data() + 8, range);
  std::array<std::uint8_t, 4> out{};
  fill(Of::ipv4, from, out);
  return wire::load_be32(out.data());
}

/// A permutation of the numbers of an even count of bits: a Feistel network.
std::uint32_t Pseudonyms::permuted(std::uint32_t value, unsigned bits, std::uint32_t range) const {
  constexpr std::uint32_t rounds = 6;
  const unsigned half = bits / 2;
  const std::uint32_t mask = (std::uint32_t{1} << half) - 1;
  std::uint32_t left = value >> half & mask;
  std::uint32_t right = value & mask;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::uint32_t next = left ^ (round(right, i, range) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

void Pseudonyms::ipv4(std::uint8_t* address) {
  const std::uint32_t from = wire::load_be32(address);
  if (of_everybody(from)) return;
  const auto known = ipv4_.find(from);
  std::uint32_t to = from;
  if (known != ipv4_.end()) {
    to = known->second;
  } else {
    const auto* const range =
        std::find_if(private_ranges.begin(), private_ranges.end(), [from](const Range& r) { return r.holds(from); });
    if (range != private_ranges.end()) {
      const std::uint32_t host = from & ((std::uint32_t{1} << range->host_bits) - 1);
      to = range->to | permuted(host, range->host_bits, range->prefix);
    } else if (from >> 28U == 0xF) {
      do {
        to = 0xF0000000U | permuted(to & 0x0FFFFFFFU, 28, 0xF0000000U);
      } while (to >> 24U == 0xF0 || of_everybody(to));
    } else {
      // What is nobody's alone, and what private addresses become, is stepped over: the rest stays a permutation.
      do {
        to = permuted(to, 32, 0);
      } while (taken(to));
    }
    ipv4_[from] = to;
  }
  const std::string before = text_of(address, 4);
  wire::store_be32(address, to);
  texts_.try_emplace(before, text_of(address, 4));
}

void Pseudonyms::ipv6(std::uint8_t* address) {
  const wire::Bytes all(address, 16);
  const bool prefix_empty = all_of(all.first(10), 0);
  if (prefix_empty && all_of(all.subspan(10, 2), 0xFF)) {
    const std::string before = text_of(address, 16);
    ipv4(address + 12);
    texts_.try_emplace(before, text_of(address, 16));
    return;
  }
  if (prefix_empty && all_of(all.subspan(10, 5), 0) && address[15] <= 1) return;  // unspecified, loopback
  constexpr std::size_t solicited = 13;  // ff02::1:ff and the end of the address that is looked for
  static constexpr std::array<std::uint8_t, solicited> prefix{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF};
  const bool neighbour = std::equal(prefix.begin(), prefix.end(), address);
  // A group that somebody chose may have the prefix of a network in it (RFC 3306, RFC 3956).
  const bool group = address[0] == 0xFF;
  const bool chosen = group && (address[1] & 0xF0U) != 0;
  if (group && !chosen && !neighbour) return;
  std::array<std::uint8_t, 16> from{};
  std::copy_n(address, from.size(), from.begin());
  const auto [at, fresh] = ipv6_.try_emplace(from);
  if (fresh) {
    std::array<std::uint8_t, 16>& to = at->second;
    fill(Of::ipv6, from, to);
    const bool link_local = from[0] == 0xFE && (from[1] & 0xC0U) == 0x80;
    if (neighbour) {
      std::copy(prefix.begin(), prefix.end(), to.begin());
    } else if (group) {
      std::copy_n(from.begin(), 2, to.begin());
    } else if (link_local) {
      std::fill_n(to.begin(), 8, std::uint8_t{0});
      to[0] = 0xFE;
      to[1] = 0x80;
    } else {
      to[0] = 0xFD;
    }
  }
  const std::string before = text_of(address, 16);
  std::copy(at->second.begin(), at->second.end(), address);
  texts_.try_emplace(before, text_of(address, 16));
}

void Pseudonyms::mac(std::uint8_t* address) {
  std::array<std::uint8_t, 6> from{};
  std::copy_n(address, from.size(), from.begin());
  if (all_of(from, 0) || all_of(from, 0xFF)) return;
  const bool group = (from[0] & 1U) != 0;
  if (group && of_everybody(from)) return;
  const auto [at, fresh] = macs_.try_emplace(from);
  if (fresh) {
    std::array<std::uint8_t, 6>& to = at->second;
    fill(Of::mac, from, to);
    if (neighbour_group(from)) {
      std::copy_n(from.begin(), 3, to.begin());
    } else {  // locally administered
      to[0] = static_cast<std::uint8_t>((to[0] & 0xFCU) | (group ? 0x03U : 0x02U));
    }
  }
  std::copy(at->second.begin(), at->second.end(), address);
}

void Pseudonyms::guid(std::uint8_t* guid) {
  const std::vector<std::uint8_t> from(guid, guid + 8);
  if (!all_of(from, 0)) fill(Of::guid, from, {guid, 8});
}

std::uint32_t Pseudonyms::number(std::uint32_t id) {
  if (id == 0 || id == UINT32_MAX || id == UINT32_MAX - 1) return id;  // the superuser, and nobody
  std::array<std::uint8_t, 4> octets{};
  wire::store_be32(octets.data(), id);
  const std::array<std::uint8_t, 4> from = octets;
  fill(Of::number, from, octets);
  return wire::load_be32(octets.data()) | 1U;
}

void Pseudonyms::octets(std::span<std::uint8_t> octets) {
  if (octets.empty() || all_of(octets, 0) || all_of(octets, 0xFF)) return;
  const std::vector<std::uint8_t> from(octets.begin(), octets.end());
  fill(Of::octets, from, octets);
}

void Pseudonyms::text(std::span<std::uint8_t> text) {
  constexpr std::array<std::string_view, 7> kept{".", "..", "tcp", "tcp6", "udp", "rdma", "rdma6"};
  const std::string_view was(reinterpret_cast<const char*>(text.data()), text.size());
  if (std::find(kept.begin(), kept.end(), was) != kept.end()) return;
  const std::vector<std::uint8_t> from(text.begin(), text.end());
  fill(Of::text, from, text);
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz012345";
  for (std::uint8_t& octet : text) octet = static_cast<std::uint8_t>(letters[octet % letters.size()]);
}

void Pseudonyms::counted(std::span<std::uint8_t> of) {
  const bool readable =
      std::all_of(of.begin(), of.end(), [](std::uint8_t octet) { return octet >= 0x20 && octet != 0x7F; });
  if (readable) {
    text(of);
  } else {
    octets(of);
  }
}

}  // namespace rpcrdma::sanitize
