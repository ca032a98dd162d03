// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma_v2.hpp"

#include <array>
#include <utility>

#include "wire/chunk_lists.hpp"

namespace rpcrdma::wire {

namespace {

using chunk_lists::Step;
using Kind = Item::Kind;

constexpr std::size_t prefix_octets = 16;
constexpr std::size_t list_word_octets = 4;
constexpr std::size_t listed_read_octets = list_word_octets + chunk_lists::read_segment_octets;
constexpr std::uint32_t known_flags = 7;

/// The walk itself: a cursor and whom to tell.
class Walk {
 public:
  Walk(Bytes octets, std::size_t wire_length, ItemVisitor& visitor) : cursor_(octets, wire_length), visitor_(visitor) {}

  [[nodiscard]] std::size_t offset() const noexcept { return cursor_.offset(); }

  [[nodiscard]] Step prefix() {
    if (cursor_.wire_left() < prefix_octets) {
      return tl::make_unexpected(DecodeError{Fault::invalid, "header too short", 0});
    }
    const auto words = cursor_.take(prefix_octets, "prefix");
    if (!words) return tl::make_unexpected(words.error());
    static constexpr std::array<Kind, 4> kinds{Kind::xid, Kind::version, Kind::credit, Kind::htype};
    for (std::size_t i = 0; i < kinds.size(); ++i) tell(kinds[i], i * 4, 4, load_be32(words->data() + i * 4));
    htype_ = load_be32(words->data() + 12);
    return {};
  }
  [[nodiscard]] std::uint32_t htype() const noexcept { return htype_; }

  [[nodiscard]] Step word(Kind kind, std::string_view field, std::uint32_t* value = nullptr) {
    const auto got = cursor_.be32(field);
    if (!got) return tl::make_unexpected(got.error());
    tell(kind, cursor_.offset() - 4, 4, *got);
    if (value != nullptr) *value = *got;
    return {};
  }

  [[nodiscard]] Step reads(Kind segment, Kind end) {
    struct Reads : chunk_lists::Listener {
      Reads(Walk& to, Kind of_segment, Kind of_end) : walk(to), segment(of_segment), last(of_end) {}
      void read(const ReadSegment& read) {
        walk.visitor_.on(
            Item{segment, walk.offset() - listed_read_octets, listed_read_octets, 0, read.position, read.target});
      }
      void end() { walk.list_word(last); }
      Walk& walk;
      Kind segment;
      Kind last;
    };
    return chunk_lists::walk_read_list(cursor_, Reads(*this, segment, end));
  }

  [[nodiscard]] Step writes() {
    return chunk_lists::walk_write_list(cursor_,
                                        Chunks(*this, Kind::write_chunk, Kind::write_segment, Kind::write_end));
  }

  [[nodiscard]] Step reply() {
    return chunk_lists::walk_reply_chunk(cursor_,
                                         Chunks(*this, Kind::reply_chunk, Kind::reply_segment, Kind::reply_absent));
  }

  [[nodiscard]] Step properties() {
    const std::size_t at = cursor_.offset();
    std::uint32_t count = 0;
    if (const auto step = word(Kind::property_count, "property count", &count); !step) return step;
    if (count > cursor_.wire_left() / 8) {
      return tl::make_unexpected(DecodeError{Fault::invalid, "property count", at});
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto step = property(); !step) return step;
    }
    return {};
  }

  void rest(Kind kind) {
    if (cursor_.wire_left() > 0) tell(kind, cursor_.offset(), cursor_.wire_left(), 0);
  }

 private:
  void tell(Kind kind, std::size_t offset, std::size_t length, std::uint64_t value) {
    visitor_.on(Item{kind, offset, length, value, 0, {}});
  }
  /// The word 0 that was just passed.
  void list_word(Kind kind) { tell(kind, offset() - list_word_octets, list_word_octets, 0); }

  struct Chunks : chunk_lists::Listener {
    Chunks(Walk& to, Kind of_chunk, Kind of_segment, Kind of_end)
        : walk(to), opening(of_chunk), part(of_segment), last(of_end) {}
    void count(std::uint32_t value) { segments = value; }
    void chunk(std::size_t) { walk.tell(opening, walk.offset() - 8, 8, segments); }
    void segment(const Segment& s) {
      constexpr std::size_t length = chunk_lists::segment_octets;
      walk.visitor_.on(Item{part, walk.offset() - length, length, s.handle, 0, s});
    }
    void end() { walk.list_word(last); }
    Walk& walk;
    Kind opening;
    Kind part;
    Kind last;
    std::uint32_t segments = 0;
  };

