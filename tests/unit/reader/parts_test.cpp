// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a file come in their order, whoever reads them and whenever.
#include "reader/parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "capture_writer.hpp"
#include "reader/capture.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader::test {
namespace {

constexpr std::size_t part = 4096;       // the least that a source reads at once
constexpr std::size_t many_open = 4096;  // for that

class PartsTest : public ::testing::Test {
 protected:
  void SetUp() override { append(octets_); }
  void TearDown() override { std::filesystem::remove(path_); }

  void append(const Octets& octets) const {
    std::ofstream file(path_, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  }
  [[nodiscard]] std::unique_ptr<Source> open() const {
    auto source = Source::open(path_, many_open);
    EXPECT_TRUE(source) << (source ? "" : source.error());
    EXPECT_EQ((*source)->part(), part);
    return std::move(*source);
  }
  /// All that still comes.
  [[nodiscard]] static Octets rest(Parts& parts) {
    Octets out;
    for (;;) {
      const Parts::Filled filled = parts.next(nullptr, [] {});
      if (filled.got <= 0) return out;
      const auto begin = filled.part->begin() + static_cast<std::ptrdiff_t>(parts.room());
      out.insert(out.end(), begin, begin + filled.got);
    }
  }

  std::string path_ = ::testing::TempDir() + "rpcrdma-parts-" + std::to_string(::getpid());
  Octets octets_ = payload(3 * part + 700, 5);
};

TEST_F(PartsTest, AFileThatNobodyReadAhead) {
  const auto source = open();
  Parts parts(*source);
  EXPECT_EQ(rest(parts), octets_);
  EXPECT_EQ(parts.read(), 0U) << "behind the end";
}

TEST_F(PartsTest, SomeOfItWasReadAhead) {
  for (std::uint64_t ahead = 1; ahead < 6; ++ahead) {
    const auto source = open();
    Parts parts(*source);
    EXPECT_TRUE(parts.at_once());
    for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(ahead, 4); ++i) EXPECT_EQ(parts.read(), i);
    if (ahead > 4) {
      EXPECT_EQ(parts.read(), 0U) << "behind the end";
    }
    EXPECT_EQ(rest(parts), octets_) << ahead;
  }
}

TEST_F(PartsTest, ByManyThreads) {
  append(payload(200 * part, 99));
  octets_ = Octets(203 * part + 700);
  std::ifstream(path_, std::ios::binary)
      .read(reinterpret_cast<char*>(octets_.data()), static_cast<std::streamsize>(octets_.size()));
  const auto source = open();
  Parts parts(*source);
  std::array<std::thread, 3> readers;
  for (std::thread& reader : readers) {
    reader = std::thread([&] {
      for (int i = 0; i < 100; ++i) (void)parts.read();
    });
  }
  const Octets all = rest(parts);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(all, octets_);
}

/// What is written while it is read comes as well, in its place.
TEST_F(PartsTest, AFileThatGrows) {
  const auto source = open();
  Parts parts(*source);
  const Octets more = payload(2 * part, 77);
  for (std::uint64_t i = 1; i <= 4; ++i) EXPECT_EQ(parts.read(), i);
  append(more);
  (void)parts.read();
  octets_.insert(octets_.end(), more.begin(), more.end());
  EXPECT_EQ(rest(parts), octets_);
}

/// One part comes short, and the file grows before the part behind it is read: that one begins too far behind.
TEST_F(PartsTest, APartThatWasClaimedBehindTheEnd) {
  const auto source = open();
  Parts parts(*source);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(parts.read(), i);
  const Parts::Claim last = parts.claim();
  const Parts::Claim behind = parts.claim();
  ASSERT_EQ(last.number, 4U);
  ASSERT_EQ(behind.number, 5U);
  parts.fill(last);
  const Octets more = payload(2 * part, 77);
  append(more);
  parts.fill(behind);
  octets_.insert(octets_.end(), more.begin(), more.end());
  EXPECT_EQ(rest(parts), octets_);
}

TEST_F(PartsTest, WhatIsCompressedIsReadByOneAfterTheOther) {
  const std::string packed = path_ + ".gz";
  const Octets compressed = gzip(octets_);
  std::ofstream(packed, std::ios::binary)
      .write(reinterpret_cast<const char*>(compressed.data()), static_cast<std::streamsize>(compressed.size()));
  auto source = Source::open(packed, many_open);
  std::filesystem::remove(packed);
  ASSERT_TRUE(source) << source.error();
  Parts parts(**source);
  EXPECT_FALSE(parts.at_once());
  EXPECT_EQ(parts.read(), 1U);
  EXPECT_EQ(parts.read(), 2U);
  EXPECT_EQ(rest(parts), octets_);
}

/// A block of frames ends with the part that was read for it, not in the one that another thread reads.
TEST(UsedUp, BeforeTheFrameThatNeedsTheNextPart) {
  constexpr std::size_t length = 1000;  // four and a bit in a part
  std::vector<Packet> packets;
  for (std::uint8_t i = 0; i < 12; ++i) packets.push_back({1, i, payload(length, i), length});
  const std::string path = ::testing::TempDir() + "rpcrdma-used-up-" + std::to_string(::getpid());
  const Octets octets = pcap({}, packets).octets;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  auto capture = Capture::open(path, many_open);
  ASSERT_TRUE(capture) << capture.error();
  std::vector<bool> used_up;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    ASSERT_NE((*capture)->next(), nullptr);
    used_up.push_back((*capture)->used_up(1));
  }
  std::filesystem::remove(path);
  // The first part ends at octet 4,096: 24 of the file's header, then 1,016 for each record.
  used_up.resize(4);
  EXPECT_EQ(used_up, (std::vector<bool>{false, false, false, true}));
}

}  // namespace
}  // namespace rpcrdma::reader::test
