// SPDX-License-Identifier: GPL-2.0-or-later
// Work for several threads at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace rpcrdma::cli {

/// Runs `work` in this thread and as many others as there can be, `threads` in all, each with its number; the first
/// exception is thrown here.
void on_threads(std::size_t threads, const std::function<void(std::size_t thread)>& work);

/// Runs `work` once for each number below `count`, on so many threads.
void share_out(std::size_t threads, std::size_t count, const std::function<void(std::size_t number)>& work);

/// Runs `make` once for each number below `count`, on so many threads, and `take` for what it appended, in the order of
/// the numbers and one at a time.
void make_in_order(std::size_t threads, std::size_t count,
                   const std::function<void(std::size_t number, std::string& to)>& make,
                   const std::function<void(std::string_view made)>& take);

}  // namespace rpcrdma::cli
