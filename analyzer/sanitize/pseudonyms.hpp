// SPDX-License-Identifier: GPL-2.0-or-later
// Other names for addresses, names and identifiers: the same for the same thing, wherever it occurs, and with the same
// key in another run as well.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::sanitize {

/// Of a keyed hash (HMAC with SHA-256). Any octets will do; few of them can be guessed.
using Key = std::vector<std::uint8_t>;

class Pseudonyms {
 public:
  explicit Pseudonyms(Key key) : key_(std::move(key)) {}

  // In place, in network byte order. Nothing that all networks share is replaced: unspecified, broadcast, multicast
  // groups, loopback.
  /// One address for one address: private ones stay private.
  void ipv4(std::uint8_t* address);
  /// IPv6 addresses and GIDs; an IPv4 address that stands in one (::ffff:a.b.c.d) is replaced as such.
  void ipv6(std::uint8_t* address);
  void mac(std::uint8_t* address);
  /// 8 octets: GUIDs of adapters and ports.
  void guid(std::uint8_t* guid);
  /// Of users and groups; 0 stays.
  [[nodiscard]] std::uint32_t number(std::uint32_t id);
  /// Octets that mean nothing to anybody but their owner: handles, stateids, verifiers. All zeros and all ones stay.
  void octets(std::span<std::uint8_t> octets);
  /// Names and texts, of letters and digits; what may not change its meaning stays: "." and "..", names of transports.
  void text(std::span<std::uint8_t> text);
  /// The one or the other, by what it consists of.
  void counted(std::span<std::uint8_t> octets);

  /// Addresses as people read them, each with the one that took its place.
  [[nodiscard]] const std::map<std::string, std::string>& address_texts() const noexcept { return texts_; }

 private:
  enum class Of : std::uint8_t { ipv4, ipv6, mac, guid, number, octets, text };
  /// Fills `out` with octets that depend on the key, `of` and `from` alone.
  void fill(Of of, wire::Bytes from, std::span<std::uint8_t> out) const;
  [[nodiscard]] std::uint32_t round(std::uint32_t half, std::uint32_t round, std::uint32_t range) const;
  [[nodiscard]] std::uint32_t permuted(std::uint32_t value, unsigned bits, std::uint32_t range) const;

  Key key_;
  std::map<std::string, std::string> texts_;
  std::unordered_map<std::uint32_t, std::uint32_t> ipv4_;
  std::map<std::array<std::uint8_t, 16>, std::array<std::uint8_t, 16>> ipv6_;
  std::map<std::array<std::uint8_t, 6>, std::array<std::uint8_t, 6>> macs_;
};

}  // namespace rpcrdma::sanitize
