// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/mpls.hpp"

#include "wire/frame_likeness.hpp"

namespace rpcrdma::wire {

Decoded<EtherPayload> decode_mpls(Layer in) noexcept {
  constexpr std::size_t entry = 4;
  constexpr std::size_t control_word = 4;
  constexpr std::uint8_t bottom = 0x01;
  for (int n = 0;; ++n) {
    if (n == max_mpls_labels) return tl::make_unexpected(DecodeError{Fault::unsupported, "MPLS labels", 0});
    if (in.octets.size() < entry) return tl::make_unexpected(in.missing(entry, "MPLS label"));
    const bool last = (in.octets[2] & bottom) != 0;
    in = in.after(entry);
    if (last) break;
  }
  if (in.octets.size() < control_word) return tl::make_unexpected(in.missing(control_word, "MPLS payload"));
  const unsigned first = in.octets[0] >> 4U;
  const Layer behind = in.after(control_word);
  const EtherPayload frame{ether_type::bridged, in};
  const EtherPayload controlled{ether_type::bridged, behind};
  // Addresses of frames may begin with any of these digits: what is behind them tells.
  const Likeness as_frame = frame_likeness(in);
  if (as_frame == Likeness::by_packet) return frame;
  if (first == 4) return EtherPayload{ether_type::ipv4, in};
  if (first == 6) return EtherPayload{ether_type::ipv6, in};
  if (first == 0) return frame_likeness(behind) < as_frame ? frame : controlled;
  if (first == 1 && as_frame == Likeness::none) {
    return tl::make_unexpected(DecodeError{Fault::unsupported, "MPLS associated channel", 0});
  }
  return frame;
}

}  // namespace rpcrdma::wire
