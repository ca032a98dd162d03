// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/input_order.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace rpcrdma::report {

std::string out_of_order(const std::vector<Input>& inputs) {
  std::size_t earlier = 0;
  const Input* first = nullptr;
  const Input* before = nullptr;
  for (const Input& input : inputs) {
    if (!input.first_time) continue;
    if (before != nullptr && *input.first_time < *before->first_time && earlier++ == 0) first = &input;
    before = &input;
  }
  if (first == nullptr) return {};
  return fmt::format(
      "{} begins before the file in front of it{}: files are read in the order in which they are named, and those of "
      "one ring belong in the order of their times; where numbers count them, $(ls -v FILES) names them so",
      first->path, earlier > 1 ? fmt::format(", and {} more", earlier - 1) : "");
}

}  // namespace rpcrdma::report
