// SPDX-License-Identifier: GPL-2.0-or-later
// What faults are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fault.hpp"

namespace talk::parts {

using Act = std::function<void(Talk&, Exchange&, Chance)>;

[[nodiscard]] Fault fault(const std::string& name, std::vector<std::string> rules, const std::string& culprit, Act act,
                          std::vector<Implied> implied, std::function<void(LinePlan&)> prepare);

/// A Call with `octets` and its Reply, and what `change` makes of them.
template <typename Change>
Act of_filler(Change change, std::uint32_t octets = 64) {
  return [change, octets](Talk& talk, Exchange& exchange, Chance chance) {
    const TradePtr trade = talk.bare(*exchange.line, talk.filler(octets));
    change(talk, *exchange.line, *trade, chance);
    talk.perform(exchange, trade, chance);
  };
}

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
