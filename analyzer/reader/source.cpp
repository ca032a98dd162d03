// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reader/pcapng_watch.hpp"

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

constexpr std::size_t kPart = std::size_t{1} << 18U;  // measured: as fast as 1 MiB, and it stays in the cache

[[nodiscard]] constexpr std::size_t part_of(std::size_t at_once) noexcept {
  constexpr std::size_t least = std::size_t{1} << 12U;
  constexpr std::size_t all = std::size_t{1} << 23U;
  return std::clamp(all / std::max<std::size_t>(at_once, 1), least, kPart);
}

/// An empty frame may stand before the first that is not; thousands of them are no capture.
constexpr std::uint64_t kMostWithoutOutput = std::uint64_t{1} << 20U;

/// A temporary file may take half of what is free: others live in that folder, too.
class Room {
 public:
  Room(int fd, const std::string& folder) : fd_(fd), folder_(folder) {
    struct statvfs free {};
    if (::fstatvfs(fd, &free) == 0) {
      left_ = std::uint64_t{free.f_bavail} * free.f_frsize / 2;
    }
  }

  /// Why the octets could not be put behind the others; empty: they were.
  [[nodiscard]] std::string put(wire::Bytes octets) {
    if (octets.size() > left_) {
      return fmt::format("no room for more of it in {} (half of what is free is taken)", folder_);
    }
    if (!write_all(fd_, octets.data(), octets.size())) {
      return fmt::format("no room for more of it in {} ({})", folder_, reason(errno));
    }
    left_ -= octets.size();
    return {};
  }

 private:
  int fd_;
  const std::string& folder_;
  std::uint64_t left_ = UINT64_MAX;
};

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

tl::expected<std::unique_ptr<Source>, std::string> Source::open(const std::string& path, std::size_t at_once) {
  const bool standard_input = path == "-";
  if (path.empty()) {
    return tl::unexpected(std::string("the name of the file is empty"));
  }
  Descriptor fd(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    return tl::unexpected(reason(errno));
  }
  if (standard_input && ::isatty(STDIN_FILENO) == 1) {
    return tl::unexpected(std::string("a terminal, not a capture"));
  }
  std::unique_ptr<Source> source(new Source(std::move(fd), part_of(at_once)));
  if (auto ready = source->prepare(); !ready) {
    return tl::unexpected(std::move(ready).error());
  }
  return source;
}

