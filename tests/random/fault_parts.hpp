// SPDX-License-Identifier: GPL-2.0-or-later
// What faults are made of.
#pragma once

#include <string>

#include "fault.hpp"

namespace talk::parts {

[[nodiscard]] Ask read_of(std::uint32_t octets);   ///< NFSv3 READ
[[nodiscard]] Ask write_of(std::uint32_t octets);  ///< NFSv3 WRITE
[[nodiscard]] Region memory(Talk& talk, Line& line, std::uint32_t length, std::uint32_t segments = 1,
                            Side owner = Side::client);
/// A segment as a step names it.
[[nodiscard]] std::string segment(std::uint32_t handle, std::uint64_t offset, std::uint32_t length);

/// Legal sizes that leave room on both sides.
void modest(LinePlan& line);
/// The exchange with the fault is the first, or the last, and nothing else is under way with it.
void first(LinePlan& line);
void last(LinePlan& line);
/// Both sides support remote invalidation, or not.
void invalidation(LinePlan& line, bool client, bool server);

void next(Exchange& exchange, std::function<void()> what);
/// The Call is malformed, and answered as it has to be.
void refused(Trade& trade);
/// A step that RDMA reads or writes.
void touch(Talk& talk, Line& line, const std::string& verb, Side by, std::uint32_t handle, std::uint64_t offset,
           std::uint32_t length);
/// Calls without chunks, `more` than the requester may send; each is answered.
void burst(Talk& talk, Exchange& exchange, Side requester, std::uint32_t more, Chance chance);

/// Both versions: name and act are the same.
void both(std::vector<Fault>& all, const Fault& fault);

}  // namespace talk::parts
