// SPDX-License-Identifier: GPL-2.0-or-later
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "reader/source.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::annotate {

/// Where a file of that name is to be: links are followed, and what the last one leads to need not be there. Another
/// user's link in a folder like /tmp is not (Linux does not follow it either: proc(5), fs.protected_symlinks). The
/// error is the reason alone.
[[nodiscard]] tl::expected<std::string, std::string> links_followed(const std::string& path);

/// Removes what is not committed yet. For a signal handler: it calls nothing that may not be called there.
void remove_unfinished() noexcept;

/// The name of a file that is to have another one soon. It is gone with this object, and when a signal ends the
/// program.
class Temporary {
 public:
  Temporary() = default;
  Temporary(Temporary&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  Temporary& operator=(Temporary&& other) noexcept;
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary();

  /// Before there is a file of that name.
  void announce(const std::string& name);
  /// There is none, or no longer.
  void forget() noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

/// Replaces what `path` leads to, or makes it; a link stays.
class OutputFile {
 public:
  /// Beside that file, without a name where the file system can do that. The error is one line for a person.
  [[nodiscard]] static tl::expected<OutputFile, std::string> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Not committed: nothing is left.
  ~OutputFile() = default;

  /// Failures are kept until commit().
  void write(wire::Bytes octets);
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// Over what was written before.
  void patch(std::uint64_t position, wire::Bytes octets);

  /// By which what was written so far can be read, while this object lives.
  [[nodiscard]] tl::expected<std::string, std::string> so_far();
  /// Puts it in the place of `path`.
  [[nodiscard]] tl::expected<void, std::string> commit();

 private:
  OutputFile(std::string path, reader::Descriptor fd, Temporary temporary) noexcept;
  void flush();

  std::string path_;
  reader::Descriptor fd_;
  Temporary temporary_;  ///< the name it has meanwhile
  std::vector<std::uint8_t> buffer_;
  std::uint64_t flushed_ = 0;
  int error_ = 0;
};

}  // namespace rpcrdma::annotate
