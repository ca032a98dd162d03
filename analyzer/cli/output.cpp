// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace rpcrdma::cli {

bool print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      return true;
    } else if (errno != EINTR) {
      complain(fmt::format("standard output: {}", std::generic_category().message(errno)));
      return false;
    }
  }
  return true;
}

void complain(std::string_view line) noexcept {
  std::string whole = "rpcrdma-analyzer: ";
  // Names of files may hold anything; the line stays one line.
  std::replace_copy_if(
      line.begin(), line.end(), std::back_inserter(whole),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  whole += '\n';
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, whole.data(), whole.size());
}

bool write_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  const int why = errno != 0 ? errno : EIO;
  const bool written = file.good();
  if (!written) complain(fmt::format("{}: {}", path, std::generic_category().message(why)));
  return written;
}

}  // namespace rpcrdma::cli
