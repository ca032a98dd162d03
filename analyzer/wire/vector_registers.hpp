// SPDX-License-Identifier: GPL-2.0-or-later
// What another library's hand-written vector code leaves behind in the processor.
#pragma once

namespace rpcrdma::wire {

/// To be called behind every call into ISA-L that computes a checksum. Its widest code (AVX-512) returns with the upper
/// parts of the vector registers in use, and as long as they are, each SSE instruction of the whole thread waits for
/// registers it does not need: ours, and Wireshark's and the C library's in a thread that is theirs.
void clear_upper_vectors() noexcept;

}  // namespace rpcrdma::wire
