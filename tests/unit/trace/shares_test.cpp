// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/shares.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

namespace rpcrdma::trace {
namespace {

Address address(Address::Kind kind, std::vector<std::uint8_t> octets) {
  Address a;
  a.kind = kind;
  std::copy(octets.begin(), octets.end(), a.octets.begin());
  return a;
}
Address ipv4(std::uint8_t last) { return address(Address::Kind::ipv4, {192, 0, 2, last}); }
Address mapped(std::uint8_t last) {
  return address(Address::Kind::gid, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, last});
}

IbPacket packet(const Address& source, const Address& destination) {
  IbPacket p;
  p.source = source;
  p.destination = destination;
  return p;
}
TcpSegment segment(const Address& source, const Address& destination, std::string_view payload = {}) {
  TcpSegment s;
  s.source = source;
  s.destination = destination;
  s.source_port = 1000;
  s.destination_port = 20050;
  s.payload = {reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
  return s;
}

TEST(Shares, BothDirectionsAndBothTransportsOfAPairAreOfOneShare) {
  Shares shares;
  const std::size_t share = shares.of(packet(ipv4(1), ipv4(2)));
  EXPECT_EQ(shares.of(packet(ipv4(2), ipv4(1))), share);
  EXPECT_EQ(shares.of(segment(ipv4(2), ipv4(1))), share);
  EXPECT_EQ(shares.of(packet(mapped(1), mapped(2))), share);
  Address elsewhere = ipv4(1);
  elsewhere.network = 3;
  EXPECT_EQ(shares.of(packet(ipv4(2), elsewhere)), share);
}

TEST(Shares, NewPairsAreSharedOutInTurnAndStayWhereTheyAre) {
  Shares shares;
  for (std::size_t i = 0; i < 3 * Shares::count; ++i) {
    EXPECT_EQ(shares.of(packet(ipv4(1), ipv4(static_cast<std::uint8_t>(10 + i)))), i % Shares::count);
  }
  for (std::size_t i = 3 * Shares::count; i-- > 0;) {
    EXPECT_EQ(shares.of(packet(ipv4(static_cast<std::uint8_t>(10 + i)), ipv4(1))), i % Shares::count);
  }
}

TEST(Shares, AServiceIsTheOneThatIsAskedAndToldOnce) {
  struct Case {
    std::string_view payload;
    std::uint16_t port;  ///< 0: none
  };
  for (const Case& each : {Case{"MPA ID Req Frame\0\1\0\0", 20050}, Case{"MPA ID Rep Frame\0\1\0\0", 1000},
                           Case{"MPA ID Req", 0}, Case{"GET / HTTP/1.1\r\n\r\n", 0}, Case{"", 0}}) {
    Shares shares;
    const auto service = shares.service(segment(ipv4(1), ipv4(2), each.payload));
    ASSERT_EQ(service.has_value(), each.port != 0) << each.payload;
    if (!service) continue;
    EXPECT_EQ(service->port, each.port);
    EXPECT_EQ(service->address, each.port == 20050 ? ipv4(2) : ipv4(1));
    EXPECT_FALSE(shares.service(segment(ipv4(1), ipv4(2), each.payload)));
  }
}

}  // namespace
}  // namespace rpcrdma::trace
