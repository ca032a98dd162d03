// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that are made side by side are taken in their order, and who fails stops all.
#include "cli/on_threads.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rpcrdma::cli {
namespace {

std::string joined(std::size_t threads, std::size_t count) {
  std::string all;
  make_in_order(
      threads, count, [](std::size_t number, std::string& to) { to += std::to_string(number) + ' '; },
      [&](std::string_view made) { all += made; });
  return all;
}

TEST(MakeInOrder, WhateverTheThreads) {
  for (const std::size_t count : {0U, 1U, 2U, 500U}) {
    std::string expected;
    for (std::size_t i = 0; i < count; ++i) expected += std::to_string(i) + ' ';
    for (const std::size_t threads : {1U, 2U, 3U, 8U}) EXPECT_EQ(joined(threads, count), expected) << threads;
  }
}

TEST(MakeInOrder, WhoFailsStopsAll) {
  for (const std::size_t threads : {1U, 2U, 8U}) {
    for (const bool making : {true, false}) {
      std::size_t taken = 0;
      const auto run = [&] {
        make_in_order(
            threads, 100,
            [&](std::size_t number, std::string& to) {
              if (making && number == 40) throw std::runtime_error("no room");
              to += 'x';
            },
            [&](std::string_view) {
              if (!making && taken == 40) throw std::runtime_error("no reader");
              ++taken;
            });
      };
      EXPECT_THROW(run(), std::runtime_error);
      EXPECT_LE(taken, 40U) << "nothing is taken behind what lacks";
    }
  }
}

}  // namespace
}  // namespace rpcrdma::cli
