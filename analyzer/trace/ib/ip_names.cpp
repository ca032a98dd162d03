// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/ip_names.hpp"

#include <utility>

namespace rpcrdma::trace::ib {

void IpNames::learn(const std::array<Address, 2>& fabric, const std::array<std::string, 2>& names, std::size_t room) {
  if (fabric[0] == fabric[1]) return;  // of one port nothing tells which end is which
  if (names[0] == fabric[0].text() && names[1] == fabric[1].text()) return;
  const PairKey key(fabric[0], fabric[1]);
  const auto known = names_.find(key);
  if (known == names_.end() && names_.size() >= room) return;
  std::array<std::string, 2> low_high = names;
  if (!(key.low == fabric[0])) std::swap(low_high[0], low_high[1]);
  if (known == names_.end()) {
    names_.emplace(key, Names{std::move(low_high)});
  } else if (known->second.low_high != low_high) {
    known->second.agreed = false;
  }
}

std::array<std::string, 2> IpNames::of(const std::array<Address, 2>& fabric) const {
  const PairKey key(fabric[0], fabric[1]);
  const auto known = names_.find(key);
  if (known == names_.end() || !known->second.agreed) return {fabric[0].text(), fabric[1].text()};
  std::array<std::string, 2> names = known->second.low_high;
  if (!(key.low == fabric[0])) std::swap(names[0], names[1]);
  return names;
}

}  // namespace rpcrdma::trace::ib