  [[nodiscard]] Step property() {
    Property property;
    property.offset = cursor_.offset();
    if (cursor_.wire_left() < 8) {
      return tl::make_unexpected(DecodeError{Fault::invalid, "property", property.offset});
    }
    const auto head = cursor_.take(8, "property");
    if (!head) return tl::make_unexpected(head.error());
    property.id = load_be32(head->data());
    property.length = load_be32(head->data() + 4);
    property.data_offset = cursor_.offset();
    tell(Kind::property, property.offset, 8, property.id);
    const std::size_t pad = (4U - property.length % 4U) % 4U;
    if (property.length > cursor_.wire_left() || pad > cursor_.wire_left() - property.length) {
      return tl::make_unexpected(DecodeError{Fault::invalid, "property", property.offset});
    }
    const auto data = cursor_.take(property.length, "property");
    if (!data) return tl::make_unexpected(data.error());
    judge(property, *data);
    if (property.length > 0) tell(Kind::property_value, property.data_offset, property.length, property.number);
    visitor_.on(property);
    if (pad > 0) {
      const auto padding = cursor_.take(pad, "property pad");
      if (!padding) return tl::make_unexpected(padding.error());
      tell(Kind::property_pad, cursor_.offset() - pad, pad, 0);
    }
    return {};
  }

  static void judge(Property& property, Bytes data) noexcept {
    using Form = Property::Form;
    if (property_name(property.id).empty()) return;
    if (data.empty()) {
      property.form = Form::standard;
      property.number = property_default(property.id).value_or(0);
      return;
    }
    if (property.id == static_cast<std::uint32_t>(PropertyId::host_auth)) {
      // Its XDR type is a counted opaque; some will put the material into rdma_data as it is.
      property.form = Form::flat;
      if (data.size() < 4) return;
      const std::uint64_t inner = load_be32(data.data());
      const std::uint64_t padded = (inner + 3U) & ~std::uint64_t{3};
      if (4 + inner == data.size() || 4 + padded == data.size()) property.form = Form::nested;
      return;
    }
    if (data.size() < 4) {
      property.form = Form::too_short;
      return;
    }
    property.form = data.size() == 4 ? Form::number : Form::too_long;
    property.number = load_be32(data.data());
  }

