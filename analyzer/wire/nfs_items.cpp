// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_items.hpp"

#include <algorithm>

#include "wire/nfs4_walker.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

using nfs4::Encounter;
using nfs4::ItemKind;
using nfs4::Walker;
using nfs4::Whereabouts;

constexpr std::size_t items_limit = 256;
constexpr std::size_t most_inline_first = 8;
constexpr std::uint32_t call_octets_minimum = 40;  // an RPC Call without arguments, AUTH_NONE

// Procedures. NFSv2 (RFC 1094) and NFSv3 (RFC 1813) number these alike, but for WRITE and SYMLINK.
constexpr std::uint32_t readlink = 5;
constexpr std::uint32_t read = 6;
constexpr std::uint32_t write_v3 = 7;
constexpr std::uint32_t write_v2 = 8;
constexpr std::uint32_t symlink_v3 = 10;
constexpr std::uint32_t symlink_v2 = 13;
constexpr std::uint32_t compound_v4 = 1;
constexpr std::uint32_t op_read = 25;
constexpr std::uint32_t op_readlink = 27;

constexpr std::size_t file_handle_v2 = 32;
constexpr std::size_t attributes_v2 = 68;
constexpr std::size_t attributes_v3 = 84;
constexpr std::size_t settable_attributes_v2 = 32;

/// Part of every policy: the list that is made, and which operation the walk is in.
class Lister : public nfs4::ItemPolicy {
 public:
  explicit Lister(NfsItems& out) noexcept : out_(&out) {}

  void operation(std::uint32_t number, std::uint32_t index) noexcept {
    number_ = number;
    index_ = index;
  }
  /// The operation asks for a result that may be moved.
  bool want(std::uint64_t most = WantedItem::no_limit) {
    if (out_->wanted.size() == items_limit) {
      end(WalkEnd::unsupported, "more results than are kept");
      return false;
    }
    out_->wanted.push_back({number_, index_, most});
    return true;
  }

 protected:
  [[nodiscard]] bool add(const Encounter& item, std::size_t chunk, std::uint64_t chunk_length) {
    if (out_->items.size() == items_limit) {
      end(WalkEnd::unsupported, "more items than are kept");
      return false;
    }
    out_->items.push_back({item.at - 4, item.position, item.length, number_, index_, item.kind == ItemKind::eligible,
                           chunk, chunk_length});
    return true;
  }
  void end(WalkEnd how, std::string_view field) noexcept {
    out_->end = how;
    out_->field = field;
  }
  [[nodiscard]] NfsItems& out() noexcept { return *out_; }

 private:
  NfsItems* out_;
  std::uint32_t number_ = 0;
  std::uint32_t index_ = 0;
};

/// Read chunks say themselves which item they hold.
class CallItems final : public Lister {
 public:
  CallItems(NfsItems& out, std::span<const ReadChunk> chunks) noexcept : Lister(out), chunks_(chunks) {}

  [[nodiscard]] Whereabouts meet(const Encounter& item) override {
    std::size_t& next = out().chunks_used;
    if (passed(item.position)) {
      end(WalkEnd::misplaced, "position");
      return Whereabouts::unknown;
    }
    const bool named = next < chunks_.size() && chunks_[next].position == item.position;
    if (!named && item.kind != ItemKind::eligible) return Whereabouts::in_place;
    if (!add(item, named ? next : NfsItem::no_chunk, named ? chunks_[next].length : 0)) return Whereabouts::unknown;
    if (!named) return Whereabouts::in_place;
    ++next;
    return Whereabouts::moved;
  }

  /// Is there a chunk whose Position lies before this one, and no item was there?
  [[nodiscard]] bool passed(std::uint64_t position) noexcept {
    return out().chunks_used < chunks_.size() && chunks_[out().chunks_used].position < position;
  }

 private:
  std::span<const ReadChunk> chunks_;
};

