// SPDX-License-Identifier: GPL-2.0-or-later
// NFS over TCP that is beside NFS over RDMA, or instead of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using testing::IsEmpty;

void put_word(Octets& out, std::uint32_t v) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out.push_back(static_cast<std::uint8_t>(v >> shift));
}

/// RFC 5531 section 11: a record mark, then the message.
Octets rpc_record(std::initializer_list<std::uint32_t> message) {
  Octets out;
  put_word(out, 0x80000000U | static_cast<std::uint32_t>(4 * message.size()));
  for (const std::uint32_t v : message) put_word(out, v);
  return out;
}
Octets plain_call(std::uint32_t program = 100003, std::uint32_t procedure = 1) {
  return rpc_record({7, 0, 2, program, 4, procedure, 0, 0, 0, 0});
}
Octets plain_reply() { return rpc_record({7, 1, 0, 0, 0, 0}); }

RunOptions to_port(std::uint16_t number) {
  RunOptions options;
  options.server_port = number;
  return options;
}

TEST(PlainNfs, IsCounted) {
  const Story story{{true, plain_call()}, {false, plain_reply()}, {true, pattern(100, 1)}, {true, {}, 0x11}};
  const Recorder got = run(story, to_port(2049));
  ASSERT_EQ(got.nfs_over_tcp.size(), 1U);
  const auto& told = got.nfs_over_tcp[0];
  EXPECT_EQ(told.client.address, "192.0.2.2");
  EXPECT_EQ(told.server.address, "192.0.2.1");
  EXPECT_EQ(told.server.port, 2049);
  EXPECT_EQ(told.frame.number, 4U);
  EXPECT_EQ(told.frames, 3U);
  EXPECT_EQ(told.connection, 0U);
  EXPECT_THAT(got.lines, IsEmpty());
}

TEST(PlainNfs, InTheMiddleOfAStream) {
  TcpOptions tcp;
  tcp.syn = false;
  const Story call{{true, plain_call()}, {false, plain_reply()}};
  EXPECT_EQ(run(segments_of(call, tcp), to_port(2049)).nfs_over_tcp.at(0).frames, 2U);
  Story reply;
  for (int i = 0; i < 10; ++i) reply.push_back({false, plain_reply()});
  const Recorder got = run(segments_of(reply, tcp), to_port(2049));
  ASSERT_EQ(got.nfs_over_tcp.size(), 1U);
  EXPECT_EQ(got.nfs_over_tcp[0].server.address, "192.0.2.1");
  EXPECT_EQ(got.nfs_over_tcp[0].frames, 10U);
}

// NULL sets up a security context, for NFS over RDMA as well, or asks whether anybody is there.
TEST(PlainNfs, NullAloneUsesNothing) {
  Story story{{true, plain_call(100003, 0)}, {false, plain_reply()}};
  EXPECT_THAT(run(story, to_port(2049)).nfs_over_tcp, IsEmpty());
  EXPECT_THAT(run(story).nfs_over_tcp, IsEmpty());
  for (int i = 0; i < 20; ++i) story.push_back({i % 2 == 0, story[i % 2 == 0 ? 0 : 1].octets});
  EXPECT_THAT(run(story, to_port(2049)).nfs_over_tcp, IsEmpty());
  story.push_back({true, plain_call()});
  EXPECT_EQ(run(story, to_port(2049)).nfs_over_tcp.at(0).frames, 23U);
}

TEST(PlainNfs, OnAServicePortWhenItIsNotMpa) {
  const Story story{{true, plain_call()}, {false, plain_reply()}, {true, plain_call()}};
  const Recorder got = run(story);
  ASSERT_EQ(got.nfs_over_tcp.size(), 1U);
  EXPECT_EQ(got.nfs_over_tcp[0].frames, 3U);
  EXPECT_EQ(got.nfs_over_tcp[0].frame.number, 4U);
  // Without the beginning it takes until the end of the capture to be sure.
  TcpOptions tcp;
  tcp.syn = false;
  const Recorder late = run(segments_of(story, tcp));
  ASSERT_EQ(late.nfs_over_tcp.size(), 1U);
  EXPECT_EQ(late.nfs_over_tcp[0].frames, 3U);
  EXPECT_EQ(late.nfs_over_tcp[0].frame.number, 1U);
}

TEST(PlainNfs, SomethingElseIsNot) {
  EXPECT_THAT(run(Story{{true, plain_call(100005)}}, to_port(2049)).nfs_over_tcp, IsEmpty());  // MOUNT
  EXPECT_THAT(run(Story{{true, plain_call()}}, to_port(8080)).nfs_over_tcp, IsEmpty());        // another port
  EXPECT_THAT(run(Story{{true, pattern(200, 1)}, {true, plain_call()}}, to_port(2049)).nfs_over_tcp, IsEmpty());
  EXPECT_THAT(run(full_story({})).nfs_over_tcp, IsEmpty());
  EXPECT_THAT(run(full_story({}), to_port(2049)).nfs_over_tcp, IsEmpty());
}

TEST(PlainNfs, AllConnectionsOfAPairAreOne) {
  auto segments = segments_of(Story{{true, plain_call()}, {false, plain_reply()}});
  TcpOptions tcp;
  tcp.client_isn = 77'000'000;
  const auto more = segments_of(Story{{true, plain_call()}}, tcp);
  segments.insert(segments.end(), more.begin(), more.end());
  const Recorder got = run(segments, to_port(2049));
  ASSERT_EQ(got.nfs_over_tcp.size(), 1U);
  EXPECT_EQ(got.nfs_over_tcp[0].frames, 3U);
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
