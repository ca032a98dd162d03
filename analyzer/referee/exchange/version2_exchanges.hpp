// SPDX-License-Identifier: GPL-2.0-or-later
// Calls and answers of version 2, on their way into the table of transactions and out of it.
#pragma once

#include "referee/rules/v2_turn.hpp"

namespace rpcrdma::referee::v2 {

void take_call(const Turn& turn);
void take_reply(const Turn& turn);
/// A message whose header the capture cut behind its type, which tells what it is. `pieces`: the exchange to which
/// those in front of it belong; generation 0: none.
[[nodiscard]] MessageSeen::Kind take_cut(const Turn& turn, TransactionId pieces);
/// RDMA2_ERROR.
void take_error(const Turn& turn);
/// A message of another version on a connection of version 2.
void take_other_version(const Turn& turn);
/// The server refused version 2. `whole`: the error is not cut. False: this is no such answer.
[[nodiscard]] bool take_refusal(const Turn& turn, bool whole);

}  // namespace rpcrdma::referee::v2
