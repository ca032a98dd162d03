// SPDX-License-Identifier: GPL-2.0-or-later
// Where the octets of one capture come from: a file, standard input, or a pipe that was spooled.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "reader/content.hpp"
#include "reader/open_pipe.hpp"
#include "reader/unpacker.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::reader {

/// An open file descriptor, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Where and why no more octets came than did.
struct Shortage {
  std::uint64_t offset = 0;  ///< octets that came
  std::string reason;
};

/// The octets of a capture; compression is taken off on the way.
class Source {
 public:
  /// "-" is standard input. The error says why to a person, and not of which file. `at_once`: how many share the room
  /// for buffers.
  [[nodiscard]] static tl::expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                                               std::size_t at_once = 1);

  /// The first octets, as many as there are of them.
  [[nodiscard]] wire::Bytes head() const noexcept { return wire::Bytes(head_).first(head_length_); }
  /// What is taken off; Content::other: nothing.
  [[nodiscard]] Content compression() const noexcept { return compression_; }
  /// May be read more than once, from the start (see reopen_path()).
  [[nodiscard]] bool reopenable() const noexcept { return reopenable_; }
  /// Octets that are best read at once.
  [[nodiscard]] std::size_t part() const noexcept { return part_; }
  /// Of the file as it is.
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }

  /// The next octets in order, the head included; 0 at the end, -1 with errno on failure. Never fails short of an
  /// error: a pipe may give fewer octets than asked.
  [[nodiscard]] ssize_t read(void* to, std::size_t length);
  [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }
  /// An ordinary file as it is: read_at() gives the octets of any place.
  [[nodiscard]] bool placed() const noexcept { return size_ && !unpacker_ && not_kept_.empty(); }
  /// Beside read(), and by several threads at once. Fewer than asked: the file ends there. -1 with errno on failure.
  [[nodiscard]] ssize_t read_at(std::uint64_t offset, std::uint8_t* to, std::size_t length) const noexcept;
  /// Of what is reopenable: read() begins at the start again. The error is as that of open().
  [[nodiscard]] tl::expected<void, std::string> rewind();
  /// 0..1 of the file as it is.
  [[nodiscard]] std::optional<double> position() const noexcept;
  /// Once read() gave 0: it was not the end, the rest cannot be had.
  [[nodiscard]] const std::optional<Shortage>& shortage() const noexcept { return shortage_; }
  /// Once read() gave 0: members or frames of compressed data that were met.
  [[nodiscard]] std::uint64_t parts() const noexcept { return unpacker_ ? unpacker_->parts() : 0; }

  static constexpr std::uint64_t no_limit = UINT64_MAX;
  /// Keeps the octets of a pipe, as they are, in an unlinked temporary file; afterwards reopenable() is true. `most`:
  /// no more than that for now, the next call goes on. Reading begins at the start again. Does nothing where the source
  /// is reopenable and whole already. An end that the temporary file made is a shortage.
  [[nodiscard]] tl::expected<void, std::string> keep(std::uint64_t most = no_limit);
  /// Why not all of a pipe was kept; empty: it was.
  [[nodiscard]] const std::string& not_kept() const noexcept { return not_kept_; }
  /// Keeps the octets without their compression in an unlinked temporary file, and becomes that file.
  [[nodiscard]] tl::expected<void, std::string> keep_unpacked();

  /// A path under which a library can open the same file from the start; valid while this object lives.
  [[nodiscard]] std::string reopen_path() const;

 private:
  Source(Descriptor fd, std::size_t part) noexcept : part_(part), fd_(std::move(fd)) {}
  [[nodiscard]] tl::expected<void, std::string> prepare();
  [[nodiscard]] tl::expected<void, std::string> peek();
  [[nodiscard]] tl::expected<void, std::string> fill_head();
  [[nodiscard]] tl::expected<void, std::string> again(Descriptor file, std::uint64_t length);
  [[nodiscard]] ssize_t read_file(void* to, std::size_t length);
  [[nodiscard]] ssize_t read_unpacked(std::uint8_t* to, std::size_t length);
  [[nodiscard]] ssize_t read_on(std::uint8_t* to, std::size_t length);
  void end(std::string_view reason);

  std::size_t part_;
  Descriptor fd_;
  Descriptor pipe_;                    ///< of what fd_ keeps the beginning
  std::optional<OpenPipe> open_pipe_;  ///< while more may come of one
  std::array<std::uint8_t, 64> head_{};
  std::size_t head_length_ = 0;
  std::size_t head_given_ = 0;        ///< how much of the head read() has handed out
  std::vector<std::uint8_t> peeked_;  ///< of a pipe: what was read of it for the head
  bool peeking_ = true;
  std::uint64_t taken_ = 0;  ///< octets of the file that were read
  std::uint64_t delivered_ = 0;
  std::optional<std::uint64_t> size_;
  bool reopenable_ = false;
  Content compression_ = Content::other;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::uint8_t> packed_;
  std::size_t packed_at_ = 0;
  std::size_t packed_to_ = 0;
  std::string not_kept_;
  std::optional<Shortage> shortage_;
};

}  // namespace rpcrdma::reader
