// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a run of octets an FPDU may begin.
#include "trace/iwarp/alignment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../../wire/octets.hpp"

namespace rpcrdma::test {
namespace {

// RFC 5040 section 4.1, RFC 5041 sections 4.1 to 4.3: a Send of 50 octets, last segment.
const Octets& head() {
  static const Octets octets = hex("0032 41 43");
  return octets;
}

TEST(FirstPlausible, WhereverItStands) {
  for (const std::uint8_t rest :
       std::initializer_list<std::uint8_t>{0x00, 0xFF, 0x80}) {  // none of them can be in a head of its own
    for (std::size_t size = 0; size < 64; ++size) {
      EXPECT_EQ(trace::iwarp::first_plausible(filled(size, rest)), size);
      for (std::size_t at = 0; at + head().size() <= size; ++at) {
        const Octets octets = filled(at, rest) + head() + filled(size - at - head().size(), rest);
        EXPECT_EQ(trace::iwarp::first_plausible(octets), at) << size;
      }
    }
  }
}

RC_GTEST_PROP(FirstPlausible, TheFirstFourThatAreOne, ()) {
  // Octets out of which heads are made, so that there are many.
  const auto octets =
      *rc::gen::container<Octets>(rc::gen::element<std::uint8_t>(0, 1, 0x10, 0x40, 0x41, 0x43, 0x81, 0xC1));
  std::size_t expected = octets.size();
  for (std::size_t i = 0; i + 4 <= octets.size() && expected == octets.size(); ++i) {
    if (trace::iwarp::first_plausible(wire::Bytes(octets).subspan(i, 4)) == 0) expected = i;
  }
  RC_ASSERT(trace::iwarp::first_plausible(octets) == expected);
}

}  // namespace
}  // namespace rpcrdma::test