  Cursor cursor_;
  ItemVisitor& visitor_;
  std::uint32_t htype_ = 0;
};

[[nodiscard]] Step walk_error(Walk& walk) {
  std::uint32_t code = 0;
  if (const auto step = walk.word(Kind::error_code, "error code", &code); !step) return step;
  switch (static_cast<ErrorCode>(code)) {
    case ErrorCode::vers:
      if (const auto step = walk.word(Kind::version_low, "lowest version"); !step) return step;
      return walk.word(Kind::version_high, "highest version");
    case ErrorCode::read_chunks:
    case ErrorCode::write_chunks:
      return walk.word(Kind::most_chunks, "most chunks");
    case ErrorCode::segments:
      return walk.word(Kind::most_segments, "most segments");
    case ErrorCode::write_resource:
      if (const auto step = walk.word(Kind::chunk_index, "chunk index"); !step) return step;
      return walk.word(Kind::length_needed, "length needed");
    case ErrorCode::reply_resource:
      return walk.word(Kind::length_needed, "length needed");
    case ErrorCode::bad_xdr:
    case ErrorCode::bad_propval:
    case ErrorCode::inval_htype:
    case ErrorCode::inval_cont:
    case ErrorCode::vers_mismatch:
    case ErrorCode::system:
      break;
  }
  return {};
}

[[nodiscard]] Step walk_call_lists(Walk& walk) {
  if (const auto step = walk.reads(Kind::read_segment, Kind::read_end); !step) return step;
  if (const auto step = walk.writes(); !step) return step;
  return walk.reply();
}

[[nodiscard]] Step walk_body(Walk& walk, HeaderType type) {
  switch (type) {
    case HeaderType::error:
      return walk_error(walk);
    case HeaderType::grant:
      return {};
    case HeaderType::connprop_middle:
    case HeaderType::connprop_final:
      return walk.properties();
    case HeaderType::call_external:
      if (const auto step = walk.word(Kind::inv_handle, "rdma_inv_handle"); !step) return step;
      if (const auto step = walk.reads(Kind::call_segment, Kind::call_end); !step) return step;
      return walk_call_lists(walk);
    case HeaderType::call_inline:
      if (const auto step = walk.word(Kind::inv_handle, "rdma_inv_handle"); !step) return step;
      return walk_call_lists(walk);
    case HeaderType::call_middle:
    case HeaderType::reply_middle:
      return walk.word(Kind::remaining, "rdma_remaining");
    case HeaderType::reply_external:
      if (const auto step = walk.writes(); !step) return step;
      return walk.reply();
    case HeaderType::reply_inline:
      return walk.writes();
  }
  return {};
}

// Drafts 00 to 02.
constexpr std::uint32_t earlier_msg = 0;
constexpr std::uint32_t earlier_nomsg = 1;
constexpr std::uint32_t earlier_error = 4;
constexpr std::uint32_t earlier_connprop = 5;

[[nodiscard]] Step walk_earlier_body(Walk& walk) {
  if (const auto step = walk.word(Kind::flags, "rdma_flags"); !step) return step;
  switch (walk.htype()) {
    case earlier_msg:
    case earlier_nomsg:
      if (const auto step = walk.word(Kind::inv_handle, "rdma_inv_handle"); !step) return step;
      return walk_call_lists(walk);
    case earlier_error:  // the numbers of the codes changed from draft to draft: only the first can be relied on
      return walk.word(Kind::error_code, "error code");
    case earlier_connprop:
      return walk.properties();
    default:
      return {};
  }
}

[[nodiscard]] bool assigned(std::uint32_t htype, Draft draft) noexcept {
  return draft == Draft::newest ? known_htype(htype) : !earlier_htype_name(htype).empty();
}

class Keeper final : public ItemVisitor {
 public:
  explicit Keeper(HeaderV2& out) : out_(out) {}
  void on(const Property& property) override { out_.properties.push_back(property); }
  void on(const Item& item) override {
    const auto word = static_cast<std::uint32_t>(item.value);
    switch (item.kind) {
      case Kind::xid:
        out_.fixed.xid = word;
        break;
      case Kind::version:
        out_.fixed.version = word;
        break;
      case Kind::credit:
        out_.fixed.credit = word;
        break;
      case Kind::htype:
        out_.fixed.proc = word;
        out_.lists.fixed = out_.fixed;
        out_.lists.fixed.proc = proc_like(word);
        break;
      case Kind::flags:
        out_.flags = word;
        break;
      case Kind::error_code:
        out_.error = word;
        break;
      case Kind::version_low:
        out_.vers_low = word;
        break;
      case Kind::version_high:
        out_.vers_high = word;
        break;
      case Kind::most_chunks:
      case Kind::most_segments:
        out_.most = word;
        break;
      case Kind::chunk_index:
        out_.chunk_index = word;
        break;
      case Kind::length_needed:
        out_.length_needed = word;
        break;
      case Kind::inv_handle:
        out_.inv_handle = word;
        break;
      case Kind::remaining:
        out_.remaining = word;
        break;
      case Kind::call_segment:
        out_.call_chunk.push_back({item.position, item.segment});
        break;
      case Kind::read_segment:
        out_.lists.reads.push_back({item.position, item.segment});
        break;
      case Kind::write_chunk:
        begin_write();
        break;
      case Kind::write_segment:
        out_.lists.writes.back().push_back(item.segment);
        break;
      case Kind::reply_chunk:
        begin_reply();
        break;
      case Kind::reply_segment:
        out_.lists.reply->push_back(item.segment);
        break;
      default:
        break;
    }
  }

 private:
  /// What version 1 calls a message that carries its RPC message in this way.
  [[nodiscard]] static std::uint32_t proc_like(std::uint32_t htype) noexcept {
    const auto type = static_cast<HeaderType>(htype);
    if (type == HeaderType::error) return static_cast<std::uint32_t>(Proc::error);
    const bool external = type == HeaderType::call_external || type == HeaderType::reply_external;
    return static_cast<std::uint32_t>(external ? Proc::nomsg : Proc::msg);
  }

