// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/read_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

namespace rpcrdma::reader {

std::unique_ptr<ReadThread> ReadThread::start(Read read, std::size_t block, std::size_t most_blocks) {
  std::unique_ptr<ReadThread> made(new ReadThread(std::move(read), block, most_blocks));
  try {
    made->thread_ = std::thread([&self = *made] { self.work(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return made;
}

ReadThread::ReadThread(Read read, std::size_t block, std::size_t most_blocks)
    : read_(std::move(read)), block_(block), most_blocks_(most_blocks) {}

ReadThread::~ReadThread() {
  {
    const std::lock_guard lock(access_);
    stage_ = Stage::stopped;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

/// False: there is no more.
bool ReadThread::fill(Block& block) {
  try {
    block.octets.resize(block_);
    block.from = block.to = 0;
    while (block.to < block_) {
      const ssize_t got = read_(block.octets.data() + block.to, block_ - block.to);
      if (got < 0) error_ = errno;
      if (got <= 0) return false;
      block.to += static_cast<std::size_t>(got);
    }
  } catch (const std::exception&) {
    error_ = ENOMEM;
    return false;
  }
  return true;
}

void ReadThread::work() {
  std::unique_lock lock(access_);
  while (stage_ == Stage::reading) {
    changed_.wait(lock, [this] { return full_.size() < most_blocks_ || stage_ != Stage::reading; });
    if (stage_ != Stage::reading) break;
    Block block;
    if (!empty_.empty()) {
      block = std::move(empty_.back());
      empty_.pop_back();
    }
    lock.unlock();
    const bool more = fill(block);
    lock.lock();
    if (block.to != 0) full_.push_back(std::move(block));
    if (!more && stage_ == Stage::reading) stage_ = Stage::at_end;
    changed_.notify_all();
  }
}

ssize_t ReadThread::read(void* to, std::size_t length) {
  if (now_.from == now_.to) {
    std::unique_lock lock(access_);
    if (!now_.octets.empty()) empty_.push_back(std::exchange(now_, {}));
    changed_.wait(lock, [this] { return !full_.empty() || stage_ != Stage::reading; });
    if (full_.empty()) {
      ended_ = true;
      errno = error_;
      return error_ != 0 ? -1 : 0;
    }
    now_ = std::move(full_.front());
    full_.pop_front();
    changed_.notify_all();
  }
  const std::size_t given = std::min(length, now_.to - now_.from);
  std::memcpy(to, now_.octets.data() + now_.from, given);
  now_.from += given;
  return static_cast<ssize_t>(given);
}

}  // namespace rpcrdma::reader
