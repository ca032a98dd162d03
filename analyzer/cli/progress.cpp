// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "report/layout.hpp"

namespace rpcrdma::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);

void put(std::string_view line) noexcept {
  // What cannot be shown is not missed.
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

[[nodiscard]] std::size_t columns() noexcept {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) {
    return 80;
  }
  return size.ws_col;
}

[[nodiscard]] bool on_a_terminal() noexcept {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

}  // namespace

Progress::Progress(bool wanted) noexcept : enabled_(wanted && on_a_terminal()), next_(Clock::now() + kPatience) {}

bool Progress::time_to_show() noexcept {
  const auto now = Clock::now();
  if (now < next_) {
    return false;
  }
  next_ = now + kInterval;
  return true;
}

void Progress::show(std::string_view name, std::uint64_t frames, std::optional<double> part) {
  const std::string clean = report::printable(name);
  std::string line = part ? fmt::format("{:3.0f} %  {} frames  {}", std::clamp(*part, 0.0, 1.0) * 100, frames, clean)
                          : fmt::format("{} frames  {}", frames, clean);
  line.resize(std::min(line.size(), columns() - 1));
  while (!line.empty() && static_cast<unsigned char>(line.back()) >= 0x80) line.pop_back();  // perhaps in the middle
  put(fmt::format("\r{}\x1b[K", line));
  shown_ = true;
}

void Progress::wipe() noexcept {
  if (shown_) {
    put("\r\x1b[K");
    shown_ = false;
  }
}

}  // namespace rpcrdma::cli
