// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: from a frame to the one transport packet in it. No state but the fragments of IP packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/frame.hpp"
#include "trace/link/fragments.hpp"
#include "trace/link/network_path.hpp"
#include "trace/not_opened.hpp"
#include "trace/packet.hpp"
#include "wire/ethernet.hpp"
#include "wire/layer.hpp"

namespace rpcrdma::trace {

enum class Content : std::uint8_t {
  nothing,       ///< no RDMA and no TCP, or not enough of it captured to tell
  infiniband,    ///< `ib` is filled
  tcp,           ///< `tcp` is filled
  undelivered,   ///< `undelivered` is filled: ICMP about a TCP segment or a REQ
  tunnel,        ///< another packet inside a packet, which is not opened: `not_opened` says what
  unknown_link,  ///< a link type, or a link inside ERF, that is not opened
};

/// Packets inside packets that are opened in one frame: mirror and overlay headers, not VLAN tags.
inline constexpr int max_encapsulations = 8;

/// What a frame holds. Of `ib`, `tcp` and `undelivered` only the one that `content` names means anything; the others
/// may hold remains of earlier frames, so that one object can serve for all. Spans point into the frame, or into
/// `Fragments`.
struct Opened {
  Content content = Content::nothing;
  /// Where nothing else is filled: which machine sent the frame, as far as IP tells; kind none: it does not.
  Address sender;
  bool frame_cut = false;  ///< the capture holds fewer octets of the frame than were on the wire
  NetworkPath network;
  NotOpened not_opened;  ///< where the way through the frame ended, when RDMA may lie behind it
  IbPacket ib;
  TcpSegment tcp;
  Undelivered undelivered;
};

/// A header that was passed on the way through a frame.
struct PassedLayer {
  enum class Kind : std::uint8_t {
    ethernet,
    cooked,
    cooked2,
    ipv4,
    ipv6,
    lrh,
    grh,
    udp,
    tcp,
    icmp,
    gre,
    // Encapsulations, from behind the port or the EtherType that announces them
    vxlan,
    geneve,
    mpls,
    tzsp,
    erspan,
    nvidia_mirror,
    pppoe,
    cisco_metadata,
    switch_tag,  ///< any other, of a fixed length
    llc,
  };
  enum class Form : std::uint8_t {
    known,     ///< of an encapsulation: the packet inside begins at `inside_at`
    unopened,  ///< an encapsulation of a kind that is not opened
    broken,    ///< none, or only its beginning: something else may use its number
  };
  Kind kind = Kind::ethernet;
  wire::Layer layer;  ///< from its first octet on; points into the frame, or into `Fragments`
  std::size_t inside_at = 0;
  Form form = Form::known;
};

/// From the outermost on.
class PassedLayers {
 public:
  /// Four a packet: link, encapsulation, network, transport.
  static constexpr std::size_t most = 40;

  [[nodiscard]] const PassedLayer* begin() const noexcept { return layers_.data(); }
  [[nodiscard]] const PassedLayer* end() const noexcept { return layers_.data() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }
  void add(PassedLayer::Kind kind, const wire::Layer& layer) noexcept {
    if (size_ < most) layers_[size_++] = {kind, layer};
  }
  /// An encapsulation.
  void add(PassedLayer::Kind kind, const wire::Layer& layer, const wire::Decoded<wire::EtherPayload>& inside) noexcept {
    using Form = PassedLayer::Form;
    if (size_ == most) return;
    const auto at = inside ? inside->payload.octets.data() - layer.octets.data() : 0;
    const Form form = inside                                             ? Form::known
                      : inside.error().fault == wire::Fault::unsupported ? Form::unopened
                                                                         : Form::broken;
    layers_[size_++] = {kind, layer, static_cast<std::size_t>(at), form};
  }

 private:
  std::array<PassedLayer, most> layers_{};
  std::size_t size_ = 0;
};

/// Opens link and network layers, mirror and overlay headers down to a BTH, a TCP header or what ICMP quotes of them;
/// anything else is passed by at the first field that tells. Never fails: a header that is cut off, broken or of an
/// unknown form makes the frame hold nothing.
/// `fragments`: of a packet in pieces the frame with the piece that lacked holds all of it, the others nothing.
/// Without, the first piece holds what there is. `passed`: null, or is filled with the headers on the way.
void open_frame(const Frame& frame, Opened& out, Fragments* fragments = nullptr,
                PassedLayers* passed = nullptr) noexcept;

}  // namespace rpcrdma::trace
