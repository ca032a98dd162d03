// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nvidia_mirror.hpp"

#include "wire/frame_likeness.hpp"

namespace rpcrdma::wire {

Decoded<EtherPayload> decode_nvidia_mirror(Layer in) noexcept {
  // What can be checked comes before what looks right; then the first counts, for a frame may lie in the frame.
  for (const Likeness wanted : {Likeness::by_packet, Likeness::by_type}) {
    for (std::size_t n = 0; n <= max_nvidia_mirror && n <= in.octets.size(); n += 2) {
      if (frame_likeness(in.after(n)) == wanted) return EtherPayload{ether_type::bridged, in.after(n)};
    }
  }
  return tl::make_unexpected(DecodeError{in.cut() ? Fault::truncated : Fault::unsupported, "mirrored frame", 0});
}

}  // namespace rpcrdma::wire
