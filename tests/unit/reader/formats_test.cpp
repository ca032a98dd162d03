// SPDX-License-Identifier: GPL-2.0-or-later
// Every format gives the same frames.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "read_all.hpp"

namespace rpcrdma::reader::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kSeconds = 1'700'000'000;

std::vector<Packet> three_packets() {
  return {{kSeconds, 1, payload(60, 1), 60},
          {kSeconds, 999'999, payload(73, 2), 1500},
          {kSeconds + 1, 0, payload(0, 0), 42}};
}

std::vector<Got> three_frames(std::int64_t unit, trace::LinkType link = trace::LinkType::ethernet) {
  std::vector<Got> out;
  for (const Packet& p : three_packets()) {
    out.push_back({std::int64_t{p.seconds} * 1'000'000'000 + p.fraction * unit, link, p.octets, p.wire_length});
  }
  return out;
}

struct PcapCase {
  const char* name;
  PcapStyle style;
  std::int64_t unit;
  const char* format;
};

class EveryPcap : public testing::TestWithParam<PcapCase> {};

TEST_P(EveryPcap, GivesTheSameFrames) {
  const Folder folder;
  const Reading got = read_all(folder.write("a.txt", pcap(GetParam().style, three_packets()).octets));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.frames, three_frames(GetParam().unit));
  EXPECT_EQ(got.facts.format, GetParam().format);
  EXPECT_THAT(got.facts.link_types, ElementsAre("EN10MB"));
  EXPECT_EQ(got.facts.frames, 3U);
  EXPECT_EQ(got.facts.bytes, 133U);
  EXPECT_EQ(got.facts.truncated_frames, 2U);
  EXPECT_EQ(got.facts.first_time, got.frames.front().time);
  EXPECT_EQ(got.facts.last_time, got.frames.back().time);
  EXPECT_FALSE(got.facts.damaged);
}

TEST_P(EveryPcap, GivesTheSameFramesCompressed) {
  const Folder folder;
  const Reading got = read_all(folder.write("a.pcap", gzip(pcap(GetParam().style, three_packets()).octets)));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.frames, three_frames(GetParam().unit));
  EXPECT_EQ(got.facts.format, fmt::format("{}, gzip", GetParam().format));
  EXPECT_FALSE(got.facts.damaged);
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryPcap,
                         testing::Values(PcapCase{"MicroLittle", {}, 1000, "pcap"},
                                         PcapCase{"MicroBig", {.order = Order::big}, 1000, "pcap"},
                                         PcapCase{"NanoLittle", {.magic = kNanoMagic}, 1, "pcap (ns)"},
                                         PcapCase{
                                             "NanoBig", {.magic = kNanoMagic, .order = Order::big}, 1, "pcap (ns)"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Pcap, RecordsLongerThanTheSnapLengthOfTheHeaderAreKeptWhole) {
  const Folder folder;
  const Octets octets = payload(3000, 9);
  for (const std::uint32_t snap : {0U, 64U, 0xffffffffU}) {
    const Reading got = read_all(folder.write(
        "a", pcap({.snap_length = snap}, {{kSeconds, 0, octets, 3000}, {kSeconds, 1, octets, 3000}}).octets));
    ASSERT_EQ(got.frames.size(), 2U) << snap;
    EXPECT_EQ(got.frames[0].octets, octets) << snap;
    EXPECT_EQ(got.frames[1].octets, octets) << snap;
    EXPECT_EQ(got.facts.truncated_frames, 0U) << snap;
  }
}

TEST(Pcap, OriginalLengthIsNeverLessThanCaptured) {
  const Folder folder;
  const Reading got = read_all(folder.write("a", pcap({}, {{kSeconds, 0, payload(60, 1), 7}}).octets));
  ASSERT_EQ(got.frames.size(), 1U);
  EXPECT_EQ(got.frames[0].wire_length, 60U);
  EXPECT_EQ(got.facts.truncated_frames, 0U);
}

struct LinkCase {
  std::uint32_t in_file;
  std::uint32_t seen;
  const char* name;
};

TEST(LinkTypes, AreNumbersOfFilesWhateverTheLibrary) {
  const Folder folder;
  for (const LinkCase& link :
       {LinkCase{0, 0, "NULL"}, LinkCase{1, 1, "EN10MB"}, LinkCase{12, 101, "RAW"}, LinkCase{101, 101, "RAW"},
        LinkCase{108, 108, "LOOP"}, LinkCase{113, 113, "LINUX_SLL"}, LinkCase{228, 228, "IPV4"},
        LinkCase{229, 229, "IPV6"}, LinkCase{247, 247, "INFINIBAND"}, LinkCase{276, 276, "LINUX_SLL2"}}) {
    const Octets octets = pcap({.link_type = link.in_file}, {{kSeconds, 0, payload(60, 1), 60}}).octets;
    for (const Octets& stored : {octets, gzip(octets)}) {
      const Reading got = read_all(folder.write("a", stored));
      ASSERT_EQ(got.frames.size(), 1U) << link.in_file << got.error;
      EXPECT_EQ(static_cast<std::uint32_t>(got.frames[0].link), link.seen);
      EXPECT_EQ(got.frames[0].octets, payload(60, 1));
      EXPECT_THAT(got.facts.link_types, ElementsAre(link.name));
    }
  }
}

TEST(LinkTypes, UnknownOnesAreDeliveredUnderTheirNumber) {
  const Folder folder;
  const Reading got =
      read_all(folder.write("a", pcap({.link_type = 4321}, {{kSeconds, 0, payload(60, 1), 60}}).octets));
  ASSERT_EQ(got.frames.size(), 1U);
  EXPECT_EQ(static_cast<std::uint32_t>(got.frames[0].link), 4321U);
  EXPECT_THAT(got.facts.link_types, ElementsAre("LINKTYPE_4321"));
}

class EveryOrder : public testing::TestWithParam<Order> {};

TEST_P(EveryOrder, OneInterface) {
  const Folder folder;
  Pcapng file(GetParam());
  file.section()
      .interface(1, 9)
      .packet(0, 1'700'000'000'123'456'789, payload(60, 1))
      .packet(0, 1'700'000'001'000'000'001, payload(61, 2), 900);
  const std::vector<Got> want{{1'700'000'000'123'456'789, trace::LinkType::ethernet, payload(60, 1), 60},
                              {1'700'000'001'000'000'001, trace::LinkType::ethernet, payload(61, 2), 900}};
  for (const Octets& stored : {file.file.octets, gzip(file.file.octets)}) {
    const Reading got = read_all(folder.write("a", stored));
    EXPECT_EQ(got.frames, want) << got.error;
    EXPECT_THAT(got.facts.format, testing::StartsWith("pcapng"));
    EXPECT_EQ(got.facts.truncated_frames, 1U);
    EXPECT_FALSE(got.facts.damaged);
  }
}

TEST_P(EveryOrder, InterfacesOfDifferentLinkTypesAndResolutions) {
  const Folder folder;
  Pcapng file(GetParam());
  file.section().interface(1, 9).packet(0, 1'700'000'000'123'456'789, payload(60, 1));
  file.interface(101, 6, 65535)
      .packet(1, 1'700'000'001'000'002, payload(61, 2))
      .packet(0, 1'700'000'002'000'000'003, payload(62, 3));
  file.interface(276).packet(2, 1'700'000'003'000'004, payload(63, 4));
  const Reading got = read_all(folder.write("a", file.file.octets));
  const std::vector<Got> want{{1'700'000'000'123'456'789, trace::LinkType::ethernet, payload(60, 1), 60},
                              {1'700'000'001'000'002'000, trace::LinkType::raw_ip, payload(61, 2), 61},
                              {1'700'000'002'000'000'003, trace::LinkType::ethernet, payload(62, 3), 62},
                              {1'700'000'003'000'004'000, trace::LinkType::linux_sll2, payload(63, 4), 63}};
  EXPECT_EQ(got.frames, want) << got.error;
  EXPECT_THAT(got.facts.link_types, ElementsAre("EN10MB", "RAW", "LINUX_SLL2"));
  EXPECT_EQ(got.facts.frames, 4U);
  EXPECT_FALSE(got.facts.damaged);
}

INSTANTIATE_TEST_SUITE_P(Pcapng, EveryOrder, testing::Values(Order::little, Order::big),
                         [](const auto& info) { return info.param == Order::little ? "Little" : "Big"; });

TEST(Pcapng, SectionsOfDifferentByteOrders) {
  const Folder folder;
  Pcapng little(Order::little);
  Pcapng big(Order::big);
  little.section().interface(1).packet(0, 1'000'000, payload(60, 1));
  big.section().interface(1).packet(0, 2'000'000, payload(61, 2));
  Octets both = little.file.octets;
  both.insert(both.end(), big.file.octets.begin(), big.file.octets.end());
  const Reading got = read_all(folder.write("a", both));
  const std::vector<Got> want{{1'000'000'000, trace::LinkType::ethernet, payload(60, 1), 60},
                              {2'000'000'000, trace::LinkType::ethernet, payload(61, 2), 61}};
  EXPECT_EQ(got.frames, want);
  EXPECT_FALSE(got.facts.damaged);
}

// Wireshark numbers custom blocks and journal entries like packets; name resolution, statistics and unknown blocks not.
TEST(Pcapng, BlocksThatWiresharkCountsAreFrames) {
  const Folder folder;
  Pcapng file;
  file.section().interface(1).packet(0, 1'000'000, payload(60, 1));
  file.block(5, Writer(Order::little).u32(0).u32(0).u32(0).out);
  file.block(0xbad, Writer(Order::little).u32(32473).u32(0x11223344).out);
  file.block(0x12345678, payload(8, 1));
  file.packet(0, 2'000'000, payload(61, 2));
  const Reading got = read_all(folder.write("a", file.file.octets));
  ASSERT_EQ(got.frames.size(), 3U);
  EXPECT_EQ(got.frames[0].octets, payload(60, 1));
  EXPECT_THAT(got.frames[1].octets, IsEmpty());
  EXPECT_EQ(got.frames[2].octets, payload(61, 2));
  EXPECT_EQ(got.frames[2].time, 2'000'000'000);
  EXPECT_EQ(got.facts.frames, 3U);
  EXPECT_THAT(got.facts.link_types, ElementsAre("EN10MB"));
}

// A journal entry has a time, and it is another clock's; a simple packet has none, whatever the interface adds to
// times.
TEST(Pcapng, TimesThatAreNone) {
  const Folder folder;
  const std::string text = "__REALTIME_TIMESTAMP=4000000000000000\n";
  const Octets entry(text.begin(), text.end());
  for (const std::uint64_t offset : {0U, 1000U}) {
    Pcapng file;
    file.section().block(1, Writer(Order::little).u16(1).u16(0).u32(0).u16(14).u16(8).u64(offset).out);
    file.packet(0, 1'000'000, payload(60, 1)).block(9, entry);
    file.block(3, Writer(Order::little).u32(60).octets(payload(60, 2)).out).packet(0, 2'000'000, payload(60, 3));
    const Reading got = read_all(folder.write("a", file.file.octets));
    ASSERT_EQ(got.frames.size(), 4U);
    EXPECT_EQ(got.frames[1].time, 0);
    EXPECT_EQ(got.frames[2].time, 0);
    EXPECT_EQ(got.frames[2].octets, payload(60, 2));
    const auto added = static_cast<std::int64_t>(offset) * 1'000'000'000;
    EXPECT_EQ(got.facts.first_time, 1'000'000'000 + added);
    EXPECT_EQ(got.facts.last_time, 2'000'000'000 + added);
  }
  Pcapng only;
  only.section().interface(1).block(3, Writer(Order::little).u32(60).octets(payload(60, 2)).out);
  const Reading got = read_all(folder.write("a", only.file.octets));
  EXPECT_EQ(got.facts.frames, 1U);
  EXPECT_FALSE(got.facts.first_time);
}

TEST(FrameCheckSequence, IsSaidOfEveryFrameAndCutsNone) {
  const Folder folder;
  for (const std::uint32_t said : {4U, 32U}) {
    Pcapng file;
    file.section().block(1, Writer(Order::little).u16(1).u16(0).u32(0).u16(13).u16(1).put(said, 4).out);
    file.interface(1).packet(0, 1, payload(64, 1)).packet(0, 2, payload(60, 1), 64).packet(0, 3, payload(59, 1), 64);
    file.packet(1, 4, payload(60, 1), 64);
    const Reading got = read_all(folder.write("a", file.file.octets));
    ASSERT_EQ(got.frames.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got.frames[i].wire_length, 64U);
      EXPECT_EQ(got.frames[i].fcs_length, i < 3 ? 4U : 0U) << said;
    }
    EXPECT_EQ(got.frames[0].octets, payload(64, 1));
    EXPECT_EQ(got.facts.truncated_frames, 2U);
  }
  // In a pcap file the header says it, beside the link type.
  const Octets plain = pcap({.link_type = 0x24000001}, three_packets()).octets;
  for (const Octets& stored : {plain, gzip(plain)}) {
    const Reading got = read_all(folder.write("a", stored));
    ASSERT_EQ(got.frames.size(), 3U);
    EXPECT_EQ(got.frames[0].fcs_length, 4U);
    EXPECT_EQ(got.frames[0].octets, payload(60, 1));
  }
}

TEST(SnapLength, IsTheOneOfTheFileHeader) {
  const Folder folder;
  for (const Order order : {Order::little, Order::big}) {
    for (const std::uint32_t magic : {0xa1b2c3d4U, kNanoMagic}) {
      for (const std::uint32_t said : {0U, 96U, 262144U, 0x7fffffffU, 0xffffffffU}) {
        const Octets plain = pcap({.magic = magic, .order = order, .snap_length = said}, three_packets()).octets;
        const std::uint32_t want = said < 0x7fffffffU ? said : 0;
        EXPECT_EQ(read_all(folder.write("a", plain)).facts.snap_length, want);
        EXPECT_EQ(read_all(folder.write("a", gzip(plain))).facts.snap_length, want);
      }
    }
  }
  Pcapng file;
  file.section().interface(1).packet(0, 1, payload(64, 1));
  EXPECT_EQ(read_all(folder.write("a", file.file.octets)).facts.snap_length, 0U);
}

TEST(Pcapng, LongFilesGoOnAfterTheChangeOfLibraries) {
  const Folder folder;
  Pcapng file;
  file.section().interface(1);
  std::vector<Octets> want;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    want.push_back(payload(100 + i % 1400, static_cast<std::uint8_t>(i)));
    file.packet(0, i, want.back());
    if (i == 1500) {
      file.interface(276);
    }
  }
  const Reading got = read_all(folder.write("a", file.file.octets));
  ASSERT_EQ(got.frames.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got.frames[i].octets, want[i]) << i;
    ASSERT_EQ(got.frames[i].time, static_cast<std::int64_t>(i) * 1000) << i;
  }
}

struct ErfCase {
  const char* name;
  std::uint8_t type;
  std::vector<std::uint64_t> extensions;
};

TEST(Erf, RecordsAreHandedOnWithTheirHeaders) {
  const Folder folder;
  const Octets body = payload(68, 5);
  Octets file;
  std::vector<Octets> want;
  const auto add = [&](std::initializer_list<std::uint64_t> extensions, std::uint32_t i) {
    const Octets record = erf_record(kSeconds + i, 0x80000000U, kErfInfiniband, extensions, body, 68);
    file.insert(file.end(), record.begin(), record.end());
    want.emplace_back(record.begin(),
                      record.begin() + static_cast<std::ptrdiff_t>(16 + 8 * extensions.size() + body.size()));
  };
  add({}, 0);
  add({0x0111223344556677}, 1);
  add({0x8c11223344556677, 0x0d00000000000001}, 2);
  add({}, 3);
  const Reading got = read_all(folder.write("ibdump-without-a-suffix", file));
  ASSERT_EQ(got.frames.size(), 4U) << got.error;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got.frames[i].octets, want[i]) << i;
    EXPECT_EQ(got.frames[i].link, trace::LinkType::erf) << i;
    EXPECT_EQ(got.frames[i].wire_length, want[i].size()) << i;
    EXPECT_EQ(got.frames[i].time,
              (std::int64_t{kSeconds} + static_cast<std::int64_t>(i)) * 1'000'000'000 + 500'000'000);
  }
  EXPECT_EQ(got.facts.format, "erf");
  EXPECT_THAT(got.facts.link_types, ElementsAre("ERF"));
  EXPECT_EQ(got.facts.truncated_frames, 0U);
}

TEST(Erf, EthernetRecordsKeepTheirPad) {
  const Folder folder;
  Octets body{0, 0};  // offset and pad, which wlen does not count
  const Octets frame = payload(62, 3);
  body.insert(body.end(), frame.begin(), frame.end());
  Octets file;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Octets record = erf_record(kSeconds + i, 0, 2, {}, body, 62);
    file.insert(file.end(), record.begin(), record.end());
  }
  const Reading got = read_all(folder.write("a", file));
  ASSERT_EQ(got.frames.size(), 3U) << got.error;
  EXPECT_EQ(got.frames[1].octets, Octets(file.begin() + 80, file.begin() + 160));
}

TEST(Erf, InsidePcapIsTheSame) {
  const Folder folder;
  const Octets record = erf_record(kSeconds, 0, kErfInfiniband, {0x0111223344556677}, payload(64, 5), 64);
  const Octets file =
      pcap({.link_type = 197}, {{kSeconds, 0, record, static_cast<std::uint32_t>(record.size())}}).octets;
  for (const Octets& stored : {file, gzip(file)}) {
    const Reading got = read_all(folder.write("a", stored));
    ASSERT_EQ(got.frames.size(), 1U) << got.error;
    EXPECT_EQ(got.frames[0].link, trace::LinkType::erf);
    EXPECT_EQ(got.frames[0].octets, record);
    EXPECT_EQ(got.frames[0].wire_length, record.size());
  }
}

class EveryCompressor : public testing::TestWithParam<const char*> {};

TEST_P(EveryCompressor, GivesTheSameFrames) {
  const std::string tool = GetParam();
  if (std::system(fmt::format("command -v {} >/dev/null", tool).c_str()) != 0) {
    GTEST_SKIP() << tool << " is not installed";
  }
  const Folder folder;
  const std::string plain = folder.write("plain", pcap({.magic = kNanoMagic}, three_packets()).octets);
  const std::string packed = folder.path() + "/packed";
  ASSERT_EQ(std::system(fmt::format("{} -q -c {} > {}", tool, plain, packed).c_str()), 0);
  const Reading got = read_all(packed);
  EXPECT_EQ(got.frames, three_frames(1)) << got.error;
  EXPECT_EQ(got.facts.format, fmt::format("pcap (ns), {}", tool));
}

INSTANTIATE_TEST_SUITE_P(Compression, EveryCompressor, testing::Values("gzip", "zstd", "lz4"),
                         [](const auto& info) { return std::string(info.param); });

/// Standard input is what `octets` holds, through a pipe, while this lives.
class PipedInput {
 public:
  explicit PipedInput(Octets octets) : saved_(::dup(STDIN_FILENO)) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) {
      std::abort();
    }
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = std::thread([to = ends[1], octets = std::move(octets)] {
      std::size_t at = 0;
      // In uneven pieces, the first smaller than any magic number.
      for (std::size_t step = 1; at < octets.size(); step = step * 3 + 1) {
        const std::size_t part = std::min(step, octets.size() - at);
        const ssize_t put = ::write(to, octets.data() + at, part);
        if (put <= 0) {
          break;
        }
        at += static_cast<std::size_t>(put);
      }
      ::close(to);
    });
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;
  ~PipedInput() {
    writer_.join();
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
  std::thread writer_;
};

TEST(StandardInput, EveryFormatThroughAPipe) {
  const Octets plain = pcap({}, three_packets()).octets;
  Pcapng ng;
  ng.section().interface(1, 9).interface(101, 9);
  for (const Packet& p : three_packets()) {
    ng.packet(0, std::uint64_t{p.seconds} * 1'000'000'000 + std::uint64_t{p.fraction} * 1000, p.octets, p.wire_length);
  }
  struct {
    const char* format;
    Octets octets;
  } const cases[] = {
      {"pcap", plain}, {"pcap, gzip", gzip(plain)}, {"pcapng", ng.file.octets}, {"pcapng, gzip", gzip(ng.file.octets)}};
  for (const auto& one : cases) {
    const PipedInput input(one.octets);
    const Reading got = read_all("-");
    EXPECT_EQ(got.frames, three_frames(1000)) << one.format << got.error;
    EXPECT_EQ(got.facts.format, one.format);
    EXPECT_EQ(got.facts.path, "-");
    EXPECT_FALSE(got.facts.damaged);
  }
}

TEST(StandardInput, CutInARecord) {
  const File file = pcap({}, three_packets());
  const PipedInput input(
      Octets(file.octets.begin(), file.octets.begin() + static_cast<std::ptrdiff_t>(file.starts[1] + 20)));
  const Reading got = read_all("-");
  EXPECT_EQ(got.frames.size(), 1U);
  ASSERT_TRUE(got.facts.damaged);
  EXPECT_EQ(got.facts.damaged->offset, file.starts[1]);
}

}  // namespace
}  // namespace rpcrdma::reader::test
