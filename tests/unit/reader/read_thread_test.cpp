// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/read_thread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace rpcrdma::reader {
namespace {

using Some = std::vector<std::uint8_t>;

Some counted(std::size_t length) {
  Some out(length);
  std::iota(out.begin(), out.end(), std::uint8_t{0});
  return out;
}

/// Gives these octets, at most `most` at a time.
ReadThread::Read giving(const Some& octets, std::size_t most) {
  return [&octets, most, at = std::size_t{0}](std::uint8_t* to, std::size_t length) mutable {
    const std::size_t given = std::min({length, most, octets.size() - at});
    std::copy_n(octets.begin() + static_cast<std::ptrdiff_t>(at), given, to);
    at += given;
    return static_cast<ssize_t>(given);
  };
}

Some all_of(ReadThread& thread, std::size_t at_a_time) {
  Some out;
  Some part(at_a_time);
  ssize_t got = 0;
  while ((got = thread.read(part.data(), part.size())) > 0) {
    EXPECT_FALSE(thread.ended());
    out.insert(out.end(), part.begin(), part.begin() + got);
  }
  EXPECT_EQ(got, 0);
  return out;
}

TEST(ReadThread, GivesEverythingInOrder) {
  for (const std::size_t length : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    const Some octets = counted(length);
    for (const std::size_t given : {1U, 7U, 64U, 1000U}) {
      for (const std::size_t asked : {1U, 13U, 64U, 4096U}) {
        const auto thread = ReadThread::start(giving(octets, given), 64, 2);
        ASSERT_NE(thread, nullptr);
        EXPECT_EQ(all_of(*thread, asked), octets) << length << ", " << given << ", " << asked;
        EXPECT_TRUE(thread->ended());
        std::uint8_t more = 0;
        EXPECT_EQ(thread->read(&more, 1), 0);
      }
    }
  }
}

TEST(ReadThread, AFailureComesBehindWhatWasRead) {
  int calls = 0;
  const auto thread = ReadThread::start(
      [&calls](std::uint8_t* to, std::size_t) -> ssize_t {
        if (++calls > 3) {
          errno = EIO;
          return -1;
        }
        *to = static_cast<std::uint8_t>(calls);
        return 1;
      },
      64, 2);
  ASSERT_NE(thread, nullptr);
  Some got(64);
  ASSERT_EQ(thread->read(got.data(), got.size()), 3);
  EXPECT_EQ(got[2], 3);
  errno = 0;
  EXPECT_EQ(thread->read(got.data(), got.size()), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(calls, 4);
}

TEST(ReadThread, NoExceptionLeavesIt) {
  const auto thread =
      ReadThread::start([](std::uint8_t*, std::size_t) -> ssize_t { throw std::runtime_error("no memory"); }, 64, 2);
  ASSERT_NE(thread, nullptr);
  std::uint8_t got = 0;
  EXPECT_EQ(thread->read(&got, 1), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(ReadThread, ReadsNoFurtherAheadThanItMayAndStopsWhenNobodyWantsMore) {
  std::atomic<std::size_t> read{0};
  {
    const auto thread = ReadThread::start(
        [&read](std::uint8_t* to, std::size_t length) {
          std::fill_n(to, length, std::uint8_t{1});
          read += length;
          return static_cast<ssize_t>(length);
        },
        64, 3);
    ASSERT_NE(thread, nullptr);
    Some got(64);
    ASSERT_EQ(thread->read(got.data(), got.size()), 64);
    for (int i = 0; i < 1000 && read < 4 * 64U; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(read, 4 * 64U);  // one was given, three wait
  }
  EXPECT_EQ(read, 4 * 64U);
}

}  // namespace
}  // namespace rpcrdma::reader
