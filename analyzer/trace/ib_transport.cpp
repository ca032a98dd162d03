// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib_transport.hpp"

#include "trace/ib/flows.hpp"
#include "trace/ib/handshakes.hpp"
#include "wire/cm.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::trace {

struct IbTransport::Impl {
  Impl(const Options& options, ConnectionNumbers& numbers, EventSink& sink)
      : sink(sink), flows(options, numbers, sink), handshakes(flows, numbers, sink) {}

  void packet(const IbPacket& p) {
    // What cannot be decoded (cut inside its headers, another service) belongs to no connection.
    const auto header = wire::decode_ib(p.octets, p.wire_length);
    if (!header && header.error().fault == wire::Fault::truncated) {
      Quality unplaced;
      unplaced.frame = p.ref;
      unplaced.kind = Quality::Kind::unplaced;
      sink.on(unplaced);
    }
    if (header && header->opcode == wire::congestion_notification) flows.notified(p, *header);
    if (!header || header->op.kind == wire::IbKind::other) return;
    if (header->op.service == wire::IbService::rc) {
      flows.packet(p, *header);
    } else if (header->destination_qp == wire::cm_queue_pair) {
      if (const auto message = wire::decode_cm(header->payload, header->payload_length))
        handshakes.message(p, *message);
    }
  }

  void copy(const IbPacket& p) {
    const auto header = wire::decode_ib(p.octets, p.wire_length);
    if (header && header->op.service == wire::IbService::rc) flows.copy(p, *header);
  }

  EventSink& sink;
  ib::Flows flows;
  ib::Handshakes handshakes;
};

IbTransport::IbTransport(const Options& options, ConnectionNumbers& numbers, EventSink& sink)
    : impl_(std::make_unique<Impl>(options, numbers, sink)) {}
IbTransport::~IbTransport() = default;

void IbTransport::packet(const IbPacket& packet) { impl_->packet(packet); }
void IbTransport::copy(const IbPacket& packet) { impl_->copy(packet); }
void IbTransport::undelivered(const Undelivered& request) { impl_->handshakes.undelivered(request); }
void IbTransport::time_passed(FrameRef frame) { impl_->flows.time_passed(frame); }
void IbTransport::finish(FrameRef last) { impl_->flows.finish(last); }

}  // namespace rpcrdma::trace
