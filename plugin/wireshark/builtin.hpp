// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark's own dissector is called. What is not found under these names the plugin registers itself; a test
// builds the plugin with other names, as for a Wireshark that has renamed everything.
#pragma once

#ifndef RPCRDMA_BUILTIN_PROTOCOL
#define RPCRDMA_BUILTIN_PROTOCOL "rpcordma"
#endif
#ifndef RPCRDMA_BUILTIN_ENTRIES
#define RPCRDMA_BUILTIN_ENTRIES "rpcrdma"
#endif

namespace rpcrdma::plugin::builtin {

inline constexpr const char* protocol = RPCRDMA_BUILTIN_PROTOCOL;  ///< filter name
inline constexpr const char* infiniband = RPCRDMA_BUILTIN_ENTRIES "_infiniband";
inline constexpr const char* iwarp = RPCRDMA_BUILTIN_ENTRIES "_iwarp";

}  // namespace rpcrdma::plugin::builtin