/// How to read Write chunks that hold nothing.
enum class Reading : std::uint8_t {
  in_order,     ///< each belongs to an item that stayed in the stream
  used_only,    ///< they belong to nothing
  bulky_moved,  ///< the same, and items were moved that must not be
};

class ReplyItems final : public Lister {
 public:
  /// `inline_first`: so many items that may be moved stayed in the stream ahead of those that were moved.
  ReplyItems(NfsItems& out, std::span<const std::uint64_t> lengths, Reading reading, std::size_t inline_first) noexcept
      : Lister(out), lengths_(lengths), reading_(reading), inline_first_(inline_first) {}

  [[nodiscard]] bool met_bulky() const noexcept { return met_bulky_; }
  [[nodiscard]] std::size_t inline_first() const noexcept { return inline_first_; }

  [[nodiscard]] Whereabouts meet(const Encounter& item) override {
    met_bulky_ = met_bulky_ || item.kind == ItemKind::bulky;
    if (item.kind == ItemKind::other || (item.kind == ItemKind::bulky && reading_ != Reading::bulky_moved)) {
      return Whereabouts::in_place;
    }
    if (inline_first_ != 0 && item.length != 0 && item.fits) {
      --inline_first_;
      return stays(item);
    }
    std::size_t& next = out().chunks_used;
    if (reading_ == Reading::in_order) {
      if (next < lengths_.size() && lengths_[next] == 0) {
        ++next;
        return stays(item);
      }
    } else {
      while (next < lengths_.size() && lengths_[next] == 0) ++next;
    }
    if (next == lengths_.size() || item.length == 0) return stays(item);
    const std::uint64_t length = lengths_[next];
    const bool agrees = length == item.length || length == ((item.length + 3U) & ~std::uint64_t{3});
    if (!agrees && item.fits) return stays(item);
    if (!add(item, next, length)) return Whereabouts::unknown;
    ++next;
    return Whereabouts::moved;
  }

  /// Does a chunk hold octets that no item was found for?
  [[nodiscard]] bool chunks_left() noexcept {
    return std::any_of(lengths_.begin() + static_cast<std::ptrdiff_t>(out().chunks_used), lengths_.end(),
                       [](std::uint64_t length) { return length != 0; });
  }

 private:
  Whereabouts stays(const Encounter& item) {
    if (item.kind != ItemKind::eligible) return Whereabouts::in_place;
    return add(item, NfsItem::no_chunk, 0) ? Whereabouts::in_place : Whereabouts::unknown;
  }

  std::span<const std::uint64_t> lengths_;
  Reading reading_;
  std::size_t inline_first_;
  bool met_bulky_ = false;
};

// sattr3
bool settable_attributes(Walker& w) {
  for (const std::size_t octets : {4U, 4U, 4U, 8U}) {  // mode, uid, gid, size
    bool set = false;
    if (!w.boolean(set) || (set && !w.skip(octets))) return false;
  }
  for (int i = 0; i < 2; ++i) {  // atime, mtime: 2 is SET_TO_CLIENT_TIME
    std::uint32_t how = 0;
    if (!w.word(how) || how > 2 || (how == 2 && !w.skip(8))) return false;
  }
  return true;
}

// post_op_attr
bool optional_attributes(Walker& w) {
  bool present = false;
  return w.boolean(present) && (!present || w.skip(attributes_v3));
}

bool want_count(Walker& w, Lister& lister) {
  std::uint32_t count = 0;
  return w.word(count) && lister.want(count);
}

