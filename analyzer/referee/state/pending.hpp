// SPDX-License-Identifier: GPL-2.0-or-later
// Accusations that wait for their proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "referee/facts.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/side_names.hpp"

namespace rpcrdma::referee {

/// An accusation that is held back until it is certain that nothing in the other direction is still to come that was
/// earlier on the wire.
struct Pending {
  enum class Kind : std::uint8_t {
    credits,
    reply_without_call,
    duplicate_reply,
    error_from_requester,
    unknown_handle,
    done,
    handle_reused,
    before_ready,
    access,
    v2_credits,
    v2_size,
    v2_said,
    v2_stray_error
  } kind = Kind::credits;
  RuleId rule = RuleId::credit_limit_exceeded;
  Side side = Side::active;  ///< the accused
  FrameRef frame;
  FrameRef evidence;
  FrameRef call;        ///< duplicate_reply: the Call
  FrameRef start;       ///< access: first packet of the operation, when it is another one
  std::string message;  ///< access
  std::optional<Role> role;
  TransactionId transaction;  ///< handle_reused: the Call that named it first
  std::uint32_t xid = 0;
  std::uint64_t excess = 0;  ///< credits: Calls above the limit
  std::uint64_t outstanding = 0;
  std::uint64_t limit = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool writing = false;
  std::optional<std::uint32_t> invalidated;  ///< done: the handle that it invalidates
  std::uint64_t op = 0;
  std::uint64_t episode = 0;  ///< credits: Calls above the limit without a pause are one finding
  Severity severity = Severity::error;
};

}  // namespace rpcrdma::referee
