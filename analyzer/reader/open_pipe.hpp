// SPDX-License-Identifier: GPL-2.0-or-later
// A pipe ends when its writer does. Who ends both with Ctrl-C wants to know what was read up to there.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace rpcrdma::reader {

/// For a signal handler: pipes that are being read end a moment from now, if their writers do not end them before.
/// False: none is being read, or that was said before.
[[nodiscard]] bool end_of_pipes() noexcept;

/// One that is being read, while this lives.
class OpenPipe {
 public:
  OpenPipe() noexcept;
  OpenPipe(const OpenPipe&) = delete;
  OpenPipe& operator=(const OpenPipe&) = delete;
  ~OpenPipe();

  /// As read() does it. 0 as well once it was to end.
  [[nodiscard]] static ssize_t read(int fd, void* to, std::size_t length) noexcept;
};

}  // namespace rpcrdma::reader
