// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of an NFSv4 COMPOUND, found by stepping over their arguments.
#include <algorithm>
#include <utility>

#include "wire/nfs4_walker.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

using nfs4::Encounter;
using nfs4::ItemKind;
using nfs4::Walker;
using nfs4::Whereabouts;

constexpr std::uint32_t operations_limit = 64;
constexpr std::uint32_t tag_limit = 1024;

/// Where DDP-eligible arguments are (data of WRITE, text of a symbolic link).
enum class Data : std::uint8_t {
  unknown,  ///< they may have been moved into a Read chunk: stop there
  in_place,
  moved,  ///< only the length word is left
};

class AllAlike final : public nfs4::ItemPolicy {
 public:
  explicit AllAlike(Data data) noexcept : data_(data) {}
  [[nodiscard]] bool met_data() const noexcept { return met_data_; }

  [[nodiscard]] Whereabouts meet(const Encounter& item) override {
    if (item.kind != ItemKind::eligible || data_ == Data::in_place || item.length == 0) return Whereabouts::in_place;
    if (data_ == Data::moved) return Whereabouts::moved;
    met_data_ = true;
    return Whereabouts::unknown;
  }

 private:
  Data data_;
  bool met_data_ = false;
};

bool callback_layout_recall(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("www") || !w.word(type)) return false;
  switch (type) {
    case 1:  // LAYOUTRECALL4_FILE
      return w.shape("oddi");
    case 2:  // FSID
      return w.shape("dd");
    case 3:  // ALL
      return true;
    default:
      return false;
  }
}

bool callback_offload(Walker& w) {
  std::uint32_t status = 0;
  if (!w.shape("oi") || !w.word(status)) return false;
  return status == 0 ? w.shape("Idwd") : w.shape("d");
}

bool step_over_callback(Walker& w, std::uint32_t operation) {
  switch (operation) {
    case 3:  // CB_GETATTR
      return w.shape("ob");
    case 4:  // CB_RECALL
      return w.shape("iwo");
    case 5:
      return callback_layout_recall(w);
    case 6:  // CB_NOTIFY
      return w.shape("io") && w.each([&w] { return w.shape("bo"); });
    case 8:  // CB_RECALL_ANY, CB_RECALLABLE_OBJ_AVAIL
    case 9:
      return w.shape("wb");
    case 10:  // CB_RECALL_SLOT
      return w.shape("w");
    case 11:  // CB_SEQUENCE, with the lists of calls it refers to
      return w.shape("iwwww") && w.each([&w] { return w.shape("i") && w.array(8); });
    case 12:  // CB_WANTS_CANCELLED
      return w.shape("ww");
    case 13:  // CB_NOTIFY_LOCK
      return w.shape("odo");
    case 14:  // CB_NOTIFY_DEVICEID
      return w.each([&w] { return w.shape("bo"); });
    case 15:
      return callback_offload(w);
    case 10044:  // CB_ILLEGAL
      return true;
    default:
      return false;  // CB_PUSH_DELEG carries a whole delegation
  }
}

/// An operation that the minor version does not have has no known arguments either.
bool in_minor_version(std::uint32_t operation, std::uint32_t minor, bool callback) noexcept {
  if (operation == 10044) return true;
  if (callback) return operation >= 3 && operation <= (minor == 0 ? 4U : minor == 1 ? 14U : 15U);
  return operation >= 3 && operation <= (minor == 0 ? 39U : minor == 1 ? 58U : 75U);
}

/// What the operation, whose arguments come next, says of a back channel.
std::optional<bool> agrees_to_be_called(Walker walker, std::uint32_t operation) {
  constexpr std::uint32_t bind_conn_to_session = 41;
  constexpr std::uint32_t create_session = 43;
  // CREATE_SESSION4_FLAG_CONN_BACK_CHAN, and the bit that CDFC4_BACK has in common with both "or both".
  constexpr std::uint32_t back = 2;
  std::uint32_t said = 0;
  if (operation != bind_conn_to_session && operation != create_session) return false;
  if (!walker.shape(operation == create_session ? "dw" : "i") || !walker.word(said)) return std::nullopt;
  return (said & back) != 0;
}

struct Walked {
  bool whole = false;     ///< every announced operation, ending exactly where the message ends
  bool met_data = false;  ///< stopped at an argument that may have been moved
};

Walked walk(Cursor cursor, Data data, bool callback, Compound& compound) {
  AllAlike policy(data);
  Walker walker(cursor, policy);
  compound.operations.clear();
  compound.back_channel = false;
  const std::uint32_t limit = std::min(compound.count, operations_limit);
  std::uint32_t done = 0;
  for (; done < limit; ++done) {
    std::uint32_t operation = 0;
    if (!walker.word(operation)) break;
    compound.operations.push_back(operation);
    if (!callback && compound.back_channel == false) compound.back_channel = agrees_to_be_called(walker, operation);
    if (!in_minor_version(operation, compound.minor_version, callback)) break;
    if (!(callback ? step_over_callback(walker, operation) : nfs4::step_over_arguments(walker, operation))) break;
  }
  return {done == compound.count && walker.at_end(), policy.met_data()};
}

}  // namespace

Decoded<Compound> decode_compound(Bytes arguments, std::size_t wire_length, bool callback) {
  Cursor cursor(arguments, wire_length);
  Compound compound;
  const auto tag_length = cursor.be32("tag");
  if (!tag_length) return tl::make_unexpected(tag_length.error());
  const std::size_t padded = (std::size_t{*tag_length} + 3U) & ~std::size_t{3};
  if (padded > cursor.wire_left()) return tl::make_unexpected(DecodeError{Fault::invalid, "tag", 0});
  if (*tag_length > tag_limit) return tl::make_unexpected(DecodeError{Fault::unsupported, "tag", 0});
  const auto tag = cursor.take(padded, "tag");
  if (!tag) return tl::make_unexpected(tag.error());
  compound.tag.assign(tag->begin(), tag->begin() + static_cast<std::ptrdiff_t>(*tag_length));

  const auto minor = cursor.be32("minor version");
  if (!minor) return tl::make_unexpected(minor.error());
  compound.minor_version = *minor;
  if (callback) {
    const auto identifier = cursor.be32("callback identifier");
    if (!identifier) return tl::make_unexpected(identifier.error());
  }
  const std::size_t count_at = cursor.offset();
  const auto count = cursor.be32("operation count");
  if (!count) return tl::make_unexpected(count.error());
  compound.count = *count;
  if (compound.count > cursor.wire_left() / 4) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "operation count", count_at});
  }
  if (compound.minor_version > 2) return compound;

  compound.operations.reserve(std::min(compound.count, operations_limit));
  const Walked first = walk(cursor, Data::unknown, callback, compound);
  if (!first.met_data || cursor.captured_left() != cursor.wire_left()) return compound;

  // The walk stopped at data that may be here or in a Read chunk. Where only one of the two makes the operations end
  // exactly at the end of the message, that is the answer; otherwise what the first walk found stands.
  Compound in_place{{}, compound.minor_version, compound.count, {}, false};
  Compound moved = in_place;
  const bool fits_in_place = walk(cursor, Data::in_place, callback, in_place).whole;
  const bool fits_moved = walk(cursor, Data::moved, callback, moved).whole;
  if (fits_in_place != fits_moved) {
    Compound& fitting = fits_in_place ? in_place : moved;
    compound.operations = std::move(fitting.operations);
    compound.back_channel = fitting.back_channel;
  }
  return compound;
}

}  // namespace rpcrdma::wire
