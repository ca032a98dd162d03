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

std::uint32_t Record::message_of(std::uint32_t connection_id, std::uint32_t exchange_id, bool call) const {
  const Exchange* known = exchange(connection_id, exchange_id);
  if (known == nullptr) return none;
  return call ? known->call_message : known->reply_message;
}

}  // namespace rpcrdma::journal
