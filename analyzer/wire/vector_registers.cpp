// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/vector_registers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rpcrdma::wire {

#if defined(__x86_64__)
namespace {

// Not inlined into a caller whose code may keep something there.
[[gnu::target("avx"), gnu::noinline]] void zero_upper_halves() noexcept { _mm256_zeroupper(); }

}  // namespace

void clear_upper_vectors() noexcept {
  static const bool has_them = __builtin_cpu_supports("avx") != 0;
  if (has_them) zero_upper_halves();
}
#else
void clear_upper_vectors() noexcept {}
#endif

}  // namespace rpcrdma::wire
