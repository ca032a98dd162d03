// SPDX-License-Identifier: GPL-2.0-or-later
// The READ Requests of one side and the responses of the other, which carry PSNs of the requester's space.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/ib/held_packets.hpp"
#include "trace/ib/repeats.hpp"
#include "trace/ib/ring.hpp"

namespace rpcrdma::trace::ib {

class ReadAnswers {
 public:
  static constexpr std::size_t max_outstanding = 1024;
  static constexpr std::size_t max_missing = 64;
  /// A response that is missing so long, while others come, will not come.
  static constexpr TimeNs patience = 1 * second;

  ReadAnswers(Shared& shared, Side requester) : shared_(shared), requester_(requester), held_(shared.budget) {}

  /// A READ Request, in PSN order. `span` 0: the path MTU is not known yet.
  void asked(Sequence at, std::uint32_t span, std::uint64_t op, const wire::IbHeader& h, FrameRef ref);
  void answer(const Arrival& a, Sequence at);
  /// The requester was asked again or refused: equal responses close together are then sent again.
  void retried(FrameRef ref) noexcept { retried_frame_ = std::max(retried_frame_, ref.number); }
  /// The requester sent something new although responses are missing: it need not wait for those of other READs, but
  /// what it says now may rest on them. The missing ones are given up; should they come, they are delivered late.
  void requester_went_on(FrameRef ref) {
    if (!held_.empty() && !awaited_again(ref)) give_up(held_.last(), ref);
  }
  /// The requester asks for the rest of a READ again: it has nothing from there on.
  void resumed(Sequence at, FrameRef ref) noexcept { resumed_ = {at, ref}; }
  void finish(FrameRef last);
  /// Forgets what only tells one packet captured twice from two.
  void rest() noexcept {
    seen_.release();
    repeats_.release();
  }
  void mtu_known();
  void known_span(Sequence at, std::uint32_t span);

 private:
  struct Read {
    Sequence at = 0;
    std::uint32_t span = 0;  ///< 0: not known
    std::uint32_t delivered = 0;
    std::uint32_t handle = 0;
    std::uint32_t length = 0;
    std::uint64_t offset = 0;
    std::uint64_t op = 0;
  };
  struct Seen {
    Sequence at = 0;
    Fingerprint mark;
    FrameRef ref;
  };

  [[nodiscard]] static std::uint32_t widest(const Read& r) noexcept {
    return r.span != 0 ? r.span : read_span(r.length, 256);
  }
  [[nodiscard]] Read* covering(Sequence at) noexcept;
  [[nodiscard]] bool search(Sequence at) noexcept;
  [[nodiscard]] bool awaited_again(FrameRef now) const noexcept;
  void deliver(const Arrival& a, Sequence at, Read& read);
  void advance(Sequence past, const Read& read);
  void drain();
  void give_up(Sequence upto, FrameRef ref);
  bool late(Sequence at) noexcept;
  void repeated(const Arrival& a, Sequence at);

  Shared& shared_;
  Side requester_;
  Ring<Read> reads_{max_outstanding};
  std::size_t latest_ = 0;  ///< where a Read was found last: the next packet is mostly of the same one
  Ring<Seen> seen_{256};
  HeldPackets held_;
  std::vector<std::pair<Sequence, Sequence>> missing_;  ///< responses given up: [from, to)
  Sequence floor_ = 0;                                  ///< the response that is due next
  bool idle_ = true;                                    ///< none is due
  std::uint64_t retried_frame_ = 0;
  Repeats repeats_;
  struct Resumed {
    Sequence next = 0;  ///< behind what has come since
    FrameRef ref;       ///< number 0: no READ was resumed
  };
  Resumed resumed_;
};

}  // namespace rpcrdma::trace::ib
