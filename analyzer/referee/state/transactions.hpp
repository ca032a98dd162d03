// SPDX-License-Identifier: GPL-2.0-or-later
// The transactions of one connection by requester and XID. Ordered, so that no choice of XIDs makes looking one up
// slow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "referee/state/transaction.hpp"

namespace rpcrdma::referee {

class Transactions {
 public:
  using ByKey = std::map<std::uint64_t, Transaction>;

  /// Octets of the XID in reverse: nearly all clients count in the order of their hosts, and so it rises from Call to
  /// Call.
  [[nodiscard]] static constexpr std::uint64_t key(Side requester, std::uint32_t xid) noexcept {
    return (static_cast<std::uint64_t>(index(requester)) << 32U) | reversed(xid);
  }
  [[nodiscard]] static constexpr std::uint32_t xid(std::uint64_t key) noexcept {
    return reversed(static_cast<std::uint32_t>(key));
  }

  /// nullptr: there is none. Valid until it is erased.
  [[nodiscard]] Transaction* find(std::uint64_t key) {
    Used& used = used_[slot(key)];
    if (used.call != nullptr && used.key == key) return used.call;
    const auto at = place(by_key_, key);
    if (at == by_key_.end()) return nullptr;
    used = {key, &at->second};
    return used.call;
  }
  [[nodiscard]] const Transaction* find(std::uint64_t key) const {
    const Used& used = used_[slot(key)];
    if (used.call != nullptr && used.key == key) return used.call;
    const auto at = place(by_key_, key);
    return at == by_key_.end() ? nullptr : &at->second;
  }
  /// There is none with this key.
  Transaction& enter(std::uint64_t key, Transaction&& call) {
    ByKey::iterator at;
    if (spare_.empty()) {
      at = by_key_.emplace_hint(by_key_.end(), key, std::move(call));
    } else {
      spare_.key() = key;
      spare_.mapped() = std::move(call);
      at = by_key_.insert(by_key_.end(), std::move(spare_));
    }
    used_[slot(key)] = {key, &at->second};
    return at->second;
  }
  void erase(std::uint64_t key) {
    const auto at = place(by_key_, key);
    if (at != by_key_.end()) erase(at);
  }
  ByKey::const_iterator erase(ByKey::const_iterator at) {
    const std::uint64_t key = at->first;
    Used& used = used_[slot(key)];
    if (used.key == key) used = {};
    const auto next = std::next(at);
    spare_ = by_key_.extract(at);
    return next;
  }
  void clear() noexcept {
    by_key_.clear();
    spare_ = {};
    used_ = {};
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_key_.size(); }
  [[nodiscard]] bool empty() const noexcept { return by_key_.empty(); }
  [[nodiscard]] ByKey::iterator begin() noexcept { return by_key_.begin(); }
  [[nodiscard]] ByKey::iterator end() noexcept { return by_key_.end(); }
  [[nodiscard]] ByKey::const_iterator begin() const noexcept { return by_key_.begin(); }
  [[nodiscard]] ByKey::const_iterator end() const noexcept { return by_key_.end(); }

 private:
  [[nodiscard]] static constexpr std::uint32_t reversed(std::uint32_t xid) noexcept {
    return (xid >> 24U) | (xid >> 8U & 0xff00U) | (xid << 8U & 0xff0000U) | (xid << 24U);
  }
  static constexpr std::size_t slots = 16;
  struct Used {
    std::uint64_t key = 0;
    Transaction* call = nullptr;
  };
  /// Whichever end of the XID is counted.
  [[nodiscard]] static constexpr std::size_t slot(std::uint64_t key) noexcept { return (key ^ key >> 24U) % slots; }
  /// They mostly rise: one that is new is behind all others, and the first to be forgotten is the lowest.
  template <class Map>
  [[nodiscard]] static auto place(Map& map, std::uint64_t key) -> decltype(map.end()) {
    if (map.empty() || std::prev(map.end())->first < key) return map.end();
    return map.begin()->first == key ? map.begin() : map.find(key);
  }

  ByKey by_key_;
  ByKey::node_type spare_;        ///< of the last that was erased: for each Call that comes one is forgotten
  std::array<Used, slots> used_;  ///< lately: a message is looked up several times
};

}  // namespace rpcrdma::referee
