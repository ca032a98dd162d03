// SPDX-License-Identifier: GPL-2.0-or-later
// What libpcap does not read, through Wireshark's libwiretap. The only file that knows its interface is the .cpp.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "reader/backend.hpp"
#include "reader/content.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader {

/// The source has to be reopenable() and has to outlive the backend. The error says why, without a name.
[[nodiscard]] tl::expected<std::unique_ptr<Backend>, std::string> open_with_wiretap(const Source& source,
                                                                                    Content content);

}  // namespace rpcrdma::reader
