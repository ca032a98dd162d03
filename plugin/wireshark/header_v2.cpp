// SPDX-License-Identifier: GPL-2.0-or-later
// A version 2 header as a tree. wire walks it; what it passes is kept in a list first, so that no C++ frame of the walk
// is on the stack while Wireshark draws.
#include <string>
#include <utility>
#include <vector>

#include "wire/rpcrdma_v2.hpp"
#include "wireshark/draw.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using wire::Item;

class Collector final : public wire::ItemVisitor {
 public:
  static constexpr std::size_t most = 65536;
  void on(const Item& item) override {
    if (items.size() < most) items.push_back(item);
  }
  void on(const wire::Property&) override {}
  std::vector<Item> items;
};
Collector collected;  // one for all messages: its memory is kept

/// False when there is no memory for it.
[[nodiscard]] bool collect(wire::Bytes octets, std::size_t wire_length) noexcept {
  try {
    collected.items.clear();
    const wire::Draft draft = wire::earlier_draft(octets, wire_length) ? wire::Draft::earlier : wire::Draft::newest;
    (void)wire::walk_v2(octets, wire_length, collected, draft);
    return true;
  } catch (...) {
    return false;
  }
}

/// The field that shows an item's word; 0 for those that are drawn in another way.
[[nodiscard]] int field_of(Item::Kind kind) {
  switch (kind) {
    case Item::Kind::xid:
      return hf.xid;
    case Item::Kind::version:
      return hf.version;
    case Item::Kind::credit:
      return hf.flow_control;
    case Item::Kind::htype:
      return hf.v2_htype;
    case Item::Kind::flags:
      return hf.v2_flags;
    case Item::Kind::error_code:
      return hf.v2_err;
    case Item::Kind::version_low:
      return hf.vers_low;
    case Item::Kind::version_high:
      return hf.vers_high;
    case Item::Kind::most_chunks:
      return hf.v2_max_chunks;
    case Item::Kind::most_segments:
      return hf.v2_max_segments;
    case Item::Kind::chunk_index:
      return hf.v2_chunk_index;
    case Item::Kind::length_needed:
      return hf.v2_length_needed;
    case Item::Kind::inv_handle:
      return hf.v2_inv_handle;
    case Item::Kind::remaining:
      return hf.v2_remaining;
    case Item::Kind::property_count:
      return hf.v2_prop_count;
    default:
      return 0;
  }
}

void draw_segment(proto_tree* tree, tvbuff_t* tvb, const Item& item, const char* what) {
  const auto at = static_cast<int>(item.offset);
  const auto length = static_cast<int>(item.length);
  proto_tree* sub = proto_tree_add_subtree_format(tree, tvb, at, length, ett.segment, nullptr,
                                                  "%s: handle 0x%08x, %u octets at 0x%016" PRIx64, what,
                                                  item.segment.handle, item.segment.length, item.segment.offset);
  int words = at;
  if (length == 24) {
    proto_tree_add_item(sub, hf.v2_list_word, tvb, at, 4, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf.position, tvb, at + 4, 4, ENC_BIG_ENDIAN);
    words = at + 8;
  }
  proto_tree_add_item(sub, hf.handle, tvb, words, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.length, tvb, words + 4, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.offset, tvb, words + 8, 8, ENC_BIG_ENDIAN);
}

/// An item that opens something: the tree that what belongs to it goes into.
proto_tree* open_chunk(proto_tree* tree, tvbuff_t* tvb, const Item& item, const char* what) {
  const auto at = static_cast<int>(item.offset);
  proto_tree* sub = proto_tree_add_subtree_format(tree, tvb, at, static_cast<int>(item.length), ett.chunk, nullptr,
                                                  "%s: %u segment%s", what, static_cast<unsigned>(item.value),
                                                  item.value == 1 ? "" : "s");
  proto_tree_add_item(sub, hf.v2_list_word, tvb, at, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.segment_count, tvb, at + 4, 4, ENC_BIG_ENDIAN);
  return sub;
}

proto_tree* open_property(proto_tree* tree, tvbuff_t* tvb, const Item& item) {
  const auto at = static_cast<int>(item.offset);
  proto_tree* sub = proto_tree_add_subtree_format(tree, tvb, at, static_cast<int>(item.length), ett.chunk, nullptr,
                                                  "Property %u", static_cast<unsigned>(item.value));
  const std::string_view name = wire::property_name(static_cast<std::uint32_t>(item.value));
  if (!name.empty()) proto_item_append_text(sub, ": %s", name.data());
  proto_tree_add_item(sub, hf.v2_prop_id, tvb, at, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.v2_prop_length, tvb, at + 4, 4, ENC_BIG_ENDIAN);
  return sub;
}

