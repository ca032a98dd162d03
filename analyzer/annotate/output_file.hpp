// SPDX-License-Identifier: GPL-2.0-or-later
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "reader/source.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::annotate {

/// Where a file of that name is to be: links are followed, and what the last one leads to need not be there. Empty:
/// they lead nowhere.
[[nodiscard]] std::string links_followed(const std::string& path);

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
  ~OutputFile();

  /// Failures are kept until commit().
  void write(wire::Bytes octets);
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// Over what was written before.
  void patch(std::uint64_t position, wire::Bytes octets);

  /// Puts it in the place of `path`.
  [[nodiscard]] tl::expected<void, std::string> commit();

 private:
  OutputFile(std::string path, reader::Descriptor fd, std::string temporary) noexcept;
  void flush();

  std::string path_;
  reader::Descriptor fd_;
  std::string temporary_;  ///< the name it has meanwhile; empty: none
  std::vector<std::uint8_t> buffer_;
  std::uint64_t flushed_ = 0;
  int error_ = 0;
};

}  // namespace rpcrdma::annotate
