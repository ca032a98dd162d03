// SPDX-License-Identifier: GPL-2.0-or-later
// The RPC-over-RDMA header as a tree (RFC 8166 section 4): every octet belongs to a field. Each list is bounded by the
// octets that are there.
#include "wireshark/draw.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

/// Where in a header, and how far it goes.
struct Place {
  tvbuff_t* tvb;
  int at;
  bool ok;  ///< false: the octets end, or break XDR
};

[[nodiscard]] bool has(const Place& place, int octets) {
  return place.ok && tvb_captured_length(place.tvb) >= static_cast<unsigned>(place.at) + static_cast<unsigned>(octets);
}

[[nodiscard]] std::uint32_t word(Place& place, proto_tree* tree, int field) {
  if (!has(place, 4)) {
    place.ok = false;
    return 0;
  }
  const std::uint32_t value = tvb_get_ntohl(place.tvb, place.at);
  if (field > 0) proto_tree_add_item(tree, field, place.tvb, place.at, 4, ENC_BIG_ENDIAN);
  place.at += 4;
  return value;
}

/// True when another list item follows.
[[nodiscard]] bool another(Place& place) {
  const std::uint32_t value = word(place, nullptr, 0);
  if (value > 1) {
    place.at -= 4;
    place.ok = false;
  }
  return place.ok && value == 1;
}

void segment(Place& place, proto_tree* tree) {
  if (!has(place, 16)) {
    place.ok = false;
    return;
  }
  const std::uint32_t handle = tvb_get_ntohl(place.tvb, place.at);
  const std::uint32_t length = tvb_get_ntohl(place.tvb, place.at + 4);
  const std::uint64_t offset = tvb_get_ntoh64(place.tvb, place.at + 8);
  proto_tree* sub =
      proto_tree_add_subtree_format(tree, place.tvb, place.at, 16, ett.segment, nullptr,
                                    "Segment: handle 0x%08x, %u octets at 0x%016" PRIx64, handle, length, offset);
  proto_tree_add_item(sub, hf.handle, place.tvb, place.at, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.length, place.tvb, place.at + 4, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(sub, hf.offset, place.tvb, place.at + 8, 8, ENC_BIG_ENDIAN);
  place.at += 16;
}

/// Items of a list whose items are `octets` long, or counted arrays of segments (0): as many as are there.
[[nodiscard]] std::uint32_t count_items(Place place, int octets) {
  std::uint32_t count = 0;
  while (another(place)) {
    int step = octets;
    if (octets == 0) {
      if (!has(place, 4)) break;
      const std::uint32_t segments = tvb_get_ntohl(place.tvb, place.at);
      if (segments > tvb_captured_length(place.tvb) / 16) break;
      step = 4 + static_cast<int>(segments) * 16;
    }
    if (!has(place, step)) break;
    place.at += step;
    ++count;
  }
  return count;
}

void read_list(Place& place, proto_tree* tree) {
  if (!place.ok) return;
  const int start = place.at;
  proto_item* item = proto_tree_add_uint(tree, hf.reads_count, place.tvb, start, 4, count_items(place, 20));
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  unsigned count = 0;
  while (another(place)) {
    if (!has(place, 20)) {
      place.ok = false;
      break;
    }
    proto_tree_add_item(list, hf.position, place.tvb, place.at, 4, ENC_BIG_ENDIAN);
    place.at += 4;
    segment(place, list);
    ++count;
  }
  proto_item_set_text(item, "Read list: %u segment%s", count, count == 1 ? "" : "s");
  proto_item_set_len(item, place.at - start);
}

void write_chunk(Place& place, proto_tree* list, int field) {
  const int start = place.at;
  if (!has(place, 4)) {
    place.ok = false;
    return;
  }
  const std::uint32_t count = tvb_get_ntohl(place.tvb, place.at);
  proto_item* item = proto_tree_add_item(list, field, place.tvb, place.at, 4, ENC_BIG_ENDIAN);
  proto_tree* chunk = proto_item_add_subtree(item, ett.chunk);
  place.at += 4;
  for (std::uint32_t i = 0; i < count && place.ok; ++i) segment(place, chunk);
  proto_item_set_len(item, place.at - start);
}

void write_list(Place& place, proto_tree* tree) {
  if (!place.ok) return;
  const int start = place.at;
  proto_item* item = proto_tree_add_uint(tree, hf.writes_count, place.tvb, start, 4, count_items(place, 0));
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  unsigned count = 0;
  while (another(place)) {
    write_chunk(place, list, hf.segment_count);
    ++count;
  }
  proto_item_set_text(item, "Write list: %u chunk%s", count, count == 1 ? "" : "s");
  proto_item_set_len(item, place.at - start);
}

void reply_chunk(Place& place, proto_tree* tree) {
  if (!place.ok) return;
  const int start = place.at;
  const bool some = has(place, 4) && tvb_get_ntohl(place.tvb, place.at) == 1;
  proto_item* item = proto_tree_add_uint(tree, hf.reply_count, place.tvb, start, 4, some ? 1 : 0);
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  const bool there = another(place);
  if (there) write_chunk(place, list, hf.segment_count);
  proto_item_set_text(item, there ? "Reply chunk" : "Reply chunk: none");
  proto_item_set_len(item, place.at - start);
}

void lists(Place& place, proto_tree* tree) {
  read_list(place, tree);
  write_list(place, tree);
  reply_chunk(place, tree);
}

}  // namespace

int draw_header(packet_info*, proto_tree* tree, tvbuff_t* tvb) {
  if (tvb_captured_length(tvb) >= 16 && tvb_get_ntohl(tvb, 4) == 2) return draw_header_v2(tree, tvb);
  Place place{tvb, 0, true};
  (void)word(place, tree, hf.xid);
  (void)word(place, tree, hf.version);
  (void)word(place, tree, hf.flow_control);
  if (!place.ok) return place.at;
  const std::uint32_t proc = word(place, tree, hf.msg_type);
  if (!place.ok) return place.at;
  switch (proc) {
    case 2:
      (void)word(place, tree, hf.align);
      (void)word(place, tree, hf.thresh);
      lists(place, tree);
      break;
    case 0:
    case 1:
      lists(place, tree);
      break;
    case 4:
      if (word(place, tree, hf.errcode) == 1) {
        (void)word(place, tree, hf.vers_low);
        (void)word(place, tree, hf.vers_high);
      }
      break;
    default:
      break;
  }
  if (!place.ok && tvb_captured_length(tvb) > static_cast<unsigned>(place.at)) {
    proto_tree_add_item(tree, hf.header_octets, tvb, place.at, -1, ENC_NA);
  }
  return place.at;
}

}  // namespace rpcrdma::plugin
