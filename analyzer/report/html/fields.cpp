// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/fields.hpp"

#include <algorithm>

#include "wire/private_data.hpp"
#include "wire/rpcrdma.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::report::page {

namespace {

class Placer {
 public:
  Placer(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out)
      : cursor_(octets, wire_length), octets_(octets), out_(out) {}

  /// The word's value; the walk ends when it is not at hand.
  [[nodiscard]] std::uint32_t word(Field field) {
    const std::size_t at = cursor_.offset();
    const auto value = ok_ ? cursor_.be32("") : wire::Decoded<std::uint32_t>(tl::make_unexpected(wire::DecodeError{}));
    ok_ = value.has_value();
    if (!ok_) return 0;
    put(field, at, 4);
    return *value;
  }
  void skip(Field field, std::size_t length) {
    const std::size_t at = cursor_.offset();
    const std::size_t there = std::min(length, cursor_.captured_left());
    if (!ok_ || there == 0) return;
    ok_ = cursor_.take(there, "").has_value() && there == length;
    put(field, at, there);
  }
  void rest(Field field) { skip(field, cursor_.captured_left()); }
  void put(Field field, std::size_t at, std::size_t length) {
    if (length != 0) out_.push_back({field, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)});
  }
  /// The word that comes next, without passing it.
  [[nodiscard]] std::uint32_t peek() const noexcept {
    return ok_ && cursor_.captured_left() >= 4 ? wire::load_be32(octets_.data() + cursor_.offset()) : 0;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_ && cursor_.captured_left() > 0; }
  [[nodiscard]] std::size_t at() const noexcept { return cursor_.offset(); }

  void segment() {
    (void)word(Field::handle);
    (void)word(Field::length);
    skip(Field::offset, 8);
  }
  void chunk() {
    const std::uint32_t count = word(Field::segment_count);
    for (std::uint32_t i = 0; i < count && ok(); ++i) segment();
  }
  void lists() {
    while (ok() && peek() == 1) {
      (void)word(Field::read_item);
      (void)word(Field::position);
      segment();
    }
    (void)word(Field::read_end);
    while (ok() && peek() == 1) {
      (void)word(Field::write_item);
      chunk();
    }
    (void)word(Field::write_end);
    if (peek() == 1) {
      (void)word(Field::reply_present);
      chunk();
    } else {
      (void)word(Field::reply_absent);
    }
  }
  void auth(Field flavor, Field length, Field body) {
    constexpr std::uint32_t most = 400;  // RFC 5531 section 8.2
    (void)word(flavor);
    const std::uint32_t octets = word(length);
    if (octets > most) {
      ok_ = false;
      return;
    }
    skip(body, (octets + 3U) & ~3U);
  }
  void rpc() {
    if (!ok()) return;
    (void)word(Field::rpc_xid);
    const std::uint32_t type = word(Field::rpc_type);
    if (type == 0) {
      (void)word(Field::rpc_version);
      (void)word(Field::program);
      (void)word(Field::program_version);
      (void)word(Field::procedure);
      auth(Field::credential_flavor, Field::credential_length, Field::credential);
      auth(Field::verifier_flavor, Field::verifier_length, Field::verifier);
      rest(Field::arguments);
    } else if (type == 1) {
      if (word(Field::reply_state) == 0) {
        auth(Field::verifier_flavor, Field::verifier_length, Field::verifier);
        (void)word(Field::accept_state);
      } else {
        (void)word(Field::reject_state);
      }
      rest(Field::results);
    } else {
      rest(Field::rpc_rest);
    }
  }

 private:
  wire::Cursor cursor_;
  wire::Bytes octets_;
  std::vector<Placed>& out_;
  bool ok_ = true;
};

/// Version 2 has a walk of its own; its items are the fields.
class Version2 final : public wire::ItemVisitor {
 public:
  explicit Version2(Placer& placer) : placer_(placer) {}