/// false with nothing wrong in `out` where octets lack or a form is not known: `finish` says which.
bool compound_arguments(Walker& w, Lister& lister, NfsItems& out) {
  std::uint32_t minor = 0;
  if (!w.shape("o") || !w.word(minor)) return false;
  if (minor > 2) {
    out.end = WalkEnd::unsupported;
    out.field = "minor version";
    return false;
  }
  std::uint32_t index = 0;
  return w.each([&] {
    std::uint32_t operation = 0;
    if (!w.word(operation)) return false;
    if (!nfs4::known_operation(operation)) {
      out.end = WalkEnd::unsupported;
      out.field = "operation";
      return false;
    }
    lister.operation(operation, index++);
    if (operation == op_read) return w.shape("id") && want_count(w, lister);
    if (operation == op_readlink) return lister.want();
    return nfs4::step_over_arguments(w, operation);
  });
}

bool compound_results(Walker& w, Lister& lister, NfsItems& out) {
  std::uint32_t status = 0;
  if (!w.word(status) || !w.shape("o")) return false;
  std::uint32_t index = 0;
  bool ok = true;
  return w.each([&] {
    std::uint32_t operation = 0;
    if (!ok || !w.word(operation)) return false;
    if (!nfs4::known_operation(operation)) {
      out.end = WalkEnd::unsupported;
      out.field = "operation";
      return false;
    }
    lister.operation(operation, index++);
    return nfs4::step_over_results(w, operation, ok);
  });
}

bool arguments_v3(Walker& w, Lister& lister, std::uint32_t procedure) {
  switch (procedure) {
    case read:
      return w.shape("od") && want_count(w, lister);
    case readlink:
      return w.shape("o") && lister.want();
    case write_v3:
      return w.shape("odwwD");
    default:  // SYMLINK
      return w.shape("oo") && settable_attributes(w) && w.shape("D");
  }
}

bool arguments_v2(Walker& w, Lister& lister, std::uint32_t procedure) {
  if (!w.skip(file_handle_v2)) return false;
  switch (procedure) {
    case read:
      return w.shape("w") && want_count(w, lister) && w.shape("w");
    case readlink:
      return lister.want();
    case write_v2:
      return w.shape("wwwD");
    default:  // SYMLINK
      return w.shape("oD") && w.skip(settable_attributes_v2);
  }
}

bool arguments(Walker& w, Lister& lister, const RpcCall& call, NfsItems& out) {
  lister.operation(call.procedure, 0);
  if (call.version == 4) return compound_arguments(w, lister, out);
  return call.version == 3 ? arguments_v3(w, lister, call.procedure) : arguments_v2(w, lister, call.procedure);
}

bool results(Walker& w, Lister& lister, std::uint32_t version, std::uint32_t procedure, NfsItems& out) {
  lister.operation(procedure, 0);
  if (version == 4) return compound_results(w, lister, out);
  std::uint32_t status = 0;
  if (!w.word(status)) return false;
  out.failed = status;
  if (version == 3) {
    if (!optional_attributes(w)) return false;
    if (status != 0) return true;
    return procedure == read ? w.shape("wwD") : w.shape("D");
  }
  if (status != 0) return true;
  return (procedure != read || w.skip(attributes_v2)) && w.shape("D");
}

void ended_without_walk(NfsItems& out, WalkEnd how, std::string_view field, std::size_t wire_length) noexcept {
  out.end = how;
  out.field = field;
  out.left = wire_length;
}

WalkEnd end_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::truncated:
      return WalkEnd::truncated;
    case Fault::unsupported:
      return WalkEnd::unsupported;
    case Fault::invalid:
      break;
  }
  return WalkEnd::invalid;
}

/// Notes how far the walk came, and why no further unless that is written down already.
void finish(const Walker& w, bool stepped, NfsItems& out) noexcept {
  out.reached = w.position();
  out.left = w.wire_left();
  if (stepped || out.end != WalkEnd::whole) return;
  out.end = w.error() ? end_of(w.error()->fault) : WalkEnd::invalid;
  out.field = w.error() ? w.error()->field : "form";
}

/// A reading that explains the whole message: it ends where the walk ends, and each used chunk has its item. Fewer
/// than four octets too many are let pass: pads that were left behind.
bool explains(const NfsItems& found, bool chunks_left) noexcept {
  return found.end == WalkEnd::whole && found.left < 4 && !chunks_left;
}

}  // namespace

