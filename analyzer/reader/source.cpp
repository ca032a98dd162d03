// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rpcrdma::reader {
namespace {

[[nodiscard]] std::string reason(int error) { return std::generic_category().message(error); }

[[nodiscard]] ssize_t read_some(int fd, void* to, std::size_t length) noexcept {
  ssize_t got = 0;
  do {
    got = ::read(fd, to, length);
  } while (got < 0 && errno == EINTR);
  return got;
}

[[nodiscard]] bool write_all(int fd, const std::uint8_t* from, std::size_t length) noexcept {
  while (length > 0) {
    const ssize_t put = ::write(fd, from, length);
    if (put < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    from += put;
    length -= static_cast<std::size_t>(put);
  }
  return true;
}

[[nodiscard]] const char* temporary_folder() noexcept {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

/// A file that no name leads to: it is gone when the program is, however that ends.
[[nodiscard]] Descriptor temporary_file(const std::string& folder) {
  Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {
    std::string name = folder + "/rpcrdma-analyzer-XXXXXX";
    fd = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (fd) {
      ::unlink(name.c_str());
    }
  }
  return fd;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

tl::expected<std::unique_ptr<Source>, std::string> Source::open(const std::string& path, const std::string& shown) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : shown.empty() ? path : shown;
  if (path.empty()) {
    return tl::unexpected(std::string("the name of a capture file is empty"));
  }
  Descriptor fd(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    return tl::unexpected(fmt::format("{}: {}", name, reason(errno)));
  }
  if (standard_input && ::isatty(STDIN_FILENO) == 1) {
    return tl::unexpected(std::string("standard input: a terminal, not a capture"));
  }
  std::unique_ptr<Source> source(new Source(name, std::move(fd)));
  if (auto ready = source->prepare(); !ready) {
    return tl::unexpected(fmt::format("{}: {}", name, ready.error()));
  }
  return source;
}

tl::expected<void, std::string> Source::prepare() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) {
    return tl::unexpected(reason(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return tl::unexpected(std::string("a directory, not a capture file"));
  }
  // A regular file that is handed over as standard input may stand anywhere; only from its start is it what was meant.
  if (S_ISREG(status.st_mode) && ::lseek(fd_.get(), 0, SEEK_CUR) == 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    const Descriptor again(::open(reopen_path().c_str(), O_RDONLY | O_CLOEXEC));
    reopenable_ = static_cast<bool>(again);
    (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return peek();
}

tl::expected<void, std::string> Source::peek() {
  while (head_length_ < head_.size()) {
    const ssize_t got = read_some(fd_.get(), head_.data() + head_length_, head_.size() - head_length_);
    if (got < 0) {
      return tl::unexpected(reason(errno));
    }
    if (got == 0) {
      break;
    }
    head_length_ += static_cast<std::size_t>(got);
  }
  return {};
}

ssize_t Source::read(void* to, std::size_t length) noexcept {
  if (head_given_ < head_length_) {
    const std::size_t part = std::min(length, head_length_ - head_given_);
    std::memcpy(to, head_.data() + head_given_, part);
    head_given_ += part;
    delivered_ += part;
    return static_cast<ssize_t>(part);
  }
  const ssize_t got = read_some(fd_.get(), to, length);
  if (got > 0) {
    delivered_ += static_cast<std::uint64_t>(got);
  }
  return got;
}

tl::expected<void, std::string> Source::spool() {
  if (reopenable_) {
    return {};
  }
  const std::string folder = temporary_folder();
  Descriptor file = temporary_file(folder);
  if (!file) {
    return tl::unexpected(fmt::format("{}: no temporary file in {}: {}", name_, folder, reason(errno)));
  }
  std::vector<std::uint8_t> block(std::size_t{1} << 20U);
  std::uint64_t total = 0;
  for (;;) {
    const ssize_t got = read(block.data(), block.size());
    if (got < 0) {
      return tl::unexpected(fmt::format("{}: {}", name_, reason(errno)));
    }
    if (got == 0) {
      break;
    }
    if (!write_all(file.get(), block.data(), static_cast<std::size_t>(got))) {
      return tl::unexpected(
          fmt::format("{}: cannot be kept in a temporary file in {}: {}", name_, folder, reason(errno)));
    }
    total += static_cast<std::uint64_t>(got);
  }
  if (::lseek(file.get(), static_cast<off_t>(head_length_), SEEK_SET) < 0) {
    return tl::unexpected(fmt::format("{}: {}", name_, reason(errno)));
  }
  fd_ = std::move(file);
  head_given_ = 0;
  delivered_ = 0;
  size_ = total;
  reopenable_ = true;
  return {};
}

std::string Source::reopen_path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

}  // namespace rpcrdma::reader
