// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/crc32c.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "octets.hpp"

namespace rpcrdma::test {
namespace {

struct Vector {
  const char* name;
  Octets octets;
  Octets on_the_wire;
};

Octets counting(bool up) {
  Octets out;
  for (int i = 0; i < 32; ++i) out.push_back(static_cast<std::uint8_t>(up ? i : 31 - i));
  return out;
}

// RFC 3720 appendix B.4, and the usual check value.
const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all{
      {"zeros", filled(32, 0x00), hex("aa36918a")},
      {"ones", filled(32, 0xFF), hex("43aba862")},
      {"up", counting(true), hex("4e79dd46")},
      {"down", counting(false), hex("5cdb3f11")},
      {"read10",
       hex("01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018"
           "28000000 00000000 02000000 00000000"),
       hex("563a96d9")},
      {"check", text("123456789"), hex("839206e3")},
      {"empty", {}, hex("00000000")},
  };
  return all;
}

TEST(Crc32c, KnownValues) {
  for (const auto& v : vectors()) {
    EXPECT_EQ(wire::crc32c(v.octets), wire::load_le32(v.on_the_wire.data())) << v.name;
  }
}

RC_GTEST_PROP(Crc32c, PiecesGiveTheSameAsTheWhole, (const Octets& a, const Octets& b)) {
  RC_ASSERT(wire::crc32c(a + b) == wire::crc32c(b, wire::crc32c(a)));
}

RC_GTEST_PROP(Crc32c, OneChangedBitIsSeen, (const Octets& octets, std::uint32_t bit)) {
  RC_PRE(!octets.empty());
  Octets other = octets;
  other[bit / 8 % other.size()] ^= static_cast<std::uint8_t>(1U << bit % 8);
  RC_ASSERT(wire::crc32c(octets) != wire::crc32c(other));
}

}  // namespace
}  // namespace rpcrdma::test
