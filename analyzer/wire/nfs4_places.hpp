// SPDX-License-Identifier: GPL-2.0-or-later
// Where the octets of DDP-eligible items are while the operations of a compound are walked; no interface of this
// folder.
#pragma once

#include "wire/data_places.hpp"
#include "wire/nfs4_walker.hpp"
#include "wire/nfs_items.hpp"

namespace rpcrdma::wire::nfs4 {

class Places : public ItemPolicy {
 public:
  /// Has the walk met an item that may be here or gone?
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  [[nodiscard]] Whereabouts meet(const Encounter& item) final {
    const Whereabouts where = look(item);
    lost_ = lost_ || where == Whereabouts::unknown;
    return where;
  }

 protected:
  [[nodiscard]] virtual Whereabouts look(const Encounter& item) noexcept = 0;

 private:
  bool lost_ = false;
};

/// One answer for all of them.
class AllAlike final : public Places {
 public:
  explicit AllAlike(Whereabouts data) noexcept : data_(data) {}

 protected:
  [[nodiscard]] Whereabouts look(const Encounter& item) noexcept override {
    return item.kind != ItemKind::eligible || item.length == 0 ? Whereabouts::in_place : data_;
  }

 private:
  Whereabouts data_;
};

/// As a walk with the chunks at hand found them.
class AsListed final : public Places {
 public:
  explicit AsListed(const NfsItems& listed) noexcept : listed_(&listed) {}

 protected:
  [[nodiscard]] Whereabouts look(const Encounter& item) noexcept override {
    const auto& items = listed_->items;
    while (next_ < items.size() && items[next_].data_at() < item.at) ++next_;
    if (next_ < items.size() && items[next_].data_at() == item.at) {
      return items[next_++].moved() ? Whereabouts::moved : Whereabouts::in_place;
    }
    return item.kind != ItemKind::eligible || item.length == 0 ? Whereabouts::in_place : Whereabouts::unknown;
  }

 private:
  const NfsItems* listed_;
  std::size_t next_ = 0;
};

/// Where a Call's Read chunks say that they are. A chunk in front of an item, where none began, says that something was
/// misread.
class AtPositions final : public Places {
 public:
  explicit AtPositions(ChunksOfCall chunks) noexcept : chunks_(chunks) {}

 protected:
  [[nodiscard]] Whereabouts look(const Encounter& item) noexcept override {
    if (next_ == chunks_.size() || chunks_[next_].position > item.position) return Whereabouts::in_place;
    return chunks_[next_++].position == item.position ? Whereabouts::moved : Whereabouts::unknown;
  }

 private:
  ChunksOfCall chunks_;
  std::size_t next_ = 0;
};

/// Reads a compound with what is known of its items. `read_once` walks with the Places that it is given and says
/// whether the operations end where the message ends; each time it replaces what it read before. `watch`: null, or is
/// told of all.
template <class Read>
void read_with_places(const DataPlaces& known, bool cut, ItemWatch* watch, Read&& read_once) {
  const auto read = [&](Places& places) {
    places.watch = watch;
    if (watch != nullptr) watch->restart();
    return read_once(places);
  };
  const auto settled = [&](Places&& places) { static_cast<void>(read(places)); };
  if (std::holds_alternative<NothingMoved>(known)) return settled(AllAlike(Whereabouts::in_place));
  if (const auto* chunks = std::get_if<ChunksOfCall>(&known)) return settled(AtPositions(*chunks));
  if (const auto* listed = std::get_if<ItemsListed>(&known)) return settled(AsListed(**listed));
  AllAlike unknown(Whereabouts::unknown);
  static_cast<void>(read(unknown));
  if (!unknown.lost() || cut) return;
  // Data stand here or in a chunk. Where only one of the two makes the operations end exactly at the end of the
  // message, that is the answer; otherwise what the first walk found stands.
  AllAlike in_place(Whereabouts::in_place);
  AllAlike moved(Whereabouts::moved);
  const bool fits_in_place = read(in_place);
  const bool fits_moved = read(moved);
  if (fits_moved && !fits_in_place) return;
  static_cast<void>(read(fits_in_place && !fits_moved ? in_place : unknown));
}

/// Why a walk ended early.
[[nodiscard]] inline DecodeError why_ended(const Walker& walker, const Places& places, bool cut) noexcept {
  if (walker.error()) return *walker.error();
  if (places.lost()) return {cut ? Fault::truncated : Fault::unsupported, "place of the data", walker.offset()};
  return {Fault::unsupported, "form", walker.offset()};
}

}  // namespace rpcrdma::wire::nfs4
