// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/erf.hpp"

namespace rpcrdma::wire {
namespace {

constexpr std::size_t header_size = 16;
constexpr std::size_t extension_size = 8;
constexpr std::size_t ethernet_pad = 2;  // offset and pad, before the destination address; not counted in wlen
constexpr std::uint8_t more = 0x80;

ErfRecord::Kind kind_of(unsigned type) noexcept {
  using Kind = ErfRecord::Kind;
  switch (type) {
    case 2:   // Ethernet
    case 11:  // Ethernet, with colour
    case 16:  // Ethernet, with stream and colour
    case 20:  // Ethernet, with hash and colour
      return Kind::ethernet;
    case 21:
      return Kind::infiniband;
    case 22:
      return Kind::ipv4;
    case 23:
      return Kind::ipv6;
    case 13:  // IP counters
    case 14:  // TCP flow counters
    case 25:  // InfiniBand link packets: credits of the link's own flow control, no transport
    case 27:  // metadata
    case 48:  // padding
      return Kind::no_frame;
    default:
      return Kind::other_link;
  }
}

}  // namespace

Decoded<ErfRecord> decode_erf(Layer record) noexcept {
  if (record.octets.size() < header_size) return tl::make_unexpected(record.missing(header_size, "ERF header"));
  const std::uint8_t* p = record.octets.data();
  const std::size_t record_length = load_be16(p + 10);
  const std::size_t wire_length = load_be16(p + 14);
  const auto too_short = [&](std::size_t at) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "ERF record length", at});
  };
  if (record_length < header_size) return too_short(10);

  std::size_t at = header_size;
  bool another = (p[8] & more) != 0;
  for (int n = 0; another; ++n) {
    if (n == max_erf_extensions) {
      return tl::make_unexpected(DecodeError{Fault::unsupported, "ERF extension headers", at});
    }
    if (at + extension_size > record_length) return too_short(at);
    if (at + extension_size > record.octets.size()) {
      return tl::make_unexpected(DecodeError{Fault::truncated, "ERF extension header", at});
    }
    another = (p[at] & more) != 0;
    at += extension_size;
  }

  ErfRecord out;
  out.kind = kind_of(p[8] & 0x7FU);
  if (out.kind == ErfRecord::Kind::ethernet) at += ethernet_pad;
  if (at > record_length) return too_short(at);
  if (at > record.octets.size()) return tl::make_unexpected(DecodeError{Fault::truncated, "ERF pad", at});

  // The record is filled up to a multiple of eight octets; it is shorter than the frame when the card cut it.
  const std::size_t held = record_length - at;
  out.frame = Layer{record.octets, record_length}.after(at).ended_at(held);
  out.frame = out.frame.ended_at(wire_length != 0 ? wire_length : held);
  return out;
}

}  // namespace rpcrdma::wire
