// SPDX-License-Identifier: GPL-2.0-or-later
// Messages and operations of one exchange, as the referee would tell of them.
#pragma once

#include <string_view>
#include <vector>

#include "payload/assembler.hpp"

namespace rpcrdma::payload::test {

using Octets = std::vector<std::uint8_t>;
using referee::MessageSeen;
using referee::OperationSeen;

inline void word(Octets& to, std::uint32_t v) {
  for (unsigned shift = 32; shift > 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(v >> (shift - 8)));
}

/// A message with everything that it points to.
struct Sent {
  trace::Send send;
  wire::HeaderV1 header;
  Octets octets;
  MessageSeen seen;

  /// `body`: behind the header.
  Sent(MessageSeen::Kind kind, std::uint32_t exchange, wire::Proc proc, const Octets& body,
       std::size_t not_captured = 0)
      : octets(28, 0xEE) {
    header.fixed = {0x1000 + exchange, 1, 32, static_cast<std::uint32_t>(proc)};
    header.length = 28;
    octets.insert(octets.end(), body.begin(), body.end());
    send.wire_length = static_cast<std::uint32_t>(octets.size());
    octets.resize(octets.size() - not_captured);
    seen.kind = kind;
    seen.exchange = {exchange, 0x1000 + exchange, trace::Side::active};
  }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;
  Sent& read(std::uint32_t position, wire::Segment target) {
    header.reads.push_back({position, target});
    return *this;
  }
  Sent& write(wire::WriteChunk chunk) {
    header.writes.push_back(std::move(chunk));
    return *this;
  }
  Sent& reply(wire::WriteChunk chunk) {
    header.reply = std::move(chunk);
    return *this;
  }
  Sent& asked(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
    seen.procedure = std::tuple(program, version, procedure);
    return *this;
  }
  const MessageSeen& operator()() {
    send.octets = octets;
    seen.send = &send;
    seen.header = &header;
    return seen;
  }
};

/// `octets` must live as long as the result.
[[nodiscard]] inline OperationSeen moved(OperationSeen::Kind kind, std::uint32_t exchange, wire::Segment where,
                                         const Octets& octets) {
  OperationSeen seen;
  seen.kind = kind;
  seen.handle = where.handle;
  seen.offset = where.offset;
  seen.length = where.length;
  seen.octets = octets;
  seen.exchange = {exchange, 0x1000 + exchange, trace::Side::active};
  return seen;
}

/// Octets that count.
[[nodiscard]] inline Octets counting(std::size_t length, std::uint8_t from = 1) {
  Octets octets(length);
  for (std::size_t i = 0; i < length; ++i) octets[i] = static_cast<std::uint8_t>(from + i);
  return octets;
}

[[nodiscard]] inline Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace rpcrdma::payload::test
