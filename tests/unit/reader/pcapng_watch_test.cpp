// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcapng_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "capture_writer.hpp"

namespace rpcrdma::reader::test {
namespace {

bool unfit(const Octets& octets, std::size_t piece) {
  PcapngWatch watch;
  for (std::size_t at = 0; at < octets.size(); at += piece) {
    watch.see({octets.data() + at, std::min(piece, octets.size() - at)});
  }
  return watch.unfit_for_libpcap();
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
        ASSERT_FALSE(unfit(plain.file.octets, piece)) << piece;
        ASSERT_TRUE(unfit(odd.file.octets, piece)) << piece;
      }
    }
  }
}

Octets option(Order order, std::uint32_t code, const Octets& value) {
  Writer w(order);
  w.u16(code).u16(value.size()).octets(value);
  w.out.resize((w.out.size() + 3) / 4 * 4);
  return w.out;
}

/// An interface with these options, and a packet of each kind.
Octets with_interface(Order order, std::uint32_t link, const Octets& options, bool second) {
  Pcapng file(order);
  file.section();
  if (second) file.interface(1, 9);
  file.block(1, Writer(order).u16(link).u16(0).u32(0).octets(options).out);
  file.packet(0, 1, payload(61, 1)).block(3, Writer(order).u32(4).u32(0).out);
  return file.file.octets;
}

TEST(PcapngWatch, FindsOptionsOfInterfacesThatLibpcapDoesNotHeed) {
  for (const Order order : {Order::little, Order::big}) {
    const Octets name = option(order, 2, {'a', 'b', 'c', 'd', 'e'});
    const Octets end = option(order, 0, {});
    struct Case {
      const char* name;
      Octets options;
      std::uint32_t link;
      bool second;
      bool unfit;
    };
    const auto joined = [](std::initializer_list<Octets> all) {
      Octets out;
      for (const Octets& one : all) out.insert(out.end(), one.begin(), one.end());
      return out;
    };
    const Octets fcs = option(order, 13, {32});
    const Octets offset = option(order, 14, Octets(8, 1));
    const Octets absurd = Writer(order).u16(2).u16(0xfffe).out;
    for (const Case& c : {Case{"none", {}, 1, false, false}, Case{"name", joined({name, end}), 1, false, false},
                          Case{"check sequence", joined({name, fcs, end}), 1, false, true},
                          Case{"check sequence, no end", fcs, 1, false, true},
                          Case{"check sequence, second interface", fcs, 1, true, true},
                          Case{"check sequence behind the end", joined({end, fcs}), 1, false, false},
                          Case{"check sequence behind what is too long", joined({absurd, fcs}), 1, false, false},
                          Case{"check sequence, not Ethernet", fcs, 247, false, false},
                          Case{"offset and a simple packet", joined({offset, end}), 101, false, true},
                          Case{"offset of another interface", joined({offset, end}), 1, true, false}}) {
      const Octets octets = with_interface(order, c.link, c.options, c.second);
      for (std::size_t piece = 1; piece <= octets.size(); ++piece) {
        ASSERT_EQ(unfit(octets, piece), c.unfit) << c.name << " " << piece;
      }
      // What an offset says of one section, it does not say of the next.
      Octets more = octets;
      Pcapng next(order);
      next.section().interface(1).block(3, Writer(order).u32(4).u32(0).out);
      more.insert(more.end(), next.file.octets.begin(), next.file.octets.end());
      ASSERT_EQ(unfit(more, 64), c.unfit) << c.name;
    }
  }
}

TEST(PcapngWatch, StopsWhereLengthsMakeNoSense) {
  Pcapng file;
  file.section().interface(1);
  Octets octets = file.file.octets;
  const Octets bad = Writer(Order::little).u32(6).u32(10).u32(0xbad).u32(0xbad).u32(12).u32(0xbad).out;
  octets.insert(octets.end(), bad.begin(), bad.end());
  EXPECT_FALSE(unfit(octets, 3));
}

TEST(PcapngWatch, NamesTheFirstBlockThatContradictsItselfHoweverTheOctetsArrive) {
  for (const Order order : {Order::little, Order::big}) {
    const Octets beyond = Writer(order).u16(1).u16(5).u32(0).out;
    const Octets end = option(order, 0, {});
    struct Case {
      const char* name;
      std::uint32_t type;
      Octets body;
      bool defect;
    };
    const auto name = [order](std::uint64_t type, std::uint64_t length, const Octets& value) {
      return Writer(order).u16(type).u16(length).octets(value).u32(0).out;
    };
    for (const Case& c :
         {Case{"statistics", 5, Writer(order).u32(0).u64(0).octets(end).out, false},
          Case{"statistics without options", 5, Writer(order).u32(0).u64(0).out, false},
          Case{"half of statistics", 5, Writer(order).u32(0).u32(0).out, true},
          Case{"an option beyond", 5, Writer(order).u32(0).u64(0).octets(beyond).out, true},
          Case{"an option behind the end", 5, Writer(order).u32(0).u64(0).octets(end).octets(beyond).out, false},
          Case{"a name", 4, name(1, 6, {10, 0, 0, 1, 'a', 0, 0, 0}), false},
          Case{"a name of full words", 4, name(1, 8, {10, 0, 0, 1, 'a', 'b', 'c', 0}), false},
          Case{"a name without an end", 4, name(1, 6, {10, 0, 0, 1, 'a', 'b', 0, 0}), true},
          Case{"no name", 4, name(1, 4, {10, 0, 0, 1}), true},
          Case{"a name beyond", 4, name(1, 9, {10, 0, 0, 1}), true},
          Case{"a name of another kind", 4, name(7, 2, {'a', 'b', 0, 0}), false}, Case{"nothing", 4, {}, false},
          Case{"secrets", 10, Writer(order).u32(1).u32(3).octets(payload(4, 1)).out, false},
          Case{"secrets beyond", 10, Writer(order).u32(1).u32(5).octets(payload(4, 1)).out, true},
          Case{"no secrets", 10, {}, true}, Case{"a custom block", 0xbad, payload(16, 1), false}}) {
      Pcapng writer(order);
      writer.section().interface(1).packet(0, 1, payload(61, 1)).block(c.type, c.body);
      writer.block(5, payload(4, 1)).packet(0, 2, payload(5, 1));  // too short, and not the first
      const Octets& octets = writer.file.octets;
      for (std::size_t piece = 1; piece <= octets.size(); ++piece) {
        PcapngWatch watch;
        for (std::size_t at = 0; at < octets.size(); at += piece) {
          watch.see({octets.data() + at, std::min(piece, octets.size() - at)});
        }
        ASSERT_TRUE(watch.defect()) << c.name;
        ASSERT_EQ(watch.defect()->block, writer.file.starts[c.defect ? 3 : 4]) << c.name << " " << piece;
        ASSERT_FALSE(watch.broken_block()) << c.name;
      }
    }
  }
}

