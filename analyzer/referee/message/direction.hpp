// SPDX-License-Identifier: GPL-2.0-or-later
// Is a message of version 1 a Call or a Reply? Its RPC message says so; where that travels by RDMA, what is open says,
// and what comes next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "referee/state/connection.hpp"
#include "trace/events.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// What is known of an RDMA_NOMSG with a Position-Zero Read chunk from elsewhere than the message.
enum class LongForm : std::uint8_t { not_asked, call, reply, undecided };

struct Reading {
  Direction direction = Direction::unknown;
  bool guessed = false;   ///< from the XID only: good for counting, not for judging
  bool inferred = false;  ///< a Long Call and an offered Reply look alike, and this is rather the latter
  std::optional<wire::RpcStart> rpc = {};
  bool ill_formed = false;
};

/// Nothing shows that `side` makes no Calls.
[[nodiscard]] bool calls_possible(const Connection& connection, Side side);
[[nodiscard]] Reading read_direction(Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                                     bool lists_complete, LongForm form);
/// From the fixed words and what is open, for a message that need not be of version 1.
[[nodiscard]] Direction direction_by_words(Connection& connection, const trace::Send& event,
                                           const wire::FixedWords& fixed);

/// True when nothing but the data it names can tell whether it is a Long Call or an offered Reply; then `scratch` holds
/// its header.
[[nodiscard]] bool call_or_offer(const Connection& connection, const trace::Send& event, wire::HeaderV1& scratch);

/// True when it is a Reply if its Call turns up right behind it in the file, and a reverse Call otherwise.
[[nodiscard]] bool reply_or_reverse_call(const Connection& connection, const trace::Send& event,
                                         wire::HeaderV1& scratch);

/// Is `event` the Call that `reply` would be the Reply to?
[[nodiscard]] bool call_of(const trace::Send& reply, const trace::Send& event, wire::HeaderV1& scratch);

/// What a message says of itself that it is.
enum class SaysItself : std::uint8_t {
  nothing,  ///< perhaps a Call
  reply,    ///< inline, or in the Reply chunk that it returns
  error,    ///< RDMA_ERROR, of any version
  done
};
/// `scratch` may be written to.
[[nodiscard]] SaysItself says_itself(const trace::Send& event, wire::HeaderV1& scratch);

/// Of all memory that the message names, sorted. An operation on it is the answer to a Call.
[[nodiscard]] std::vector<std::uint32_t> handles_of(const wire::HeaderV1& header);

}  // namespace rpcrdma::referee
