// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_reply_start.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/nfs4_sequence.hpp"
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

/// Steps over what is known to be there, as a Walker does.
class Captured {
 public:
  explicit Captured(const std::uint8_t* at) noexcept : at_(at) {}

  [[nodiscard]] bool identifier(std::array<std::uint8_t, nfs4::id_octets>& value) noexcept {
    std::copy_n(at_, value.size(), value.begin());
    return skip(value.size());
  }
  [[nodiscard]] bool word(std::uint32_t& value) noexcept {
    value = load_be32(at_);
    return skip(4);
  }
  [[nodiscard]] bool shape(std::string_view words) noexcept { return skip(words.size() * 4); }

 private:
  [[nodiscard]] bool skip(std::size_t octets) noexcept {
    at_ += octets;
    return true;
  }
  const std::uint8_t* at_;
};

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
  constexpr std::size_t in_front = 12;  // how many results, the operation, its status
  if (!at || results.size() < *at + in_front + nfs4::sequenced_octets) return std::nullopt;
  const std::uint8_t* const p = results.data() + *at;
  if (load_be32(p + 4) != operation::sequence || load_be32(p + 8) != nfs4_ok) return std::nullopt;
  Sequenced said;
  Captured rest(p + in_front);
  static_cast<void>(nfs4::read_sequenced(rest, said));
  return said;
}

}  // namespace rpcrdma::wire
