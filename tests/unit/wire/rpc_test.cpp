// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "encoder.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using test::prefix;
using testing::Optional;
using Octets = std::vector<std::uint8_t>;

constexpr std::uint32_t xid = 0x11223344;

Encoder call_head(std::uint32_t program = 100003, std::uint32_t version = 3, std::uint32_t procedure = 6) {
  return Encoder().words({xid, 0, 2, program, version, procedure});
}

Decoded<RpcCall> decode_call(const Octets& octets) { return decode_rpc_call(octets, octets.size()); }
Decoded<RpcReply> decode_reply(const Octets& octets) { return decode_rpc_reply(octets, octets.size()); }

/// Every proper prefix: truncated when the message was longer than the capture, invalid when it was not.
template <class Decode>
void expect_cut_at_every_length(const Octets& whole, Decode decode) {
  ASSERT_TRUE(decode(whole, whole.size()));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto part = prefix(whole, length);
    const auto cut = decode(part, whole.size());
    ASSERT_FALSE(cut) << length;
    EXPECT_EQ(cut.error().fault, Fault::truncated) << length;
    EXPECT_LE(cut.error().offset, length);
    EXPECT_FALSE(cut.error().field.empty());
    const auto sent = decode(part, length);
    ASSERT_FALSE(sent) << length;
    EXPECT_EQ(sent.error().fault, Fault::invalid) << length;
  }
}

constexpr auto as_call = [](Bytes octets, std::size_t wire_length) { return decode_rpc_call(octets, wire_length); };
constexpr auto as_reply = [](Bytes octets, std::size_t wire_length) { return decode_rpc_reply(octets, wire_length); };
constexpr auto as_start = [](Bytes octets, std::size_t wire_length) { return decode_rpc_start(octets, wire_length); };

TEST(RpcStart, XidAndType) {
  const auto start = as_start(Encoder().words({xid, 1, 5}).octets(), 12);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->xid, xid);
  EXPECT_EQ(start->type, 1U);
  expect_cut_at_every_length(Encoder().words({xid, 7}).octets(), as_start);
}

TEST(RpcCall, WithoutCredential) {
  const auto call = decode_call(call_head().words({0, 0, 0, 0}).word(77).octets());
  ASSERT_TRUE(call);
  EXPECT_EQ(call->xid, xid);
  EXPECT_EQ(call->rpc_version, 2U);
  EXPECT_EQ(call->program, 100003U);
  EXPECT_EQ(call->version, 3U);
  EXPECT_EQ(call->procedure, 6U);
  EXPECT_EQ(call->flavor, 0U);
  EXPECT_FALSE(call->gss_service);
  EXPECT_EQ(call->body, 40U);
}

TEST(RpcCall, CredentialAndVerifierArePadded) {
  for (std::size_t length = 0; length <= 9; ++length) {
    const auto call = decode_call(call_head().word(1).opaque(length).word(0).opaque(length).octets());
    ASSERT_TRUE(call);
    EXPECT_EQ(call->flavor, 1U);
    EXPECT_EQ(call->body, 40 + 2 * ((length + 3) / 4 * 4)) << length;
  }
}

TEST(RpcCall, GssService) {
  for (const std::uint32_t service : {1U, 2U, 3U}) {
    const auto call = decode_call(
        call_head().word(flavor_gss).word(28).words({1, 0, 9, service}).opaque(8).word(flavor_gss).opaque(37).octets());
    ASSERT_TRUE(call);
    EXPECT_EQ(call->flavor, flavor_gss);
    EXPECT_THAT(call->gss_service, Optional(service));
  }
  // The credential is too short for a service, or of a version that nobody knows.
  const auto short_one = decode_call(call_head().words({flavor_gss, 12, 1, 0, 9, 0, 0}).octets());
  ASSERT_TRUE(short_one);
  EXPECT_FALSE(short_one->gss_service);
  const auto version9 = decode_call(call_head().words({flavor_gss, 16, 9, 0, 9, 1, 0, 0}).octets());
  ASSERT_TRUE(version9);
  EXPECT_FALSE(version9->gss_service);
}

