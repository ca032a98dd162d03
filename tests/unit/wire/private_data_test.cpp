// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/private_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <initializer_list>
#include <vector>

#include "encoder.hpp"

namespace rpcrdma::wire {
namespace {

using Octets = std::vector<std::uint8_t>;
using testing::Optional;

const Octets linux_client{0xF6, 0xAB, 0x0E, 0x18, 0x01, 0x01, 0x03, 0x03};
const Octets linux_server{0xF6, 0xAB, 0x0E, 0x18, 0x01, 0x00, 0x03, 0x03};

Octets area(std::size_t before, const Octets& block, std::size_t after, std::uint8_t filler = 0) {
  Octets octets(before, filler);
  octets.insert(octets.end(), block.begin(), block.end());
  octets.insert(octets.end(), after, filler);
  return octets;
}

Octets join(std::initializer_list<Octets> parts) {
  Octets all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

PrivateDataSearch search(const Octets& octets) { return find_private_data(octets, octets.size()); }

TEST(PrivateData, LinuxClientAndServer) {
  const auto client = search(linux_client);
  ASSERT_TRUE(client.found);
  EXPECT_EQ(client.found->offset, 0U);
  EXPECT_EQ(client.found->version, 1U);
  EXPECT_EQ(client.found->reserved, 0U);
  EXPECT_TRUE(client.found->remote_invalidation);
  EXPECT_EQ(client.found->send_size, 4096U);
  EXPECT_EQ(client.found->receive_size, 4096U);
  EXPECT_FALSE(client.cut_by_capture);
  EXPECT_FALSE(client.duplicate_offset || client.truncated_offset || client.unknown_version_offset);

  const auto server = search(linux_server);
  ASSERT_TRUE(server.found);
  EXPECT_FALSE(server.found->remote_invalidation);
}

TEST(PrivateData, SizesReachFromOneToTwoHundredFiftySixKibioctets) {
  const auto found = search({0xF6, 0xAB, 0x0E, 0x18, 0x01, 0x00, 0x00, 0xFF}).found;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->send_size, 1024U);
  EXPECT_EQ(found->receive_size, 262144U);
}

TEST(PrivateData, ReservedFlagsAreKeptApartFromR) {
  const auto found = search({0xF6, 0xAB, 0x0E, 0x18, 0x01, 0xFE, 0x03, 0x03}).found;
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->remote_invalidation);
  EXPECT_EQ(found->reserved, 0xFEU);
  const auto all = search({0xF6, 0xAB, 0x0E, 0x18, 0x01, 0xFF, 0x03, 0x03}).found;
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->remote_invalidation);
  EXPECT_EQ(all->reserved, 0xFEU);
}

TEST(PrivateData, FoundAtEveryOffset) {
  for (std::size_t before = 0; before <= 88; ++before) {
    const auto result = search(area(before, linux_client, 9, 0xF6));
    ASSERT_TRUE(result.found) << before;
    EXPECT_EQ(result.found->offset, before);
  }
}

TEST(PrivateData, AbsentInZerosInNothingAndBesideAWrongIdentifier) {
  for (const Octets& octets : {Octets{}, Octets(3, 0xF6), Octets(196, 0), Octets(92, 0xF6),
                               Octets{0xF6, 0xAB, 0x0E, 0x19, 0x01, 0x01, 0x03, 0x03}}) {
    const auto result = search(octets);
    EXPECT_FALSE(result.found || result.truncated_offset || result.unknown_version_offset || result.duplicate_offset);
    EXPECT_FALSE(result.cut_by_capture);
  }
}

TEST(PrivateData, UnknownVersionDoesNotEndTheSearch) {
  const Octets version2{0xF6, 0xAB, 0x0E, 0x18, 0x02, 0x01, 0x03, 0x03};
  const auto alone = search(area(4, version2, 20));
  EXPECT_FALSE(alone.found);
  EXPECT_THAT(alone.unknown_version_offset, Optional(4U));
  EXPECT_EQ(alone.unknown_version, 2U);

  const auto followed = search(join({version2, area(1, linux_client, 1)}));
  EXPECT_THAT(followed.unknown_version_offset, Optional(0U));
  ASSERT_TRUE(followed.found);
  EXPECT_EQ(followed.found->offset, 9U);
}

