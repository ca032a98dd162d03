// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/exports.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

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
constexpr std::uint64_t most_holes = std::uint64_t{256} << 20U;  // octets, of all parts together
constexpr std::uint64_t most_octets = std::uint64_t{2} << 30U;   // of one part of a file

/// Octets of a file that stand near each other. Those of holes between them are zero until they come.
struct Part {
  std::uint64_t capacity = 0;
  std::map<std::uint64_t, std::uint64_t> here;  ///< stretches that were read or written, from and to; none touch
  std::uint64_t present = 0;                    ///< octets in them
  bool read = false;
  bool written = false;
  export_object_entry_t* entry = nullptr;  ///< Wireshark's
  [[nodiscard]] std::uint64_t length() const { return entry->payload_len; }
  [[nodiscard]] std::uint64_t holes() const { return length() - present; }
};
using Parts = std::map<std::uint64_t, Part>;  // by where they begin; they do not overlap

struct Exports {
  Files files;
  std::vector<FilePiece> pieces;
  std::unordered_map<std::uint32_t, Parts> parts;  ///< by file
  std::uint64_t holes = 0;
  std::uint64_t octets = 0;  ///< that were placed,
  std::uint64_t moved = 0;   ///< and that were moved because others came in front of them
};
std::unique_ptr<Exports> exports;

/// As Wireshark shows a file handle: nfs.fh.hash.
void handle_name(const std::string& handle, char* out, std::size_t room) {
  const std::uint32_t hash =
      crc32_ccitt(reinterpret_cast<const std::uint8_t*>(handle.data()), static_cast<unsigned>(handle.size()));
  g_snprintf(out, room, "filehandle-0x%08x", hash);
}

void rename(const Files::File& file, std::uint64_t begin, Part& part) {
  char unnamed[32];
  handle_name(file.handle, unnamed, sizeof unnamed);
  std::string name = file.name.empty() ? unnamed : file.name;
  std::replace(name.begin(), name.end(), '\0', '?');
  g_free(part.entry->filename);
  const bool holes = part.holes() != 0;
  if (begin == 0 && !holes) {
    part.entry->filename = g_strdup(name.c_str());
  } else {
    part.entry->filename = g_strdup_printf("%s.from-%" PRIu64 "%s", name.c_str(), begin, holes ? "-with-holes" : "");
  }
  g_free(part.entry->content_type);
  part.entry->content_type = g_strdup(part.read && part.written ? "NFS, read and written"
                                      : part.written            ? "NFS, written"
                                                                : "NFS, read");
}

/// Room for [begin, end) in the part that begins at `at`; false: that would cost too much.
[[nodiscard]] bool widen(Exports& all, std::uint64_t at, Part& part, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = std::min(begin, at);
  const std::uint64_t last = std::max(end, at + part.length());
  if (last - first > most_octets) return false;
  const std::uint64_t in_front = at - first;
  // What is moved is paid for by what comes.
  if (in_front != 0 && all.moved + part.length() > most_holes + 8 * all.octets) return false;
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
  part.entry->payload_len = static_cast<std::size_t>(last - first);
  return true;
}

[[nodiscard]] std::uint64_t hole(const Parts::value_type& part, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t part_end = part.first + part.second.length();
  return begin > part_end ? begin - part_end : end < part.first ? part.first - end : 0;
}

/// Tries to take [begin, end) into this part.
[[nodiscard]] Parts::iterator take_in(Exports& all, Parts& parts, Parts::iterator at, std::uint64_t begin,
                                      std::uint64_t end) {
  const std::uint64_t lacks = hole(*at, begin, end);
  if (lacks > widest_hole || all.holes + lacks > most_holes) return parts.end();
  if (!widen(all, at->first, at->second, begin, end)) return parts.end();
  if (begin >= at->first) return at;
  auto node = parts.extract(at);
  node.key() = begin;
  return parts.insert(std::move(node)).position;
}

/// Octets of [begin, end) that were not here yet.
std::uint64_t cover(std::map<std::uint64_t, std::uint64_t>& here, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t before = 0;
  auto at = here.upper_bound(begin);
  if (at != here.begin() && std::prev(at)->second >= begin) --at;
  while (at != here.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    before += at->second - at->first;
    at = here.erase(at);
  }
  here.emplace(begin, end);
  return end - begin - before;
}

