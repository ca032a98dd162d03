// SPDX-License-Identifier: GPL-2.0-or-later
#include "streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "../told.hpp"
#include "wire/crc32c.hpp"
#include "wire/private_data.hpp"

namespace rpcrdma::iwarp_test {
namespace {

void put16(Octets& out, std::uint32_t v) {
  out.push_back(static_cast<std::uint8_t>(v >> 8U));
  out.push_back(static_cast<std::uint8_t>(v));
}
void put32(Octets& out, std::uint32_t v) {
  put16(out, v >> 16U);
  put16(out, v & 0xFFFFU);
}
void put64(Octets& out, std::uint64_t v) {
  put32(out, static_cast<std::uint32_t>(v >> 32U));
  put32(out, static_cast<std::uint32_t>(v));
}

std::uint32_t digest(wire::Bytes octets) { return wire::crc32c(octets); }

char side_letter(trace::Side side) { return side == trace::Side::active ? 'C' : 'S'; }

std::string endpoint(const trace::Endpoint& e) { return fmt::format("{}:{}", e.address, e.port.value_or(0)); }

std::string depths(const trace::Depths& d) {
  return fmt::format("ird {} ord {}", d.responder_resources ? std::to_string(*d.responder_resources) : "-",
                     d.initiator_depth ? std::to_string(*d.initiator_depth) : "-");
}

std::string area(const trace::PrivateDataArea& a) {
  return fmt::format("private {}/{}{} {:08x}", a.octets.size(), a.wire_length, a.exact_length ? "!" : "",
                     digest(a.octets));
}

}  // namespace

Octets concat(std::initializer_list<Octets> parts) {
  Octets all;
  for (const Octets& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Octets pattern(std::size_t n, unsigned seed) {
  Octets out(n);
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (auto& octet : out) {
    state = state * 1664525U + 1013904223U;
    octet = static_cast<std::uint8_t>(state >> 24U);
  }
  return out;
}

Octets send_ulpdu(std::uint32_t msn, std::uint32_t offset, bool last, const Octets& data, std::uint8_t opcode,
                  std::uint32_t invalidate) {
  Octets out{static_cast<std::uint8_t>(last ? 0x41 : 0x01), static_cast<std::uint8_t>(0x40U | opcode)};
  put32(out, invalidate);
  put32(out, 0);
  put32(out, msn);
  put32(out, offset);
  return concat({out, data});
}

Octets tagged_ulpdu(std::uint8_t opcode, std::uint32_t stag, std::uint64_t offset, bool last, const Octets& data) {
  Octets out{static_cast<std::uint8_t>(last ? 0xC1 : 0x81), static_cast<std::uint8_t>(0x40U | opcode)};
  put32(out, stag);
  put64(out, offset);
  return concat({out, data});
}

Octets read_request_ulpdu(std::uint32_t msn, std::uint32_t sink, std::uint64_t sink_offset, std::uint32_t size,
                          std::uint32_t source, std::uint64_t source_offset) {
  Octets out{0x41, 0x41};
  put32(out, 0);
  put32(out, 1);
  put32(out, msn);
  put32(out, 0);
  put32(out, sink);
  put64(out, sink_offset);
  put32(out, size);
  put32(out, source);
  put64(out, source_offset);
  return out;
}

Octets terminate_ulpdu(const Octets& payload) {
  Octets out{0x41, 0x47};
  put32(out, 0);
  put32(out, 2);
  put32(out, 1);
  put32(out, 0);
  return concat({out, payload});
}

Octets rpc_call(std::uint32_t xid, std::uint32_t program) {
  Octets out;
  for (const std::uint32_t v : {xid, 1U, 32U, 0U, 0U, 0U, 0U}) put32(out, v);                  // RDMA_MSG, no chunks
  for (const std::uint32_t v : {xid, 0U, 2U, program, 3U, 0U, 0U, 0U, 0U, 0U}) put32(out, v);  // CALL, AUTH_NONE
  return out;
}

Octets rpc_reply(std::uint32_t xid) {
  Octets out;
  for (const std::uint32_t v : {xid, 1U, 32U, 0U, 0U, 0U, 0U}) put32(out, v);
  for (const std::uint32_t v : {xid, 1U, 0U, 0U, 0U, 0U}) put32(out, v);
  return out;
}

Octets rpc_offer(std::uint32_t xid, std::uint32_t handle, std::uint32_t length) {
  Octets out;
  for (const std::uint32_t word : {xid, 1U, 32U, 1U, 1U, 0U, handle, length, 0U, 0U, 0U, 0U, 0U}) put32(out, word);
  return out;
}

Octets mpa_frame(bool request, std::uint8_t flags, std::uint8_t revision, const Octets& private_data) {
  const std::string key = request ? "MPA ID Req Frame" : "MPA ID Rep Frame";
  Octets out(key.begin(), key.end());
  out.push_back(flags);
  out.push_back(revision);
  put16(out, static_cast<std::uint32_t>(private_data.size()));
  return concat({out, private_data});
}

Octets Direction::raw(const Octets& octets) {
  position_ += octets.size();
  base_ = position_;
  return octets;
}

void Direction::put(Octets& out, const Octets& octets, bool covered) {
  for (const std::uint8_t octet : octets) {
    if (markers && (position_ - base_) % 512 == 0) {
      Octets marker;
      put32(marker, static_cast<std::uint32_t>(position_ - fpdu_start_));
      out.insert(out.end(), marker.begin(), marker.end());
      if (covered) covered_.insert(covered_.end(), marker.begin(), marker.end());
      position_ += 4;
    }
    out.push_back(octet);
    if (covered) covered_.push_back(octet);
    ++position_;
  }
}

Octets Direction::fpdu(const Octets& ulpdu) {
  Octets content;
  put16(content, static_cast<std::uint32_t>(ulpdu.size()));
  content.insert(content.end(), ulpdu.begin(), ulpdu.end());
  while (content.size() % 4 != 0) content.push_back(0);
  covered_.clear();
  fpdu_start_ = position_;
  Octets out;
  put(out, content, true);
  const std::uint32_t value = crc ? wire::crc32c(covered_) : 0;
  put(out,
      {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8U),
       static_cast<std::uint8_t>(value >> 16U), static_cast<std::uint8_t>(value >> 24U)},
      false);
  return out;
}

Story full_story(const StoryOptions& options) {
  Direction client;
  Direction server;
  client.crc = server.crc = options.crc;
  const Octets word = options.revision == 2 ? Octets{0x00, 0x10, 0x00, 0x08} : Octets{};
  const auto base = static_cast<std::uint8_t>((options.crc ? 0x40U : 0U) | (options.revision == 2 ? 0x10U : 0U));
  Story story;
  auto c = [&](const Octets& octets) { story.push_back({true, octets}); };
  auto s = [&](const Octets& octets) { story.push_back({false, octets}); };
  if (options.handshake) {
    const auto request_flags = static_cast<std::uint8_t>(base | (options.server_markers ? 0x80U : 0U));
    const auto reply_flags = static_cast<std::uint8_t>(base | (options.client_markers ? 0x80U : 0U));
    c(client.raw(
        mpa_frame(true, request_flags, options.revision, concat({word, {0xF6, 0xAB, 0x0E, 0x18, 1, 1, 3, 3}}))));
    s(server.raw(
        mpa_frame(false, reply_flags, options.revision, concat({word, {0xF6, 0xAB, 0x0E, 0x18, 1, 0, 3, 3}}))));
  }
  client.markers = options.client_markers;
  server.markers = options.server_markers;
  c(client.fpdu(send_ulpdu(1, 0, true, rpc_call(0x1001))));
  s(server.fpdu(tagged_ulpdu(0, 0xAAAA0001, 0x10000, false, pattern(700, 1))));
  s(server.fpdu(tagged_ulpdu(0, 0xAAAA0001, 0x10000 + 700, true, pattern(333, 2))));
  s(server.fpdu(send_ulpdu(1, 0, true, rpc_reply(0x1001), 4, 0xAAAA0001)));
  // A Call in three segments, a Read of what it names, a reply.
  const Octets call = concat({rpc_call(0x1002), pattern(1200, 3)});
  c(client.fpdu(send_ulpdu(2, 0, false, Octets(call.begin(), call.begin() + 500))));
  c(client.fpdu(send_ulpdu(2, 500, false, Octets(call.begin() + 500, call.begin() + 1000))));
  c(client.fpdu(send_ulpdu(2, 1000, true, Octets(call.begin() + 1000, call.end()))));
  s(server.fpdu(read_request_ulpdu(1, 0x5151, 0x7000, 1501, 0xBBBB0002, 0x20000)));
  s(server.fpdu(read_request_ulpdu(2, 0x5151, 0x9000, 64, 0xBBBB0003, 0x30000)));
  c(client.fpdu(tagged_ulpdu(2, 0x5151, 0x7000, false, pattern(1000, 4))));
  c(client.fpdu(tagged_ulpdu(2, 0x5151, 0x7000 + 1000, true, pattern(501, 5))));
  c(client.fpdu(tagged_ulpdu(2, 0x5151, 0x9000, true, pattern(64, 6))));
  s(server.fpdu(send_ulpdu(2, 0, true, rpc_reply(0x1002), 5)));
  // Several FPDUs of several kinds in one segment.
  c(concat(
      {client.fpdu(send_ulpdu(3, 0, true, rpc_call(0x1003))), client.fpdu(send_ulpdu(4, 0, true, rpc_call(0x1004)))}));
  s(concat({server.fpdu(tagged_ulpdu(0, 0xAAAA0005, 0x40000, true, pattern(31, 7))),
            server.fpdu(send_ulpdu(3, 0, true, rpc_reply(0x1003), 6, 0xAAAA0005)),
            server.fpdu(send_ulpdu(4, 0, true, rpc_reply(0x1004)))}));
  c(client.fpdu(send_ulpdu(5, 0, true, rpc_call(0x1005))));
  s(server.fpdu(send_ulpdu(5, 0, true, rpc_reply(0x1005))));
  story.push_back({true, {}, 0x11});
  story.push_back({false, {}, 0x11});
  story.push_back({true, {}, 0x10});
  return story;
}

std::vector<Segment> segments_of(const Story& story, const TcpOptions& options) {
  std::vector<Segment> out;
  std::uint32_t next[2] = {options.client_isn + 1, options.server_isn + 1};
  auto add = [&](bool client, std::uint8_t flags, const Octets& octets, std::size_t chunk) {
    Segment segment;
    segment.client = client;
    segment.flags = flags;
    segment.sequence = next[client ? 0 : 1];
    segment.acknowledgement = next[client ? 1 : 0];
    segment.octets = octets;
    segment.wire_length = static_cast<std::uint32_t>(octets.size());
    segment.chunk = chunk;
    next[client ? 0 : 1] += segment.wire_length + ((flags & 0x01U) != 0 ? 1U : 0U);
    out.push_back(segment);
  };
  if (options.syn) {
    for (const bool client : {true, false}) {
      add(client, client ? 0x02 : 0x12, {}, 0);
      --out.back().sequence;
      if (client) out.back().acknowledgement = 0;
    }
    add(true, 0x10, {}, 0);
  }
  for (std::size_t i = 0; i < story.size(); ++i) add(story[i].client, story[i].flags, story[i].octets, i);
  return out;
}

std::vector<Segment> cut_at(const std::vector<Segment>& whole, std::size_t index, std::size_t at) {
  std::vector<Segment> out(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(index));
  Segment front = whole[index];
  Segment back = whole[index];
  front.octets.resize(at);
  front.wire_length = static_cast<std::uint32_t>(at);
  front.flags &= static_cast<std::uint8_t>(~1U);
  back.octets.erase(back.octets.begin(), back.octets.begin() + static_cast<std::ptrdiff_t>(at));
  back.wire_length -= front.wire_length;
  back.sequence += front.wire_length;
  out.push_back(front);
  out.push_back(back);
  out.insert(out.end(), whole.begin() + static_cast<std::ptrdiff_t>(index) + 1, whole.end());
  return out;
}

std::vector<Segment> cut_into(const std::vector<Segment>& whole, std::size_t size) {
  std::vector<Segment> out;
  for (const Segment& segment : whole) {
    Segment rest = segment;
    while (rest.octets.size() > size) {
      const auto two = cut_at({rest}, 0, size);
      out.push_back(two[0]);
      rest = two[1];
    }
    out.push_back(rest);
  }
  return out;
}

std::vector<Segment> joined(const std::vector<Segment>& whole, std::size_t limit) {
  std::vector<Segment> out;
  for (const Segment& segment : whole) {
    if (!out.empty() && out.back().client == segment.client && out.back().flags == 0x10 && segment.flags == 0x10 &&
        !out.back().octets.empty() && out.back().octets.size() + segment.octets.size() <= limit &&
        out.back().sequence + out.back().wire_length == segment.sequence) {
      out.back().octets.insert(out.back().octets.end(), segment.octets.begin(), segment.octets.end());
      out.back().wire_length += segment.wire_length;
      continue;
    }
    out.push_back(segment);
  }
  return out;
}

std::vector<Segment> snapped(std::vector<Segment> segments, std::size_t snap) {
  for (Segment& segment : segments) segment.octets.resize(std::min(segment.octets.size(), snap));
  return segments;
}

std::string without_numbers(const std::string& line) {
  std::string out;
  bool skip = false;
  std::size_t word = 0;
  for (std::size_t i = 0; i <= line.size();) {
    const std::size_t end = std::min(line.find(' ', i), line.size());
    const std::string w = line.substr(i, end - i);
    const bool number_follows = w == "op" || w == "at";
    if (!skip && !number_follows && w[0] != '#') out += w + " ";
    skip = number_follows;
    i = end + 1;
    ++word;
  }
  return out;
}

std::vector<std::string> operations_without_numbers(const Recorder& recorder) {
  std::vector<std::string> out;
  for (const std::string& line : recorder.only(operations)) out.push_back(without_numbers(line));
  return out;
}

void Recorder::add(const trace::EventBase& event, std::string line) {
  lines.push_back(std::move(line));
  frames.push_back(std::to_string(event.frame.number));
}

std::vector<std::string> Recorder::only(const std::vector<std::string>& kinds) const {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (std::any_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return line.rfind(k, 0) == 0; })) {
      out.push_back(line);
    }
  }
  return out;
}

