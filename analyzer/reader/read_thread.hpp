// SPDX-License-Identifier: GPL-2.0-or-later
// Reads ahead in a thread of its own.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rpcrdma::reader {

class ReadThread {
 public:
  /// As read(2): some octets, 0 at the end, -1 with errno. Is called by that thread alone, and not again once it gave
  /// none.
  using Read = std::function<ssize_t(std::uint8_t* to, std::size_t length)>;

  /// Keeps at most so many blocks that nobody has asked for. Null: there can be no thread.
  [[nodiscard]] static std::unique_ptr<ReadThread> start(Read read, std::size_t block, std::size_t most_blocks);
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;
  ~ReadThread();

  /// What the thread has read, in order; as read(2).
  [[nodiscard]] ssize_t read(void* to, std::size_t length);
  /// read() has given all there is: the thread is over.
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  struct Block {
    std::vector<std::uint8_t> octets;
    std::size_t from = 0;  ///< what of it has not been given
    std::size_t to = 0;
  };

  ReadThread(Read read, std::size_t block, std::size_t most_blocks);
  void work();
  [[nodiscard]] bool fill(Block& block);

  Read read_;
  std::size_t block_;
  std::size_t most_blocks_;
  std::mutex access_;
  std::condition_variable changed_;
  std::deque<Block> full_;
  std::vector<Block> empty_;
  Block now_;  ///< that read() gives of
  int error_ = 0;
  enum class Stage : std::uint8_t { reading, at_end, stopped } stage_ = Stage::reading;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace rpcrdma::reader
