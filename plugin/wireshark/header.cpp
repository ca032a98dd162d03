// SPDX-License-Identifier: GPL-2.0-or-later
// The RPC-over-RDMA header of version 1 as a tree: every octet belongs to a field. wire walks it; the fields that it
// tells of are kept in a list first, so that no C++ frame of the walk is on the stack while Wireshark draws.
#include <vector>

#include "wire/fields.hpp"
#include "wireshark/draw.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using wire::Field;
using wire::FieldAt;

class FieldCollector final : public wire::FieldVisitor {
 public:
  static constexpr std::size_t most = 262144;
  void on(const FieldAt& field) override {
    if (fields.size() < most) fields.push_back(field);
  }
  void payload(std::size_t) override {}
  std::vector<FieldAt> fields;
  bool whole = false;  ///< the header could be decoded
};
FieldCollector told;  // one for all messages: its memory is kept

/// False when there is no memory for it.
[[nodiscard]] bool collect_fields(wire::Bytes octets, std::size_t wire_length) noexcept {
  try {
    told.fields.clear();
    told.whole = wire::walk_fields_v1(octets, wire_length, told).has_value();
    return true;
  } catch (...) {
    return false;
  }
}

/// How far the fields have been drawn.
struct Progress {
  tvbuff_t* tvb;
  std::size_t next;  ///< field
  int end;           ///< octet
};

[[nodiscard]] bool is(std::size_t at, Field field) { return at < told.fields.size() && told.fields[at].field == field; }
[[nodiscard]] bool comes(const Progress& progress, Field field) { return is(progress.next, field); }

/// The field that comes next is drawn as `id`, or (0) by what it is part of.
void pass(Progress& progress, proto_tree* tree, int id) {
  const FieldAt& field = told.fields[progress.next];
  const auto at = static_cast<int>(field.offset);
  const auto length = static_cast<int>(field.length);
  ++progress.next;
  progress.end = at + length;
  if (id > 0) proto_tree_add_item(tree, id, progress.tvb, at, length, ENC_BIG_ENDIAN);
}

/// The id that shows a field outside of the lists; 0 for the others.
[[nodiscard]] int id_of(Field field) {
  switch (field) {
    case Field::xid:
      return hf.xid;
    case Field::version:
      return hf.version;
    case Field::credit:
      return hf.flow_control;
    case Field::proc:
      return hf.msg_type;
    case Field::align:
      return hf.align;
    case Field::thresh:
      return hf.thresh;
    case Field::error_code:
      return hf.errcode;
    case Field::version_low:
      return hf.vers_low;
    case Field::version_high:
      return hf.vers_high;
    default:
      return 0;
  }
}

void words(Progress& progress, proto_tree* tree) {
  while (progress.next < told.fields.size()) {
    const int id = id_of(told.fields[progress.next].field);
    if (id == 0) return;
    pass(progress, tree, id);
  }
}

constexpr std::size_t segment_fields = 3;

/// Is the segment whose first field this would be there as a whole?
[[nodiscard]] bool segment_at(std::size_t at) {
  return is(at, Field::handle) && is(at + 1, Field::length) && is(at + 2, Field::offset);
}

void segment(Progress& progress, proto_tree* tree) {
  const FieldAt* const field = &told.fields[progress.next];
  const auto at = static_cast<int>(field[0].offset);
  const auto length = static_cast<int>(field[2].offset + field[2].length - field[0].offset);
  proto_tree* sub = proto_tree_add_subtree_format(
      tree, progress.tvb, at, length, ett.segment, nullptr, "Segment: handle 0x%08x, %u octets at 0x%016" PRIx64,
      static_cast<unsigned>(field[0].value), static_cast<unsigned>(field[1].value), field[2].value);
  pass(progress, sub, hf.handle);
  pass(progress, sub, hf.length);
  pass(progress, sub, hf.offset);
}

