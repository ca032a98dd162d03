// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/ordinary.hpp"

#include <gtest/gtest.h>

#include <set>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

using trace::Address;
using trace::iwarp::Ends;
using trace::iwarp::OrdinaryTcp;

/// Of so many streams that differ in one octet, hardly any two share a place: 256 of 16,384 meet twice by chance.
TEST(OrdinaryTcp, WhateverOctetDiffersTheStreamsHavePlacesOfTheirOwn) {
  for (const auto kind : {Address::Kind::ipv4, Address::Kind::ipv6}) {
    for (std::size_t end = 0; end < 2; ++end) {
      for (std::size_t at = 0; at < (kind == Address::Kind::ipv4 ? 4U : 16U); ++at) {
        std::set<std::uint64_t> places;
        for (unsigned value = 0; value < 256; ++value) {
          Ends ends;
          ends.port = {20050, 50000};
          for (Address& address : ends.address) {
            address.kind = kind;
            address.octets[0] = 0xfd;
          }
          ends.address[end].octets[at] = static_cast<std::uint8_t>(value);
          places.insert(OrdinaryTcp::hash_of(ends) % 16384);
        }
        EXPECT_GT(places.size(), 230U) << "octet " << at << " of end " << end;
      }
    }
  }
}

/// Its second segment tells what a stream is, where nothing has pushed it out since the first.
TEST(OrdinaryTcp, TwoStreamsOfOnePlaceAreBothFollowed) {
  trace::iwarp::PlainNfs plain;
  OrdinaryTcp table(plain);
  Direction server;
  Octets replies(7, 0xFF);  // the end of an FPDU: what follows is found by looking inside
  for (std::uint32_t i = 1; i < 10; ++i) {
    const Octets reply = server.fpdu(send_ulpdu(i, 0, true, rpc_reply(i)));
    replies.insert(replies.end(), reply.begin(), reply.end());
  }
  trace::TcpSegment segment;
  segment.flags = trace::TcpSegment::ack;
  segment.payload = replies;
  segment.wire_length = static_cast<std::uint32_t>(replies.size());
  trace::iwarp::TcpOpening opening;
  constexpr std::uint64_t one = 5;
  constexpr std::uint64_t other = one + (1U << 20U);
  for (const std::uint64_t stream : {one, other}) {
    ++segment.ref.number;
    EXPECT_FALSE(table.worth_a_look(stream, 0, segment, false, opening));
  }
  segment.sequence += segment.wire_length;
  for (const std::uint64_t stream : {one, other}) {
    ++segment.ref.number;
    EXPECT_TRUE(table.worth_a_look(stream, 0, segment, false, opening)) << stream;
  }
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
