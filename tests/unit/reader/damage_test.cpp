// SPDX-License-Identifier: GPL-2.0-or-later
// What cannot be read: as much as possible is delivered, and the place of the damage is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

#include "read_all.hpp"

namespace rpcrdma::reader::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// How many of the records that begin at `starts` (the last one is the end) lie wholly before `length`, and where the
/// record begins that does not.
struct Expected {
  std::size_t whole = 0;
  std::size_t offset = 0;
  bool damaged = false;
};

Expected expected(const File& file, std::size_t first, std::size_t length) {
  Expected out;
  for (std::size_t i = first; i + 1 < file.starts.size() && file.starts[i] < length; ++i) {
    if (file.starts[i + 1] > length) {
      out.damaged = true;
      out.offset = file.starts[i];
      break;
    }
    ++out.whole;
  }
  return out;
}

void expect_reading(const Reading& got, const Expected& want, std::size_t length) {
  ASSERT_EQ(got.error, "") << length;
  EXPECT_EQ(got.frames.size(), want.whole) << length;
  EXPECT_EQ(got.facts.frames, want.whole) << length;
  ASSERT_EQ(got.facts.damaged.has_value(), want.damaged) << length;
  if (want.damaged) {
    EXPECT_EQ(got.facts.damaged->offset, want.offset) << length;
    EXPECT_THAT(got.facts.damaged->reason, HasSubstr("ends in the middle of a record")) << length;
  }
}

Octets prefix(const Octets& octets, std::size_t length) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length)};
}

const std::vector<Packet>& packets() {
  static const std::vector<Packet> all{
      {1, 0, payload(60, 1), 60}, {2, 0, payload(5, 2), 1500}, {3, 0, payload(64, 3), 64}};
  return all;
}

TEST(Cut, PcapAtEveryOctet) {
  const Folder folder;
  for (const PcapStyle& style : {PcapStyle{}, PcapStyle{.magic = kNanoMagic, .order = Order::big}}) {
    const File file = pcap(style, packets());
    for (std::size_t length = 0; length <= file.octets.size(); ++length) {
      const Reading got = read_all(folder.write("a", prefix(file.octets, length)));
      if (length < 24) {
        EXPECT_NE(got.error, "") << length;
        EXPECT_THAT(got.error, Not(HasSubstr("\n"))) << length;
      } else {
        expect_reading(got, expected(file, 0, length), length);
      }
    }
  }
}

TEST(Cut, PcapInsideGzipAtEveryOctet) {
  const Folder folder;
  std::vector<Packet> many = packets();
  many.insert(many.end(), packets().begin(), packets().end());
  const File file = pcap({}, many);
  // libwiretap tells variants of pcap apart by the first records: these have to be whole.
  for (std::size_t length = file.starts[2]; length <= file.octets.size(); ++length) {
    const Reading got = read_all(folder.write("a", gzip(prefix(file.octets, length))));
    expect_reading(got, expected(file, 0, length), length);
  }
}

TEST(Cut, PcapngAtEveryOctet) {
  const Folder folder;
  for (const Order order : {Order::little, Order::big}) {
    Pcapng writer(order);
    writer.section().interface(1, 9);
    for (const Packet& p : packets()) {
      writer.packet(0, p.seconds, p.octets, p.wire_length);
    }
    File file = writer.file;
    file.starts.push_back(file.octets.size());
    for (std::size_t length = 1; length <= file.octets.size(); ++length) {
      const Reading got = read_all(folder.write("a", prefix(file.octets, length)));
      if (length < file.starts[1]) {
        EXPECT_NE(got.error, "") << length;
      } else if (length >= file.starts[2]) {
        expect_reading(got, expected(file, 2, length), length);
      } else {
        // In the interface description: refused, or open with no frame; a cut one is never silently well.
        EXPECT_TRUE(got.frames.empty()) << length;
        EXPECT_TRUE(!got.error.empty() || got.facts.damaged || length == file.starts[1]) << length;
      }
    }
  }
}

TEST(Cut, PcapngOfTwoLinkTypesAtEveryOctet) {
  const Folder folder;
  Pcapng writer;
  writer.section().interface(1).interface(101);
  for (const Packet& p : packets()) {
    writer.packet(p.seconds % 2, p.seconds, p.octets, p.wire_length);
  }
  File file = writer.file;
  file.starts.push_back(file.octets.size());
  for (std::size_t length = file.starts[3]; length <= file.octets.size(); ++length) {
    expect_reading(read_all(folder.write("a", prefix(file.octets, length))), expected(file, 3, length), length);
  }
}

