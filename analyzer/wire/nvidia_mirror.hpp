// SPDX-License-Identifier: GPL-2.0-or-later
// EtherType 0x8949: what switches of Mellanox and NVIDIA put before a mirrored frame, behind an Ethernet or a GRE
// header.
#pragma once

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Its length differs and stands nowhere: nothing on older switches, 22 octets in GRE on others. So the frame is looked
/// for, at even offsets up to this one.
inline constexpr std::size_t max_nvidia_mirror = 40;

/// unsupported: no frame was found that begins with something known.
[[nodiscard]] Decoded<EtherPayload> decode_nvidia_mirror(Layer in) noexcept;

}  // namespace rpcrdma::wire
