// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a ring buffer, by the names that its writer gives them.
#pragma once

#include <string_view>

namespace rpcrdma::cli {

/// Both are files of one ring, written in this order, and one that was written between them is not there: dumpcap's
/// PREFIX_NNNNN_YYYYMMDDhhmmss.SUFFIX, its other order of the two, and tcpdump's NAME.pcap, NAME.pcap1, NAME.pcap2. Of
/// names of any other kind nothing is known. A number that goes down says nothing: tcpdump's rings begin again at 0.
[[nodiscard]] bool ring_skips(std::string_view before, std::string_view after) noexcept;

}  // namespace rpcrdma::cli