TEST(Cut, ErfAtEveryOctetOfItsLastRecord) {
  const Folder folder;
  File file;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Octets record = erf_record(1'700'000'000 + i, 0, kErfInfiniband, {}, payload(64, 1), 64);
    file.starts.push_back(file.octets.size());
    file.octets.insert(file.octets.end(), record.begin(), record.end());
  }
  file.starts.push_back(file.octets.size());
  for (std::size_t length = file.starts[3]; length <= file.octets.size(); ++length) {
    expect_reading(read_all(folder.write("a", prefix(file.octets, length))), expected(file, 0, length), length);
  }
}

TEST(Cut, CompressedDataAreNeverTakenForWhole) {
  const Folder folder;
  std::vector<Packet> many;
  for (std::uint32_t i = 0; i < 300; ++i) {
    many.push_back({i, 0, payload(100 + i % 50, static_cast<std::uint8_t>(i * 31U)), 200});
  }
  const Octets packed = gzip(pcap({}, many).octets);
  std::size_t most = 0;
  for (std::size_t length = 3; length < packed.size(); length += 7) {
    const Reading got = read_all(folder.write("a", prefix(packed, length)));
    EXPECT_TRUE(!got.error.empty() || got.facts.damaged) << length;
    most = std::max(most, got.frames.size());
  }
  EXPECT_GT(most, 100U);
}

TEST(Damage, PcapRecordOfAbsurdLength) {
  const Folder folder;
  std::vector<Packet> many = packets();
  many.insert(many.end(), packets().begin(), packets().end());
  File file = pcap({}, many);
  for (const int value : {0x7f, 0x80, 0xff}) {
    file.octets[file.starts[4] + 11] = static_cast<std::uint8_t>(value);  // the captured length's highest octet
    for (const Octets& stored : {file.octets, gzip(file.octets)}) {
      const Reading got = read_all(folder.write("a", stored));
      EXPECT_EQ(got.frames.size(), 4U);
      ASSERT_TRUE(got.facts.damaged);
      EXPECT_EQ(got.facts.damaged->offset, file.starts[4]);
      EXPECT_NE(got.facts.damaged->reason, "");
    }
  }
}

TEST(Damage, PcapngBlocksOfAbsurdLength) {
  const Folder folder;
  Pcapng writer;
  writer.section().interface(1);
  for (const Packet& p : packets()) {
    writer.packet(0, p.seconds, p.octets, p.wire_length);
  }
  for (const std::uint32_t length : {0U, 4U, 11U, 13U, 0x7fffffffU, 0xffffffffU}) {
    Octets octets = writer.file.octets;
    const std::size_t at = writer.file.starts[3];
    for (unsigned i = 0; i < 4; ++i) {
      octets[at + 4 + i] = static_cast<std::uint8_t>(length >> (8 * i));
    }
    const Reading got = read_all(folder.write("a", octets));
    EXPECT_EQ(got.frames.size(), 1U) << length;
    ASSERT_TRUE(got.facts.damaged) << length;
    EXPECT_EQ(got.facts.damaged->offset, at) << length;
  }
}

// The damage lies behind a block that is no packet: its own place is named, not the end of the last packet.
TEST(Damage, PcapngIsNamedWhereItIs) {
  const Folder folder;
  Pcapng writer;
  writer.section().interface(1).packet(0, 1, payload(60, 1));
  writer.block(5, Writer(Order::little).u32(0).u32(0).u32(0).out);
  writer.packet(0, 2, payload(60, 2));
  const File& file = writer.file;
  const Reading got = read_all(folder.write("a", prefix(file.octets, file.octets.size() - 6)));
  EXPECT_EQ(got.frames.size(), 1U);
  ASSERT_TRUE(got.facts.damaged);
  EXPECT_EQ(got.facts.damaged->offset, file.starts[4]);
}

// libwiretap does not open such a file at all; libpcap had read a bit of it. That its end is missing, too, is not what
// stopped them.
TEST(Damage, InTheDescriptionOfAnInterface) {
  const Folder folder;
  for (const bool names : {false, true}) {
    for (const bool custom : {false, true}) {
      Pcapng writer;
      writer.section().interface(1);
      if (names) writer.block(4, Octets(4));
      writer.block(1, {}).packet(0, 1, payload(60, 1));
      if (custom) writer.block(0xbad, payload(8, 1));
      for (const std::size_t cut : {0U, 6U}) {
        const Octets octets = prefix(writer.file.octets, writer.file.octets.size() - cut);
        const Reading got = read_all(folder.write("a", octets));
        EXPECT_EQ(got.frames.size(), 0U);
        ASSERT_TRUE(got.facts.damaged);
        EXPECT_LE(got.facts.damaged->offset, writer.file.starts[names ? 3 : 2]);
        if (!custom) {
          EXPECT_EQ(got.facts.damaged->offset, writer.file.starts[names ? 3 : 2]);
        }
        EXPECT_THAT(got.facts.damaged->reason, HasSubstr("12"));  // its length
      }
    }
  }
}

