// SPDX-License-Identifier: GPL-2.0-or-later
// Where messages of version 2 leave the path of version 1.
#pragma once

#include "referee/observer.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee::v2 {

/// True when the message has been taken: it is version 2's, or stands on a connection of version 2.
[[nodiscard]] bool take(Context& context, Connection& connection, const trace::Send& event, RecentSend& send,
                        MessageSeen::Kind& kind);
/// After the close: counted only. True when it is of version 2.
[[nodiscard]] bool count_late(Connection& connection, const trace::Send& event);
/// The versions that an ERR_VERS names.
struct Range {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
/// The server refused version 2. `range`: not known when the error is cut.
void remember_refusal(Connection& connection, const trace::Send& event, std::optional<Range> range);
/// ERR_VERS that says version 1, for a probe of version 2. False: this is no such answer.
bool refuse_in_version_1(Context& context, Connection& connection, const trace::Send& event,
                         const wire::HeaderV1& header);
/// The connection, or the capture, has ended.
void judge_end(Context& context, Connection& connection, FrameRef now);

}  // namespace rpcrdma::referee::v2
