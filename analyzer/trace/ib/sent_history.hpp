// SPDX-License-Identifier: GPL-2.0-or-later
// The request packets that one side sent lately: what a NAK refuses, and whether a repeated packet was sent or only
// captured twice.
#pragma once

#include <cstdint>

#include "trace/ib/operations.hpp"
#include "trace/ib/ring.hpp"

namespace rpcrdma::trace::ib {

struct Sent {
  Sequence at = 0;
  std::uint32_t span = 1;  ///< PSNs taken
  std::uint32_t length = 0;
  Issued::Kind kind = Issued::Kind::unknown;
  std::uint64_t op = 0;
  FrameRef ref;
  Fingerprint mark;
};

class SentHistory {
 public:
  /// Everything that is not yet acknowledged is kept up to the larger number, of the rest at least the smaller.
  static constexpr std::size_t max_unacknowledged = 4096;
  static constexpr std::size_t min_kept = 256;

  void add(const Sent& sent, Sequence acknowledged) {
    if (entries_.size() >= min_kept && entries_.full() && entries_.front().at < acknowledged) entries_.pop_front();
    entries_.push_back(sent);
  }
  void release() noexcept { entries_.release(); }
  /// A READ's span became known.
  void respan(Sequence at, std::uint32_t span) {
    if (Sent* s = find(at)) s->span = span;
  }
  /// The packet whose PSNs include this one, or nullptr.
  [[nodiscard]] Sent* find(Sequence at) noexcept {
    const std::size_t i = position(at);
    return i < entries_.size() ? &entries_[i] : nullptr;
  }
  /// The oldest packet known with a PSN from this one on, or nullptr.
  [[nodiscard]] const Sent* oldest_beyond(Sequence at) const noexcept {
    std::size_t low = 0;
    std::size_t high = entries_.size();
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (entries_[mid].at + entries_[mid].span <= at) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low < entries_.size() ? &entries_[low] : nullptr;
  }
  /// Newest one, or nullptr.
  [[nodiscard]] const Sent* newest() const noexcept {
    return entries_.size() != 0 ? &entries_[entries_.size() - 1] : nullptr;
  }
  /// Octets of the message that this packet belongs to, as far as seen.
  [[nodiscard]] std::uint32_t message_length(Sequence at) noexcept {
    std::size_t i = position(at);
    if (i >= entries_.size()) return 0;
    const Sent first = entries_[i];
    std::uint32_t length = first.length;
    for (++i; i < entries_.size() && entries_[i].kind == first.kind && entries_[i].op == first.op; ++i)
      length = entries_[i].length;
    return length;
  }

 private:
  [[nodiscard]] std::size_t position(Sequence at) const noexcept {
    std::size_t low = 0;
    std::size_t high = entries_.size();
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (entries_[mid].at <= at) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    if (low == 0) return entries_.size();
    const Sent& s = entries_[low - 1];
    return at - s.at < s.span ? low - 1 : entries_.size();
  }

  Ring<Sent> entries_{max_unacknowledged};
};

}  // namespace rpcrdma::trace::ib
