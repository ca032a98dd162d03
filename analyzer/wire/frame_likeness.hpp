// SPDX-License-Identifier: GPL-2.0-or-later
// Is this an Ethernet frame? For headers that do not say what is behind them, or how long they are.
#pragma once

#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::wire {

enum class Likeness : std::uint8_t {
  none,
  by_type,    ///< an EtherType that this program opens, with nothing behind it that could be checked
  by_packet,  ///< the packet behind the EtherType begins as such a packet must
};

[[nodiscard]] Likeness frame_likeness(Layer frame) noexcept;
/// The same of what is behind addresses and tags.
[[nodiscard]] Likeness frame_likeness(const EtherPayload& ether) noexcept;

}  // namespace rpcrdma::wire
