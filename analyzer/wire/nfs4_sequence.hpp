// SPDX-License-Identifier: GPL-2.0-or-later
// How the results of SEQUENCE are laid out; no interface of this folder.
#pragma once

#include <cstddef>

#include "wire/nfs4_walker.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire::nfs4 {

/// SEQUENCE4resok (RFC 8881 section 18.46): session, sequence id, three slots, flags.
inline constexpr std::size_t sequenced_octets = id_octets + std::size_t{5} * 4;

/// `from`: a Walker, or what steps as it does.
template <class From>
[[nodiscard]] bool read_sequenced(From& from, Sequenced& said) {
  return from.identifier(said.session.octets) && from.shape("wwww") && from.word(said.flags);
}

}  // namespace rpcrdma::wire::nfs4
