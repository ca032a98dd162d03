// SPDX-License-Identifier: GPL-2.0-or-later
// pcap and pcapng through libpcap.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "reader/backend.hpp"
#include "reader/content.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader {

/// Reads the source from where it stands, which has to be its start; the source has to outlive the backend.
/// The error is libpcap's reason.
[[nodiscard]] tl::expected<std::unique_ptr<Backend>, std::string> open_with_libpcap(Source& source, Content content);

}  // namespace rpcrdma::reader