void NfsItems::clear() noexcept {
  items.clear();
  wanted.clear();
  end = WalkEnd::whole;
  field = {};
  reached = 0;
  left = 0;
  chunks_used = 0;
  failed = 0;
}

DdpBinding ddp_binding(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) noexcept {
  if (program == nfsacl_program) return {version == 2 || version == 3, false, false};
  if (program != nfs_program) return {};
  switch (version) {
    case 2:
      return {true, procedure == write_v2 || procedure == symlink_v2, procedure == read || procedure == readlink};
    case 3:
      return {true, procedure == write_v3 || procedure == symlink_v3, procedure == read || procedure == readlink};
    case 4:
      return {true, procedure == compound_v4, procedure == compound_v4};
    default:
      return {};
  }
}

void collect_read_chunks(const std::vector<ReadSegment>& reads, std::vector<ReadChunk>& out) {
  out.clear();
  for (const auto& read_segment : reads) {
    if (read_segment.position != 0) out.push_back({read_segment.position, read_segment.target.length, 1});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ReadChunk& a, const ReadChunk& b) { return a.position < b.position; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].position == out[i].position) {
      out[kept - 1].length += out[i].length;
      out[kept - 1].segments += 1;
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
}

void list_call_items(Bytes stream, std::size_t wire_length, std::span<const ReadChunk> chunks, NfsItems& out) {
  out.clear();
  wire_length = std::max(wire_length, stream.size());
  // Nothing in front of an RPC Call's arguments may be moved; if it was, what follows would be misread.
  if (!chunks.empty() && chunks[0].position < std::min<std::size_t>(call_octets_minimum, stream.size())) {
    ended_without_walk(out, WalkEnd::misplaced, "position", wire_length);
    return;
  }
  const auto call = decode_rpc_call(stream, wire_length);
  if (!call) {
    ended_without_walk(out, end_of(call.error().fault), call.error().field, wire_length);
    return;
  }
  if (!chunks.empty() && chunks[0].position < call->body) {
    ended_without_walk(out, WalkEnd::misplaced, "position", wire_length);
    return;
  }
  const bool wrapped = protection_of(*call) != Protection::none;
  const DdpBinding binding = ddp_binding(call->program, call->version, call->procedure);
  if (wrapped || !(binding.arguments || binding.results)) {
    ended_without_walk(out, WalkEnd::unsupported, wrapped ? "RPCSEC_GSS" : "procedure", wire_length - call->body);
    out.reached = call->body;
    return;
  }
  Cursor cursor(stream, wire_length);
  static_cast<void>(cursor.take(call->body, "call header"));
  CallItems policy(out, chunks);
  Walker walker(cursor, policy);
  const bool stepped = arguments(walker, policy, *call, out);
  finish(walker, stepped, out);
  const bool at_the_end = out.end == WalkEnd::whole && out.left == 0;
  if (policy.passed(out.reached + (at_the_end ? 1U : 0U)) && out.end != WalkEnd::misplaced) {
    out.end = WalkEnd::misplaced;
    out.field = "position";
  }
}

