// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/large_pages.hpp"

#ifdef RPCRDMA_MIMALLOC

#include <mimalloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace rpcrdma::cli {

void prefer_large_pages() noexcept {
  mi_option_enable(mi_option_large_os_pages);
#if MI_MALLOC_VERSION < 300
  mi_option_set(mi_option_eager_commit_delay, 0);  // else each thread begins with small ones; later versions do not
#endif
  // The region out of which memory comes at first was taken before main() began. It is as large and begins at a
  // multiple of that; were it not so, this would ask for what nobody has, and nothing happens.
  constexpr std::uintptr_t region = std::uintptr_t{32} << 20U;
  void* const inside = mi_malloc(1);
  auto* const first = static_cast<std::byte*>(inside) - reinterpret_cast<std::uintptr_t>(inside) % region;
  (void)::madvise(first, region, MADV_HUGEPAGE);
  mi_free(inside);
}

}  // namespace rpcrdma::cli

#else

namespace rpcrdma::cli {

void prefer_large_pages() noexcept {}

}  // namespace rpcrdma::cli

#endif
