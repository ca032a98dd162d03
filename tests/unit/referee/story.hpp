// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the referee a story in RDMA events, without any capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "referee/referee.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee::story {

using trace::Side;
using Octets = std::vector<std::uint8_t>;

inline void put32(Octets& to, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(static_cast<std::uint8_t>(v >> static_cast<unsigned>(shift)));
}
inline void put64(Octets& to, std::uint64_t v) {
  put32(to, static_cast<std::uint32_t>(v >> 32U));
  put32(to, static_cast<std::uint32_t>(v));
}

struct Chunks {
  std::vector<wire::ReadSegment> reads;
  std::vector<wire::WriteChunk> writes;
  std::optional<wire::WriteChunk> reply;
};

inline Octets header(std::uint32_t xid, std::uint32_t credit, std::uint32_t proc, const Chunks& chunks,
                     std::uint32_t version = 1) {
  Octets o;
  put32(o, xid);
  put32(o, version);
  put32(o, credit);
  put32(o, proc);
  const auto segment = [&](const wire::Segment& s) {
    put32(o, s.handle);
    put32(o, s.length);
    put64(o, s.offset);
  };
  for (const auto& read : chunks.reads) {
    put32(o, 1);
    put32(o, read.position);
    segment(read.target);
  }
  put32(o, 0);
  for (const auto& chunk : chunks.writes) {
    put32(o, 1);
    put32(o, static_cast<std::uint32_t>(chunk.size()));
    for (const auto& s : chunk) segment(s);
  }
  put32(o, 0);
  put32(o, chunks.reply ? 1 : 0);
  if (chunks.reply) {
    put32(o, static_cast<std::uint32_t>(chunks.reply->size()));
    for (const auto& s : *chunks.reply) segment(s);
  }
  return o;
}

inline Octets words(std::initializer_list<std::uint32_t> list) {
  Octets o;
  for (const std::uint32_t word : list) story::put32(o, word);
  return o;
}
inline Octets rpc_call(std::uint32_t xid, std::size_t size = 40) {
  Octets o;
  // A program without rules of its own for chunks.
  for (const std::uint32_t word : {xid, 0U, 2U, 0x20004E51U, 1U, 1U, 0U, 0U, 0U, 0U}) put32(o, word);
  o.resize(std::max(size, o.size()));
  return o;
}
inline Octets rpc_reply(std::uint32_t xid, std::size_t size = 24) {
  Octets o;
  for (const std::uint32_t word : {xid, 1U, 0U, 0U, 0U, 0U}) put32(o, word);
  o.resize(std::max(size, o.size()));
  return o;
}

inline Octets private_data(std::uint8_t send_code, std::uint8_t receive_code, bool invalidate) {
  return {0xf6, 0xab, 0x0e, 0x18, 1, static_cast<std::uint8_t>(invalidate ? 1 : 0), send_code, receive_code};
}

class Story {
 public:
  explicit Story(Options options = {}, Observer* observer = nullptr) : referee(std::move(options), observer) {}

