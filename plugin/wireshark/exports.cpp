// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/exports.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "payload/files.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using payload::FilePiece;
using payload::Files;

int objects_tap = -1;

/// What one tap call tells; in the packet's memory.
struct RpcItem {
  const journal::Connection* connection;
  const std::uint8_t* octets;
  std::size_t length;
  std::uint64_t exchange;
  bool call;
};

constexpr std::uint64_t widest_hole = std::uint64_t{16} << 20U;
constexpr std::uint64_t most_filled = std::uint64_t{256} << 20U;  // octets of holes, and that are moved about
constexpr std::uint64_t most_octets = std::uint64_t{2} << 30U;    // of one part of a file

/// Octets of a file that stand near each other. Those of holes between them are zero until they come.
struct Part {
  std::uint32_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t capacity = 0;
  std::map<std::uint64_t, std::uint64_t> here;  ///< stretches that were read or written, from and to; none touch
  bool read = false;
  bool written = false;
  export_object_entry_t* entry = nullptr;  ///< Wireshark's
  [[nodiscard]] std::uint64_t end() const { return begin + entry->payload_len; }
};

struct Exports {
  Files files;
  std::vector<FilePiece> pieces;
  std::multimap<std::uint32_t, Part> parts;  ///< by file
  std::uint64_t filled = 0;
  std::uint64_t moved = 0;
};
std::unique_ptr<Exports> exports;

/// As Wireshark shows a file handle: nfs.fh.hash.
void handle_name(const std::string& handle, char* out, std::size_t room) {
  const std::uint32_t hash =
      crc32_ccitt(reinterpret_cast<const std::uint8_t*>(handle.data()), static_cast<unsigned>(handle.size()));
  g_snprintf(out, room, "filehandle-0x%08x", hash);
}

void rename(const Exports& all, Part& part) {
  const Files::File& file = all.files.file(part.file);
  char unnamed[32];
  handle_name(file.handle, unnamed, sizeof unnamed);
  const char* name = file.name.empty() ? unnamed : file.name.c_str();
  g_free(part.entry->filename);
  const bool holes = part.here.size() > 1;
  if (part.begin == 0 && !holes) {
    part.entry->filename = g_strdup(name);
  } else {
    part.entry->filename = g_strdup_printf("%s.from-%" PRIu64 "%s", name, part.begin, holes ? "-with-holes" : "");
  }
  g_free(part.entry->content_type);
  part.entry->content_type = g_strdup(part.read && part.written ? "NFS, read and written"
                                      : part.written            ? "NFS, written"
                                                                : "NFS, read");
}

/// Room for [begin, end) in the part; false: that would cost too much.
[[nodiscard]] bool widen(Exports& all, Part& part, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = std::min(begin, part.begin);
  const std::uint64_t last = std::max(end, part.end());
  if (last - first > most_octets) return false;
  const std::uint64_t in_front = part.begin - first;
  if (in_front != 0 && all.moved + part.entry->payload_len > most_filled) return false;
  if (last - first > part.capacity) {
    const std::uint64_t capacity = std::max(last - first, std::min(part.capacity * 2, most_octets));
    auto* room = static_cast<std::uint8_t*>(g_try_realloc(part.entry->payload_data, capacity));
    if (room == nullptr) return false;
    part.entry->payload_data = room;
    part.capacity = capacity;
  }
  std::uint8_t* const octets = part.entry->payload_data;
  const std::size_t old = part.entry->payload_len;
  if (in_front != 0) {
    all.moved += old;
    std::copy_backward(octets, octets + old, octets + in_front + old);
    std::fill_n(octets, in_front, std::uint8_t{0});
  }
  std::fill(octets + in_front + old, octets + (last - first), std::uint8_t{0});
  part.begin = first;
  part.entry->payload_len = static_cast<std::size_t>(last - first);
  return true;
}

[[nodiscard]] std::uint64_t hole(const Part& part, std::uint64_t begin, std::uint64_t end) {
  return begin > part.end() ? begin - part.end() : end < part.begin ? part.begin - end : 0;
}

