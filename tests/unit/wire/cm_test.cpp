// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/cm.hpp"

#include <gtest/gtest.h>

#include "ib_packets.hpp"
#include "wire/ib.hpp"

namespace rpcrdma::test {
namespace {

using wire::CmKind;
using wire::Fault;

Octets of(wire::Bytes b) { return {b.begin(), b.end()}; }

TEST(Cm, Req) {
  CmFields f;
  f.qpn = 0x123456;
  f.psn = 0xFFFFFE;
  f.responder_resources = 200;
  f.initiator_depth = 3;
  f.rnr_retry = 7;
  f.retry = 5;
  const Octets m = cm_req(f);
  ASSERT_EQ(m.size(), 256U);
  const auto d = wire::decode_cm(m, m.size());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->kind, CmKind::req);
  EXPECT_EQ(d->transaction, f.transaction);
  EXPECT_EQ(d->local_id, f.local_id);
  EXPECT_FALSE(d->remote_id);
  EXPECT_EQ(d->service_id, 0x0000000001064E51ULL);
  EXPECT_EQ(d->local_qpn, 0x123456U);
  EXPECT_EQ(d->starting_psn, 0xFFFFFEU);
  EXPECT_EQ(d->responder_resources, 200);
  EXPECT_EQ(d->initiator_depth, 3);
  EXPECT_EQ(d->service_type, 0);
  EXPECT_EQ(d->path_mtu, 3);
  EXPECT_EQ(d->retry_count, 5);
  EXPECT_EQ(d->rnr_retry, 7);
  ASSERT_TRUE(d->ip);
  EXPECT_EQ(d->ip->ip_version, 4);
  EXPECT_EQ(d->ip->source_port, 40000);
  EXPECT_EQ(d->ip->source[12], 10);
  EXPECT_EQ(d->ip->source[15], 2);
  EXPECT_EQ(d->ip->destination[15], 1);
  EXPECT_EQ(d->consumer_length, 56U);
  ASSERT_EQ(d->consumer.size(), 56U);
  EXPECT_EQ(of(d->consumer.first(8)), f.consumer);
  EXPECT_EQ(wire::ip_cm_port(*d->service_id), 20049);
}

TEST(Cm, ReqWithoutIpHeaderHandsOverTheWholeArea) {
  CmFields f;
  f.service_id = 0x10000CA11BEEFULL;
  const Octets m = cm_req(f);
  const auto d = wire::decode_cm(m, m.size());
  ASSERT_TRUE(d);
  EXPECT_FALSE(d->ip);
  EXPECT_EQ(d->consumer_length, 92U);
  EXPECT_EQ(of(d->consumer.first(8)), f.consumer);
}

TEST(Cm, ServiceIds) {
  EXPECT_TRUE(wire::is_ip_cm_service(0x0000000001064E51ULL));
  EXPECT_TRUE(wire::is_ip_cm_service(0x0000000001110000ULL));
  EXPECT_FALSE(wire::is_ip_cm_service(0x0000000000010000ULL));  // SDP
  EXPECT_FALSE(wire::is_ip_cm_service(0x0000000101064E51ULL));
}

TEST(Cm, Rep) {
  CmFields f;
  f.qpn = 0x654321;
  f.psn = 0x00ABCD;
  f.responder_resources = 4;
  f.initiator_depth = 16;
  f.rnr_retry = 6;
  const Octets m = cm_rep(f);
  const auto d = wire::decode_cm(m, m.size());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->kind, CmKind::rep);
  EXPECT_EQ(d->local_id, f.local_id);
  EXPECT_EQ(d->remote_id, f.remote_id);
  EXPECT_EQ(d->local_qpn, 0x654321U);
  EXPECT_EQ(d->starting_psn, 0x00ABCDU);
  EXPECT_EQ(d->responder_resources, 4);
  EXPECT_EQ(d->initiator_depth, 16);
  EXPECT_EQ(d->rnr_retry, 6);
  EXPECT_FALSE(d->ip);
  EXPECT_EQ(d->consumer_length, 196U);
  EXPECT_EQ(of(d->consumer.first(8)), f.consumer);
}

TEST(Cm, Rej) {
  CmFields f;
  f.reason = 28;
  const Octets m = cm_rej(f);
  const auto d = wire::decode_cm(m, m.size());
  ASSERT_TRUE(d);
  EXPECT_EQ(d->kind, CmKind::rej);
  EXPECT_EQ(d->remote_id, f.remote_id);
  EXPECT_EQ(d->reason, 28);
  EXPECT_EQ(d->about, wire::CmAbout::rep);
  EXPECT_EQ(d->consumer_length, 148U);
  EXPECT_EQ(of(d->consumer.first(8)), f.consumer);
}

