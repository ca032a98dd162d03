// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that are made from files: each has the file's name in GoogleTest's listing and in its filter.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

namespace playback {

class Registered : public testing::Test {
 public:
  explicit Registered(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

inline void add_test(const std::string& suite, const std::string& name, std::function<void()> body) {
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body = std::move(body)]() -> testing::Test* { return new Registered(body); });  // NOLINT
}

/// Runs what --gtest_filter chooses. GoogleTest takes '-' for "but not"; inside of a name it is a letter here. A filter
/// that chooses nothing fails.
[[nodiscard]] inline int run_chosen() {
  std::string& filter = testing::GTEST_FLAG(filter);
  for (std::size_t i = 1; i < filter.size(); ++i) {
    if (filter[i] == '-' && std::isalnum(static_cast<unsigned char>(filter[i - 1])) != 0) filter[i] = '?';
  }
  const int status = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() != 0) return status;
  std::cerr << "no test is called " << filter << '\n';
  return 2;
}

}  // namespace playback