void read_list(Progress& progress, proto_tree* tree) {
  if (!comes(progress, Field::read_item) && !comes(progress, Field::read_end)) return;
  const int start = progress.end;
  unsigned count = 0;
  for (std::size_t at = progress.next; is(at, Field::read_item) && segment_at(at + 2); at += 2 + segment_fields)
    ++count;
  proto_item* item = proto_tree_add_uint(tree, hf.reads_count, progress.tvb, start, 4, count);
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  for (unsigned i = 0; i < count; ++i) {
    pass(progress, list, 0);
    pass(progress, list, hf.position);
    segment(progress, list);
  }
  // Its end, or the word in front of a segment that is cut; nothing where the message ends behind the last segment.
  if (comes(progress, Field::read_item) || comes(progress, Field::read_end)) pass(progress, list, 0);
  proto_item_set_text(item, "Read list: %u segment%s", count, count == 1 ? "" : "s");
  proto_item_set_len(item, progress.end - start);
}

/// From its count on. False when its segments are not all there.
[[nodiscard]] bool chunk(Progress& progress, proto_tree* list) {
  if (!comes(progress, Field::segment_count)) return false;
  const FieldAt& count = told.fields[progress.next];
  const auto at = static_cast<int>(count.offset);
  const std::uint64_t segments = count.value;
  proto_item* item = proto_tree_add_item(list, hf.segment_count, progress.tvb, at, 4, ENC_BIG_ENDIAN);
  proto_tree* tree = proto_item_add_subtree(item, ett.chunk);
  pass(progress, tree, 0);
  std::uint64_t drawn = 0;
  for (; drawn < segments && segment_at(progress.next); ++drawn) segment(progress, tree);
  proto_item_set_len(item, progress.end - at);
  return drawn == segments;
}

/// Chunks of the Write list that begins here which are there as a whole.
[[nodiscard]] unsigned whole_chunks(std::size_t at) {
  unsigned count = 0;
  while (is(at, Field::write_item) && is(at + 1, Field::segment_count)) {
    const std::uint64_t segments = told.fields[at + 1].value;
    at += 2;
    for (std::uint64_t i = 0; i < segments; ++i, at += segment_fields) {
      if (!segment_at(at)) return count;
    }
    ++count;
  }
  return count;
}

void write_list(Progress& progress, proto_tree* tree) {
  if (!comes(progress, Field::write_item) && !comes(progress, Field::write_end)) return;
  const int start = progress.end;
  proto_item* item = proto_tree_add_uint(tree, hf.writes_count, progress.tvb, start, 4, whole_chunks(progress.next));
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  unsigned count = 0;
  bool ok = true;
  while (ok && comes(progress, Field::write_item)) {
    pass(progress, list, 0);
    ok = chunk(progress, list);
    ++count;
  }
  if (comes(progress, Field::write_end)) pass(progress, list, 0);
  proto_item_set_text(item, "Write list: %u chunk%s", count, count == 1 ? "" : "s");
  proto_item_set_len(item, progress.end - start);
}

void reply_chunk(Progress& progress, proto_tree* tree) {
  const bool there = comes(progress, Field::reply_present);
  if (!there && !comes(progress, Field::reply_absent)) return;
  const int start = progress.end;
  proto_item* item = proto_tree_add_uint(tree, hf.reply_count, progress.tvb, start, 4, there ? 1 : 0);
  proto_tree* list = proto_item_add_subtree(item, ett.list);
  pass(progress, list, 0);
  if (there) (void)chunk(progress, list);
  proto_item_set_text(item, there ? "Reply chunk" : "Reply chunk: none");
  proto_item_set_len(item, progress.end - start);
}

}  // namespace

int draw_header(packet_info*, proto_tree* tree, tvbuff_t* tvb) {
  const unsigned captured = tvb_captured_length(tvb);
  if (captured >= 16 && tvb_get_ntohl(tvb, 4) == 2) return draw_header_v2(tree, tvb);
  if (captured == 0) return 0;
  const wire::Bytes octets(tvb_get_ptr(tvb, 0, static_cast<int>(captured)), captured);
  if (!collect_fields(octets, tvb_reported_length(tvb))) return 0;
  Progress progress{tvb, 0, 0};
  words(progress, tree);
  read_list(progress, tree);
  write_list(progress, tree);
  reply_chunk(progress, tree);
  if (told.whole || captured <= static_cast<unsigned>(progress.end)) return progress.end;
  proto_tree_add_item(tree, hf.header_octets, tvb, progress.end, -1, ENC_NA);
  return static_cast<int>(captured);
}

}  // namespace rpcrdma::plugin
