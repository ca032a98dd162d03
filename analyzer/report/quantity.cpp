// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/quantity.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace rpcrdma::report {

std::string decimal_seconds(trace::TimeNs time) {
  constexpr std::uint64_t second = 1'000'000'000;
  const bool negative = time < 0;
  const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  return fmt::format(FMT_COMPILE("{}{}.{:09}"), negative ? "-" : "", magnitude / second, magnitude % second);
}

std::string calendar(trace::TimeNs time) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  const std::chrono::sys_time<nanoseconds> point{nanoseconds{time}};
  const auto day = floor<days>(point);
  const std::chrono::year_month_day date{day};
  // The first day an int64_t of nanoseconds can name does not fit itself: count from a coarser unit.
  const std::chrono::hh_mm_ss clock{floor<microseconds>(point) - std::chrono::time_point_cast<microseconds>(day)};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string waited(const referee::Waiting& waiting) {
  const auto nanoseconds = static_cast<double>(waiting.until.time) - static_cast<double>(waiting.oldest.time);
  return duration(std::max(nanoseconds, 0.0) / 1e3);
}

std::string listed(const std::vector<std::uint64_t>& numbers, std::size_t limit) {
  std::string out;
  const std::size_t shown = std::min(limit, numbers.size());
  for (std::size_t i = 0; i < shown; ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ", numbers[i]);
  if (shown < numbers.size()) fmt::format_to(std::back_inserter(out), " and {} more", grouped(numbers.size() - shown));
  return out;
}

std::string numbered(std::string_view noun, const std::vector<std::uint32_t>& numbers, std::size_t limit) {
  if (numbers.empty()) return {};
  if (numbers.size() == 1) return fmt::format("{} {}", noun, numbers.front());
  const bool without_gap = numbers.back() - numbers.front() == numbers.size() - 1;
  if (numbers.size() > 2 && without_gap) return fmt::format("{}s {} to {}", noun, numbers.front(), numbers.back());
  return fmt::format("{}s {}", noun, listed({numbers.begin(), numbers.end()}, limit));
}

std::string xid(std::uint32_t value) { return fmt::format(FMT_COMPILE("0x{:08x}"), value); }

std::string place(const trace::FrameRef& frame, Epoch epoch) {
  std::string out = fmt::format("frame {}", frame.number);
  if (epoch && frame.time >= *epoch) {
    // Unsigned: the distance of two extreme times does not fit a signed number.
    const auto since = static_cast<std::uint64_t>(frame.time) - static_cast<std::uint64_t>(*epoch);
    fmt::format_to(std::back_inserter(out), ", +{}.{:06} s", since / 1'000'000'000, since % 1'000'000'000 / 1000);
  }
  return out;
}

}  // namespace rpcrdma::report
