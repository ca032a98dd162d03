// SPDX-License-Identifier: GPL-2.0-or-later
// The newest few of something.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace rpcrdma::trace {

/// The newest `most` of something; grows only as far as it is used.
template <class T, std::size_t most>
class Recent {
 public:
  T& add(T&& value) {
    if (items_.size() < most) {
      items_.push_back(std::move(value));
      return items_.back();
    }
    T& slot = items_[next_];
    next_ = (next_ + 1) % most;
    slot = std::move(value);
    return slot;
  }
  /// The newest one for which `wanted` holds.
  template <class Predicate>
  [[nodiscard]] T* newest(Predicate wanted) {
    return found(items_, next_, wanted);
  }
  template <class Predicate>
  [[nodiscard]] const T* newest(Predicate wanted) const {
    return found(items_, next_, wanted);
  }
  /// Forgets them, and gives their memory back.
  void release() noexcept {
    items_ = {};
    next_ = 0;
  }
  /// Some that were there may have been forgotten.
  [[nodiscard]] bool full() const noexcept { return items_.size() == most; }
  /// Each, in no order.
  [[nodiscard]] auto begin() const noexcept { return items_.begin(); }
  [[nodiscard]] auto end() const noexcept { return items_.end(); }
  [[nodiscard]] auto begin() noexcept { return items_.begin(); }
  [[nodiscard]] auto end() noexcept { return items_.end(); }

 private:
  template <class Items, class Predicate>
  [[nodiscard]] static auto found(Items& items, std::size_t next, Predicate wanted) -> decltype(items.data()) {
    for (std::size_t at = next; at-- > 0;) {
      if (wanted(items[at])) return &items[at];
    }
    for (std::size_t at = items.size(); at-- > next;) {
      if (wanted(items[at])) return &items[at];
    }
    return nullptr;
  }

  std::vector<T> items_;
  std::size_t next_ = 0;  // the oldest, once full
};

}  // namespace rpcrdma::trace
