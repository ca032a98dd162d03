// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/input_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace rpcrdma::report {

namespace {

enum class Order : std::uint8_t {
  behind,  ///< what it holds came later
  before,  ///< it begins earlier
  beside   ///< both hold the same while, for the most part of the shorter one
};

/// Of a file and the one in front of it. What programs write on several processors overlaps by a little.
[[nodiscard]] Order order_of(const Input& input, const Input& in_front) {
  const std::int64_t end = std::max(*input.first_time, input.last_time.value_or(*input.first_time));
  const std::int64_t end_in_front = std::max(*in_front.first_time, in_front.last_time.value_or(*in_front.first_time));
  const std::int64_t shorter = std::min(end - *input.first_time, end_in_front - *in_front.first_time);
  const std::int64_t shared = std::min(end, end_in_front) - std::max(*input.first_time, *in_front.first_time);
  if (shorter > 0 && shared > shorter / 2) return Order::beside;
  return *input.first_time < *in_front.first_time ? Order::before : Order::behind;
}

}  // namespace

std::string out_of_order(const std::vector<Input>& inputs) {
  const Input* first = nullptr;
  const Input* in_front = nullptr;
  Order wrong = Order::behind;
  std::size_t more = 0;
  for (const Input& input : inputs) {
    if (!input.first_time) continue;
    const Order order = in_front != nullptr ? order_of(input, *in_front) : Order::behind;
    in_front = &input;
    if (order == Order::behind) continue;
    if (first == nullptr) {
      first = &input;
      wrong = order;
    } else if (order == wrong) {
      ++more;
    }
  }
  if (first == nullptr) return {};
  const std::string others = more > 0 ? fmt::format(", and {} more", more) : "";
  if (wrong == Order::beside) {
    return fmt::format(
        "{} was taken at the same time as the file in front of it{}: files are read one behind the other; captures of "
        "the same time, of one direction each or from several places, are read with --merge",
        first->path, others);
  }
  return fmt::format(
      "{} begins before the file in front of it{}: files are read in the order in which they are named, and those of "
      "one ring belong in the order of their times; where numbers count them, $(ls -v FILES) names them so",
      first->path, others);
}

}  // namespace rpcrdma::report