TEST(Cm, TheOthers) {
  const CmFields f;
  const struct {
    Octets message;
    CmKind kind;
    std::uint32_t consumer;
  } cases[] = {{cm_rtu(f), CmKind::rtu, 224},
               {cm_dreq(f), CmKind::dreq, 220},
               {cm_drep(f), CmKind::drep, 224},
               {cm_mra(f), CmKind::mra, 222}};
  for (const auto& c : cases) {
    const auto d = wire::decode_cm(c.message, c.message.size());
    ASSERT_TRUE(d) << wire::cm_name(c.kind);
    EXPECT_EQ(d->kind, c.kind);
    EXPECT_EQ(d->local_id, f.local_id);
    EXPECT_EQ(d->remote_id, f.remote_id);
    EXPECT_EQ(d->consumer_length, c.consumer);
    EXPECT_EQ(d->consumer.size(), c.consumer);
    EXPECT_EQ(d->remote_qpn.has_value(), c.kind == CmKind::dreq);
  }
  EXPECT_EQ(wire::decode_cm(cases[1].message, 256)->remote_qpn, f.qpn);
  EXPECT_EQ(wire::decode_cm(cases[3].message, 256)->about, wire::CmAbout::rep);
}

// A field is there when, and only when, all its octets were captured.
TEST(Cm, ReqCutAtEveryLength) {
  const CmFields f;
  const Octets m = cm_req(f);
  for (std::size_t n = 0; n < m.size(); ++n) {
    const auto d = wire::decode_cm(wire::Bytes(m).first(n), m.size());
    if (n < 24 + 4) {
      ASSERT_FALSE(d) << n;
      EXPECT_EQ(d.error().fault, Fault::truncated) << n;
      continue;
    }
    ASSERT_TRUE(d) << n;
    const std::size_t data = n - 24;
    EXPECT_EQ(d->service_id.has_value(), data >= 16) << n;
    EXPECT_EQ(d->local_qpn.has_value(), data >= 35) << n;
    EXPECT_EQ(d->starting_psn.has_value(), data >= 47) << n;
    EXPECT_EQ(d->path_mtu.has_value(), data >= 51) << n;
    EXPECT_EQ(d->ip.has_value(), data >= 176) << n;
    EXPECT_EQ(d->consumer.size(), data > 176 ? data - 176 : 0) << n;
    EXPECT_EQ(d->consumer_length, 56U) << n;
    EXPECT_EQ(d->local_qpn.value_or(f.qpn), f.qpn) << n;
  }
}

TEST(Cm, WhatIsNotCm) {
  const Octets good = cm_rtu({});
  const struct {
    std::size_t at;
    std::uint8_t value;
    const char* field;
  } cases[] = {{0, 2, "management class"}, {1, 0x04, "management class"}, {2, 1, "management class"},
               {3, 0x81, "method"},        {17, 0x1B, "attribute"},       {17, 0x0F, "attribute"}};
  for (const auto& c : cases) {
    Octets bad = good;
    bad[c.at] = c.value;
    const auto d = wire::decode_cm(bad, bad.size());
    ASSERT_FALSE(d) << c.field;
    EXPECT_EQ(d.error().fault, Fault::unsupported);
    EXPECT_EQ(d.error().field, c.field);
  }
  const auto d = wire::decode_cm(wire::Bytes(good).first(255), 255);
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().fault, Fault::invalid);
}

TEST(Cm, Names) {
  EXPECT_EQ(wire::cm_name(CmKind::req), "REQ");
  EXPECT_EQ(wire::cm_name(CmKind::apr), "APR");
  EXPECT_EQ(wire::cm_name(static_cast<CmKind>(0)), "");
}

// Offsets inside a packet of RoCEv2, as the specification's digest lists them.
TEST(Cm, OffsetsInAPacket) {
  const Octets packet = cm_packet(cm_req({}));
  ASSERT_EQ(packet.size(), 280U);
  const auto h = wire::decode_ib(packet, packet.size());
  ASSERT_TRUE(h);
  const auto m = wire::decode_cm(h->payload, h->payload_length);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->consumer.data() - packet.data(), 220);
  EXPECT_EQ(h->payload.data() - packet.data(), 20);
}

TEST(RejectReason, EachHasWords) {
  for (std::uint16_t reason = 1; reason <= 35; ++reason) {
    if (reason == 34) continue;  // nobody has given it a meaning
    EXPECT_NE(wire::reject_reason_text(reason), "see the CM specification") << reason;
  }
  for (const std::uint16_t unknown : std::initializer_list<std::uint16_t>{0, 34, 36, 0xFFFF}) {
    EXPECT_EQ(wire::reject_reason_text(unknown), "see the CM specification") << unknown;
  }
}

}  // namespace
}  // namespace rpcrdma::test