std::vector<std::string> Recorder::without(const std::vector<std::string>& kinds) const {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (std::none_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return line.rfind(k, 0) == 0; })) {
      out.push_back(line);
    }
  }
  return out;
}

std::size_t Recorder::count(const std::string& kind) const { return only({kind}).size(); }

std::string Recorder::text() const {
  return std::accumulate(lines.begin(), lines.end(), std::string{},
                         [](std::string all, const std::string& line) { return std::move(all) + line + "\n"; });
}

void Recorder::on(const trace::TcpAttempt& e) { attempts.push_back(test::told(e)); }
void Recorder::on(const trace::Liveness& e) {
  told_before.push_back(lines.size());
  liveness.push_back(test::told(e));
}
void Recorder::on(const trace::NfsOverTcp& e) { nfs_over_tcp.push_back(e); }
void Recorder::on(const trace::ConnectRequest& e) {
  opened.push_back(e.opened.number);
  add(e, fmt::format("Request {} -> {} rev {} flags {:02x} {} {}", endpoint(e.client), endpoint(e.server),
                     e.mpa_revision, e.mpa_flags, depths(e.depths), area(e.private_data)));
}
void Recorder::on(const trace::ConnectReply& e) {
  add(e, fmt::format("Accept rev {} flags {:02x} {} {}", e.mpa_revision, e.mpa_flags, depths(e.depths),
                     area(e.private_data)));
}
void Recorder::on(const trace::ConnectReject& e) { add(e, fmt::format("Reject {}", area(e.private_data))); }
void Recorder::on(const trace::ConnectReady& e) { add(e, fmt::format("Ready {}", side_letter(e.side))); }
void Recorder::on(const trace::Adopted& e) {
  static constexpr const char* roles[] = {"handshake", "port", "traffic", "unknown"};
  add(e, fmt::format("Adopted {} -> {} by {}{}", endpoint(e.client), endpoint(e.server),
                     roles[static_cast<int>(e.roles_from)], e.one_way ? " one way" : ""));
}
void Recorder::on(const trace::Disconnect& e) {
  static constexpr const char* how[] = {"request", "reply", "fin", "reset", "superseded", "unseen"};
  add(e, fmt::format("Disconnect {} {}", side_letter(e.side), how[static_cast<int>(e.how)]));
}
void Recorder::on(const trace::Send& e) {
  add(e, fmt::format("Send {} #{} at {} {} octets {:08x}{}{}{}", side_letter(e.side), e.ordinal, e.sequence,
                     e.wire_length, digest(e.octets),
                     e.octets.size() == e.wire_length ? "" : fmt::format(" captured {}", e.octets.size()),
                     e.holes ? " holes" : "", e.invalidated ? fmt::format(" invalidates {:x}", *e.invalidated) : ""));
  if (e.last.number != e.frame.number) frames.back() = fmt::format("{}-{}", e.frame.number, e.last.number);
  sends.push_back({e.side, e.wire_length, Octets(e.octets.begin(), e.octets.end()), e.holes, e.ordinal});
}
void Recorder::on(const trace::Write& e) {
  add(e, fmt::format("Write {} op {} at {} {:x}+{:x} {} octets {:08x}{}{}{}", side_letter(e.side), e.op, e.sequence,
                     e.handle, e.offset, e.length, digest(e.octets),
                     e.octets.size() == e.length ? "" : fmt::format(" captured {}", e.octets.size()),
                     e.first ? " first" : "", e.last ? " last" : ""));
}
void Recorder::on(const trace::ReadRequest& e) {
  add(e, fmt::format("Read {} op {} at {} {:x}+{:x} {} octets", side_letter(e.side), e.op, e.sequence, e.handle,
                     e.offset, e.length));
}
void Recorder::on(const trace::ReadResponse& e) {
  add(e, fmt::format("Response {} op {} {:x}+{:x} {} octets {:08x}{}{}", side_letter(e.side), e.op, e.handle, e.offset,
                     e.length, digest(e.octets),
                     e.octets.size() == e.length ? "" : fmt::format(" captured {}", e.octets.size()),
                     e.last ? " last" : ""));
}
void Recorder::on(const trace::Refusal& e) {
  static constexpr const char* refused[] = {"unknown", "send", "write", "read", "nothing"};
  add(e, fmt::format("Refusal {} {}/{}/{} of {} frame {} op {} length {}{}", side_letter(e.side), e.layer, e.etype,
                     e.ecode, refused[static_cast<int>(e.refused)], e.refused_frame.number, e.refused_op,
                     e.refused_length, e.truncated ? " truncated" : ""));
  refusals.push_back(e);
}
void Recorder::on(const trace::Acknowledged& e) {
  add(e, fmt::format("Acknowledged {} {}", side_letter(e.side), e.ordinal));
}
void Recorder::on(const trace::Gap& e) {
  constexpr std::array<std::string_view, 3> kinds{"", " headless", " unaligned"};
  add(e, fmt::format("Gap {} {}{}{}", side_letter(e.side), e.count, e.proven ? " proven" : "",
                     kinds.at(static_cast<std::size_t>(e.kind))));
  gap_octets += e.count;
}
void Recorder::on(const trace::Repeated& e) {
  add(e, fmt::format("Repeated {} {}{}", side_letter(e.side),
                     e.kind == trace::Repeated::Kind::capture_duplicate ? "duplicate" : "retransmission",
                     e.rest ? " of the rest" : ""));
}
void Recorder::on(const trace::Quality& e) {
  static constexpr const char* kinds[] = {"frame_truncated", "checksum_bad", "reordered", "late",          "shuffled",
                                          "time_backwards",  "input_lost",   "immediate", "limit_reached", "mpa_bad",
                                          "mpa_cut",         "resent",       "unplaced"};
  add(e, fmt::format("Quality {} {}", side_letter(e.side), kinds[static_cast<int>(e.kind)]));
}