  Story& request(std::optional<Octets> client = private_data(3, 3, true)) {
    trace::ConnectRequest request;
    base(request, Side::active);
    request.opened = request.frame;
    request.depths = client_depths;
    request.client = {"192.0.2.2", 40000, 17, 0, {}};
    request.server = {"192.0.2.1", 20049, std::nullopt, 0, {}};
    const Octets none(56);
    fill(request.private_data, client ? *client : none);
    referee.on(request);
    return *this;
  }
  Story& connect(std::optional<Octets> client = private_data(3, 3, true),
                 std::optional<Octets> server = private_data(3, 3, true)) {
    request(std::move(client));
    const Octets none(56);
    trace::ConnectReply reply;
    base(reply, Side::passive);
    reply.server = {"192.0.2.1", 20049, 18, 0, {}};
    fill(reply.private_data, server ? *server : none);
    referee.on(reply);
    trace::ConnectReady ready;
    base(ready, Side::active);
    ready.message_seen = true;
    referee.on(ready);
    return *this;
  }
  Story& reject(std::uint16_t reason, Side by = Side::passive) {
    trace::ConnectReject reject;
    base(reject, by);
    reject.reason = reason;
    referee.on(reject);
    return *this;
  }
  Story& adopt() {
    trace::Adopted adopted;
    base(adopted, Side::active);
    adopted.client = {"192.0.2.2", std::nullopt, 17, 0, {}};
    adopted.server = {"192.0.2.1", std::nullopt, 18, 0, {}};
    adopted.roles_from = trace::RolesFrom::traffic;
    referee.on(adopted);
    return *this;
  }
  Story& send(Side side, const Octets& octets, std::optional<std::uint32_t> invalidated = std::nullopt,
              std::uint64_t frame = 0) {
    trace::Send event;
    base(event, side, frame);
    event.octets = octets;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.invalidated = invalidated;
    event.last = event.frame;
    event.ordinal = ++ordinals[static_cast<std::size_t>(side)];
    referee.on(event);
    if (side == Side::active && event.ordinal == 1) acknowledge_first(event);
    return *this;
  }
  /// Of which the capture keeps so many octets.
  Story& cut(Side side, const Octets& octets, std::size_t kept) {
    trace::Send event;
    base(event, side);
    event.octets = wire::Bytes(octets).first(kept);
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.last = event.frame;
    event.ordinal = ++ordinals[static_cast<std::size_t>(side)];
    referee.on(event);
    if (side == Side::active && event.ordinal == 1) acknowledge_first(event);
    return *this;
  }
  /// As the server's adapter does: a capture without any acknowledgement is a story of its own.
  void acknowledge_first(const trace::Send& first) {
    trace::Acknowledged event;
    event.connection = first.connection;
    event.side = trace::other(first.side);
    event.frame = first.frame;
    event.ordinal = first.ordinal;
    referee.on(event);
  }
  Story& message(Side side, std::uint32_t xid, std::uint32_t credit, const Chunks& chunks, Octets rpc,
                 std::optional<std::uint32_t> invalidated = std::nullopt, std::uint64_t frame = 0) {
    Octets octets = header(xid, credit, rpc.empty() ? 1 : 0, chunks);
    octets.insert(octets.end(), rpc.begin(), rpc.end());
    return send(side, octets, invalidated, frame);
  }
  Story& call(std::uint32_t xid, const Chunks& chunks = {}, std::uint32_t credit = 32) {
    return message(Side::active, xid, credit, chunks, rpc_call(xid));
  }
  Story& reply(std::uint32_t xid, const Chunks& chunks = {}, std::uint32_t credit = 32,
               std::optional<std::uint32_t> invalidated = std::nullopt) {
    return message(Side::passive, xid, credit, chunks, rpc_reply(xid), invalidated);
  }
  Story& write(Side side, std::uint32_t handle, std::uint64_t offset, std::uint32_t length) {
    trace::Write event;
    base(event, side);
    event.op = ++op;
    event.handle = handle;
    event.offset = offset;
    event.length = length;
    event.announced = length;
    event.first = event.last = true;
    referee.on(event);
    return *this;
  }
  Story& read(Side side, std::uint32_t handle, std::uint64_t offset, std::uint32_t length, bool answered = true) {
    trace::ReadRequest event;
    base(event, side);
    event.op = ++op;
    event.handle = handle;
    event.offset = offset;
    event.length = length;
    referee.on(event);
    if (answered) answer(trace::other(side), op, handle, offset, length);
    return *this;
  }
  Story& answer(Side owner, std::uint64_t read_op, std::uint32_t handle, std::uint64_t offset, std::uint32_t length,
                std::uint64_t number = 0) {
    trace::ReadResponse event;
    base(event, owner, number);
    event.op = read_op;
    event.handle = handle;
    event.offset = offset;
    event.length = length;
    event.last = true;
    referee.on(event);
    return *this;
  }
  Story& done(Side side, std::uint32_t xid) {
    Octets o;
    for (const std::uint32_t word : {xid, 1U, 32U, 3U}) put32(o, word);
    return send(side, o);
  }
  Story& acknowledge(Side side) {
    trace::Acknowledged event;
    base(event, side);
    event.ordinal = ordinals[1 - static_cast<std::size_t>(side)];
    referee.on(event);
    return *this;
  }
  /// The capture shows that packets stand in it in another order than they were sent.
  Story& disorder(Side side, trace::Quality::Kind kind) {
    trace::Quality event;
    base(event, side);
    event.kind = kind;
    referee.on(event);
    return *this;
  }
  Story& gap(Side side) {
    trace::Gap event;
    base(event, side);
    event.count = 1;
    event.proven = true;
    referee.on(event);
    return *this;
  }
  Story& refuse(Side refuser, trace::Refusal::Kind kind, trace::Refusal::Refused what, std::uint64_t which) {
    trace::Refusal event;
    base(event, refuser);
    event.kind = kind;
    event.refused = what;
    event.refused_op = which;
    referee.on(event);
    return *this;
  }
  Story& close(Side side, trace::Disconnect::How how = trace::Disconnect::How::request) {
    trace::Disconnect event;
    base(event, side);
    event.how = how;
    referee.on(event);
    return *this;
  }
  Story& wait(trace::TimeNs nanoseconds) {
    now += nanoseconds;
    return *this;
  }

  Report end() { return referee.finish({frame + 1, now}); }

  Referee referee;
  std::uint64_t frame = 0;
  trace::TimeNs now = 1'700'000'000'000'000'000;
  std::uint64_t ordinals[2] = {0, 0};
  std::uint64_t op = 0;
  trace::Depths client_depths;  ///< for connect()

 private:
  void base(trace::EventBase& event, Side side, std::uint64_t number = 0) {
    now += 10'000;
    event.connection = 1;
    event.side = side;
    event.frame = {number != 0 ? number : ++frame, now};
  }
  static void fill(trace::PrivateDataArea& area, const Octets& octets) {
    area.octets = octets;
    area.wire_length = static_cast<std::uint32_t>(octets.size());
  }
};

inline std::vector<Finding> found(const Report& report, RuleId id) {
  std::vector<Finding> result;
  for (const Finding& finding : report.findings) {
    if (finding.rule == id) result.push_back(finding);
  }
  return result;
}
inline bool unchecked(const Report& report, RuleId id) {
  return std::any_of(report.unchecked.begin(), report.unchecked.end(),
                     [id](const Unchecked& each) { return each.rule == id; });
}
inline std::size_t above_note(const Report& report) {
  std::size_t n = 0;
  for (const Finding& finding : report.findings) n += finding.severity > Severity::note ? 1U : 0U;
  return n;
}

}  // namespace rpcrdma::referee::story
