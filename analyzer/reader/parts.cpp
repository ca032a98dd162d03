// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/parts.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::reader {

std::shared_ptr<Part> Parts::fresh() { return parts_.emplace_back(std::make_shared<Part>(room_ + source_.part())); }

std::uint64_t Parts::read() {
  Claim mine = claim();
  const std::uint64_t number = mine.number;
  if (number != 0) fill(std::move(mine));
  return number;
}

Parts::Claim Parts::claim() {
  const std::lock_guard lock(access_);
  if (stopped_) return {};
  std::shared_ptr<Part> part = spare();
  ahead_.emplace_back();
  return {following(std::move(part)), count_ + ahead_.size()};
}

void Parts::fill(Claim mine) {
  std::unique_lock lock(access_, std::defer_lock);
  if (!placed_) lock.lock();
  Filled& part = mine.filled;
  // Whoever takes parts waits for this one, whatever becomes of it.
  const auto filled = [&] {
    if (!lock.owns_lock()) lock.lock();
    const bool short_of = placed_ && part.got < static_cast<ssize_t>(part.part->size() - room_);
    if (part.got <= 0 || short_of) stopped_ = true;
    ahead_[static_cast<std::size_t>(mine.number - count_ - 1)] = {std::move(part), Ahead::State::filled};
    filled_.notify_all();
  };
  try {
    read_into(part);
  } catch (...) {
    part.got = -1;
    filled();
    throw;
  }
  filled();
}

/// Without a part: what was read ahead is not what comes next.
Parts::Filled Parts::take_ahead(std::unique_lock<std::mutex>& lock) {
  filled_.wait(lock, [&] { return ahead_.front().state == Ahead::State::filled; });
  if (ahead_.front().filled.offset == given_) {
    Filled filled = std::move(ahead_.front().filled);
    ahead_.pop_front();
    taken(filled);
    find_spare();
    return filled;
  }
  // The one before it came short, and yet the file goes on: it grows.
  wait_for_all(lock);
  ahead_.clear();
  stopped_ = true;
  claimed_ = given_;
  return {};
}

void Parts::stop() {
  std::unique_lock lock(access_);
  stopped_ = true;
  wait_for_all(lock);
}

void Parts::wait_for_all(std::unique_lock<std::mutex>& lock) {
  filled_.wait(lock, [&] {
    return std::all_of(ahead_.begin(), ahead_.end(),
                       [](const Ahead& each) { return each.state == Ahead::State::filled; });
  });
}

std::optional<double> Parts::position() const {
  const std::lock_guard lock(access_);
  if (!placed_) return source_.position();
  const std::uint64_t size = source_.size().value_or(0);
  if (size == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(given_) / static_cast<double>(size));
}

void Parts::find_spare() {
  for (const std::shared_ptr<Part>& part : parts_) {
    if (part.use_count() == 1) spare_.push_back(part);
  }
}

std::shared_ptr<Part> Parts::spare() {
  if (spare_.empty()) return fresh();
  std::shared_ptr<Part> part = std::move(spare_.back());
  spare_.pop_back();
  return part;
}

Parts::Filled Parts::following(std::shared_ptr<Part> part) noexcept {
  const std::uint64_t offset = claimed_;
  if (placed_) claimed_ += part->size() - room_;
  return {std::move(part), offset, 0};
}

void Parts::read_into(Filled& filled) {
  std::uint8_t* to = filled.part->data() + room_;
  const std::size_t most = filled.part->size() - room_;
  filled.got = placed_ ? source_.read_at(filled.offset, to, most) : source_.read(to, most);
}

void Parts::taken(const Filled& filled) noexcept {
  ++count_;
  if (placed_ && filled.got > 0) given_ += static_cast<std::uint64_t>(filled.got);
  if (ahead_.empty()) claimed_ = given_;
}

}  // namespace rpcrdma::reader
