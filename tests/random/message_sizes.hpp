// SPDX-License-Identifier: GPL-2.0-or-later
// How many octets the headers of a Call and its Reply take: RFC 8166 section 4.1.2; draft, section 8.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "talk.hpp"

namespace talk::sizes {

/// Of RDMA2_CALL_MIDDLE and RDMA2_REPLY_MIDDLE.
inline constexpr std::size_t middle = 20;

[[nodiscard]] std::size_t call_header(const Trade& trade, bool external);
/// Of an inline Reply: Write list and unused Reply chunk come back.
[[nodiscard]] std::size_t reply_header(const Trade& trade);

/// Version 2: sizes of all pieces but the last. Empty when one message takes all, and sometimes even then not.
[[nodiscard]] std::vector<std::uint32_t> pieces(std::size_t header, std::size_t payload, std::uint32_t threshold,
                                                Chance& chance, bool as_few_as_possible);

}  // namespace talk::sizes
