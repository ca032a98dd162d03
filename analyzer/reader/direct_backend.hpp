// SPDX-License-Identifier: GPL-2.0-or-later
// Ordinary pcap and pcapng without a library: frames are handed out where they were read to.
#pragma once

#include <memory>

#include "reader/backend.hpp"
#include "reader/content.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader {

/// Knows only what nearly every file is; at anything else it refuses, and what the libraries make of the file counts.
/// Null: the file's header is such a thing already. Reads the source from where it stands, which has to be its start;
/// the source has to outlive the backend, and be one that can be rewound.
[[nodiscard]] std::unique_ptr<Backend> open_directly(Source& source, Content content);

}  // namespace rpcrdma::reader
