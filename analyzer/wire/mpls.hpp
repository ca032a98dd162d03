// SPDX-License-Identifier: GPL-2.0-or-later
// MPLS label stacks (RFC 3032) and Ethernet pseudowires (RFC 4448). All fields big-endian.
#pragma once

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

/// Labels that are taken off before giving up.
inline constexpr int max_mpls_labels = 16;

/// Nothing in the stack says what is behind it. An IP packet, by its version and lengths; else a frame, with a control
/// word before it (a first octet below 0x10) where only that makes one of it, or where neither does.
/// unsupported: too many labels, or an associated channel (RFC 5586: a first octet of 0x10 to 0x1F).
[[nodiscard]] Decoded<EtherPayload> decode_mpls(Layer in) noexcept;

}  // namespace rpcrdma::wire
