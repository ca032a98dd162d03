// SPDX-License-Identifier: GPL-2.0-or-later
// A queue that grows by doubling up to a bound and then gives up its oldest element.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace rpcrdma::trace::ib {

template <class T>
class Ring {
 public:
  /// `bound` is a power of two.
  explicit Ring(std::size_t bound) : bound_(bound) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == slots_.size(); }
  [[nodiscard]] std::size_t bound() const noexcept { return bound_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] T& front() noexcept { return (*this)[0]; }
  [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }

  void pop_front() noexcept {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  /// False when the oldest element had to go.
  bool push_back(T value) {
    bool kept = true;
    if (full()) {
      if (slots_.size() < bound_) {
        grow();
      } else {
        pop_front();
        kept = false;
      }
    }
    (*this)[size_++] = std::move(value);
    return kept;
  }
  void clear() noexcept { head_ = size_ = 0; }
  /// clear(), and gives its memory back.
  void release() noexcept {
    clear();
    slots_ = std::vector<T>();
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? first_size() : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    head_ = 0;
  }
  [[nodiscard]] std::size_t first_size() const noexcept { return bound_ < 16 ? bound_ : 16; }

  std::vector<T> slots_;
  std::size_t bound_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace rpcrdma::trace::ib
