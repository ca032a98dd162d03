// SPDX-License-Identifier: GPL-2.0-or-later
// One TCP connection from one input. First octet: 0x01 a service port, 0x02 the SYNs were captured, 0x04 check every
// CRC. Then segments, each with a header of 6 octets:
//   flags (0x01 from the server, 0x02 FIN, 0x04 RST, 0x08 a SYN of a new epoch, 0x10 repeats the octets before its
//   place, 0x20 leaves a hole, 0x40 acknowledges everything, 0x80 skips a second),
//   distance for hole or repetition, 2 octets of captured length, 2 octets that the capture did not keep.
#include <algorithm>
#include <map>

#include "fuzz_input.hpp"
#include "trace/iwarp_transport.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace trace = rpcrdma::trace;

/// What must hold for every sequence of events.
class Judge final : public trace::EventSink {
 public:
  std::uint64_t frames = 0;

  void on(const trace::ConnectRequest& e) override { first(e); }
  void on(const trace::Adopted& e) override { first(e); }
  void on(const trace::ConnectReply& e) override { known(e); }
  void on(const trace::ConnectReject& e) override { ends(e); }
  void on(const trace::RequestReceipt&) override { require(false); }  // of CM
  void on(const trace::RequestUndelivered&) override { require(false); }
  void on(const trace::Sighted&) override {}
  void on(const trace::ConnectReady& e) override { known(e); }
  void on(const trace::Disconnect& e) override { ends(e); }
  void on(const trace::SendPart& e) override { known(e); }
  void on(const trace::Send& e) override {
    known(e);
    require(e.octets.size() <= e.wire_length && e.last.number >= e.frame.number && e.last.number <= frames);
    std::uint64_t& ordinal = ordinals_[{e.connection, e.side}];
    require(e.ordinal > ordinal);
    ordinal = e.ordinal;
  }
  void on(const trace::Write& e) override {
    known(e);
    require(e.octets.size() <= e.length && e.op != 0);
  }
  void on(const trace::ReadRequest& e) override {
    known(e);
    require(e.op != 0);
  }
  void on(const trace::ReadResponse& e) override {
    known(e);
    require(e.octets.size() <= e.length && e.op != 0);
  }
  void on(const trace::Refusal& e) override { known(e); }
  void on(const trace::Acknowledged& e) override {
    known(e);
    require(e.ordinal <= ordinals_[{e.connection, other(e.side)}]);
  }
  void on(const trace::Gap& e) override {
    known(e);
    require(e.count != 0);
  }
  void on(const trace::Repeated& e) override { known(e); }
  void on(const trace::Quality& e) override { require(e.connection <= connections_); }
  void on(const trace::TcpAttempt& e) override {
    require(e.connection == 0 && e.frame.number != 0 && e.frame.number <= frames && e.request.number <= frames);
  }
  void on(const trace::Liveness& e) override {
    known(e);
    // Both sides, and both again behind the FIN of each that had repeated itself in vain.
    require(++told_[e.connection] <= 6);
    require(e.heard.number <= frames && e.unacknowledged.number <= frames && e.last_copy.number <= frames);
    require((e.copies != 0) == (e.first_copy.number != 0) && e.first_copy.number <= e.last_copy.number);
    require((e.missing != 0) == (e.places != 0) && e.places <= e.missing && e.amount < (std::uint64_t{1} << 62U));
  }
  void on(const trace::NfsOverTcp& e) override {
    require(e.connection == 0 && e.frames != 0 && e.frames <= frames && e.frame.number != 0);
  }
  void finished() const {
    for (trace::ConnectionId id = 1; id <= connections_; ++id) require(told_.contains(id));
  }

 private:
  void ends(const trace::EventBase& e) {
    known(e);
    require(told_[e.connection] != 0 && told_[e.connection] % 2 == 0);
  }
  void first(const trace::EventBase& e) {
    require(e.connection == ++connections_);
    known(e);
  }
  void known(const trace::EventBase& e) const {
    require(e.connection >= 1 && e.connection <= connections_ && e.frame.number <= frames);
  }
  trace::ConnectionId connections_ = 0;
  std::map<trace::ConnectionId, int> told_;  // how many times a side
  std::map<std::pair<trace::ConnectionId, trace::Side>, std::uint64_t> ordinals_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t settings = data[0];
  rpcrdma::wire::Bytes rest(data + 1, size - 1);
  trace::Options options;
  options.check_crc = (settings & 4U) != 0;
  Judge judge;
  trace::ConnectionNumbers numbers;
  trace::IwarpTransport transport(options, numbers, judge);

  std::uint32_t next[2] = {0xFFFFFF00U, 0x1000U};
  trace::TcpSegment segment;
  segment.ref.time = 1'700'000'000'000'000'000;
  auto offer = [&](unsigned from, std::uint32_t sequence, std::uint8_t flags, rpcrdma::wire::Bytes octets,
                   std::uint32_t wire_length, bool acknowledges) {
    ++segment.ref.number;
    segment.ref.time += 10'000;
    judge.frames = segment.ref.number;
    segment.source.kind = segment.destination.kind = trace::Address::Kind::ipv4;
    segment.source.octets[0] = static_cast<std::uint8_t>(from);
    segment.destination.octets[0] = static_cast<std::uint8_t>(1 - from);
    const std::uint16_t server_port = (settings & 1U) != 0 ? 20'049 : 7777;
    segment.source_port = from == 1 ? server_port : 40'000;
    segment.destination_port = from == 1 ? 40'000 : server_port;
    segment.sequence = sequence;
    segment.acknowledgement = acknowledges ? next[1 - from] : next[1 - from] - 200;
    segment.flags = flags;
    segment.payload = octets;
    segment.wire_length = wire_length;
    (void)transport.segment(segment);
  };
  if ((settings & 2U) != 0) {
    offer(0, next[0] - 1, 0x02, {}, 0, true);
    offer(1, next[1] - 1, 0x12, {}, 0, true);
  }
  constexpr std::size_t header = 6;
  while (rest.size() >= header) {
    const std::uint8_t what = rest[0];
    const unsigned from = what & 1U;
    const std::size_t captured = std::min<std::size_t>(rpcrdma::wire::load_be16(rest.data() + 2), rest.size() - header);
    const auto wire_length =
        static_cast<std::uint32_t>(captured) + (rpcrdma::wire::load_be16(rest.data() + 4) & 0x0FFFU);
    std::uint32_t sequence = next[from];
    if ((what & 0x08U) != 0) next[from] = sequence = sequence + 0x10000000U + rest[1];
    if ((what & 0x10U) != 0) sequence -= rest[1];
    if ((what & 0x20U) != 0) sequence += rest[1];
    if ((what & 0x80U) != 0) segment.ref.time += 1'000'000'000;
    const auto flags =
        static_cast<std::uint8_t>(0x10U | ((what & 0x02U) != 0 ? 0x01U : 0U) | ((what & 0x04U) != 0 ? 0x04U : 0U) |
                                  ((what & 0x08U) != 0 ? 0x02U : 0U));
    offer(from, sequence, flags, rest.subspan(header, captured), wire_length, (what & 0x40U) != 0);
    next[from] = sequence + wire_length + ((what & 0x08U) != 0 ? 1U : 0U);
    rest = rest.subspan(header + captured);
  }
  transport.finish(segment.ref);
  judge.finished();
  return 0;
}
