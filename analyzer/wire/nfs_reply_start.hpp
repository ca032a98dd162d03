// SPDX-License-Identifier: GPL-2.0-or-later
// What the first words of most NFS Replies say, for whoever does not need the rest: no walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire {

/// Where the results of an accepted Reply with an empty verifier and SUCCESS begin, as most are (RFC 5531 section 9),
/// in a message that begins with its XID; 0: it is another.
[[nodiscard]] std::size_t plain_results(Bytes message) noexcept;

/// The operation of a COMPOUND's only result. `results`: from its status on. nullopt: it has none, or more, or is cut.
[[nodiscard]] std::optional<std::uint32_t> only_operation(Bytes results) noexcept;

/// What the SEQUENCE says with which a COMPOUND begins (RFC 8881 section 18.46). `results` as above. nullopt: it begins
/// with another operation, that one failed, or it is cut.
[[nodiscard]] std::optional<Sequenced> leading_sequence(Bytes results) noexcept;

}  // namespace rpcrdma::wire