TEST(Damage, PacketOfAnInterfaceThatIsNotThere) {
  const Folder folder;
  Pcapng writer;
  writer.section().interface(1).packet(0, 1, payload(60, 1)).packet(7, 2, payload(60, 2)).packet(0, 3, payload(60, 3));
  const Reading got = read_all(folder.write("a", writer.file.octets));
  EXPECT_EQ(got.frames.size(), 1U);
  ASSERT_TRUE(got.facts.damaged);
  EXPECT_EQ(got.facts.damaged->offset, writer.file.starts[3]);
}

TEST(Damage, FlippedOctetsNeverHarm) {
  const Folder folder;
  Pcapng writer;
  writer.section().interface(1).interface(197, 9);
  for (const Packet& p : packets()) {
    writer.packet(0, p.seconds, p.octets, p.wire_length);
    writer.packet(1, p.seconds, erf_record(p.seconds, 0, 21, {0x8100000000000000, 1}, p.octets, 60));
  }
  const Octets files[] = {pcap({}, packets()).octets, writer.file.octets, gzip(pcap({}, packets()).octets)};
  std::mt19937 random(4);
  for (const Octets& file : files) {
    for (int round = 0; round < 400; ++round) {
      Octets octets = file;
      for (int flip = 0; flip < 3; ++flip) {
        octets[random() % octets.size()] = static_cast<std::uint8_t>(random());
      }
      const Reading got = read_all(folder.write("a", octets));
      for (const Got& frame : got.frames) {
        ASSERT_GE(frame.wire_length, frame.octets.size());
        ASSERT_LE(frame.octets.size(), 262144U + 160U);
      }
    }
  }
}

struct Refusal {
  const char* what;
  Octets octets;
  const char* says;
};

TEST(Refused, WithOneLineThatSaysWhatAndWhy) {
  const Folder folder;
  const auto text = [](std::string_view words) { return Octets(words.begin(), words.end()); };
  Octets noise(5000);
  std::mt19937 random(1);
  std::generate(noise.begin(), noise.end(), [&] { return static_cast<std::uint8_t>(random() | 0x80U); });
  for (const Refusal& refusal :
       {Refusal{"empty", {}, "empty"}, Refusal{"text", text("hello\n"), "text file"},
        Refusal{"long-text", text(std::string(3000, 'x')), "text file"},
        Refusal{"json", text("{\"schema\": \"rpcrdma-analyzer/1\"}\n"), "text file"},
        Refusal{"noise", noise, "not a capture of a known format"},
        Refusal{"text.gz", gzip(text("hello, this is no capture\n")), "gzip is not a capture"},
        Refusal{"empty.gz", gzip({}), "gzip"},
        Refusal{"x.xz", {0xfd, '7', 'z', 'X', 'Z', 0, 0, 4}, "decompress it first"},
        Refusal{"x.bz2", text("BZh91AY&SY"), "decompress it first"},
        Refusal{"png", {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R'}, "not a capture"},
        Refusal{"one-octet", {0xd4}, "not a capture"}, Refusal{"header", {0xd4, 0xc3, 0xb2, 0xa1, 2}, "header"}}) {
    const std::string path = folder.write(refusal.what, refusal.octets);
    const Reading got = read_all(path);
    EXPECT_THAT(got.error, Not(HasSubstr(path))) << refusal.what << ": whoever shows it names the file";
    EXPECT_THAT(got.error, HasSubstr(refusal.says)) << refusal.what;
    EXPECT_THAT(got.error, Not(HasSubstr("\n"))) << refusal.what;
  }
}

TEST(Refused, WhatIsNoReadableFile) {
  const Folder folder;
  EXPECT_THAT(read_all(folder.path()).error, HasSubstr("folder"));
  EXPECT_THAT(read_all(folder.path() + "/missing").error, HasSubstr("No such file"));
  EXPECT_NE(read_all("").error, "");
  const std::string secret = folder.write("secret", pcap({}, packets()).octets);
  ASSERT_EQ(::chmod(secret.c_str(), 0), 0);
  if (::geteuid() != 0) {
    EXPECT_THAT(read_all(secret).error, HasSubstr("Permission denied"));
  }
}

TEST(Empty, CapturesWithoutFramesAreWell) {
  const Folder folder;
  Pcapng ng;
  ng.section().interface(1);
  for (const Octets& octets : {pcap({}, {}).octets, gzip(pcap({}, {}).octets), ng.file.octets}) {
    const Reading got = read_all(folder.write("a", octets));
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.facts.frames, 0U);
    EXPECT_FALSE(got.facts.damaged);
    EXPECT_FALSE(got.facts.first_time);
  }
}

}  // namespace
}  // namespace rpcrdma::reader::test
