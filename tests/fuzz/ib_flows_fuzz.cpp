// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand packets between a few queue pairs of two hosts, made from the input so that most of them are well-formed:
// holes, repetition, disorder, handshakes at any moment. What comes out must keep the promises of trace/events.hpp.
//
// Input: one octet of options (0x01: check every checksum; 0x02: they are right), then per packet six octets: what it
// is; from whom, to which queue pair and how cut; PSN (two octets, near the wrap); payload length in units of 16; time
// since the last packet.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "fuzz_input.hpp"
#include "trace/ib_transport.hpp"
#include "wire/ib.hpp"
#include "wire/icrc.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace trace = rpcrdma::trace;

class Promises final : public trace::EventSink {
 public:
  void on(const trace::ConnectRequest& e) override {
    opens(e);
    require(e.private_data.octets.size() <= e.private_data.wire_length && !e.private_data.exact_length);
  }
  void on(const trace::ConnectReply& e) override { known(e); }
  void on(const trace::ConnectReject& e) override { require(known(e).told); }
  void on(const trace::RequestReceipt& e) override { known(e); }  // the connection only begins
  void on(const trace::RequestUndelivered& e) override { known(e); }
  void on(const trace::Sighted&) override {}
  void on(const trace::ConnectReady& e) override { known(e); }
  void on(const trace::Adopted& e) override { opens(e); }
  void on(const trace::Disconnect& e) override { require(known(e).told); }
  void on(const trace::SendPart& e) override { known(e); }
  void on(const trace::Send& e) override {
    Side& s = known(e);
    require(e.ordinal == s.sends + 1 || e.ordinal > s.sends);
    s.sends = e.ordinal;
    request(s, e.sequence);
    require(e.octets.size() <= e.wire_length && e.octets.size() <= (1U << 20U));
  }
  void on(const trace::Write& e) override {
    Side& s = known(e);
    request(s, e.sequence);
    require(e.op != 0 && e.octets.size() <= e.length);
  }
  void on(const trace::ReadRequest& e) override {
    Side& s = known(e);
    request(s, e.sequence);
    require(e.op > s.reads);
    s.reads = e.op;
  }
  void on(const trace::ReadResponse& e) override {
    known(e);
    require(e.op != 0 && e.op <= side(e.connection, other(e.side)).reads && e.octets.size() <= e.length);
  }
  void on(const trace::Refusal& e) override { known(e); }
  void on(const trace::Acknowledged& e) override {
    Side& s = known(e);
    require(e.ordinal > s.acknowledged && e.ordinal <= side(e.connection, other(e.side)).sends);
    s.acknowledged = e.ordinal;
  }
  void on(const trace::Gap& e) override {
    known(e);
    require(e.count != 0);
  }
  void on(const trace::Repeated& e) override { known(e); }
  void on(const trace::Quality& e) override {
    if (e.connection != 0) known(e);
  }
  void on(const trace::Liveness& e) override {
    Side& s = known(e);
    require(!s.told);
    s.told = true;
    require((e.copies != 0) == (e.first_copy.number != 0) && (e.copies != 0) == (e.last_copy.number != 0));
    require((e.missing == 0 || e.places != 0) && e.amount < (std::uint64_t{1} << 62U));
    require(e.missing < (std::uint64_t{1} << 62U));
  }
  void finished() const {
    for (const auto& [id, sides] : connections_) require(sides[0].told && sides[1].told);
  }

 private:
  struct Side {
    std::uint64_t sends = 0;
    std::uint64_t reads = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t sequence = 0;
    bool told = false;
  };
  using Sides = std::array<Side, 2>;

  Side& side(trace::ConnectionId id, trace::Side s) { return connections_[id][static_cast<std::size_t>(s)]; }
  void opens(const trace::EventBase& e) {
    require(e.connection != 0 && connections_.count(e.connection) == 0 && e.frame.number != 0);
    connections_[e.connection];
  }
  Side& known(const trace::EventBase& e) {
    require(connections_.count(e.connection) == 1 && e.frame.number != 0);
    return side(e.connection, e.side);
  }
  static void request(Side& s, std::uint64_t sequence) {
    require(sequence >= s.sequence);
    s.sequence = sequence;
  }

  std::map<trace::ConnectionId, Sides> connections_;
};

using Octets = std::vector<std::uint8_t>;

void word(Octets& o, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8)
    o.push_back(static_cast<std::uint8_t>(v >> static_cast<unsigned>(shift)));
}

