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

#include <tl/expected.hpp>

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

class Source {
 public:
  /// "-" is standard input. The error is one line for a person. `shown`: the name for people, where it is not the path.
  [[nodiscard]] static tl::expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                                               const std::string& shown = {});

  /// For messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The first octets, as many as there are of them.
  [[nodiscard]] wire::Bytes head() const noexcept { return wire::Bytes(head_).first(head_length_); }
  /// May be read more than once, from the start (see reopen_path()).
  [[nodiscard]] bool reopenable() const noexcept { return reopenable_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }

  /// The next octets in order, the head included; 0 at the end, -1 with errno on failure. Never fails short of an
  /// error: a pipe may give fewer octets than asked.
  [[nodiscard]] ssize_t read(void* to, std::size_t length) noexcept;
  [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }

  /// Keeps the octets of a pipe in an unlinked temporary file; afterwards reopenable() is true.
  /// Nothing may have been read before. Does nothing where the source is reopenable already.
  [[nodiscard]] tl::expected<void, std::string> spool();

  /// A path under which a library can open the same octets from the start; valid while this object lives.
  [[nodiscard]] std::string reopen_path() const;

 private:
  Source(std::string name, Descriptor fd) noexcept : name_(std::move(name)), fd_(std::move(fd)) {}
  [[nodiscard]] tl::expected<void, std::string> prepare();
  [[nodiscard]] tl::expected<void, std::string> peek();

  std::string name_;
  Descriptor fd_;
  std::array<std::uint8_t, 64> head_{};
  std::size_t head_length_ = 0;
  std::size_t head_given_ = 0;  ///< of a pipe: how much of the head read() has handed out
  std::uint64_t delivered_ = 0;
  std::optional<std::uint64_t> size_;
  bool reopenable_ = false;
};

}  // namespace rpcrdma::reader
