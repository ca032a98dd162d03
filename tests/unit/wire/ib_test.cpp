// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ib.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ib_packets.hpp"

namespace rpcrdma::test {
namespace {

using wire::Fault;
using wire::IbKind;
using wire::IbPart;
using wire::IbService;

struct OpcodeCase {
  const char* name;
  std::uint8_t opcode;
  IbKind kind;
  IbPart part;
  std::size_t extended;
  bool immediate;
  bool invalidate;
};

// As the architecture's table of RC opcodes has them.
constexpr OpcodeCase rc_opcodes[] = {
    {"SendFirst", 0x00, IbKind::send, IbPart::first, 0, false, false},
    {"SendMiddle", 0x01, IbKind::send, IbPart::middle, 0, false, false},
    {"SendLast", 0x02, IbKind::send, IbPart::last, 0, false, false},
    {"SendLastImmediate", 0x03, IbKind::send, IbPart::last, 4, true, false},
    {"SendOnly", 0x04, IbKind::send, IbPart::only, 0, false, false},
    {"SendOnlyImmediate", 0x05, IbKind::send, IbPart::only, 4, true, false},
    {"WriteFirst", 0x06, IbKind::write, IbPart::first, 16, false, false},
    {"WriteMiddle", 0x07, IbKind::write, IbPart::middle, 0, false, false},
    {"WriteLast", 0x08, IbKind::write, IbPart::last, 0, false, false},
    {"WriteLastImmediate", 0x09, IbKind::write, IbPart::last, 4, true, false},
    {"WriteOnly", 0x0A, IbKind::write, IbPart::only, 16, false, false},
    {"WriteOnlyImmediate", 0x0B, IbKind::write, IbPart::only, 20, true, false},
    {"ReadRequest", 0x0C, IbKind::read_request, IbPart::only, 16, false, false},
    {"ResponseFirst", 0x0D, IbKind::read_response, IbPart::first, 4, false, false},
    {"ResponseMiddle", 0x0E, IbKind::read_response, IbPart::middle, 0, false, false},
    {"ResponseLast", 0x0F, IbKind::read_response, IbPart::last, 4, false, false},
    {"ResponseOnly", 0x10, IbKind::read_response, IbPart::only, 4, false, false},
    {"Acknowledge", 0x11, IbKind::acknowledge, IbPart::only, 4, false, false},
    {"AtomicAcknowledge", 0x12, IbKind::atomic_acknowledge, IbPart::only, 12, false, false},
    {"CompareSwap", 0x13, IbKind::atomic_request, IbPart::only, 28, false, false},
    {"FetchAdd", 0x14, IbKind::atomic_request, IbPart::only, 28, false, false},
    {"SendLastInvalidate", 0x16, IbKind::send, IbPart::last, 4, false, true},
    {"SendOnlyInvalidate", 0x17, IbKind::send, IbPart::only, 4, false, true},
};

class RcOpcode : public testing::TestWithParam<OpcodeCase> {};

TEST_P(RcOpcode, DecodesItsHeaders) {
  const OpcodeCase& c = GetParam();
  // Every extended header reads as 01 02 03 ...; where they lie tells which octets a field took.
  Octets extended;
  for (std::size_t i = 0; i < c.extended; ++i) extended.push_back(static_cast<std::uint8_t>(i + 1));
  const Octets packet = ib_packet(c.opcode, 0xABCDEF, 0xFEDCBA, extended, text("hello"));
  const auto h = wire::decode_ib(packet, packet.size());
  ASSERT_TRUE(h);
  EXPECT_EQ(h->op.service, IbService::rc);
  EXPECT_EQ(h->op.kind, c.kind);
  EXPECT_EQ(h->op.part, c.part);
  EXPECT_EQ(h->op.immediate, c.immediate);
  EXPECT_EQ(h->op.invalidate, c.invalidate);
  EXPECT_EQ(h->destination_qp, 0xABCDEFU);
  EXPECT_EQ(h->psn, 0xFEDCBAU);
  EXPECT_TRUE(h->ack_request);
  EXPECT_EQ(h->pad, 3);
  EXPECT_EQ(h->payload_length, 5U);
  EXPECT_EQ(Octets(h->payload.begin(), h->payload.end()), text("hello"));
  if (c.extended == 16 || c.extended == 20 || c.extended == 28) {
    EXPECT_EQ(h->address, 0x0102030405060708ULL);
    EXPECT_EQ(h->key, 0x090A0B0CU);
  }
  if (c.extended == 16 || c.extended == 20) {
    EXPECT_EQ(h->dma_length, 0x0D0E0F10U);
  }
  if (c.immediate) {
    EXPECT_EQ(h->immediate, c.extended == 20 ? 0x11121314U : 0x01020304U);
  }
  if (c.invalidate) {
    EXPECT_EQ(h->invalidated, 0x01020304U);
  }
  if (c.kind == IbKind::acknowledge || (c.kind == IbKind::read_response && c.extended == 4)) {
    EXPECT_EQ(h->syndrome, 0x01);
    EXPECT_EQ(h->msn, 0x020304U);
  }
}

TEST_P(RcOpcode, CutAtEveryLength) {
  const OpcodeCase& c = GetParam();
  const Octets packet = ib_packet(c.opcode, 0x12, 0x34, filled(c.extended, 7), filled(10, 0xEE));
  const std::size_t headers = 12 + c.extended;
  for (std::size_t n = 0; n < packet.size(); ++n) {
    const wire::Bytes captured = wire::Bytes(packet).first(n);
    const auto cut = wire::decode_ib(captured, packet.size());
    if (n < headers) {
      ASSERT_FALSE(cut) << n;
      EXPECT_EQ(cut.error().fault, Fault::truncated) << n;
    } else {
      ASSERT_TRUE(cut) << n;
      EXPECT_EQ(cut->payload_length, 10U) << n;
      EXPECT_EQ(cut->payload.size(), std::min<std::size_t>(n - headers, 10)) << n;
    }
    const auto shorter = wire::decode_ib(captured, n);
    if (n < headers + 2 + 4) {  // PadCnt is 2
      ASSERT_FALSE(shorter) << n;
      EXPECT_EQ(shorter.error().fault, Fault::invalid) << n;
    } else {
      ASSERT_TRUE(shorter) << n;
      EXPECT_EQ(shorter->payload_length, n - headers - 6) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RcOpcode, testing::ValuesIn(rc_opcodes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Ib, OtherServicesGiveTheirBthAlone) {
  const struct {
    std::uint8_t opcode;
    IbService service;
  } cases[] = {{0x15, IbService::rc},         {0x20, IbService::uc},  {0x44, IbService::rd},     {0x66, IbService::ud},
               {0x81, IbService::congestion}, {0xA4, IbService::xrc}, {0xE0, IbService::unknown}};
  for (const auto& c : cases) {
    const Octets packet = ib_packet(c.opcode, 5, 6, {}, filled(16));
    const auto h = wire::decode_ib(packet, packet.size());
    ASSERT_TRUE(h) << unsigned{c.opcode};
    EXPECT_EQ(h->op.service, c.service) << unsigned{c.opcode};
    EXPECT_EQ(h->op.kind, IbKind::other) << unsigned{c.opcode};
    EXPECT_EQ(h->destination_qp, 5U);
    EXPECT_TRUE(h->payload.empty());
  }
}

TEST(Ib, DatagramHasItsSource) {
  const Octets packet = ib_packet(0x64, 1, 9, hex("80010000 00 00002a"), filled(256));
  const auto h = wire::decode_ib(packet, packet.size());
  ASSERT_TRUE(h);
  EXPECT_EQ(h->op.service, IbService::ud);
  EXPECT_EQ(h->op.kind, IbKind::send);
  EXPECT_EQ(h->queue_key, 0x80010000U);
  EXPECT_EQ(h->source_qp, 0x2AU);
  EXPECT_EQ(h->payload_length, 256U);

  const Octets immediate = ib_packet(0x65, 1, 9, hex("80010000 00 00002a 01020304"), filled(4));
  const auto i = wire::decode_ib(immediate, immediate.size());
  ASSERT_TRUE(i);
  EXPECT_EQ(i->immediate, 0x01020304U);
}

TEST(Ib, TransportVersionIsZero) {
  Octets packet = ib_packet(0x04, 1, 9, {}, filled(4));
  packet[1] |= 1;
  const auto h = wire::decode_ib(packet, packet.size());
  ASSERT_FALSE(h);
  EXPECT_EQ(h.error().fault, Fault::unsupported);
}

TEST(Ib, Syndromes) {
  EXPECT_EQ(wire::aeth_type(0x1F), wire::AethType::ack);
  EXPECT_EQ(wire::aeth_type(0x2C), wire::AethType::rnr_nak);
  EXPECT_EQ(wire::aeth_value(0x2C), 12);
  EXPECT_EQ(wire::aeth_type(0x40), wire::AethType::reserved);
  EXPECT_EQ(wire::aeth_type(0x62), wire::AethType::nak);
  EXPECT_EQ(wire::aeth_value(0x62), wire::nak_remote_access);
  EXPECT_EQ(wire::aeth_type(0xE3), wire::AethType::nak);  // bit 7 is reserved
}

TEST(Ib, TimeBehindAnRnrNak) {
  EXPECT_EQ(wire::rnr_wait(0), 655'360'000U);
  EXPECT_EQ(wire::rnr_wait(1), 10'000U);
  EXPECT_EQ(wire::rnr_wait(14), 1'280'000U);
  EXPECT_EQ(wire::rnr_wait(31), 491'520'000U);
}

TEST(Ib, PathMtu) {
  const std::uint32_t octets[] = {0, 256, 512, 1024, 2048, 4096, 0};
  for (std::uint8_t code = 0; code < 7; ++code) EXPECT_EQ(wire::mtu_octets(code), octets[code]);
  EXPECT_TRUE(wire::is_mtu(1024));
  EXPECT_FALSE(wire::is_mtu(1000));
  EXPECT_FALSE(wire::is_mtu(8192));
}

}  // namespace
}  // namespace rpcrdma::test
