// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotate/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rpcrdma::annotate {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18U;

[[nodiscard]] std::string reason(int error) { return std::generic_category().message(error); }

[[nodiscard]] std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[nodiscard]] bool write_all(int fd, const std::uint8_t* from, std::size_t length, off_t at) {
  while (length > 0) {
    const ssize_t put = ::pwrite(fd, from, length, at);
    if (put < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    from += put;
    at += put;
    length -= static_cast<std::size_t>(put);
  }
  return true;
}

/// What a file gets that a program creates.
[[nodiscard]] mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

}  // namespace

std::string links_followed(const std::string& path) {
  constexpr unsigned most_links = 40;  // as many as Linux follows
  std::filesystem::path real = path;
  std::error_code unknown;
  for (unsigned links = 0; std::filesystem::is_symlink(real, unknown); ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(real, unknown);
    if (unknown || links == most_links) return {};
    real = real.parent_path() / to;  // which is `to` alone where that is absolute
  }
  return real.string();
}

OutputFile::OutputFile(std::string path, reader::Descriptor fd, std::string temporary) noexcept
    : path_(std::move(path)), fd_(std::move(fd)), temporary_(std::move(temporary)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      error_(other.error_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(temporary_, other.temporary_);
  std::swap(buffer_, other.buffer_);
  std::swap(flushed_, other.flushed_);
  std::swap(error_, other.error_);
  return *this;
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

tl::expected<OutputFile, std::string> OutputFile::create(const std::string& path) {
  const std::string target = links_followed(path);
  if (target.empty()) return tl::unexpected(fmt::format("{}: {}", path, reason(ELOOP)));
  const std::string folder = folder_of(target);
  std::string temporary;
  reader::Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {
    temporary = folder + "/.rpcrdma-analyzer-XXXXXX";
    fd = reader::Descriptor(::mkostemp(temporary.data(), O_CLOEXEC));
  }
  if (!fd) return tl::unexpected(fmt::format("{}: {}", path, reason(errno)));
  OutputFile file(target, std::move(fd), std::move(temporary));
  file.buffer_.reserve(kBuffer);
  return file;
}

void OutputFile::flush() {
  if (error_ == 0 && !write_all(fd_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(flushed_)))
    error_ = errno;
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::write(wire::Bytes octets) {
  if (buffer_.size() + octets.size() > kBuffer) flush();
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
}

void OutputFile::patch(std::uint64_t position, wire::Bytes octets) {
  flush();
  if (error_ == 0 && !write_all(fd_.get(), octets.data(), octets.size(), static_cast<off_t>(position))) error_ = errno;
}

tl::expected<void, std::string> OutputFile::commit() {
  flush();
  const auto failed = [&](int error) { return tl::unexpected(fmt::format("{}: {}", path_, reason(error))); };
  if (error_ != 0) return failed(error_);
  struct stat before {};
  const mode_t mode = ::stat(path_.c_str(), &before) == 0 ? before.st_mode & 0777U : usual_mode();
  if (::fchmod(fd_.get(), mode) != 0 || ::fsync(fd_.get()) != 0) return failed(errno);
  if (temporary_.empty()) {
    // A file without a name cannot replace one that has it: it gets another name for a moment.
    const std::string self = fmt::format("/proc/self/fd/{}", fd_.get());
    for (unsigned attempt = 0; temporary_.empty(); ++attempt) {
      const std::string name = fmt::format("{}/.rpcrdma-analyzer-{}-{}", folder_of(path_), ::getpid(), attempt);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = name;
      } else if (errno != EEXIST || attempt > 100) {
        return failed(errno);
      }
    }
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failed(errno);
  temporary_.clear();
  return {};
}

}  // namespace rpcrdma::annotate