Parts::iterator fresh_part(Parts& parts, export_object_list_t& list, std::uint64_t begin, std::uint64_t length,
                           const RpcItem& item, packet_info* pinfo) {
  Part part;
  part.capacity = length;
  part.entry = g_new0(export_object_entry_t, 1);
  part.entry->pkt_num = pinfo->num;
  part.entry->hostname = g_strdup(item.connection != nullptr ? item.connection->server.address.c_str() : "");
  part.entry->payload_len = static_cast<std::size_t>(length);
  part.entry->payload_data = static_cast<std::uint8_t*>(g_malloc0(static_cast<std::size_t>(length)));
  list.add_entry(list.gui_data, part.entry);
  return parts.emplace(begin, std::move(part)).first;
}

/// Octets that reach into no part but perhaps one.
void place_in_one(Exports& all, export_object_list_t& list, const FilePiece& piece, const RpcItem& item,
                  packet_info* pinfo) {
  const std::uint64_t begin = piece.offset;
  const std::uint64_t end = begin + piece.octets.size();
  Parts& parts = all.parts[piece.file];
  auto at = parts.end();
  const auto behind = parts.upper_bound(begin);
  const std::uint64_t holes_before = [&] {
    std::uint64_t sum = behind != parts.end() ? behind->second.holes() : 0;
    return sum + (behind != parts.begin() ? std::prev(behind)->second.holes() : 0);
  }();
  std::uint64_t others = holes_before;
  const bool front_nearer = behind != parts.begin() && (behind == parts.end() || hole(*std::prev(behind), begin, end) <=
                                                                                     hole(*behind, begin, end));
  if (front_nearer) {
    others -= std::prev(behind)->second.holes();
    at = take_in(all, parts, std::prev(behind), begin, end);
  } else if (behind != parts.end()) {
    others -= behind->second.holes();
    at = take_in(all, parts, behind, begin, end);
  }
  if (at == parts.end()) {
    if (parts.find(begin) != parts.end()) return;  // no memory for more of that part
    others = holes_before;
    at = fresh_part(parts, list, begin, piece.octets.size(), item, pinfo);
  }
  Part& part = at->second;
  std::copy(piece.octets.begin(), piece.octets.end(), part.entry->payload_data + (begin - at->first));
  part.present += cover(part.here, begin, end);
  all.holes = all.holes - holes_before + others + part.holes();
  all.octets += piece.octets.size();
  (piece.written ? part.written : part.read) = true;
  rename(all.files.file(piece.file), at->first, part);
}

void place(Exports& all, export_object_list_t& list, FilePiece piece, const RpcItem& item, packet_info* pinfo) {
  if (piece.octets.empty() || piece.offset > UINT64_MAX - piece.octets.size()) return;
  // Parts stay apart: what reaches into the next one goes there.
  for (;;) {
    const Parts& parts = all.parts[piece.file];
    const auto next = parts.upper_bound(piece.offset);
    if (next == parts.end() || next->first - piece.offset >= piece.octets.size()) break;
    const auto split = static_cast<std::size_t>(next->first - piece.offset);
    place_in_one(all, list, {piece.file, piece.offset, piece.octets.first(split), piece.written}, item, pinfo);
    piece.offset += split;
    piece.octets = piece.octets.subspan(split);
  }
  place_in_one(all, list, piece, item, pinfo);
}

tap_packet_status export_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const RpcItem*>(tapped);
  auto& list = *static_cast<export_object_list_t*>(data);
  try {
    if (!exports) exports = std::make_unique<Exports>();
    Exports& all = *exports;
    const wire::Bytes octets(item.octets, item.length);
    if (item.call) {
      all.files.call(item.exchange, item.connection != nullptr ? item.connection->server.address : "", octets);
      return TAP_PACKET_DONT_REDRAW;
    }
    all.files.reply(item.exchange, octets, all.pieces);
    for (const FilePiece& piece : all.pieces) place(all, list, piece, item, pinfo);
    for (const std::uint32_t file : all.files.named()) {
      for (auto& [begin, part] : all.parts[file]) rename(all.files.file(file), begin, part);
    }
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
  item->exchange = journal::exchange_key(payload.connection, payload.exchange);
  item->call = payload.call;
  tap_queue_packet(objects_tap, canvas.pinfo, item);
}

}  // namespace rpcrdma::plugin
