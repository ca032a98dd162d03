// SPDX-License-Identifier: GPL-2.0-or-later
// RPC messages of the copy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sanitize/draft.hpp"
#include "sanitize/pseudonyms.hpp"
#include "wire/nfs_items.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::sanitize {

/// The Call that stands in the draft from `at` on. `wire_length`: of the RPC message. `chunks`: of its Read list.
/// What a Reply to it cannot be read without; nothing where that was not captured.
std::optional<wire::Asked> draft_call(Draft& draft, std::size_t at, std::size_t wire_length,
                                      std::span<const wire::ReadChunk> chunks, Pseudonyms& pseudonyms);

/// The Reply that stands there. `returned`: lengths of the chunks of its Write list.
void draft_reply(Draft& draft, std::size_t at, std::size_t wire_length, const std::optional<wire::Asked>& asked,
                 std::span<const std::uint64_t> returned, Pseudonyms& pseudonyms);

}  // namespace rpcrdma::sanitize