void list_reply_items(Bytes stream, std::size_t wire_length, std::uint32_t program, std::uint32_t version,
                      std::uint32_t procedure, std::span<const std::uint64_t> returned_lengths, NfsItems& out) {
  out.clear();
  wire_length = std::max(wire_length, stream.size());
  const auto reply = decode_rpc_reply(stream, wire_length);
  if (!reply) {
    ended_without_walk(out, end_of(reply.error().fault), reply.error().field, wire_length);
    return;
  }
  out.reached = reply->body;
  out.left = wire_length - reply->body;
  if (!reply->succeeded()) {
    out.failed = reply->accepted ? reply->status : 1;
    out.left = 0;  // what may follow is no result
    return;
  }
  if (!ddp_binding(program, version, procedure).results) {
    ended_without_walk(out, WalkEnd::unsupported, "procedure", out.left);
    return;
  }
  const bool unused = std::find(returned_lengths.begin(), returned_lengths.end(), 0U) != returned_lengths.end();
  bool met_bulky = false;
  std::size_t left_inline = 0;
  const auto read_as = [&](Reading reading, std::size_t inline_first = 0) {
    out.clear();
    Cursor cursor(stream, wire_length);
    static_cast<void>(cursor.take(reply->body, "reply header"));
    ReplyItems policy(out, returned_lengths, reading, inline_first);
    Walker walker(cursor, policy);
    const bool stepped = results(walker, policy, version, procedure, out);
    finish(walker, stepped, out);
    met_bulky = met_bulky || policy.met_bulky();
    left_inline = policy.inline_first();
    return explains(out, policy.chunks_left());
  };
  // Where no reading explains the message, one that the capture cut short may yet be right.
  auto likeliest = Reading::in_order;
  bool cut = false;
  for (const auto reading : {Reading::in_order, Reading::used_only, Reading::bulky_moved}) {
    if ((reading == Reading::used_only && !unused) || (reading == Reading::bulky_moved && !met_bulky)) continue;
    if (read_as(reading)) return;
    if (!cut && out.end == WalkEnd::truncated) {
      cut = true;
      likeliest = reading;
    }
  }
  // A chunk that was kept for a later item than the one whose turn it is.
  const bool used =
      std::any_of(returned_lengths.begin(), returned_lengths.end(), [](std::uint64_t length) { return length != 0; });
  const bool late = used && !cut;
  for (std::size_t first = 1; late && first <= most_inline_first; ++first) {
    if (read_as(Reading::used_only, first)) return;
    if (left_inline != 0) break;
  }
  if (unused || met_bulky || late) static_cast<void>(read_as(likeliest));
}

Placement place_items(Bytes reduced_rpc_reply, std::size_t wire_length, std::uint32_t program, std::uint32_t version,
                      std::uint32_t procedure, std::span<const std::uint64_t> returned_lengths,
                      std::vector<PlacedItem>& out) {
  out.clear();
  const auto used =
      std::count_if(returned_lengths.begin(), returned_lengths.end(), [](std::uint64_t length) { return length != 0; });
  if (used == 0) return Placement::placed;

  NfsItems found;
  list_reply_items(reduced_rpc_reply, wire_length, program, version, procedure, returned_lengths, found);
  bool disagree = false;
  for (const auto& item : found.items) {
    if (!item.moved()) continue;
    // A chunk may hold the item's pad as well (it must not); then there is none to add. Of any other chunk that is too
    // long the count says how much is the item.
    const bool with_pad = item.chunk_length == item.length + item.pad();
    disagree = disagree || item.chunk_length < item.length;
    out.push_back({item.chunk, item.data_at(), with_pad ? item.chunk_length : item.length, with_pad ? 0 : item.pad(),
                   item.position, item.operation, item.eligible});
  }
  if (!disagree && out.size() == static_cast<std::size_t>(used)) {
    // What the capture lacks, or is not known, comes behind the last place.
    if (found.end == WalkEnd::truncated || found.end == WalkEnd::unsupported) return Placement::placed;
    if (found.end == WalkEnd::whole && found.left < 4) return Placement::placed;
  }
  out.clear();
  if (disagree) return Placement::disagree;
  switch (found.end) {
    case WalkEnd::truncated:
      return Placement::truncated;
    case WalkEnd::unsupported:
      return Placement::unsupported;
    case WalkEnd::whole:
      return Placement::disagree;
    case WalkEnd::invalid:
    case WalkEnd::misplaced:
      break;
  }
  return Placement::invalid;
}

}  // namespace rpcrdma::wire
