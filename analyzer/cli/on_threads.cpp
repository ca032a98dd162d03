// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/on_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace rpcrdma::cli {

void on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::mutex access;
  std::exception_ptr failed;
  const auto guarded = [&](std::size_t thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard lock(access);
      if (!failed) failed = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      others.emplace_back(guarded, i);
    } catch (const std::system_error&) {
      break;  // those that there are do it
    }
  }
  guarded(0);
  for (std::thread& other : others) other.join();
  if (failed) std::rethrow_exception(failed);
}

void share_out(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  on_threads(std::min(threads, count), [&](std::size_t) {
    for (std::size_t number = next++; number < count; number = next++) work(number);
  });
}

void make_in_order(std::size_t threads, std::size_t count,
                   const std::function<void(std::size_t number, std::string& to)>& make,
                   const std::function<void(std::string_view made)>& take) {
  constexpr std::size_t nobody = SIZE_MAX;  // somebody failed
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> turn{0};
  on_threads(std::min(threads, count), [&](std::size_t) {
    std::string made;
    try {
      for (std::size_t number = next++; number < count; number = next++) {
        made.clear();
        make(number, made);
        for (std::size_t now = turn; now != number; now = turn) {
          if (now == nobody) return;
          turn.wait(now);
        }
        take(made);
        turn = number + 1;
        turn.notify_all();
      }
    } catch (...) {
      turn = nobody;
      turn.notify_all();
      throw;
    }
  });
}

}  // namespace rpcrdma::cli
