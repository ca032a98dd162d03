// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand's two headers below the transport: LRH and GRH (IBTA volume 1, sections 7.7 and 8.3).
// All fields big-endian.
#pragma once

#include <cstdint>

#include "wire/layer.hpp"

namespace rpcrdma::wire {

inline constexpr std::size_t lrh_size = 8;
inline constexpr std::size_t grh_size = 40;

/// Global route header: an IPv6 header in all but name. In InfiniBand behind the LRH, in RoCEv1 behind the EtherType.
struct Grh {
  const std::uint8_t* source = nullptr;       ///< GID, 16 octets, in the packet
  const std::uint8_t* destination = nullptr;  ///< likewise
  Layer payload;                              ///< from the BTH to the end of the ICRC, by PayLen: padding is gone
};

/// invalid: version. unsupported: a next header other than 0x1B (BTH).
[[nodiscard]] inline Decoded<Grh> decode_grh(Layer in) noexcept {
  if (in.octets.size() < grh_size) return tl::make_unexpected(in.missing(grh_size, "GRH"));
  const std::uint8_t* p = in.octets.data();
  if ((p[0] >> 4U) != 6) return tl::make_unexpected(DecodeError{Fault::invalid, "GRH version", 0});
  if (p[6] != 0x1B) return tl::make_unexpected(DecodeError{Fault::unsupported, "GRH next header", 6});
  return Grh{p + 8, p + 24, in.after(grh_size).ended_at(load_be16(p + 4))};
}

/// Local route header.
struct Lrh {
  const std::uint8_t* source = nullptr;       ///< LID, 2 octets, in the packet
  const std::uint8_t* destination = nullptr;  ///< likewise
  bool global = false;                        ///< a GRH follows, else the BTH
  Layer payload;                              ///< to the end of the ICRC, by the packet length: the VCRC is gone
};

/// invalid: a packet length that cannot hold the header. unsupported: raw packets (no BTH).
[[nodiscard]] inline Decoded<Lrh> decode_lrh(Layer in) noexcept {
  if (in.octets.size() < lrh_size) return tl::make_unexpected(in.missing(lrh_size, "LRH"));
  const std::uint8_t* p = in.octets.data();
  const unsigned next = p[1] & 0x03U;
  if (next < 2) return tl::make_unexpected(DecodeError{Fault::unsupported, "LRH next header", 1});
  const std::size_t length = (load_be16(p + 4) & 0x07FFU) * std::size_t{4};
  if (length < lrh_size) return tl::make_unexpected(DecodeError{Fault::invalid, "LRH packet length", 4});
  return Lrh{p + 6, p + 2, next == 3, in.ended_at(length).after(lrh_size)};
}

}  // namespace rpcrdma::wire