  void begin_write() {
    auto& spare = out_.lists.spare;
    if (spare.empty()) {
      out_.lists.writes.emplace_back();
      return;
    }
    out_.lists.writes.push_back(std::move(spare.back()));
    spare.pop_back();
  }
  void begin_reply() {
    auto& spare = out_.lists.spare;
    if (spare.empty()) {
      out_.lists.reply.emplace();
      return;
    }
    out_.lists.reply.emplace(std::move(spare.back()));
    spare.pop_back();
  }

  HeaderV2& out_;
};

/// Looks at properties only as far as earlier_draft() needs.
class Ignore final : public ItemVisitor {
 public:
  void on(const Item& item) override {
    if (item.kind == Kind::flags) flags = item.value;
    if (item.kind == Kind::payload) payload = item.offset;
    if (item.kind == Kind::trailing) trailing = true;
    if (item.kind == Kind::property_count) properties = item.value;
  }
  void on(const Property&) override {}
  std::uint64_t flags = 0;
  std::size_t payload = 0;
  std::uint64_t properties = 0;
  bool trailing = false;
};

}  // namespace

Decoded<std::size_t> walk_v2(Bytes octets, std::size_t wire_length, ItemVisitor& visitor, Draft draft) {
  Walk walk(octets, wire_length, visitor);
  if (const auto step = walk.prefix(); !step) return tl::make_unexpected(step.error());
  if (!assigned(walk.htype(), draft)) {
    walk.rest(Kind::unknown_body);
    return tl::make_unexpected(DecodeError{Fault::unsupported, "htype", 12});
  }
  const bool newest = draft == Draft::newest;
  const auto step = newest ? walk_body(walk, static_cast<HeaderType>(walk.htype())) : walk_earlier_body(walk);
  if (!step) return tl::make_unexpected(step.error());
  const std::size_t length = walk.offset();
  const bool payload = newest ? has_payload(static_cast<HeaderType>(walk.htype())) : walk.htype() == earlier_msg;
  walk.rest(payload ? Kind::payload : Kind::trailing);
  return length;
}

bool earlier_draft(Bytes octets, std::size_t wire_length) {
  const auto fixed = decode_fixed_words(octets, wire_length);
  if (!fixed || fixed->version != 2) return false;
  if (fixed->proc != earlier_msg && fixed->proc != earlier_nomsg && fixed->proc != earlier_connprop) return false;
  Ignore seen;
  if (!walk_v2(octets, wire_length, seen, Draft::earlier) || seen.flags > known_flags || seen.trailing) return false;
  if (fixed->proc == earlier_connprop) return seen.properties > 0;
  if (fixed->proc == earlier_nomsg) return true;
  // A fragment behind the first one does not begin with an XID; the first one must.
  return seen.payload != 0 && octets.size() >= seen.payload + 4 &&
         load_be32(octets.data() + seen.payload) == fixed->xid;
}

void HeaderV2::clear() noexcept {
  fixed = {};
  draft = Draft::newest;
  flags = inv_handle = remaining = 0;
  call_chunk.clear();
  lists.clear();
  properties.clear();
  error = vers_low = vers_high = most = chunk_index = length_needed = 0;
  length = 0;
}

tl::expected<void, DecodeError> decode_header_v2(Bytes octets, std::size_t wire_length, HeaderV2& out, Draft draft) {
  static constexpr std::size_t kept_chunks = 16;
  out.clear();
  if (out.lists.spare.capacity() < kept_chunks) out.lists.spare.reserve(kept_chunks);
  out.draft = draft;
  Keeper keeper(out);
  const auto length = walk_v2(octets, wire_length, keeper, draft);
  if (!length) return tl::make_unexpected(length.error());
  out.length = out.lists.length = *length;
  return {};
}

std::optional<std::uint32_t> property_default(std::uint32_t id) noexcept {
  switch (static_cast<PropertyId>(id)) {
    case PropertyId::send_size:
    case PropertyId::receive_size:
      return 4096;
    case PropertyId::segment_size:
      return 1U << 20U;
    case PropertyId::segment_count:
      return 16;
    case PropertyId::reverse:
      return 0;
    case PropertyId::host_auth:
      break;
  }
  return std::nullopt;
}

}  // namespace rpcrdma::wire
