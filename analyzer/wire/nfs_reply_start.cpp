// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_reply_start.hpp"

#include <algorithm>

#include "wire/nfs_status.hpp"

namespace rpcrdma::wire {

namespace {

/// Where a COMPOUND says how many results it has, which stand behind that; nullopt: a tag that is too long, or a cut.
std::optional<std::size_t> count_at(Bytes results) noexcept {
  constexpr std::size_t words_before_tag = 8;  // status, the tag's length
  constexpr std::uint32_t most_tag = 1024;
  if (results.size() < words_before_tag) return std::nullopt;
  const std::uint32_t tag = load_be32(results.data() + 4);
  if (tag > most_tag) return std::nullopt;
  return words_before_tag + (std::size_t{tag} + 3) / 4 * 4;
}

}  // namespace

std::size_t plain_results(Bytes message) noexcept {
  constexpr std::size_t body = 24;  // XID, REPLY, MSG_ACCEPTED, flavor, length, SUCCESS
  if (message.size() < body) return 0;
  const std::uint8_t* p = message.data();
  const bool plain = load_be32(p + 4) == 1 && load_be32(p + 8) == 0 && load_be32(p + 16) == 0 && load_be32(p + 20) == 0;
  return plain ? body : 0;
}

std::optional<std::uint32_t> only_operation(Bytes results) noexcept {
  const auto at = count_at(results);
  if (!at || results.size() < *at + 8 || load_be32(results.data() + *at) != 1) return std::nullopt;
  return load_be32(results.data() + *at + 4);
}

std::optional<Sequenced> leading_sequence(Bytes results) noexcept {
  const auto at = count_at(results);
  // number of results, operation, its status, session id, sequence id, three slots, flags
  constexpr std::size_t operation_at = 4;
  constexpr std::size_t session_at = 12;
  constexpr std::size_t flags_at = 44;
  if (!at || results.size() < *at + flags_at + 4) return std::nullopt;
  const std::uint8_t* p = results.data() + *at;
  if (load_be32(p + operation_at) != operation::sequence || load_be32(p + operation_at + 4) != nfs4_ok) {
    return std::nullopt;
  }
  Sequenced said;
  std::copy_n(p + session_at, said.session.octets.size(), said.session.octets.begin());
  said.flags = load_be32(p + flags_at);
  return said;
}

}  // namespace rpcrdma::wire
