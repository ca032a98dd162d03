// SPDX-License-Identifier: GPL-2.0-or-later
// What is asked again and again of a frame's notes, looked up once: a frame may have tens of thousands of them. Plain
// arrays in the packet's memory, since Wireshark may leave whoever uses them by longjmp.
#pragma once

#include <cstdint>

#include "journal/journal.hpp"
#include "wireshark/api.hpp"

namespace rpcrdma::plugin {

/// Sorted numbers.
struct Numbers {
  std::uint64_t* first = nullptr;
  std::uint32_t count = 0;
  [[nodiscard]] bool has(std::uint64_t number) const noexcept;
};

/// An RPC message that is told behind the message which made it whole.
struct Behind {
  std::uint32_t message = 0;
  std::uint32_t place = 0;  ///< of its note in the frame's list
  std::uint32_t note = 0;
};

struct FrameNotes {
  std::uint32_t count = 0;
  bool carries_rdma = false;  ///< a message, or an operation; else it is a frame that ends the connection
  Numbers messages;           ///< that stand in it, by their index
  Numbers answered;           ///< exchanges whose Replies stand in it, by journal::exchange_key()
  Behind* behind = nullptr;   ///< sorted by message, and by place
  std::uint32_t behind_count = 0;
  /// The first that belongs to the message, or a later message's; behind + behind_count: there is none.
  [[nodiscard]] const Behind* behind_message(std::uint32_t message) const noexcept;
};

[[nodiscard]] FrameNotes notes_of(const journal::Journal& journal, std::uint32_t frame, wmem_allocator_t* pool);

}  // namespace rpcrdma::plugin