TEST(RpcCall, GssContextThatIsAskedFor) {
  const auto call =
      decode_call(call_head().word(flavor_gss).word(20).words({1, gss_procedure::init, 0, 1, 0, 0, 0}).octets());
  ASSERT_TRUE(call);
  EXPECT_THAT(call->gss_procedure, Optional(gss_procedure::init));
  const Octets refused = Encoder().words({0, 0xd0000, 5, 0, 0}).octets();
  EXPECT_THAT(gss_major_of(refused), Optional(0xd0000U));
  EXPECT_THAT(gss_major_of(Encoder().opaque(7).words({gss_major::continue_needed, 0}).octets()),
              Optional(gss_major::continue_needed));
  EXPECT_EQ(gss_major_of(prefix(refused, 7)), std::nullopt);
  EXPECT_EQ(gss_major_of(Encoder().words({0xfffffffc, 0}).octets()), std::nullopt);
  EXPECT_EQ(gss_major_name(0xd0000), "GSS_S_FAILURE");
  EXPECT_EQ(gss_major_name(0x130000), "");
  EXPECT_EQ(gss_major_name(gss_major::complete), "");
}

TEST(RpcCall, LimitsOfRfc5531) {
  EXPECT_TRUE(decode_call(call_head().word(1).opaque(400).word(1).opaque(400).octets()));
  const auto credential = decode_call(call_head().word(1).opaque(401).words({0, 0}).octets());
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().fault, Fault::invalid);
  EXPECT_EQ(credential.error().field, "credential");
  EXPECT_EQ(credential.error().offset, 28U);
  const auto verifier = decode_call(call_head().words({0, 0}).word(1).opaque(401).octets());
  ASSERT_FALSE(verifier);
  EXPECT_EQ(verifier.error().fault, Fault::invalid);
  EXPECT_EQ(verifier.error().field, "verifier");
  // A length that no addition may wrap.
  const Octets hostile = call_head().words({1, 0xFFFFFFFF}).octets();
  EXPECT_EQ(decode_rpc_call(hostile, 1'000'000).error().fault, Fault::invalid);
}

TEST(RpcCall, OtherThanACallOfVersion2IsInvalid) {
  EXPECT_EQ(decode_call(Encoder().words({xid, 1, 2, 1, 1, 1, 0, 0, 0, 0}).octets()).error().field, "message type");
  EXPECT_EQ(decode_call(Encoder().words({xid, 0, 3, 1, 1, 1, 0, 0, 0, 0}).octets()).error().field, "rpc version");
  // Known to be wrong although the rest was not captured.
  EXPECT_EQ(decode_rpc_call(Encoder().words({xid, 1}).octets(), 100).error().fault, Fault::invalid);
}

TEST(RpcCall, CutAtEveryLength) {
  expect_cut_at_every_length(call_head().words({0, 0, 0, 0}).octets(), as_call);
  expect_cut_at_every_length(call_head().word(1).opaque(29).word(0).opaque(3).octets(), as_call);
  expect_cut_at_every_length(call_head().words({flavor_gss, 20, 1, 0, 9, 2, 0}).word(flavor_gss).opaque(28).octets(),
                             as_call);
}

TEST(RpcCall, EncodedThenDecoded) {
  EXPECT_TRUE(rc::check(
      "what is encoded is decoded", [](std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
        const auto flavor = *rc::gen::arbitrary<std::uint32_t>();
        const auto credential = *rc::gen::inRange<std::size_t>(0, 401);
        const auto verifier = *rc::gen::inRange<std::size_t>(0, 401);
        const auto e = call_head(program, version, procedure).word(flavor).opaque(credential).word(0).opaque(verifier);
        const auto call = decode_call(Encoder(e).fill(*rc::gen::inRange<std::size_t>(0, 20)).octets());
        RC_ASSERT(call.has_value());
        RC_ASSERT(call->program == program && call->version == version && call->procedure == procedure);
        RC_ASSERT(call->flavor == flavor);
        RC_ASSERT(call->body == e.size());
      }));
}

TEST(RpcReply, AcceptedWithEachStatus) {
  for (std::uint32_t status = 0; status <= 5; ++status) {
    const auto reply = decode_reply(Encoder().words({xid, 1, 0, 6}).opaque(6).word(status).octets());
    ASSERT_TRUE(reply) << status;
    EXPECT_EQ(reply->xid, xid);
    EXPECT_TRUE(reply->accepted);
    EXPECT_EQ(reply->status, status);
    EXPECT_EQ(reply->flavor, 6U);
    EXPECT_EQ(reply->body, 32U);
  }
}

TEST(RpcReply, Denied) {
  const auto mismatch = decode_reply(Encoder().words({xid, 1, 1, 0, 2, 2}).octets());
  ASSERT_TRUE(mismatch);
  EXPECT_FALSE(mismatch->accepted);
  EXPECT_EQ(mismatch->status, 0U);
  EXPECT_EQ(mismatch->body, 16U);
  const auto auth = decode_reply(Encoder().words({xid, 1, 1, 1, 13}).octets());
  ASSERT_TRUE(auth);
  EXPECT_FALSE(auth->accepted);
  EXPECT_EQ(auth->status, 1U);
}

