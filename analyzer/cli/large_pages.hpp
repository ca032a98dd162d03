// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace rpcrdma::cli {

/// Asks for memory in pages of 2 MiB, before any is used and any thread is there: to touch one for the first time takes
/// less than to touch 512 small ones. Where the system has none it is as it was.
void prefer_large_pages() noexcept;

}  // namespace rpcrdma::cli
