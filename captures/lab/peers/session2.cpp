// SPDX-License-Identifier: GPL-2.0-or-later
#include "session2.hpp"

#include <algorithm>

namespace lab {

namespace {

constexpr std::size_t kPrefix = 16;
constexpr std::uint32_t kSendSize = 1, kReceiveSize = 2, kSegmentSize = 3, kSegmentCount = 4, kNobodyKnows = 0x4c4142;

void property(Writer& out, std::uint32_t which, std::uint32_t value) { out.u32(which).u32(4).u32(value); }

}  // namespace

const char* name_of(std::uint32_t type) {
  switch (static_cast<Type2>(type)) {
    case Type2::error:
      return "ERROR";
    case Type2::grant:
      return "GRANT";
    case Type2::connprop_middle:
      return "CONNPROP_MIDDLE";
    case Type2::connprop_final:
      return "CONNPROP_FINAL";
    case Type2::call_external:
      return "CALL_EXTERNAL";
    case Type2::call_middle:
      return "CALL_MIDDLE";
    case Type2::call_inline:
      return "CALL_INLINE";
    case Type2::reply_external:
      return "REPLY_EXTERNAL";
    case Type2::reply_middle:
      return "REPLY_MIDDLE";
    case Type2::reply_inline:
      return "REPLY_INLINE";
  }
  return "an unknown header type";
}

bool Session2::send(Type2 type, std::uint32_t xid, const Octets& body, std::optional<std::uint32_t> invalidate) {
  // The counters wrap: only their distance counts.
  while (type != Type2::grant && static_cast<std::int32_t>(limit_ - (sent_ + 1)) < 0) {
    say("waiting for credits: " + std::to_string(sent_) + " sent, " + std::to_string(limit_) + " admitted");
    auto message = take();
    if (!message) return false;
    if (message->type != static_cast<std::uint32_t>(Type2::grant)) early_.push_back(std::move(*message));
  }
  told_ = received_ + advertised_;
  const Octets octets = Writer().u32(xid).u32(2).u32(told_).u32(static_cast<std::uint32_t>(type)).raw(body).octets();
  ++sent_;
  say(std::string("sending ") + name_of(static_cast<std::uint32_t>(type)) + " " + hex(xid) + ", " +
      std::to_string(octets.size()) + " octets, message " + std::to_string(sent_) + ", admitting " +
      std::to_string(told_) + (invalidate ? ", invalidating " + hex(*invalidate) : ""));
  return end_.send(octets, invalidate);
}

std::optional<Message2> Session2::receive() {
  if (!early_.empty()) {
    Message2 message = std::move(early_.front());
    early_.pop_front();
    return message;
  }
  return take();
}

std::optional<Message2> Session2::take() {
  const auto octets = end_.receive();
  if (!octets) return {};
  Reader in(*octets);
  Message2 message;
  message.xid = in.u32();
  message.version = in.u32();
  message.credit = in.u32();
  message.type = in.u32();
  message.body = in.rest();
  ++received_;
  if (message.version == 2) limit_ = message.credit;
  say(std::string("received ") + name_of(message.type) + " " + hex(message.xid) + ", version " +
      std::to_string(message.version) + ", " + std::to_string(octets->size()) + " octets, message " +
      std::to_string(received_));
  // More is to come of this message and nothing will be sent before: without a GRANT the peer might have to stop.
  const auto type = static_cast<Type2>(message.type);
  const bool more = type == Type2::call_middle || type == Type2::reply_middle || type == Type2::connprop_middle;
  if (more && told_ - received_ <= advertised_ / 2) send(Type2::grant, 0, {});
  return message;
}

void Session2::tell_properties() {
  if (told_properties_) return;
  told_properties_ = true;
  Writer out;
  out.u32(5);
  property(out, kSendSize, own_.send_size);
  property(out, kReceiveSize, own_.receive_size);
  property(out, kSegmentSize, 1U << 20);
  property(out, kSegmentCount, 16);
  out.u32(kNobodyKnows).opaque("lab");  // 5.1: to be passed over in silence
  send(Type2::connprop_final, 0, out.octets());
}

void Session2::learn_properties(const Message2& message) {
  Reader in(message.body);
  Properties peer;
  for (std::uint32_t left = in.u32(); left > 0; --left) {
    const std::uint32_t which = in.u32();
    const Octets value = in.opaque();
    if (which == kSendSize) peer.send_size = Reader(value).u32();
    if (which == kReceiveSize) peer.receive_size = Reader(value).u32();
  }
  peer_ = peer;
  say("the peer sends up to " + std::to_string(peer.send_size) + " and receives up to " +
      std::to_string(peer.receive_size));
}

std::size_t Session2::threshold() const {
  if (!peer_ || !told_properties_) return 4096;
  return std::min(own_.send_size, peer_->receive_size);
}

Octets Session2::send_middles(Type2 middle, std::uint32_t xid, Octets payload, std::size_t last_header) {
  while (kPrefix + last_header + payload.size() > threshold()) {
    const std::size_t piece = std::min(payload.size() - 4, threshold() - kPrefix - 4);
    const auto end = payload.begin() + static_cast<std::ptrdiff_t>(piece);
    // rdma_remaining: what follows this message.
    const auto remaining = static_cast<std::uint32_t>(payload.size() - piece);
    if (!send(middle, xid, Writer().u32(remaining).raw(Octets(payload.begin(), end)).octets())) return {};
    payload.erase(payload.begin(), end);
  }
  return payload;
}

}  // namespace lab
