// SPDX-License-Identifier: GPL-2.0-or-later
// A whole capture in memory, and a stream of frames back to disk, for the benchmark's inputs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct Frame {
  std::int64_t time = 0;  ///< ns since the epoch
  std::vector<std::uint8_t> octets;
};

/// All frames of an Ethernet capture that are whole. Throws std::runtime_error.
[[nodiscard]] std::vector<Frame> read_capture(const std::string& path);

/// A classic pcap file with nanoseconds, link type Ethernet.
class Writer {
 public:
  explicit Writer(const std::string& path);
  void write(std::int64_t time, const std::vector<std::uint8_t>& octets);
  void close();  ///< throws where not all could be written
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

 private:
  void put(const void* data, std::size_t size);
  struct Close {
    void operator()(std::FILE* file) const noexcept;
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t frames_ = 0;
};

}  // namespace bench
