// SPDX-License-Identifier: GPL-2.0-or-later
// Shapes that stand in arguments and in results of NFSv4 operations (RFC 5662, 7863).
#include "wire/nfs4_walker.hpp"

namespace rpcrdma::wire::nfs4 {

bool step_over_network_location(Walker& w) {
  std::uint32_t type = 0;
  if (!w.word(type)) return false;
  switch (type) {
    case 1:  // NL4_NAME, NL4_URL
    case 2:
      return w.shape("o");
    case 3:  // NL4_NETADDR
      return w.shape("oo");
    default:
      return false;
  }
}

bool step_over_exchange_id(Walker& w, std::string_view before, std::string_view ssv, std::string_view behind) {
  std::uint32_t protect = 0;
  if (!w.shape(before) || !w.word(protect)) return false;
  switch (protect) {
    case 0:  // SP4_NONE
      break;
    case 1:  // SP4_MACH_CRED
      if (!w.shape("bb")) return false;
      break;
    case 2:  // SP4_SSV
      if (!w.shape("bb") || !w.shape(ssv)) return false;
      break;
    default:
      return false;
  }
  return w.shape(behind) && w.each([&w] { return w.shape("oodw"); });  // nfs_impl_id4
}

}  // namespace rpcrdma::wire::nfs4