TEST(PcapngWatch, SumsWhatHadNoRoomHoweverTheOctetsArrive) {
  constexpr std::uint32_t statistics = 5;
  constexpr std::uint64_t large = std::uint64_t{1} << 40U;
  for (const Order order : {Order::little, Order::big}) {
    const auto counted = [order](std::uint32_t code, std::uint64_t count) {
      return option(order, code, Writer(order).u64(count).out);
    };
    const auto of_interface = [order](const Octets& options) {
      return Writer(order).u32(0).u64(0).octets(options).out;
    };
    const auto of_packet = [order](const Octets& options) {
      return Writer(order).u32(0).u64(0).u32(4).u32(4).u32(0).octets(options).out;
    };
    struct Case {
      const char* name;
      std::vector<std::pair<std::uint32_t, Octets>> blocks;
      std::uint64_t dropped;
      std::size_t places = 0;  ///< packets in front of which some were
    };
    for (const Case& c : {
             Case{"nobody says so", {{statistics, of_interface(counted(4, 7))}}, 0},
             Case{"by the interface", {{statistics, of_interface(counted(5, large))}}, large},
             Case{"by the system", {{statistics, of_interface(counted(7, 7))}}, 7},
             Case{"filtered or delivered",
                  {{statistics, of_interface(counted(6, 7))}, {6, of_packet(counted(5, 7))}},
                  0},
             Case{"no count", {{statistics, of_interface(option(order, 5, {1, 0, 0, 0}))}}, 0},
             Case{"counted on",
                  {{statistics, of_interface(counted(5, 7))}, {statistics, of_interface(counted(5, 9))}},
                  9},
             Case{"between packets", {{6, of_packet(counted(4, 7))}, {6, of_packet(counted(4, 2))}}, 9, 2},
             Case{"more than can be counted",
                  {{6, of_packet(counted(4, UINT64_MAX))}, {6, of_packet(counted(4, 2))}},
                  UINT64_MAX,
                  2},
             Case{"in front of an old packet", {{2, Writer(order).u16(0).u16(7).u64(0).u32(0).u32(0).out}}, 7, 1},
             Case{"not known", {{2, Writer(order).u16(0).u16(0xffff).u64(0).u32(0).u32(0).out}}, 0},
             Case{"behind the options' end",
                  {{statistics, of_interface(option(order, 0, {}))},
                   {statistics, of_interface(Writer(order).u32(0).octets(counted(5, 7)).out)}},
                  0},
         }) {
      Pcapng writer(order);
      writer.section().interface(1);
      for (const auto& [type, body] : c.blocks) writer.block(type, body);
      const Octets& octets = writer.file.octets;
      for (std::size_t piece = 1; piece <= octets.size(); ++piece) {
        PcapngWatch watch;
        for (std::size_t at = 0; at < octets.size(); at += piece) {
          watch.see({octets.data() + at, std::min(piece, octets.size() - at)});
        }
        ASSERT_EQ(watch.dropped(), c.dropped) << c.name << " " << piece;
        ASSERT_EQ(watch.places().size(), c.places) << c.name << " " << piece;
        ASSERT_FALSE(watch.defect()) << c.name;
        ASSERT_FALSE(watch.broken_block()) << c.name;
      }
    }
  }
}

TEST(PcapngWatch, ComparesTheTwoLengthsOfABlock) {
  for (const Order order : {Order::little, Order::big}) {
    Pcapng writer(order);
    writer.section().interface(1).packet(0, 1, payload(61, 1)).block(4, {}).block(0xbad, payload(8, 1));
    const File& file = writer.file;
    std::vector<std::size_t> ends(file.starts.begin() + 1, file.starts.end());
    if (ends.back() != file.octets.size()) ends.push_back(file.octets.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      Octets octets = file.octets;
      octets[ends[i] - (order == Order::big ? 1 : 4)] ^= 4U;
      PcapngWatch watch;
      watch.see(octets);
      ASSERT_TRUE(watch.defect()) << i;
      EXPECT_EQ(watch.defect()->block, file.starts[i]);
    }
    PcapngWatch watch;
    watch.see(file.octets);
    EXPECT_FALSE(watch.defect());
  }
}

TEST(PcapngWatch, NamesTheBlockThatDoesNotEnd) {
  Pcapng writer;
  writer.section().interface(1, 9).block(0xbad, payload(16, 1)).packet(0, 1, payload(61, 1));
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
    } else {
      ASSERT_EQ(watch.block(), want) << length;
    }
    ASSERT_EQ(watch.broken_block(), want) << length;
  }
}

}  // namespace
}  // namespace rpcrdma::reader::test
