// SPDX-License-Identifier: GPL-2.0-or-later
// multiply many|long|mixed FRAMES IN OUT: a large capture out of a small real one.
//
// many  the whole conversation again and again, eight at a time, each with addresses, QPNs, communication IDs, XIDs,
//       PSNs, TCP ports and TCP sequence numbers of its own (RoCEv2, iWARP)
// mixed as many, and nine frames of other TCP traffic on twenty connections to each of its frames
// long  one conversation whose middle is repeated: PSNs, message counts and XIDs go on, everything else stays (RoCEv2)
#include <charconv>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "traffic.hpp"

namespace {

using bench::Frame;
using bench::Shift;
using bench::Traffic;
using bench::Writer;

constexpr std::uint32_t at_once = 8;

Shift fresh(const Traffic& traffic, std::uint32_t number) {
  Shift shift;
  shift.network = number;
  shift.queue_pair = number * 0x20;
  shift.communication_id = number * 0x1010101;
  shift.xid = number * traffic.xid_span();
  shift.port = static_cast<std::uint16_t>(number * 7);
  for (const Frame& frame : traffic.frames()) {
    if (frame.octets.size() < 34) continue;
    for (const std::size_t at : {26U, 30U}) {
      std::uint32_t address = 0;
      for (std::size_t i = 0; i < 4; ++i) address = address << 8U | frame.octets[at + i];
      shift.psn.try_emplace(address, number * 0x3579bU);
      shift.tcp.try_emplace(address, number * 0x9e3779b1U);
    }
  }
  return shift;
}

/// Downloads over HTTPS: two full segments, then the acknowledgement of both.
class OtherTraffic {
 public:
  void write(std::int64_t time, Writer& out) {
    constexpr std::uint32_t connections = 20;
    const std::uint32_t connection = next_++ % connections;
    std::uint32_t& sent = sent_[connection];
    for (int segment = 0; segment < 2; ++segment, sent += payload) {
      out.write(time, frame(connection, true, sent, 1, payload));
    }
    out.write(time, frame(connection, false, 1, sent, 0));
  }

 private:
  static constexpr std::uint16_t payload = 1448;

  [[nodiscard]] static std::vector<std::uint8_t> frame(std::uint32_t connection, bool from_server,
                                                       std::uint32_t sequence, std::uint32_t acknowledged,
                                                       std::uint16_t octets) {
    std::vector<std::uint8_t> out = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    const auto put = [&](std::uint32_t value, unsigned count) {
      while (count-- != 0) out.push_back(static_cast<std::uint8_t>(value >> 8U * count));
    };
    constexpr std::uint32_t server = 0xc0000201;  // 192.0.2.1
    const std::uint32_t client = 0xc6336400 + connection;
    const std::uint16_t port = static_cast<std::uint16_t>(50000 + connection);
    put(0x45000000U | (40U + octets), 4);
    put(0x00004000, 4);
    put(0x40060000, 4);
    put(from_server ? server : client, 4);
    put(from_server ? client : server, 4);
    put(from_server ? 443 : port, 2);
    put(from_server ? port : 443, 2);
    put(sequence, 4);
    put(acknowledged, 4);
    put(0x50108000, 4);
    put(0, 4);
    for (std::uint32_t i = 0; i < octets; ++i)
      out.push_back(static_cast<std::uint8_t>((sequence + i) * 0x9e3779b1U >> 24U));
    return out;
  }

  std::uint32_t next_ = 0;
  std::map<std::uint32_t, std::uint32_t> sent_;
};

void write_many(const Traffic& traffic, std::uint64_t wanted, bool mixed, Writer& out) {
  OtherTraffic other;
  std::vector<std::uint8_t> octets;
  const std::int64_t length = traffic.frames().back().time - traffic.frames().front().time + 1'000'000;
  std::int64_t later = 0;
  for (std::uint32_t number = 1; out.frames() < wanted; number += at_once, later += length) {
    std::vector<Shift> shifts;
    for (std::uint32_t i = 0; i < at_once; ++i) shifts.push_back(fresh(traffic, number + i));
    for (const Frame& frame : traffic.frames()) {
      for (std::uint32_t i = 0; i < at_once; ++i) {
        traffic.copy(frame, shifts[i], octets);
        out.write(frame.time + later + std::int64_t{i} * 100, octets);
        for (int three = 0; mixed && three < 3; ++three) other.write(frame.time + later + std::int64_t{i} * 100, out);
      }
    }
  }
}

bool write_long(const Traffic& traffic, std::uint64_t wanted, Writer& out) {
  const std::size_t first = traffic.steady_first();
  const std::size_t last = traffic.steady_last();
  if (first == last) return false;
  const std::span<const Frame> frames(traffic.frames());
  std::vector<std::uint8_t> octets;
  Shift shift;
  std::int64_t later = 0;
  const std::int64_t length = frames[last - 1].time - frames[first].time + 1'000'000;
  auto write = [&](std::span<const Frame> part) {
    for (const Frame& frame : part) {
      traffic.copy(frame, shift, octets);
      out.write(frame.time + later, octets);
    }
  };
  write(frames.first(first));
  while (true) {
    write(frames.subspan(first, last - first));
    if (out.frames() >= wanted) break;
    for (const auto& [address, span] : traffic.psn_span()) shift.psn[address] += span;
    for (const auto& [address, span] : traffic.msn_span()) shift.msn[address] += span;
    shift.xid += traffic.xid_span();
    later += length;
  }
  write(frames.subspan(last));
  return true;
}

int run(std::span<char*> arguments) {
  const std::string_view mode = arguments.size() == 5 ? arguments[1] : "";
  std::uint64_t wanted = 0;
  if (mode == "many" || mode == "long" || mode == "mixed") {
    const std::string_view number = arguments[2];
    std::from_chars(number.data(), number.data() + number.size(), wanted);
  }
  if (wanted == 0) {
    std::fputs("usage: multiply many|long|mixed FRAMES IN OUT\n", stderr);
    return 2;
  }
  const Traffic traffic(bench::read_capture(arguments[3]));
  Writer out(arguments[4]);
  if (mode != "long") {
    write_many(traffic, wanted, mode == "mixed", out);
  } else if (!write_long(traffic, wanted, out)) {
    std::fputs("multiply: no steady part between a handshake and a disconnect in this capture\n", stderr);
    return 2;
  }
  out.close();
  std::printf("%llu frames\n", static_cast<unsigned long long>(out.frames()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::span(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "multiply: %s\n", error.what());
    return 2;
  }
}