Octets management(std::uint8_t what, std::uint8_t who, std::uint8_t variant) {
  Octets o{1, 7, 2, 3, 0, 0, 0, 0};
  word(o, 0);
  word(o, variant & 3U);  // transaction
  o.push_back(0);
  o.push_back(static_cast<std::uint8_t>(0x10 + what % 7U));
  o.insert(o.end(), 6, 0);
  word(o, 10U + (who & 1U) * 10U + (variant & 1U));
  word(o, 20U - (who & 1U) * 10U + (variant & 1U));
  o.resize(256);
  const std::uint32_t qpn = 2U + ((variant >> 1U) & 3U);
  if (what % 7U == 0) {
    o[24 + 12] = 1;  // service ID of the IP CM service
    o[24 + 34] = static_cast<std::uint8_t>(qpn);
    o[24 + 45] = o[24 + 44] = 0xFF;
    o[24 + 46] = 0xF0;
    o[24 + 50] = 0x30;
  } else if (what % 7U == 3) {
    o[24 + 14] = static_cast<std::uint8_t>(qpn);
    o[24 + 20] = o[24 + 21] = 0xFF;
    o[24 + 22] = 0xF0;
  } else if (what % 7U == 5) {
    o[24 + 10] = static_cast<std::uint8_t>(qpn);
  }
  return o;
}

Octets packet(const std::uint8_t* in) {
  const std::uint8_t what = in[0];
  const bool cm = what >= 0xE0;
  const std::uint8_t opcode = cm ? 0x64 : static_cast<std::uint8_t>(what % 0x18U);
  const rpcrdma::wire::IbOpcode& op = rpcrdma::wire::ib_opcode(opcode);
  const std::uint32_t psn = (0xFFFFF0U + in[2] % 64U + (in[3] >= 0xF0 ? in[3] * 4096U : 0U)) & 0xFFFFFFU;
  Octets o{opcode, 0, 0xFF, 0xFF, 0};
  word(o, (cm ? 1U : 2U + ((in[1] >> 1U) & 3U)) << 8U);
  o.back() = 0x80;
  word(o, psn);
  o.erase(o.end() - 4);
  const std::uint32_t length = in[4] >= 0xF0 ? 1024U : in[4] * 16U;
  if (op.kind == rpcrdma::wire::IbKind::acknowledge) {
    o.push_back(in[4]);
    o.insert(o.end(), 3, 0);
  } else if (cm) {
    o.insert(o.end(), 8, 0);
  } else {
    o.insert(o.end(), op.extended, 0);
    if (op.extended >= 16) {
      o[o.size() - 3] = static_cast<std::uint8_t>(in[3] >> 2U);
      o[o.size() - 2] = in[4];
    }
  }
  if (cm) {
    const Octets m = management(what, in[1], in[4]);
    o.insert(o.end(), m.begin(), m.end());
  } else if (op.kind == rpcrdma::wire::IbKind::send || op.kind == rpcrdma::wire::IbKind::write ||
             op.kind == rpcrdma::wire::IbKind::read_response) {
    const bool whole = op.part == rpcrdma::wire::IbPart::first || op.part == rpcrdma::wire::IbPart::middle;
    o.insert(o.end(), whole && in[3] < 0x80 ? 1024U : length, in[4]);
  }
  o.insert(o.end(), 4, 0);
  return o;
}

void set_icrc(rpcrdma::wire::Bytes network, Octets& o) {
  const std::size_t covered = o.size() - rpcrdma::wire::icrc_size;
  const auto sum = rpcrdma::wire::icrc(rpcrdma::wire::IcrcLayout::rocev2_ipv4, network, {o.data(), covered});
  for (unsigned i = 0; sum && i < 4; ++i) o[covered + i] = static_cast<std::uint8_t>(*sum >> (8U * i));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t step = 6;
  if (size == 0) return 0;
  Promises sink;
  trace::Options options;
  options.check_crc = (data[0] & 1U) != 0;
  trace::ConnectionNumbers numbers;
  trace::IbTransport transport(options, numbers, sink);
  const bool right = (data[0] & 2U) != 0;
  const std::array<std::uint8_t, 28> network{0x45};

  trace::FrameRef ref;
  for (std::size_t at = 1; at + step <= size; at += step) {
    const std::uint8_t* in = data + at;
    Octets octets = packet(in);
    if (right) set_icrc(network, octets);
    trace::IbPacket p;
    ++ref.number;
    ref.time += in[5] == 255 ? -1'000'000 : trace::TimeNs{in[5]} * in[5] * 100'000;
    p.ref = ref;
    p.source.kind = p.destination.kind = trace::Address::Kind::ipv4;
    p.source.octets[3] = in[1] & 1U;
    p.destination.octets[3] = (in[1] & 0x40U) != 0 ? p.source.octets[3] : 1U - (in[1] & 1U);
    p.network = network;
    p.octets = octets;
    if ((in[1] & 0x80U) != 0) p.octets = p.octets.first(std::min<std::size_t>(octets.size(), 16U + in[4] % 128U));
    p.wire_length = static_cast<std::uint32_t>(octets.size());
    transport.packet(p);
  }
  transport.finish(ref);
  sink.finished();
  return 0;
}
