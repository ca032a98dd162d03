// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that are made from files: each has the file's name in GoogleTest's listing and in its filter.
#pragma once

#include <gtest/gtest.h>

#include <functional>
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

}  // namespace playback