Recorder run(const std::vector<Segment>& segments, const RunOptions& options) {
  Recorder recorder;
  trace::Options settings;
  settings.service_ports = options.service_ports;
  settings.check_crc = options.check_crc;
  trace::ConnectionNumbers numbers;
  trace::IwarpTransport transport(settings, numbers, recorder);
  trace::FrameRef ref{0, 1'700'000'000'000'000'000};
  for (const Segment& segment : segments) {
    ++ref.number;
    ref.time += segment.step;
    trace::TcpSegment s;
    s.ref = ref;
    for (trace::Address* a : {&s.source, &s.destination}) {
      a->kind = trace::Address::Kind::ipv4;
      a->octets = {192, 0, 2, 0};
    }
    s.source.octets[3] = segment.client ? 2 : 1;
    s.destination.octets[3] = segment.client ? 1 : 2;
    s.source_port = segment.client ? options.client_port : options.server_port;
    s.destination_port = segment.client ? options.server_port : options.client_port;
    s.sequence = segment.sequence;
    s.acknowledgement = segment.acknowledgement;
    s.flags = segment.flags;
    s.window = segment.window;
    s.payload = segment.octets;
    s.wire_length = segment.wire_length;
    (void)transport.segment(s);
  }
  transport.finish(ref);
  return recorder;
}

}  // namespace rpcrdma::iwarp_test
