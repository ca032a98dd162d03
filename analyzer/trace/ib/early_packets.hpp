// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of one direction that stand in the capture in front of what they answer, and those behind them: they were
// sent after it had arrived, and wait for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "trace/ib/held_packets.hpp"

namespace rpcrdma::trace::ib {

class EarlyPackets {
 public:
  struct Held {
    FrameRef ref;
    wire::IbHeader header;  ///< payload points into `octets`
    std::vector<std::uint8_t> octets;
    std::uint32_t wire_length = 0;
    bool crc_bad = false;

    [[nodiscard]] Captured captured() const noexcept { return {ref, octets, wire_length, crc_bad, header}; }
  };

  explicit EarlyPackets(Budget& budget) noexcept : budget_(budget) {}
  ~EarlyPackets() { budget_.give(octets_); }
  EarlyPackets(const EarlyPackets&) = delete;
  EarlyPackets& operator=(const EarlyPackets&) = delete;

  [[nodiscard]] bool empty() const noexcept { return held_.empty(); }
  [[nodiscard]] const Held& front() const noexcept { return held_.front(); }
  /// Keeps a copy. False: there is no room.
  [[nodiscard]] bool hold(const Captured& c) {
    if (held_.size() >= HeldPackets::max_packets || octets_ + c.octets.size() > HeldPackets::max_octets) return false;
    if (!budget_.take(c.octets.size())) return false;
    held_.push_back({c.ref, c.header, {c.octets.begin(), c.octets.end()}, c.wire_length, c.crc_bad});
    Held& held = held_.back();
    held.header.payload = Bytes(held.octets).subspan(offset(c.octets, c.header.payload), c.header.payload.size());
    octets_ += c.octets.size();
    if (is_request(c.header.op.kind)) wait({c.header.psn, c.ref});
    return true;
  }
  [[nodiscard]] Held take_first() {
    Held first = std::move(held_.front());
    held_.pop_front();
    give(first.octets.size());
    if (is_request(first.header.op.kind)) forget_first();
    return first;
  }
  /// The oldest request among them.
  [[nodiscard]] std::optional<FrameRef> next_request() const noexcept {
    return requests_.empty() ? std::nullopt : std::optional(requests_.front().ref);
  }
  /// That, past the answers in front of it. There is one.
  [[nodiscard]] Held take_first_request() {
    const auto at =
        std::find_if(held_.begin(), held_.end(), [](const Held& h) { return is_request(h.header.op.kind); });
    Held first = std::move(*at);
    held_.erase(at);
    give(first.octets.size());
    forget_first();
    return first;
  }
  /// One stands behind a later one of its own side: by their PSNs they changed places.
  [[nodiscard]] bool any_displaced() const noexcept {
    return !lowest_.empty() && lowest_.front().ref.number != requests_.front().ref.number;
  }
  /// That one. There is one.
  [[nodiscard]] Held take_displaced() {
    const std::uint64_t number = lowest_.front().ref.number;
    const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.ref.number == number; });
    Held displaced = std::move(*at);
    held_.erase(at);
    give(displaced.octets.size());
    std::list<Request> left = std::exchange(requests_, {});
    left.remove_if([&](const Request& request) { return request.ref.number == number; });
    lowest_.clear();
    for (const Request& request : left) wait(request);
    return displaced;
  }
  /// A request up to this PSN is among what waits: it is not missing, only not taken yet.
  [[nodiscard]] bool request_up_to(std::uint32_t psn) const noexcept {
    return !lowest_.empty() && psn_distance(lowest_.front().psn, psn) >= 0;
  }

 private:
  void give(std::size_t octets) noexcept {
    octets_ -= octets;
    budget_.give(octets);
  }
  struct Request {
    std::uint32_t psn = 0;
    FrameRef ref;
  };
  void wait(Request request) {
    requests_.push_back(request);
    while (!lowest_.empty() && psn_distance(lowest_.back().psn, request.psn) < 0) lowest_.pop_back();
    lowest_.push_back(request);
  }
  void forget_first() {
    if (lowest_.front().ref.number == requests_.front().ref.number) lowest_.pop_front();
    requests_.pop_front();
  }
  [[nodiscard]] static std::size_t offset(Bytes whole, Bytes part) noexcept {
    return part.empty() ? 0 : static_cast<std::size_t>(part.data() - whole.data());
  }

  std::list<Held> held_;
  std::list<Request> requests_;  ///< those among them, in the order in which they stand in the capture
  std::list<Request> lowest_;    ///< of these each than which none behind it has a lower PSN
  Budget& budget_;
  std::size_t octets_ = 0;
};

}  // namespace rpcrdma::trace::ib
