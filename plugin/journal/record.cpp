// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/record.hpp"

namespace rpcrdma::journal {

const Connection* Record::connection(std::uint32_t id) const noexcept {
  const auto at = connections.find(id);
  return at == connections.end() ? nullptr : &at->second;
}

const Exchange* Record::exchange(std::uint32_t connection_id, std::uint32_t id) const noexcept {
  const Connection* known = connection(connection_id);
  if (known == nullptr || id == 0 || id > known->exchanges.size()) return nullptr;
  return &known->exchanges[id - 1];
}

}  // namespace rpcrdma::journal
