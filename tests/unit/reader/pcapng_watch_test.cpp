// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcapng_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "capture_writer.hpp"

namespace rpcrdma::reader::test {
namespace {

bool uncounted(const Octets& octets, std::size_t piece) {
  PcapngWatch watch;
  for (std::size_t at = 0; at < octets.size(); at += piece) {
    watch.see({octets.data() + at, std::min(piece, octets.size() - at)});
  }
  return watch.uncounted_block();
}

TEST(PcapngWatch, FindsWhatLibpcapWouldNotCountHoweverTheOctetsArrive) {
  for (const Order order : {Order::little, Order::big}) {
    for (const std::uint32_t type : {9U, 0xbadU, 0x40000badU, 0x201U, 0x12345678U}) {
      Pcapng plain(order);
      plain.section()
          .interface(1)
          .packet(0, 1, payload(61, 1))
          .block(5, payload(12, 1))
          .block(4, {})
          .block(10, payload(9, 1));
      Pcapng odd = plain;
      odd.block(type, payload(8, 1)).packet(0, 2, payload(5, 1));
      plain.packet(0, 2, payload(5, 1));
      for (std::size_t piece = 1; piece <= odd.file.octets.size(); ++piece) {
        ASSERT_FALSE(uncounted(plain.file.octets, piece)) << piece;
        ASSERT_TRUE(uncounted(odd.file.octets, piece)) << piece;
      }
    }
  }
}

TEST(PcapngWatch, StopsWhereLengthsMakeNoSense) {
  Pcapng file;
  file.section().interface(1);
  Octets octets = file.file.octets;
  const Octets bad = Writer(Order::little).u32(6).u32(10).u32(0xbad).u32(0xbad).u32(12).u32(0xbad).out;
  octets.insert(octets.end(), bad.begin(), bad.end());
  EXPECT_FALSE(uncounted(octets, 3));
}

TEST(PcapngWatch, NamesTheBlockThatDoesNotEnd) {
  Pcapng writer;
  writer.section().interface(1).block(0xbad, payload(16, 1)).packet(0, 1, payload(61, 1));
  const File& file = writer.file;
  for (std::size_t length = 1; length <= file.octets.size(); ++length) {
    PcapngWatch watch;
    watch.see({file.octets.data(), length});
    std::optional<std::uint64_t> want;
    for (const std::size_t start : file.starts) {
      if (start < length) {
        want = start;
      }
    }
    if (length == file.octets.size() ||
        std::find(file.starts.begin(), file.starts.end(), length) != file.starts.end()) {
      want.reset();
    }
    ASSERT_EQ(watch.broken_block(), want) << length;
  }
}

}  // namespace
}  // namespace rpcrdma::reader::test
