// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_call_start.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rpcrdma::wire {

std::optional<SessionId> leading_session(Bytes arguments, bool callback) noexcept {
  constexpr std::uint32_t most_tag = 1024;
  if (arguments.size() < 4) return std::nullopt;
  const std::uint32_t tag = load_be32(arguments.data());
  if (tag > most_tag) return std::nullopt;
  // The tag; the minor version, of a callback who it is for, how many operations; the first of them.
  const std::size_t operation_at = 4 + (std::size_t{tag} + 3) / 4 * 4 + (callback ? 12 : 8);
  SessionId session;
  const std::size_t session_at = operation_at + 4;
  if (arguments.size() < session_at + session.octets.size()) return std::nullopt;
  const std::uint32_t first = load_be32(arguments.data() + operation_at);
  if (first != (callback ? operation::cb_sequence : operation::sequence)) return std::nullopt;
  std::copy_n(arguments.data() + session_at, session.octets.size(), session.octets.begin());
  return session;
}

}  // namespace rpcrdma::wire
