// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/crc32c.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "octets.hpp"
#include "wire/vector_registers.hpp"

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

#if defined(__x86_64__)

// XGETBV with 1 in ECX (Intel SDM volume 1, section 13.3): which parts of the registers are not as they begin.
bool tells_parts_in_use() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  return __get_cpuid_count(0xD, 1, &a, &b, &c, &d) != 0 && (a & 4U) != 0;
}

[[gnu::target("xsave"), gnu::noinline]] bool upper_parts_in_use() {
  constexpr unsigned avx_and_zmm_hi256 = 0x44;
  return (static_cast<unsigned>(_xgetbv(1)) & avx_and_zmm_hi256) != 0;
}

// With them in use Wireshark took a fifth more time, and nothing in a profile by function said why.
TEST(Crc32c, LeavesNoUpperPartOfAVectorRegisterInUse) {
  if (!tells_parts_in_use()) GTEST_SKIP() << "this processor does not tell";
  const Octets octets = filled(65536, 0x5A);
  wire::clear_upper_vectors();
  if (upper_parts_in_use()) GTEST_SKIP() << "not clean before either";
  const std::uint32_t crc = wire::crc32c(octets);
  const bool in_use = upper_parts_in_use();
  EXPECT_FALSE(in_use) << crc;
}

#endif

}  // namespace
}  // namespace rpcrdma::test
