// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotate/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <string_view>
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

constexpr unsigned kAttempts = 100;

[[nodiscard]] std::string temporary_name(const std::string& folder, unsigned attempt) {
  return fmt::format("{}/.rpcrdma-analyzer-{}-{}", folder, ::getpid(), attempt);
}

/// What a file gets that a program creates.
[[nodiscard]] mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

}  // namespace

tl::expected<std::string, std::string> links_followed(const std::string& path) {
  constexpr unsigned most_links = 40;  // as many as Linux follows
  std::filesystem::path real = path;
  for (unsigned links = 0;; ++links) {
    const reader::Descriptor folder(::open(folder_of(real.string()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    // What was looked at and what is followed are one: by the next look there might be another link of that name.
    const reader::Descriptor at(
        folder ? ::openat(folder.get(), real.filename().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1);
    struct stat link {};
    struct stat around {};
    if (!at || ::fstat(at.get(), &link) != 0 || ::fstat(folder.get(), &around) != 0 || !S_ISLNK(link.st_mode)) break;
    constexpr mode_t like_tmp = S_ISVTX | S_IWOTH;
    if ((around.st_mode & like_tmp) == like_tmp && link.st_uid != ::geteuid() && link.st_uid != around.st_uid) {
      return tl::unexpected(std::string("another user's link in a folder that all may write to is not followed"));
    }
    std::array<char, PATH_MAX> to{};
    const ssize_t length = ::readlinkat(at.get(), "", to.data(), to.size());
    if (length < 0) return tl::unexpected(reason(errno));
    if (links == most_links) return tl::unexpected(reason(ELOOP));
    const std::string_view name(to.data(), static_cast<std::size_t>(length));
    real = real.parent_path() / name;  // which is `name` alone where that is absolute
  }
  return real.string();
}

namespace {

/// Names of files that are not complete, for the case that a signal ends the program: as many as one run writes
/// (--html, --annotate, --sanitize), and one more.
struct Unfinished {
  std::atomic<bool> there{false};
  std::array<char, PATH_MAX> name{};
};
std::array<Unfinished, 4> unfinished;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a handler's

}  // namespace

void remove_unfinished() noexcept {
  for (Unfinished& file : unfinished) {
    if (file.there) ::unlink(file.name.data());
  }
}

void Temporary::announce(const std::string& name) {
  name_ = name;
  for (Unfinished& file : unfinished) {
    if (file.there || name.size() >= file.name.size()) continue;
    std::copy(name.begin(), name.end(), file.name.begin());
    file.name[name.size()] = '\0';
    file.there = true;
    return;
  }
}

void Temporary::forget() noexcept {
  for (Unfinished& file : unfinished) {
    if (file.there && name_ == file.name.data()) file.there = false;
  }
  name_.clear();
}

Temporary& Temporary::operator=(Temporary&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

Temporary::~Temporary() {
  if (name_.empty()) return;
  ::unlink(name_.c_str());
  forget();
}

OutputFile::OutputFile(std::string path, reader::Descriptor fd, Temporary temporary) noexcept
    : path_(std::move(path)), fd_(std::move(fd)), temporary_(std::move(temporary)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      temporary_(std::move(other.temporary_)),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      error_(other.error_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  temporary_ = std::move(other.temporary_);
  std::swap(buffer_, other.buffer_);
  std::swap(flushed_, other.flushed_);
  std::swap(error_, other.error_);
  return *this;
}

tl::expected<OutputFile, std::string> OutputFile::create(const std::string& path) {
  const auto target = links_followed(path);
  if (!target) return tl::unexpected(fmt::format("{}: {}", path, target.error()));
  const std::string folder = folder_of(*target);
  Temporary temporary;
  reader::Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  int error = errno;
  for (unsigned attempt = 0; !fd && attempt < kAttempts; ++attempt) {
    temporary.announce(temporary_name(folder, attempt));
    fd = reader::Descriptor(::open(temporary.name().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd) break;
    error = errno;
    temporary.forget();
    if (error != EEXIST) break;
  }
  if (!fd) return tl::unexpected(fmt::format("{}: {}", path, reason(error)));
  OutputFile file(*target, std::move(fd), std::move(temporary));
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

tl::expected<std::string, std::string> OutputFile::so_far() {
  flush();
  if (error_ != 0) return tl::unexpected(fmt::format("{}: {}", path_, reason(error_)));
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

tl::expected<void, std::string> OutputFile::commit() {
  flush();
  const auto failed = [&](int error) { return tl::unexpected(fmt::format("{}: {}", path_, reason(error))); };
  if (error_ != 0) return failed(error_);
  struct stat before {};
  const mode_t mode =
      ::lstat(path_.c_str(), &before) == 0 && S_ISREG(before.st_mode) ? before.st_mode & 0777U : usual_mode();
  if (::fchmod(fd_.get(), mode) != 0 || ::fsync(fd_.get()) != 0) return failed(errno);
  if (temporary_.name().empty()) {
    // A file without a name cannot replace one that has it: it gets another name for a moment.
    const std::string self = fmt::format("/proc/self/fd/{}", fd_.get());
    for (unsigned attempt = 0; temporary_.name().empty(); ++attempt) {
      temporary_.announce(temporary_name(folder_of(path_), attempt));
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.name().c_str(), AT_SYMLINK_FOLLOW) == 0) break;
      const int error = errno;
      temporary_.forget();
      if (error != EEXIST || attempt == kAttempts) return failed(error);
    }
  }
  if (std::rename(temporary_.name().c_str(), path_.c_str()) != 0) return failed(errno);
  temporary_.forget();
  return {};
}

}  // namespace rpcrdma::annotate