  void on(const wire::Item& item) override {
    using Kind = wire::Item::Kind;
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
        return read_segment(Field::call_item, item);
      case Kind::read_segment:
        return read_segment(Field::read_item, item);
      case Kind::write_chunk:
        placer_.put(Field::write_item, item.offset, 4);
        return placer_.put(Field::segment_count, item.offset + 4, 4);
      case Kind::reply_chunk:
        placer_.put(Field::reply_present, item.offset, 4);
        return placer_.put(Field::segment_count, item.offset + 4, 4);
      case Kind::write_segment:
      case Kind::reply_segment:
        return segment(item.offset);
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
        placer_.put(Field::property_id, item.offset, 4);
        return placer_.put(Field::property_length, item.offset + 4, 4);
      case Kind::property_value:
        return one(Field::property_value, item);
      case Kind::property_pad:
        return one(Field::property_pad, item);
      case Kind::payload:
        payload = item.offset;
        return;
      case Kind::trailing:
      case Kind::unknown_body:
        return one(Field::unexpected, item);
    }
  }
  void on(const wire::Property&) override {}

  std::size_t payload = 0;

 private:
  void one(Field field, const wire::Item& item) { placer_.put(field, item.offset, item.length); }
  void segment(std::size_t at) {
    placer_.put(Field::handle, at, 4);
    placer_.put(Field::length, at + 4, 4);
    placer_.put(Field::offset, at + 8, 8);
  }
  void read_segment(Field item_word, const wire::Item& item) {
    placer_.put(item_word, item.offset, 4);
    placer_.put(Field::position, item.offset + 4, 4);
    segment(item.offset + 8);
  }

  Placer& placer_;
};

void place_version2(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out) {
  Placer header(octets, wire_length, out);
  Version2 visitor(header);
  const bool earlier = wire::earlier_draft(octets, wire_length);
  (void)wire::walk_v2(octets, wire_length, visitor, earlier ? wire::Draft::earlier : wire::Draft::newest);
  // What was cut off may leave an item longer than the octets at hand.
  for (Placed& placed : out) {
    const std::size_t left = octets.size() - std::min<std::size_t>(octets.size(), placed.offset);
    placed.length = static_cast<std::uint32_t>(std::min<std::size_t>(placed.length, left));
  }
  std::erase_if(out, [](const Placed& placed) { return placed.length == 0; });
  if (visitor.payload == 0 || visitor.payload >= octets.size()) return;
  const std::size_t first = out.size();
  Placer rpc(octets.subspan(visitor.payload), wire_length - visitor.payload, out);
  rpc.rpc();
  for (std::size_t i = first; i < out.size(); ++i) out[i].offset += static_cast<std::uint32_t>(visitor.payload);
}

}  // namespace

void place_message(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out) {
  out.clear();
  wire_length = std::max(wire_length, octets.size());
  const auto fixed = wire::decode_fixed_words(octets, wire_length);
  if (fixed && fixed->version == 2) {
    place_version2(octets, wire_length, out);
    return;
  }
  Placer placer(octets, wire_length, out);
  (void)placer.word(Field::xid);
  const std::uint32_t version = placer.word(Field::version);
  (void)placer.word(Field::credit);
  const std::uint32_t proc = placer.word(Field::proc);
  if (version != 1) {
    placer.rest(Field::unexpected);
    return;
  }
  switch (static_cast<wire::Proc>(proc)) {
    case wire::Proc::msgp:
      (void)placer.word(Field::align);
      (void)placer.word(Field::thresh);
      [[fallthrough]];
    case wire::Proc::msg:
      placer.lists();
      placer.rpc();
      return;
    case wire::Proc::nomsg:
      placer.lists();
      break;
    case wire::Proc::error:
      if (placer.word(Field::error_code) == wire::err_vers) {
        (void)placer.word(Field::version_low);
        (void)placer.word(Field::version_high);
      }
      break;
    case wire::Proc::done:
      break;
  }
  placer.rest(Field::unexpected);
}

void place_private_data(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out) {
  out.clear();
  const auto search = wire::find_private_data(octets, std::max(wire_length, octets.size()));
  Placer placer(octets, wire_length, out);
  if (!search.found || search.found->offset + 8 > octets.size()) {
    placer.put(Field::private_other, 0, octets.size());
    return;
  }
  const std::size_t at = search.found->offset;
  placer.put(Field::private_other, 0, at);
  placer.put(Field::identifier, at, 4);
  placer.put(Field::private_version, at + 4, 1);
  placer.put(Field::private_flags, at + 5, 1);
  placer.put(Field::send_size, at + 6, 1);
  placer.put(Field::receive_size, at + 7, 1);
  placer.put(Field::private_other, at + 8, octets.size() - at - 8);
}

}  // namespace rpcrdma::report::page
