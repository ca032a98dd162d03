// SPDX-License-Identifier: GPL-2.0-or-later
// Stepping over XDR items of NFS without interpreting them. Shared by the walks over NFSv4 operations and over the
// procedures of NFSv2 and NFSv3; no interface of this folder.
//
// Items may have been moved into chunks (RFC 8166 section 3.4.4): then only the length word is in the stream. Whoever
// starts a walk answers for each counted item whether that is so. Every step consumes captured octets or ends the walk.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/bytes.hpp"
#include "wire/item_watch.hpp"

namespace rpcrdma::wire::nfs4 {

inline constexpr std::size_t id_octets = 16;  // stateid, session id, device id

/// What RFC 8267 says of a counted item.
enum class ItemKind : std::uint8_t {
  other,     ///< must stay in the stream
  bulky,     ///< must stay too, but is of the sort that somebody may have moved (READ_PLUS data, attribute values)
  eligible,  ///< may be moved into a chunk of its own
};

struct Encounter {
  ItemKind kind = ItemKind::other;
  std::size_t at = 0;          ///< of the item's first octet, behind the length word, in the stream that is walked
  std::uint64_t position = 0;  ///< the same in the unreduced stream: `at` plus all that was moved before
  std::uint64_t length = 0;    ///< octets, as the length word says
  bool fits = false;           ///< the stream is long enough to hold it here
};

enum class Whereabouts : std::uint8_t { in_place, moved, unknown /* end the walk */ };

/// Says for each counted item where its octets are.
class ItemPolicy {
 public:
  ItemPolicy() = default;
  ItemPolicy(const ItemPolicy&) = delete;
  ItemPolicy& operator=(const ItemPolicy&) = delete;
  virtual ~ItemPolicy() = default;
  [[nodiscard]] virtual Whereabouts meet(const Encounter& item) = 0;

  ItemWatch* watch = nullptr;  ///< is told of everything that is stepped over; null: nobody
};

class Walker {
 public:
  /// Walks from where `cursor` stands; positions count from where it began.
  Walker(Cursor cursor, ItemPolicy& policy) noexcept : cursor_(cursor), policy_(&policy) {}

  [[nodiscard]] bool at_end() const noexcept { return cursor_.wire_left() == 0; }
  [[nodiscard]] std::size_t offset() const noexcept { return cursor_.offset(); }
  [[nodiscard]] std::size_t wire_left() const noexcept { return cursor_.wire_left(); }
  /// Where the walk stands in the unreduced stream.
  [[nodiscard]] std::uint64_t position() const noexcept { return cursor_.offset() + moved_octets_; }
  /// Why the last step failed, if octets lacked; empty when what was there has a form that is not known.
  [[nodiscard]] const std::optional<DecodeError>& error() const noexcept { return error_; }

  bool word(std::uint32_t& value) {
    const auto w = cursor_.be32("word");
    if (w) {
      value = *w;
      tell(PassedItem::Form::words, 4);
    } else {
      error_ = w.error();
    }
    return w.has_value();
  }
  bool hyper(std::uint64_t& value) {
    const auto w = cursor_.be64("hyper");
    if (w) {
      value = *w;
      tell(PassedItem::Form::words, 8);
    } else {
      error_ = w.error();
    }
    return w.has_value();
  }
  /// Of a session, or what `form` says.
  bool identifier(std::array<std::uint8_t, id_octets>& value, PassedItem::Form form = PassedItem::Form::name) {
    const auto taken = cursor_.take(id_octets, "identifier");
    if (taken) {
      std::copy(taken->begin(), taken->end(), value.begin());
      tell(form, id_octets);
    } else {
      error_ = taken.error();
    }
    return taken.has_value();
  }
  /// Counted octets, without their pad: a hash of them.
  bool name(std::uint64_t& hash) {
    std::uint32_t length = 0;
    if (!word(length)) return false;
    const auto taken = cursor_.take(length, "item");
    if (!taken) {
      error_ = taken.error();
      return false;
    }
    hash = hash_of(*taken);
    return true;
  }
  bool skip(std::size_t octets) noexcept {
    const auto taken = cursor_.take(octets, "item");
    if (!taken) error_ = taken.error();
    return taken.has_value();
  }
  /// A word that is 0 or 1.
  bool boolean(bool& value) {
    std::uint32_t w = 0;
    if (!word(w) || w > 1) return false;
    value = w == 1;
    return true;
  }

  /// Counted octets with their pad.
  bool opaque(ItemKind kind = ItemKind::other) {
    return item(kind, 1, kind == ItemKind::other ? PassedItem::Form::opaque : PassedItem::Form::data);
  }
  /// A counted array of items of one size.
  bool array(std::size_t item_octets) {
    return item(ItemKind::other, item_octets,
                item_octets == id_octets ? PassedItem::Form::stateids : PassedItem::Form::bitmap);
  }
  /// A counted array of anything else; each of its items takes four octets or more.
  template <class Item>
  bool each(Item&& one) {
    std::uint32_t count = 0;
    if (!word(count)) return false;
    if (count > cursor_.wire_left() / 4) {
      error_ = DecodeError{Fault::invalid, "count", cursor_.offset() - 4};
      return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!one()) return false;
    }
    return true;
  }

  /// w word, p a person's number, d two words, t time of two words, T of three, i stateid4, n sessionid4 or deviceid4,
  /// o opaque (right behind a bitmap: attribute values), b bitmap, I and N arrays of what i and n are, O array of
  /// opaques, D DDP-eligible opaque, X bulky opaque
  bool shape(std::string_view items);

 private:
  [[nodiscard]] std::size_t pass_fixed(std::string_view items) noexcept;

  /// What was stepped over last.
  bool tell(PassedItem::Form form, std::size_t length) {
    if (policy_->watch != nullptr) [[unlikely]] {
      policy_->watch->passed({form, cursor_.offset() - length, length});
    }
    return true;
  }

  bool item(ItemKind kind, std::size_t item_octets, PassedItem::Form form);

  Cursor cursor_;
  ItemPolicy* policy_;
  std::uint64_t moved_octets_ = 0;
  std::optional<DecodeError> error_;
};

/// The arguments of an operation of the fore channel; false where the walk must end.
[[nodiscard]] bool step_over_arguments(Walker& walker, std::uint32_t operation);

/// The status of an operation of the fore channel and what follows it.
/// `ok` says whether the status was NFS4_OK: a COMPOUND ends with the first operation that failed.
[[nodiscard]] bool step_over_results(Walker& walker, std::uint32_t operation, bool& ok);

/// The same of an operation of the back channel.
[[nodiscard]] bool step_over_callback_arguments(Walker& walker, std::uint32_t operation);
[[nodiscard]] bool step_over_callback_results(Walker& walker, std::uint32_t operation, bool& ok);

// What arguments and results have in common.
/// netloc4
[[nodiscard]] bool step_over_network_location(Walker& walker);
/// EXCHANGE_ID: what stands in front of the state protection, what SP4_SSV has there behind its two bitmaps, what
/// follows; then the implementations.
[[nodiscard]] bool step_over_exchange_id(Walker& walker, std::string_view before, std::string_view ssv,
                                         std::string_view behind);

/// Do the walks know this operation's shape?
[[nodiscard]] bool known_operation(std::uint32_t operation) noexcept;

}  // namespace rpcrdma::wire::nfs4