tl::expected<void, std::string> Source::prepare() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) {
    return tl::unexpected(reason(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    open_pipe_.emplace();
  }
  if (S_ISDIR(status.st_mode)) {
    return tl::unexpected(std::string("a folder in which there is no capture"));
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
  head_length_ = 0;
  head_given_ = 0;
  if (compression_ == Content::other) {
    if (auto got = fill_head(); !got) {
      return got;
    }
    const Content content = content_of(head());
    unpacker_ = Unpacker::of(content);
    if (!unpacker_) {
      return {};
    }
    compression_ = content;
    packed_.resize(part_);
    std::copy_n(head_.begin(), head_length_, packed_.begin());
    packed_to_ = head_length_;
    head_length_ = 0;
  }
  return fill_head();
}

tl::expected<void, std::string> Source::fill_head() {
  while (head_length_ < head_.size()) {
    const ssize_t got = read_on(head_.data() + head_length_, head_.size() - head_length_);
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

ssize_t Source::read_file(void* to, std::size_t length) {
  const bool piped = open_pipe_ && !pipe_;  // else fd_ is the file that keeps it
  const ssize_t got = piped ? OpenPipe::read(fd_.get(), to, length) : read_some(fd_.get(), to, length);
  if (got > 0) {
    taken_ += static_cast<std::uint64_t>(got);
    if (peeking_ && !reopenable_) {
      const auto* octets = static_cast<const std::uint8_t*>(to);
      peeked_.insert(peeked_.end(), octets, octets + got);
    }
  }
  return got;
}

/// Without the head.
ssize_t Source::read_on(std::uint8_t* to, std::size_t length) {
  if (unpacker_) {
    return read_unpacked(to, length);
  }
  const ssize_t got = read_file(to, length);
  if (got == 0 && !not_kept_.empty()) {
    end(not_kept_);
  }
  return got;
}

ssize_t Source::read_unpacked(std::uint8_t* to, std::size_t length) {
  while (!shortage_) {
    const Unpacker::Moved moved =
        unpacker_->step(wire::Bytes(packed_).subspan(packed_at_, packed_to_ - packed_at_), to, length);
    packed_at_ += moved.in;
    if (moved.out != 0) {
      return static_cast<ssize_t>(moved.out);
    }
    if (!unpacker_->failure().empty()) {
      end(fmt::format("damaged {} data: {}", compression_name(compression_), unpacker_->failure()));
      break;
    }
    if (moved.in != 0) {
      continue;
    }
    if (peeking_ && taken_ > kMostWithoutOutput) {
      end(fmt::format("{} data that hold nothing", compression_name(compression_)));
      break;
    }
    // What it did not take it wants to see again, with more.
    std::copy(packed_.begin() + static_cast<std::ptrdiff_t>(packed_at_),
              packed_.begin() + static_cast<std::ptrdiff_t>(packed_to_), packed_.begin());
    packed_to_ -= packed_at_;
    packed_at_ = 0;
    const ssize_t got = read_file(packed_.data() + packed_to_, packed_.size() - packed_to_);
    if (got < 0) {
      return got;
    }
    packed_to_ += static_cast<std::size_t>(got);
    if (got == 0) {
      if (!not_kept_.empty()) {
        end(not_kept_);
      } else if (!unpacker_->complete()) {
        end(fmt::format("the {} data end in the middle", compression_name(compression_)));
      }
      break;
    }
  }
  return 0;
}

void Source::end(std::string_view reason) {
  if (!shortage_) {
    shortage_ = Shortage{delivered_ + (head_length_ - head_given_), std::string(reason)};
  }
}

ssize_t Source::read(void* to, std::size_t length) {
  if (head_given_ < head_length_) {
    const std::size_t part = std::min(length, head_length_ - head_given_);
    std::memcpy(to, head_.data() + head_given_, part);
    head_given_ += part;
    delivered_ += part;
    return static_cast<ssize_t>(part);
  }
  if (peeking_) {
    peeking_ = false;
    peeked_ = {};
  }
  const ssize_t got = read_on(static_cast<std::uint8_t*>(to), length);
  if (got > 0) {
    delivered_ += static_cast<std::uint64_t>(got);
  }
  return got;
}

ssize_t Source::read_at(std::uint64_t offset, std::uint8_t* to, std::size_t length) const noexcept {
  std::size_t have = 0;
  while (have < length) {
    const ssize_t got = ::pread(fd_.get(), to + have, length - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && have == 0) {
      return got;
    }
    if (got <= 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(have);
}

std::optional<double> Source::position() const noexcept {
  if (!size_ || *size_ == 0) {
    return std::nullopt;
  }
  return std::min(1.0, static_cast<double>(taken_) / static_cast<double>(*size_));
}

tl::expected<void, std::string> Source::again(Descriptor file, std::uint64_t length) {
  // The last piece may have fitted in part.
  if (::ftruncate(file.get(), static_cast<off_t>(length)) != 0) {
    return tl::unexpected(reason(errno));
  }
  fd_ = std::move(file);
  size_ = length;
  reopenable_ = true;
  return rewind();
}

tl::expected<void, std::string> Source::rewind() {
  if (::lseek(fd_.get(), 0, SEEK_SET) < 0) {
    return tl::unexpected(reason(errno));
  }
  peeking_ = true;
  peeked_ = {};
  taken_ = 0;
  delivered_ = 0;
  packed_at_ = 0;
  packed_to_ = 0;
  compression_ = Content::other;
  unpacker_.reset();
  shortage_.reset();
  if (auto peeked = peek(); !peeked) {
    return tl::unexpected(std::move(peeked).error());
  }
  return {};
}

tl::expected<void, std::string> Source::keep(std::uint64_t most) {
  const bool going_on = static_cast<bool>(pipe_);
  if (reopenable_ && !going_on) {
    return {};
  }
  const std::string folder = temporary_folder();
  Descriptor file = going_on ? std::move(fd_) : temporary_file(folder);
  if (!file) {
    return tl::unexpected(fmt::format("no temporary file in {}: {}", folder, reason(errno)));
  }
  if (!going_on) {
    pipe_ = std::move(fd_);
  }
  std::uint64_t total = going_on ? *size_ : 0;
  if (::lseek(file.get(), static_cast<off_t>(total), SEEK_SET) < 0) {
    return tl::unexpected(reason(errno));
  }
  Room room(file.get(), folder);
  PcapngWatch blocks;  // what comes behind a block that leads nowhere, nobody can read
  const bool pcapng = compression_ == Content::other && content_of(head()) == Content::pcapng;
  const auto put = [&](wire::Bytes octets) {
    not_kept_ = room.put(octets);
    total += not_kept_.empty() ? octets.size() : 0;
    if (pcapng && !going_on) blocks.see(octets);
    return not_kept_.empty() && !blocks.lost();
  };
  bool more = going_on || put(peeked_);
  std::vector<std::uint8_t> block(kPart);
  while (more && total < most) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), most - total));
    const ssize_t got =
        open_pipe_ ? OpenPipe::read(pipe_.get(), block.data(), wanted) : read_some(pipe_.get(), block.data(), wanted);
    if (got < 0) {
      return tl::unexpected(reason(errno));
    }
    more = got != 0 && put(wire::Bytes(block).first(static_cast<std::size_t>(got)));
  }
  if (!more) {
    pipe_ = Descriptor();
    open_pipe_.reset();
  }
  return again(std::move(file), total);
}

tl::expected<void, std::string> Source::keep_unpacked() {
  const std::string folder = temporary_folder();
  Descriptor file = temporary_file(folder);
  if (!file) {
    return tl::unexpected(fmt::format("no temporary file in {}: {}", folder, reason(errno)));
  }
  Room room(file.get(), folder);
  std::vector<std::uint8_t> block(kPart);
  std::uint64_t total = 0;
  std::string why;
  for (;;) {
    const ssize_t got = read(block.data(), block.size());
    if (got < 0) {
      return tl::unexpected(reason(errno));
    }
    if (got == 0) {
      break;
    }
    const wire::Bytes octets = wire::Bytes(block).first(static_cast<std::size_t>(got));
    if (why = room.put(octets); !why.empty()) {
      break;
    }
    total += octets.size();
  }
  if (why.empty() && shortage_) {
    why = shortage_->reason;
  }
  const Content was = compression_;
  if (auto done = again(std::move(file), total); !done) {
    return done;
  }
  compression_ = was;
  not_kept_ = std::move(why);
  return {};
}

std::string Source::reopen_path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

}  // namespace rpcrdma::reader