TEST(PrivateData, FirstOfEachKindIsKept) {
  const Octets version3{0xF6, 0xAB, 0x0E, 0x18, 0x03, 0x01, 0x03, 0x03};
  const Octets version4{0xF6, 0xAB, 0x0E, 0x18, 0x04, 0x01, 0x03, 0x03};
  const auto result = search(join({version3, version4, linux_client, linux_server, linux_server}));
  EXPECT_THAT(result.unknown_version_offset, Optional(0U));
  EXPECT_EQ(result.unknown_version, 3U);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->offset, 16U);
  EXPECT_TRUE(result.found->remote_invalidation);
  EXPECT_THAT(result.duplicate_offset, Optional(24U));
}

TEST(PrivateData, WhatABlockContainsIsNotAnotherBlock) {
  // Flags, sizes and the octet behind them spell the identifier.
  const auto result = search({0xF6, 0xAB, 0x0E, 0x18, 0x01, 0xF6, 0xAB, 0x0E, 0x18, 0x01, 0x00, 0x03, 0x03});
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->offset, 0U);
  EXPECT_FALSE(result.duplicate_offset);
}

TEST(PrivateData, SenderCutsTheBlock) {
  for (std::size_t length = 4; length < 8; ++length) {
    const auto result = search(area(3, test::prefix(linux_client, length), 0));
    EXPECT_FALSE(result.found);
    EXPECT_THAT(result.truncated_offset, Optional(3U)) << length;
    EXPECT_FALSE(result.unknown_version_offset);
    EXPECT_FALSE(result.cut_by_capture);
  }
}

TEST(PrivateData, PaddingOfInfiniBandMakesACutBlockLookWhole) {
  const auto six = search(area(0, test::prefix(linux_client, 6), 50));
  ASSERT_TRUE(six.found);
  EXPECT_EQ(six.found->send_size, 1024U);
  EXPECT_EQ(six.found->receive_size, 1024U);
  const auto four = search(area(0, test::prefix(linux_client, 4), 52));
  EXPECT_FALSE(four.found);
  EXPECT_THAT(four.unknown_version_offset, Optional(0U));
  EXPECT_EQ(four.unknown_version, 0U);
}

TEST(PrivateData, CaptureCutsTheAreaAtEveryLength) {
  const Octets whole = area(10, linux_client, 38);
  for (std::size_t captured = 0; captured <= whole.size(); ++captured) {
    const auto part = test::prefix(whole, captured);
    const auto result = find_private_data(part, whole.size());
    EXPECT_EQ(result.cut_by_capture, captured < whole.size()) << captured;
    EXPECT_EQ(result.found.has_value(), captured >= 18) << captured;
    EXPECT_FALSE(result.truncated_offset) << "nobody sent a short block, the capture is short: " << captured;
    EXPECT_FALSE(result.unknown_version_offset) << captured;
  }
}

TEST(PrivateData, EncodedThenFound) {
  EXPECT_TRUE(rc::check("what is encoded is found", [](std::uint8_t flags, std::uint8_t send, std::uint8_t receive) {
    const auto before = *rc::gen::inRange<std::size_t>(0, 60);
    const auto after = *rc::gen::inRange<std::size_t>(0, 60);
    const auto result = search(area(before, {0xF6, 0xAB, 0x0E, 0x18, 1, flags, send, receive}, after, 0xAB));
    RC_ASSERT(result.found.has_value());
    RC_ASSERT(result.found->offset == before);
    RC_ASSERT(result.found->remote_invalidation == ((flags & 1U) != 0));
    RC_ASSERT(result.found->reserved == (flags & 0xFEU));
    RC_ASSERT(result.found->send_size == 1024U * (1U + send));
    RC_ASSERT(result.found->receive_size == 1024U * (1U + receive));
    RC_ASSERT(!result.duplicate_offset.has_value());
  }));
}

}  // namespace
}  // namespace rpcrdma::wire
