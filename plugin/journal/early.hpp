// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of one packet that wait for others, behind a hole for example, and are shown as they come: who looks at one
// frame after the other would not see them in their place. Of version 1, as far as their own octets tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  /// The same of one whose connection is not known: it is one by all of its octets, for there may be other users.
  [[nodiscard]] std::optional<Unplaced> read_unplaced(const trace::HeldSend& held);
  void shown(std::uint32_t frame, std::uint32_t message) { shown_.emplace(frame, message); }
  /// RPC was given this Call, which was shown early.
  void give_call(const Message& call);
  /// The message that was shown early in the frame of this one, which is told now; `none`: there is none.
  [[nodiscard]] std::uint32_t take(const Message& told);
  /// Those that were not told, by frame.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::uint32_t>& left() const noexcept { return shown_; }

  /// RPC knows the Call that this Reply of `connection` answers.
  [[nodiscard]] bool call_given(const Connection& connection, const Message& reply) const;

 private:
  using CallKey = std::tuple<std::uint32_t, Side, std::uint32_t>;  ///< connection, requester, XID
  std::unordered_map<std::uint32_t, std::uint32_t> shown_;
  std::map<CallKey, std::uint32_t> calls_;  ///< that RPC was given and that still wait: the frame of the newest
  wire::HeaderV1 scratch_;
};

}  // namespace rpcrdma::journal
