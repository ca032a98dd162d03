// SPDX-License-Identifier: GPL-2.0-or-later
// Who exposed which memory, for what, and until when. One map for each side of a connection (the owner).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/coverage.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// What the other side may do with a region.
enum class Access : std::uint8_t {
  read,   ///< a Read chunk of a Call: the responder may read
  write,  ///< a Write chunk or Reply chunk: the responder may write
  offer,  ///< a Read chunk of a Reply: the requester may read
};

/// (requester side, XID, generation) of the transaction that exposed a region.
struct TransactionId {
  std::uint64_t key = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const TransactionId&, const TransactionId&) = default;
};

struct Region {
  std::uint32_t handle = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< exclusive; begin + length never wraps here
  Access access = Access::read;
  TransactionId owner;
  FrameRef exposed;      ///< the message that named it
  bool live = true;      ///< false: the Reply (or RDMA_DONE) has been sent
  FrameRef retired;      ///< by which message
  FrameRef invalidated;  ///< the Send With Invalidate that named its handle since; number 0: none
  Coverage touched;      ///< octets written, or read and answered
  Coverage requested;    ///< octets that a READ Request asked for
};

class MemoryMap {
 public:
  static constexpr std::size_t most_regions = 1U << 20U;

  /// False when the bound is met (the region is not recorded).
  bool expose(const wire::Segment& segment, Access access, TransactionId owner, FrameRef frame);
  /// The transaction's regions may no longer be touched.
  void retire(TransactionId owner, std::uint32_t handle, FrameRef by);
  void forget(TransactionId owner, std::uint32_t handle);
  /// The other side invalidated the handle: holds until a message offers it again.
  void invalidate(std::uint32_t handle, FrameRef by);
  void clear() noexcept;

  struct Hit {
    enum class Verdict : std::uint8_t {
      inside,         ///< live, right kind, in bounds (the union of adjacent segments of one transaction counts)
      wrong_kind,     ///< live and in bounds, but exposed for the other direction
      outside,        ///< the handle is live, the octets are not exposed
      retired,        ///< in bounds of a region whose transaction is over
      unknown_handle  ///< no such handle
    } verdict = Verdict::unknown_handle;
    Region* region = nullptr;  ///< the region that the first octet falls into, or the nearest one with that handle
  };
  /// `access`: the kinds that would be right. Pointers are valid until the next call that changes the map.
  [[nodiscard]] Hit find(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool writing);
  /// Adds [offset, offset+length) to the coverage of every live region of `owner` that it touches.
  void touch(std::uint32_t handle, std::uint64_t offset, std::uint64_t length, bool requested_only, bool writing);

  /// All regions with this handle, for the transaction's own checks.
  [[nodiscard]] std::vector<Region>* regions(std::uint32_t handle);
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Something was exposed since the connection began, be it over by now.
  [[nodiscard]] bool ever() const noexcept { return ever_; }

 private:
  std::unordered_map<std::uint32_t, std::vector<Region>> by_handle_;
  std::size_t count_ = 0;
  bool ever_ = false;
};

}  // namespace rpcrdma::referee
