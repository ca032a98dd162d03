// SPDX-License-Identifier: GPL-2.0-or-later
// The beginning of an RPC message that travels by RDMA (a Long Call, a Long Reply) or, in version 2, in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wire/bytes.hpp"

namespace rpcrdma::referee {

/// Room for message bodies, for all connections together. Buffers are lent and come back: bodies that follow each other
/// take the same memory, and there is never more of it than bodies are open at once.
class BodyStore {
 public:
  using Buffer = std::vector<std::uint8_t>;
  static constexpr std::size_t head = 512;      ///< octets of any body: XID, status, the first operations
  static constexpr std::size_t most = 65536;    ///< octets of one whose items are to be judged
  static constexpr std::size_t most_long = 64;  ///< so many bodies may be longer than `head` at once

  BodyStore();
  BodyStore(const BodyStore&) = delete;
  BodyStore& operator=(const BodyStore&) = delete;

 private:
  friend class MessageBody;
  [[nodiscard]] Buffer lend();
  /// False: all long ones are lent.
  [[nodiscard]] bool lend_long(Buffer& buffer);
  void take_back(Buffer&& buffer, bool is_long);

  std::vector<Buffer> spare_;
  std::vector<Buffer> spare_long_;
  std::size_t long_lent_ = 0;
};

/// The store has to outlive it.
class MessageBody {
 public:
  MessageBody() = default;
  MessageBody(MessageBody&& from) noexcept
      : store_(std::exchange(from.store_, nullptr)), octets_(std::move(from.octets_)), long_(from.long_) {}
  MessageBody& operator=(MessageBody&& from) noexcept {
    if (this == &from) return *this;
    clear();
    store_ = std::exchange(from.store_, nullptr);
    octets_ = std::move(from.octets_);
    long_ = from.long_;
    return *this;
  }
  MessageBody(const MessageBody&) = delete;
  MessageBody& operator=(const MessageBody&) = delete;
  ~MessageBody() { clear(); }

  /// Octets that stand `at` octets behind the XID's first; the newest count. What comes behind a hole is not kept.
  /// `items`: up to BodyStore::most octets, as far as the store has room; otherwise BodyStore::head.
  void put(BodyStore& store, std::uint64_t at, wire::Bytes octets, bool items);
  /// Gives the memory back.
  void clear() noexcept {
    if (store_ != nullptr) give_back();
  }

  [[nodiscard]] wire::Bytes octets() const noexcept { return octets_; }
  [[nodiscard]] std::size_t size() const noexcept { return octets_.size(); }
  [[nodiscard]] bool empty() const noexcept { return octets_.empty(); }
  /// Nothing more is kept of it.
  [[nodiscard]] bool full() const noexcept { return size() == (long_ ? BodyStore::most : BodyStore::head); }

 private:
  void give_back() noexcept;

  BodyStore* store_ = nullptr;
  BodyStore::Buffer octets_;
  bool long_ = false;
};

}  // namespace rpcrdma::referee
