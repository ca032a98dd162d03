// SPDX-License-Identifier: GPL-2.0-or-later
// When cases are settled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "referee/docket/witness.hpp"

namespace rpcrdma::referee {

/// As many wait at once in a connection: one that accuses so often is broken beyond the next of them.
inline constexpr std::size_t most_cases = 256;

/// What a message is that somebody waits for.
enum class Heard : std::uint8_t { perhaps_call, answer };
/// A message of this side had that XID, whatever it was, or, where the capture cut that off, some XID: an answer to it
/// that stands in front of it may have been sent behind it.
void heard_of(const Witness& witness, Side side, std::optional<std::uint32_t> xid, Heard what, FrameRef frame);
/// What was answered there (Case::answer) is not this message: its sender had the answer long before.
[[nodiscard]] bool came_long_before(const Connection& connection, const Case& waited, FrameRef frame);
/// A Read was answered by the owner of the memory.
void use_answered(Connection& connection, Side owner, std::uint64_t op, FrameRef response);
enum class Lists : std::uint8_t { whole, cut };  ///< of chunks, of a Call
/// A Call whose lists are not known, or whether they are those of a Call at all, may be what this memory was used for
/// in front of it: it shows the handle, or what of it was cut may have been only late.
[[nodiscard]] bool may_offer(const trace::Send& call, Lists lists, std::uint32_t handle, FrameRef used);
inline constexpr std::string_view lists_unread =
    "the Call behind it may have offered the memory: its chunk lists are not known";
/// Forgets what was held back about operations on memory that this Call offers: it may have been sent before them.
void cancel_accesses_of(const Witness& witness, const trace::Send& event, const Transaction& call, Lists lists);
/// Likewise the Reads of a requester that stand in front of the Reply that offers what they read. True: there are some.
[[nodiscard]] bool cancel_reads_of_offered(const Witness& witness, Side requester);
/// `side` has received what the other one sent, up to the Send with this ordinal: a Call that comes behind is not the
/// one that was answered.
void received(Connection& connection, Side side, std::uint64_t ordinal, FrameRef proof);
/// `side` has sent something: settles those cases of the other side that are older.
void settle_cases(const Witness& witness, Side side, FrameRef before);
/// The capture shows it. Where packets of the two sides changed places, nobody knows which was first unless something
/// else tells, and what rests on the order of the file is taken back.
void lose_order(const Witness& witness, Connection::FileOrder shown);
/// What it was said of may be the answer to a Call that the capture lacks.
void take_back(const Witness& witness, const AboutAnswer& about);
/// For a rule of which nothing is left where its case ends without a proof.
void leave_unproven(const Witness& witness, const Case& waited);
/// With what a connection, or the capture of it, stops.
enum class Stop : std::uint8_t {
  cut_off,  ///< the end of the capture, or a reset
  request,  ///< in good order
  fin       ///< likewise; it has its place in the stream: nothing in front of it is missing unnoticed
};
[[nodiscard]] Stop stop_of(trace::Disconnect::How how) noexcept;
/// `by`: whose request or FIN it is.
void settle_all_cases(const Witness& witness, Stop stop, Side by);

}  // namespace rpcrdma::referee