TEST(RpcReply, ValuesThatDoNotExist) {
  EXPECT_EQ(decode_reply(Encoder().words({xid, 0, 0, 0, 0, 0}).octets()).error().field, "message type");
  EXPECT_EQ(decode_reply(Encoder().words({xid, 1, 2, 0, 0, 0}).octets()).error().field, "reply status");
  const auto status = decode_reply(Encoder().words({xid, 1, 0, 0, 0, 6}).octets());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().field, "status");
  EXPECT_EQ(status.error().fault, Fault::invalid);
  EXPECT_EQ(status.error().offset, 20U);
  EXPECT_EQ(decode_reply(Encoder().words({xid, 1, 1, 2}).octets()).error().field, "status");
  EXPECT_EQ(decode_reply(Encoder().words({xid, 1, 0, 0}).opaque(401).word(0).octets()).error().field, "verifier");
}

TEST(RpcReply, CutAtEveryLength) {
  expect_cut_at_every_length(Encoder().words({xid, 1, 0, 0, 0, 0}).octets(), as_reply);
  expect_cut_at_every_length(Encoder().words({xid, 1, 0, 6}).opaque(37).word(0).octets(), as_reply);
  expect_cut_at_every_length(Encoder().words({xid, 1, 1, 1}).octets(), as_reply);
}

TEST(CallbackProgram, IsTheTransientRange) {
  EXPECT_TRUE(callback_program(0x40000000));
  EXPECT_TRUE(callback_program(0x5FFFFFFF));
  EXPECT_FALSE(callback_program(0x3FFFFFFF));
  EXPECT_FALSE(callback_program(0x60000000));
  EXPECT_FALSE(callback_program(100003));
}

struct Named {
  std::uint32_t program;
  std::uint32_t version;
  std::uint32_t procedure;
  const char* name;
};

TEST(Names, OfProcedures) {
  for (const Named& n : std::vector<Named>{
           {100003, 2, 6, "NFSv2 READ"},
           {100003, 2, 17, "NFSv2 STATFS"},
           {100003, 3, 0, "NFSv3 NULL"},
           {100003, 3, 6, "NFSv3 READ"},
           {100003, 3, 7, "NFSv3 WRITE"},
           {100003, 3, 17, "NFSv3 READDIRPLUS"},
           {100003, 3, 21, "NFSv3 COMMIT"},
           {100003, 4, 0, "NFSv4 NULL"},
           {100003, 4, 1, "NFSv4 COMPOUND"},
           {0x40000000, 1, 0, "NFSv4 CB_NULL"},
           {0x40000000, 1, 1, "NFSv4 CB_COMPOUND"},
           {100227, 3, 1, "NFSACLv3 GETACL"},
           {100227, 3, 2, "NFSACLv3 SETACL"},
           {100227, 2, 4, "NFSACLv2 ACCESS"},
           {100005, 3, 1, "MOUNTv3 MNT"},
           {100005, 1, 6, "MOUNTv1 EXPORTALL"},
           {100005, 2, 7, "MOUNTv2 PATHCONF"},
           {100021, 4, 2, "NLMv4 LOCK"},
           {100021, 4, 15, "NLMv4 GRANTED_RES"},
           {100021, 3, 20, "NLMv3 SHARE"},
           {100021, 4, 23, "NLMv4 FREE_ALL"},
           {100024, 1, 6, "NSMv1 NOTIFY"},
           {100000, 2, 3, "PORTMAPv2 GETPORT"},
           {100000, 3, 3, "RPCBINDv3 GETADDR"},
           {100000, 4, 12, "RPCBINDv4 GETSTAT"},
           {400000, 1, 3, "program 400000 version 1 procedure 3"},
           {100003, 3, 22, "program 100003 version 3 procedure 22"},
           {100003, 5, 1, "program 100003 version 5 procedure 1"},
           {100005, 3, 6, "program 100005 version 3 procedure 6"},
           {100021, 4, 16, "program 100021 version 4 procedure 16"},
           {100021, 1, 20, "program 100021 version 1 procedure 20"},
           {0x40000000, 1, 2, "program 1073741824 version 1 procedure 2"},
           {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "program 4294967295 version 4294967295 procedure 4294967295"},
       }) {
    EXPECT_EQ(procedure_name(n.program, n.version, n.procedure), n.name);
  }
}

}  // namespace
}  // namespace rpcrdma::wire
