// SPDX-License-Identifier: GPL-2.0-or-later
// Of the RPC message inside: program, version, procedure, and the operations of an NFSv4 COMPOUND.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "referee/state/connection.hpp"
#include "wire/bytes.hpp"
#include "wire/data_places.hpp"

namespace rpcrdma::referee {

/// Counts the Call under its procedure, once, and notes what it says about calls of the server (RFC 8167 section 6).
/// `message` begins with the RPC XID; it may be cut.
void note_procedure(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length);

/// Of a Call in pieces: its procedure, once, and its name so far. What it asks for is noted when the last has come.
void note_first_piece(Connection& connection, Transaction& call, wire::Bytes piece);
/// `message`: all pieces together, as far as kept.
void note_all_pieces(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length);

/// Where its arguments stand, as its Read list says. Until the connection is asked again.
[[nodiscard]] wire::DataPlaces argument_places(Connection& connection, const Transaction& call);

/// What its COMPOUNDs did, for the report.
[[nodiscard]] std::vector<ProcedureFacts::Operation> operations_of(const Procedure& procedure, std::uint32_t program);

}  // namespace rpcrdma::referee
