// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of where a connection's packets begin.
#pragma once

#include <cstdint>

#include "referee/state/connection.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

/// Transactions for which a connection whose beginning is not known is not judged as a whole: twice what Linux grants,
/// as after a gap.
inline constexpr std::uint64_t adopted_distrust = 128;

/// A connection whose handshake is not in the capture.
void begin_in_the_middle(Connection& connection, const trace::Adopted& event);

/// A handshake message that was cut before the field behind its starting PSN (IB): where its receiver's packets begin
/// is not known, and the first one in the capture need not be the first.
void distrust_cut_handshake(Connection& connection, const trace::Depths& depths,
                            const trace::PrivateDataArea& private_data);

/// Without the answer to its request it is not known where the packets of a connection begin: the first ones may be
/// missing.
void doubt_beginning(Connection& connection);

}  // namespace rpcrdma::referee
