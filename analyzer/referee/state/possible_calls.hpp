// SPDX-License-Identifier: GPL-2.0-or-later
// Messages that may be Calls although no transaction stands for them: a Long Call and an offered Reply look alike, and
// what is cut, or holds no RPC message, does not say what it is. An answer with their XID may be theirs. `caller`: who
// would have made the Call.
#pragma once

#include <cstdint>

#include "referee/state/side_names.hpp"

namespace rpcrdma::referee {

struct Connection;

/// It counts as a Reply that `caller` offered to be read.
[[nodiscard]] bool possible_long_call(const Connection& connection, Side caller, std::uint32_t xid);
/// The same, or it counts as the answer to the other side's Call, its offer not read: its lists are cut.
[[nodiscard]] bool possible_answered_call(const Connection& connection, Side caller, std::uint32_t xid);
/// It was cut before it says what it is, whatever it was taken for.
[[nodiscard]] bool possible_cut_call(const Connection& connection, Side caller, std::uint32_t xid);
/// It holds no RPC message, and may be refused.
[[nodiscard]] bool possible_empty_call(const Connection& connection, Side caller, std::uint32_t xid);

}  // namespace rpcrdma::referee
