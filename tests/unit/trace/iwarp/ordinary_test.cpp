// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/ordinary.hpp"

#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace rpcrdma::iwarp_test
