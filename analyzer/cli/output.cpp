// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "report/layout.hpp"

namespace rpcrdma::cli {

Printed print_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      return Printed::unread;
    } else if (errno != EINTR) {
      complain(fmt::format("standard output: {}", std::generic_category().message(errno)));
      return Printed::failed;
    }
  }
  return Printed::whole;
}

bool print(std::string_view text) { return print_out(text) != Printed::failed; }

void complain(std::string_view line) noexcept {
  // Names of files may hold anything; the line stays one line.
  const std::string whole = "rpcrdma-analyzer: " + report::printable(line) + '\n';
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace rpcrdma::cli
