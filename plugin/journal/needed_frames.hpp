// SPDX-License-Identifier: GPL-2.0-or-later
// Which earlier frames hold a part of what a frame shows: the packets of a Send, and those of which an RPC message is
// put together. Who saves the one wants the others with it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rpcrdma::journal {

class NeededFrames {
 public:
  using Frames = std::vector<std::uint32_t>;

  /// Where something is shown: as it is told, and in its own frame once the file is read.
  struct Shown {
    std::uint32_t told = 0;
    std::uint32_t own = 0;
  };
  void add(Shown shown, std::uint32_t earlier);
  [[nodiscard]] const Frames& of(std::uint32_t frame) const noexcept;

  /// An RDMA operation of an exchange: an RPC message will be put together of it,
  void operation(std::uint32_t connection, std::uint32_t exchange, std::uint32_t frame);
  /// and this is the one.
  void put_together(std::uint32_t connection, std::uint32_t exchange, Shown shown);
  /// The file is read.
  void settle() { operations_.clear(); }

 private:
  void add_one(std::uint32_t frame, std::uint32_t earlier);

  std::unordered_map<std::uint32_t, Frames> by_frame_;
  std::unordered_map<std::uint64_t, Frames> operations_;  ///< by exchange_key()
};

}  // namespace rpcrdma::journal
