// SPDX-License-Identifier: GPL-2.0-or-later
// Headers field by field. Version 1 by what its decoder listens to as well, version 2 by taking its items apart.
#include <array>

#include "wire/body_v1.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::wire {

namespace {

constexpr std::array<Field, 4> fixed_fields{Field::xid, Field::version, Field::credit, Field::proc};

/// Tells the visitor of fields at their places, as far as the octets go.
class FieldTeller {
 public:
  FieldTeller(Bytes octets, FieldVisitor& visitor) : octets_(octets), visitor_(visitor) {}

  void tell(Field field, std::size_t at, std::size_t length) {
    if (at >= octets_.size()) return;
    const std::size_t there = length < octets_.size() - at ? length : octets_.size() - at;
    if (there == 0) return;
    const std::uint8_t* octets = octets_.data() + at;
    const std::uint64_t value = there == 4 ? load_be32(octets) : there == 8 ? load_be64(octets) : 0;
    visitor_.on(FieldAt{field, at, there, value});
  }
  void segment(std::size_t at) {
    tell(Field::handle, at, 4);
    tell(Field::length, at + 4, 4);
    tell(Field::offset, at + 8, 8);
  }
  void read_segment(std::size_t at) {
    tell(Field::position, at, 4);
    segment(at + 4);
  }
  /// Those words of a segment of which not all octets are there. `position`: it begins with one.
  void cut_segment(std::size_t at, bool position) {
    static constexpr std::array<Field, 3> words{Field::position, Field::handle, Field::length};
    for (std::size_t i = position ? 0 : 1; i < words.size() && at + 4 <= octets_.size(); ++i, at += 4) {
      tell(words[i], at, 4);
    }
  }
  void payload(std::size_t at) { visitor_.payload(at); }

 private:
  Bytes octets_;
  FieldVisitor& visitor_;
};

/// Tells of a version 1 header's body as it is passed.
struct FieldsOfBody {
  FieldTeller& teller;
  const Cursor& cursor;

  void word(Field field, std::uint32_t) const { teller.tell(field, cursor.offset() - 4, 4); }

  struct Reads : chunk_lists::Listener {
    explicit Reads(const FieldsOfBody& body) : to(body) {}
    void item() const { to.word(Field::read_item, 1); }
    void end() const { to.word(Field::read_end, 0); }
    void read(const ReadSegment&) const {
      to.teller.read_segment(to.cursor.offset() - chunk_lists::read_segment_octets);
    }
    void cut() const { to.teller.cut_segment(to.cursor.offset(), true); }
    const FieldsOfBody& to;
  };
  struct Chunks : chunk_lists::Listener {
    Chunks(const FieldsOfBody& body, Field of_item, Field of_end) : to(body), one(of_item), none(of_end) {}
    void item() const { to.word(one, 1); }
    void end() const { to.word(none, 0); }
    void count(std::uint32_t value) const { to.word(Field::segment_count, value); }
    void segment(const Segment&) const { to.teller.segment(to.cursor.offset() - chunk_lists::segment_octets); }
    void cut() const { to.teller.cut_segment(to.cursor.offset(), false); }
    const FieldsOfBody& to;
    Field one;
    Field none;
  };
  [[nodiscard]] Reads reads() const { return Reads(*this); }
  [[nodiscard]] Chunks writes() const { return {*this, Field::write_item, Field::write_end}; }
  [[nodiscard]] Chunks reply() const { return {*this, Field::reply_present, Field::reply_absent}; }
};

class FieldsOfItems final : public ItemVisitor {
 public:
  explicit FieldsOfItems(FieldTeller& teller) : teller_(teller) {}