[[nodiscard]] Part* part_for(Exports& all, const FilePiece& piece, std::uint64_t end) {
  const auto [first, last] = all.parts.equal_range(piece.file);
  // The newest part is the likeliest; of a file in very many parts only the newest are looked at.
  int looked_at = 0;
  for (auto at = last; at != first && looked_at < 16; ++looked_at) {
    Part& part = (--at)->second;
    const std::uint64_t lacks = hole(part, piece.offset, end);
    if (lacks > widest_hole || all.filled + lacks > most_filled) continue;
    if (!widen(all, part, piece.offset, end)) continue;
    all.filled += lacks;
    return &part;
  }
  return nullptr;
}

Part* fresh_part(Exports& all, export_object_list_t& list, const FilePiece& piece, const RpcItem& item,
                 packet_info* pinfo) {
  Part part;
  part.file = piece.file;
  part.begin = piece.offset;
  part.capacity = piece.octets.size();
  part.entry = g_new0(export_object_entry_t, 1);
  part.entry->pkt_num = pinfo->num;
  part.entry->hostname = g_strdup(item.connection != nullptr ? item.connection->server.address.c_str() : "");
  part.entry->payload_len = piece.octets.size();
  part.entry->payload_data = static_cast<std::uint8_t*>(g_malloc0(piece.octets.size()));
  Part& placed = all.parts.emplace(piece.file, part)->second;
  rename(all, placed);
  list.add_entry(list.gui_data, placed.entry);
  return &placed;
}

void cover(std::map<std::uint64_t, std::uint64_t>& here, std::uint64_t begin, std::uint64_t end) {
  auto at = here.upper_bound(begin);
  if (at != here.begin() && std::prev(at)->second >= begin) --at;
  while (at != here.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = here.erase(at);
  }
  here.emplace(begin, end);
}

void place(Exports& all, export_object_list_t& list, const FilePiece& piece, const RpcItem& item, packet_info* pinfo) {
  if (piece.octets.empty() || piece.offset > UINT64_MAX - piece.octets.size()) return;
  Part* part = part_for(all, piece, piece.offset + piece.octets.size());
  if (part == nullptr) part = fresh_part(all, list, piece, item, pinfo);
  std::copy(piece.octets.begin(), piece.octets.end(), part->entry->payload_data + (piece.offset - part->begin));
  cover(part->here, piece.offset, piece.offset + piece.octets.size());
  (piece.written ? part->written : part->read) = true;
  rename(all, *part);
}

tap_packet_status export_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const RpcItem*>(tapped);
  auto& list = *static_cast<export_object_list_t*>(data);
  try {
    if (!exports) exports = std::make_unique<Exports>();
    Exports& all = *exports;
    const wire::Bytes octets(item.octets, item.length);
    if (item.call) {
      all.files.call(item.exchange, item.connection != nullptr ? item.connection->server.address : "", octets,
                     all.pieces);
    } else {
      all.files.reply(item.exchange, octets, all.pieces);
    }
    for (const FilePiece& piece : all.pieces) place(all, list, piece, item, pinfo);
    return all.pieces.empty() ? TAP_PACKET_DONT_REDRAW : TAP_PACKET_REDRAW;
  } catch (...) {
    return TAP_PACKET_FAILED;
  }
}

void forget() { exports.reset(); }

}  // namespace

void register_exports() { objects_tap = register_export_object(proto_rpcrdma, export_packet, forget); }

void queue_rpc(const Canvas& canvas, const journal::Payload& payload, tvbuff_t* tvb) {
  if (!have_tap_listener(objects_tap) || payload.exchange == 0) return;
  const unsigned length = tvb_captured_length(tvb);
  if (length < 24 || length < tvb_reported_length(tvb)) return;
  if (payload.placing != payload::RpcMessage::Placing::whole) return;
  auto* item = static_cast<RpcItem*>(wmem_alloc0(canvas.pinfo->pool, sizeof(RpcItem)));
  item->connection = canvas.drawn->journal->connection(payload.connection);
  item->octets = tvb_get_ptr(tvb, 0, static_cast<int>(length));
  item->length = length;
  item->exchange = (std::uint64_t{payload.connection} << 32U) | payload.exchange;
  item->call = payload.call;
  tap_queue_packet(objects_tap, canvas.pinfo, item);
}

}  // namespace rpcrdma::plugin