/// What version 1's lists say of themselves.
struct Counts {
  int reads = -1;  ///< -1: the message has no such list, or its end is not there
  int writes = -1;
  int reply = -1;
  int read_segments = 0;
  int write_chunks = 0;
  void take(Item::Kind kind) {
    if (kind == Item::Kind::read_segment) ++read_segments;
    if (kind == Item::Kind::write_chunk) ++write_chunks;
    if (kind == Item::Kind::read_end) reads = read_segments;
    if (kind == Item::Kind::write_end) writes = write_chunks;
    if (kind == Item::Kind::reply_chunk) reply = 1;
    if (kind == Item::Kind::reply_absent) reply = 0;
  }
};

void draw_counts(proto_tree* tree, const Counts& counts) {
  const std::pair<int, int> fields[] = {
      {hf.reads_count, counts.reads}, {hf.writes_count, counts.writes}, {hf.reply_count, counts.reply}};
  for (const auto& [field, value] : fields) {
    if (value < 0) continue;
    proto_item_set_generated(proto_tree_add_uint(tree, field, nullptr, 0, 0, static_cast<unsigned>(value)));
  }
}

}  // namespace

int draw_header_v2(proto_tree* tree, tvbuff_t* tvb) {
  const unsigned captured = tvb_captured_length(tvb);
  if (captured == 0) return 0;
  const wire::Bytes octets(tvb_get_ptr(tvb, 0, static_cast<int>(captured)), captured);
  if (!collect(octets, tvb_reported_length(tvb))) return 0;
  int end = 0;
  Counts counts;
  proto_tree* inner = tree;
  const std::size_t count = collected.items.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Item& item = collected.items[i];
    const auto at = static_cast<int>(item.offset);
    const auto length = static_cast<int>(item.length);
    if (item.kind == Item::Kind::payload) break;
    if (item.offset + item.length > captured) break;
    end = at + length;
    counts.take(item.kind);
    switch (item.kind) {
      case Item::Kind::call_segment:
        draw_segment(tree, tvb, item, "Call chunk");
        break;
      case Item::Kind::read_segment:
        draw_segment(tree, tvb, item, "Read list");
        break;
      case Item::Kind::write_chunk:
        inner = open_chunk(tree, tvb, item, "Write chunk");
        break;
      case Item::Kind::reply_chunk:
        inner = open_chunk(tree, tvb, item, "Reply chunk");
        break;
      case Item::Kind::write_segment:
      case Item::Kind::reply_segment:
        draw_segment(inner, tvb, item, "Segment");
        break;
      case Item::Kind::call_end:
      case Item::Kind::read_end:
      case Item::Kind::write_end:
      case Item::Kind::reply_absent:
        proto_tree_add_item(tree, hf.v2_list_word, tvb, at, length, ENC_BIG_ENDIAN);
        break;
      case Item::Kind::property:
        inner = open_property(tree, tvb, item);
        break;
      case Item::Kind::property_value:
        if (length == 4) {
          proto_tree_add_item(inner, hf.v2_prop_value, tvb, at, 4, ENC_BIG_ENDIAN);
        } else if (length != 0) {
          proto_tree_add_item(inner, hf.v2_prop_octets, tvb, at, length, ENC_NA);
        }
        break;
      case Item::Kind::property_pad:
        proto_tree_add_item(inner, hf.v2_pad, tvb, at, length, ENC_NA);
        break;
      case Item::Kind::trailing:
      case Item::Kind::unknown_body:
        proto_tree_add_item(tree, hf.header_octets, tvb, at, length, ENC_NA);
        break;
      default:
        if (const int field = field_of(item.kind); field > 0) {
          proto_tree_add_item(tree, field, tvb, at, length, ENC_BIG_ENDIAN);
        }
        break;
    }
  }
  draw_counts(tree, counts);
  const bool payload = count != 0 && collected.items.back().kind == Item::Kind::payload;
  if (payload || captured <= static_cast<unsigned>(end)) return end;
  proto_tree_add_item(tree, hf.header_octets, tvb, end, static_cast<int>(captured) - end, ENC_NA);
  return static_cast<int>(captured);
}

}  // namespace rpcrdma::plugin
