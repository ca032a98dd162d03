// SPDX-License-Identifier: GPL-2.0-or-later
// Link-layer types: the numbers of files (LINKTYPE_), the numbers of this machine's libpcap (DLT_), and names.
#pragma once

#include <string>

#include "trace/frame.hpp"

namespace rpcrdma::reader {

/// Stands for records that are no packets, and for encapsulations that no file format numbers.
inline constexpr auto kNoLinkType = static_cast<trace::LinkType>(0xffffffffU);

/// The LINKTYPE_ number of a DLT_ number; they differ for a few old types only.
[[nodiscard]] trace::LinkType link_type_of_dlt(int dlt) noexcept;
/// As libpcap names it ("EN10MB"); "LINKTYPE_n" where libpcap has no name.
[[nodiscard]] std::string link_type_name(trace::LinkType type);
/// Whether the trace looks into frames of this type.
[[nodiscard]] bool can_be_opened(trace::LinkType type) noexcept;

}  // namespace rpcrdma::reader
