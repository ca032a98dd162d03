// SPDX-License-Identifier: GPL-2.0-or-later
// The newest few of something.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace rpcrdma::referee {

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
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::size_t at = (next_ + items_.size() - 1 - i) % items_.size();
      if (wanted(items_[at])) return &items_[at];
    }
    return nullptr;
  }

 private:
  std::vector<T> items_;
  std::size_t next_ = 0;  // the oldest, once full
};

}  // namespace rpcrdma::referee
