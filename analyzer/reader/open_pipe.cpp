// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/open_pipe.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>

namespace rpcrdma::reader {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> open_pipes{0};
std::atomic<bool> to_end{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // for the handler

/// The writer was told to end as well, and may have some octets left to write.
constexpr std::chrono::seconds a_moment{1};

/// When the moment is over; empty: nothing is to end.
[[nodiscard]] std::optional<Clock::time_point> end_at() noexcept {
  static std::optional<Clock::time_point> at;
  if (!at && to_end.load()) at = Clock::now() + a_moment;
  return at;
}

}  // namespace

bool end_of_pipes() noexcept { return open_pipes.load() > 0 && !to_end.exchange(true); }

OpenPipe::OpenPipe() noexcept { ++open_pipes; }
OpenPipe::~OpenPipe() { --open_pipes; }

ssize_t OpenPipe::read(int fd, void* to, std::size_t length) noexcept {
  constexpr int look_again = 200;  // milliseconds: a signal may come right before the wait
  for (;;) {
    if (const auto end = end_at(); end && Clock::now() >= *end) return 0;
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, look_again);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(fd, to, length);
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace rpcrdma::reader
