// SPDX-License-Identifier: GPL-2.0-or-later
// What consumers say to each other while a connection is opened.
#pragma once

#include <algorithm>
#include <cstddef>

#include "sanitize/draft.hpp"
#include "wire/private_data.hpp"

namespace rpcrdma::sanitize {

/// Of the private data that begins at `at`, what is RFC 8797's is kept, and whatever only begins like it.
inline void draft_private_data(Draft& draft, std::size_t at, std::size_t wire_length) {
  constexpr std::size_t block = 8;
  if (at >= draft.original().size()) return;
  const wire::Bytes area = draft.original().subspan(at, std::min(wire_length, draft.original().size() - at));
  const wire::PrivateDataSearch search = wire::find_private_data(area, wire_length);
  const auto keep = [&](std::size_t offset) { static_cast<void>(draft.keep(at + offset, block)); };
  if (search.found) keep(search.found->offset);
  if (search.duplicate_offset) keep(*search.duplicate_offset);
  if (search.unknown_version_offset) keep(*search.unknown_version_offset);
  if (search.truncated_offset) keep(*search.truncated_offset);
}

}  // namespace rpcrdma::sanitize