  void on(const Item& item) override {
    using Kind = Item::Kind;
    switch (item.kind) {
      case Kind::xid:
        return one(Field::xid, item);
      case Kind::version:
        return one(Field::version, item);
      case Kind::credit:
        return one(Field::credit, item);
      case Kind::htype:
        return one(Field::htype, item);
      case Kind::flags:
        return one(Field::flags2, item);
      case Kind::error_code:
        return one(Field::error_code2, item);
      case Kind::version_low:
        return one(Field::version_low, item);
      case Kind::version_high:
        return one(Field::version_high, item);
      case Kind::most_chunks:
        return one(Field::most_chunks, item);
      case Kind::most_segments:
        return one(Field::most_segments, item);
      case Kind::chunk_index:
        return one(Field::chunk_index, item);
      case Kind::length_needed:
        return one(Field::length_needed, item);
      case Kind::inv_handle:
        return one(Field::inv_handle, item);
      case Kind::remaining:
        return one(Field::remaining, item);
      case Kind::call_segment:
        teller_.tell(Field::call_item, item.offset, 4);
        return teller_.read_segment(item.offset + 4);
      case Kind::read_segment:
        teller_.tell(Field::read_item, item.offset, 4);
        return teller_.read_segment(item.offset + 4);
      case Kind::write_chunk:
        return two(Field::write_item, Field::segment_count, item);
      case Kind::reply_chunk:
        return two(Field::reply_present, Field::segment_count, item);
      case Kind::write_segment:
      case Kind::reply_segment:
        return teller_.segment(item.offset);
      case Kind::call_end:
        return one(Field::call_end, item);
      case Kind::read_end:
        return one(Field::read_end, item);
      case Kind::write_end:
        return one(Field::write_end, item);
      case Kind::reply_absent:
        return one(Field::reply_absent, item);
      case Kind::property_count:
        return one(Field::property_count, item);
      case Kind::property:
        return two(Field::property_id, Field::property_length, item);
      case Kind::property_value:
        return one(Field::property_value, item);
      case Kind::property_pad:
        return one(Field::property_pad, item);
      case Kind::payload:
        return teller_.payload(item.offset);
      case Kind::trailing:
      case Kind::unknown_body:
        return one(Field::unexpected, item);
    }
  }
  void on(const Property&) override {}

 private:
  void one(Field field, const Item& item) { teller_.tell(field, item.offset, item.length); }
  void two(Field first, Field second, const Item& item) {
    teller_.tell(first, item.offset, 4);
    teller_.tell(second, item.offset + 4, 4);
  }

  FieldTeller& teller_;
};

}  // namespace

Decoded<std::size_t> walk_fields_v1(Bytes octets, std::size_t wire_length, FieldVisitor& visitor) {
  FieldTeller teller(octets, visitor);
  Cursor cursor(octets, wire_length);
  const std::size_t wire = cursor.wire_left();
  for (std::size_t i = 0; i < fixed_fields.size() && octets.size() >= i * 4 + 4; ++i) {
    teller.tell(fixed_fields[i], i * 4, 4);
  }
  const auto refused = [](const chunk_lists::Step& step) { return tl::make_unexpected(step.error()); };
  if (wire < body_v1::fixed_octets) return refused(body_v1::too_short());
  const auto words = cursor.take(body_v1::fixed_octets, "fixed words");
  if (!words) return tl::make_unexpected(words.error());
  const std::uint32_t number = load_be32(words->data() + 12);
  const auto rest = [&] { teller.tell(Field::unexpected, cursor.offset(), cursor.captured_left()); };
  if (number > static_cast<std::uint32_t>(Proc::error)) {
    rest();
    return tl::make_unexpected(DecodeError{Fault::invalid, "proc", 12});
  }

  const auto proc = static_cast<Proc>(number);
  FieldsOfBody body{teller, cursor};
  const auto step = body_v1::walk(cursor, proc, body);
  if (wire < body_v1::least_octets(proc)) return refused(body_v1::too_short());
  if (!step) {
    if (step.error().field == "error code" && step.error().fault == Fault::invalid) rest();
    return refused(step);
  }
  const std::size_t length = cursor.offset();
  if (proc == Proc::msg || proc == Proc::msgp) {
    if (cursor.wire_left() > 0) teller.payload(length);
  } else {
    rest();
  }
  return length;
}

void walk_fields(Bytes octets, std::size_t wire_length, FieldVisitor& visitor) {
  const auto fixed = decode_fixed_words(octets, wire_length);
  if (!fixed || fixed->version == 1) {
    (void)walk_fields_v1(octets, wire_length, visitor);
    return;
  }
  FieldTeller teller(octets, visitor);
  const bool error = static_cast<HeaderType>(fixed->proc) == HeaderType::error;
  if (fixed->version == 2 || error) {
    FieldsOfItems items(teller);
    const bool earlier = fixed->version == 2 && earlier_draft(octets, wire_length);
    (void)walk_v2(octets, wire_length, items, earlier ? Draft::earlier : Draft::newest);
    return;
  }
  for (std::size_t i = 0; i < fixed_fields.size(); ++i) teller.tell(fixed_fields[i], i * 4, 4);
  teller.tell(Field::unexpected, body_v1::fixed_octets, octets.size() - body_v1::fixed_octets);
}

}  // namespace rpcrdma::wire
