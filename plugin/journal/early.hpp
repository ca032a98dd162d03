// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of one packet that wait for others, behind a hole for example, and are shown as they come: who looks at one
// frame after the other would not see them in their place. Of version 1, as far as their own octets tell.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "journal/notes.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::journal {

class EarlyMessages {
 public:
  static constexpr std::size_t most = 4096;  ///< that wait at a time

  struct Read {
    Message message;  ///< without its octets and what the referee knows
    bool call = false;
    bool whole = false;  ///< an RPC message stands behind the header, and nothing has to be put back
  };
  /// Nothing: it was read before, has no header of version 1, or too many wait.
  [[nodiscard]] std::optional<Read> read(const trace::HeldSend& held);
  void shown(std::uint32_t frame, std::uint32_t message) { shown_.emplace(frame, message); }
  /// The message that was shown early in this frame, which is told now; `none`: there is none.
  [[nodiscard]] std::uint32_t take(std::uint32_t frame);
  /// Those that were not told, by frame.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::uint32_t>& left() const noexcept { return shown_; }

  /// RPC was given this Call early.
  void give_call(std::uint32_t connection, Side requester, std::uint32_t xid) {
    calls_.insert({connection, requester, xid});
  }
  /// RPC knows the Call that this Reply of `connection` answers.
  [[nodiscard]] bool call_given(const Connection& connection, const Message& reply) const;

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> shown_;
  std::set<std::tuple<std::uint32_t, Side, std::uint32_t>> calls_;
  wire::HeaderV1 scratch_;
};

/// What a header says of a message.
void take_header(const wire::HeaderV1& header, Message& message);

}  // namespace rpcrdma::journal
