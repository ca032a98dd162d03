// SPDX-License-Identifier: GPL-2.0-or-later
// Telling RPC-over-RDMA from whatever else may travel in Sends. Nothing is stored and nothing allocated: this runs on
// Sends of connections that may have nothing to do with RPC.
#include <algorithm>

#include "wire/body_v1.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::wire {

namespace {

constexpr std::uint32_t rpc_call = 0;
constexpr std::uint32_t rpc_reply = 1;

constexpr Plausible strong_if(bool proven) noexcept { return proven ? Plausible::strong : Plausible::weak; }

struct ListFacts {
  std::size_t segments = 0;
  bool empty = true;  // all lists absent
  bool reply_present = false;
  bool only_position_zero = true;
};

struct ReadsFacts : chunk_lists::Listener {
  explicit ReadsFacts(ListFacts& to) : facts(to) {}
  void read(const ReadSegment& s) const {
    ++facts.segments;
    facts.empty = false;
    if (!position_zero(s)) facts.only_position_zero = false;
  }
  ListFacts& facts;
};
struct WritesFacts : chunk_lists::Listener {
  explicit WritesFacts(ListFacts& to) : facts(to) {}
  void chunk(std::size_t) const { facts.empty = false; }
  void segment(const Segment&) const { ++facts.segments; }
  ListFacts& facts;
};
struct ReplyFacts : WritesFacts {
  using WritesFacts::WritesFacts;
  void item() const {
    facts.empty = false;
    facts.reply_present = true;
  }
};

struct BodyFacts {
  ListFacts lists;
  std::uint32_t error = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  void word(Field field, std::uint32_t value) noexcept {
    if (field == Field::error_code) error = value;
    if (field == Field::version_low) low = value;
    if (field == Field::version_high) high = value;
  }
  [[nodiscard]] ReadsFacts reads() noexcept { return ReadsFacts(lists); }
  [[nodiscard]] WritesFacts writes() noexcept { return WritesFacts(lists); }
  [[nodiscard]] ReplyFacts reply() noexcept { return ReplyFacts(lists); }
};

[[nodiscard]] bool pass_reads(Cursor& cursor, ListFacts& facts) {
  return chunk_lists::walk_read_list(cursor, ReadsFacts(facts)).has_value();
}

[[nodiscard]] bool pass_writes(Cursor& cursor, ListFacts& facts) {
  return chunk_lists::walk_write_list(cursor, WritesFacts(facts)).has_value();
}

[[nodiscard]] bool pass_reply(Cursor& cursor, ListFacts& facts) {
  return chunk_lists::walk_reply_chunk(cursor, ReplyFacts(facts)).has_value();
}

[[nodiscard]] bool pass_lists(Cursor& cursor, ListFacts& facts) {
  return pass_reads(cursor, facts) && pass_writes(cursor, facts) && pass_reply(cursor, facts);
}

[[nodiscard]] bool pass_words(Cursor& cursor, std::size_t words) { return cursor.take(words * 4, "words").has_value(); }

/// Is what follows the start of the RPC message that the header announces? A Call must also say RPC version 2.
[[nodiscard]] bool rpc_follows(const Cursor& cursor, std::uint32_t xid, bool call_allowed, bool reply_allowed) {
  const Bytes rpc = cursor.rest();
  if (rpc.size() < 8 || load_be32(rpc.data()) != xid) return false;
  const std::uint32_t type = load_be32(rpc.data() + 4);
  if (type == rpc_reply) return reply_allowed;
  return type == rpc_call && call_allowed && rpc.size() >= 12 && load_be32(rpc.data() + 8) == 2;
}

[[nodiscard]] bool version_range(std::uint32_t low, std::uint32_t high) noexcept {
  // No version above 2 exists; leave room for what may come, not for chance.
  return low >= 1 && low <= high && high <= 255;
}

[[nodiscard]] bool version_range_follows(Cursor& cursor) {
  const auto low = cursor.be32("lowest version");
  const auto high = cursor.be32("highest version");
  return low && high && version_range(*low, *high) && cursor.wire_left() == 0;
}

/// A header in the layout of version 1, read up to the RPC message.
[[nodiscard]] Plausible judge_v1_layout(Cursor cursor, const FixedWords& fixed) {
  const auto proc = static_cast<Proc>(fixed.proc);
  BodyFacts body;
  if (!body_v1::walk(cursor, proc, body)) return Plausible::weak;
  switch (proc) {
    case Proc::msgp:
    case Proc::msg:
      return strong_if(rpc_follows(cursor, fixed.xid, true, true));
    case Proc::nomsg:
      return strong_if(!body.lists.empty && body.lists.segments > 0 && cursor.wire_left() == 0);
    case Proc::error:
      return strong_if((body.error != err_vers || version_range(body.low, body.high)) && cursor.wire_left() == 0);
    case Proc::done:
      return strong_if(cursor.wire_left() == 0);
  }
  return Plausible::weak;
}

[[nodiscard]] bool v2_error_consistent(Cursor& cursor) {
  const auto code = cursor.be32("error code");
  if (!code) return false;
  switch (static_cast<ErrorCode>(*code)) {
    case ErrorCode::vers:
      return version_range_follows(cursor);
    case ErrorCode::read_chunks:
    case ErrorCode::write_chunks:
    case ErrorCode::segments:
    case ErrorCode::reply_resource:
      return cursor.wire_left() == 4;
    case ErrorCode::write_resource:
      return cursor.wire_left() == 8;
    case ErrorCode::bad_xdr:
    case ErrorCode::bad_propval:
    case ErrorCode::inval_htype:
    case ErrorCode::inval_cont:
    case ErrorCode::vers_mismatch:
    case ErrorCode::system:
      return cursor.wire_left() == 0;
  }
  return false;
}

[[nodiscard]] bool v2_properties_consistent(Cursor& cursor) {
  const auto count = cursor.be32("property count");
  if (!count || *count > cursor.wire_left() / 8) return false;
  for (std::uint32_t i = 0; i < *count; ++i) {
    if (!pass_words(cursor, 1)) return false;
    const auto length = cursor.be32("property length");
    if (!length || *length > cursor.wire_left()) return false;
    const std::size_t padded = (static_cast<std::size_t>(*length) + 3U) & ~std::size_t{3};
    if (!cursor.take(padded, "property")) return false;
  }
  return cursor.wire_left() == 0;
}

[[nodiscard]] Plausible judge_v2(Cursor cursor, const FixedWords& fixed) {
  ListFacts facts;
  switch (static_cast<HeaderType>(fixed.proc)) {
    case HeaderType::error:
      return strong_if(v2_error_consistent(cursor));
    case HeaderType::grant:
      return strong_if(fixed.xid == 0 && cursor.wire_left() == 0);
    case HeaderType::connprop_middle:
    case HeaderType::connprop_final:
      return strong_if(v2_properties_consistent(cursor));
    case HeaderType::call_external:  // the Call chunk, then the three lists
      return strong_if(pass_words(cursor, 1) && pass_reads(cursor, facts) && !facts.empty && facts.only_position_zero &&
                       pass_lists(cursor, facts) && cursor.wire_left() == 0);
    case HeaderType::call_middle:  // only the first fragment shows its XID
      return strong_if(pass_words(cursor, 1) && rpc_follows(cursor, fixed.xid, true, false));
    case HeaderType::call_inline:  // the last fragment of a continued Call does not begin with an XID
      return strong_if(pass_words(cursor, 1) && pass_lists(cursor, facts) &&
                       rpc_follows(cursor, fixed.xid, true, false));
    case HeaderType::reply_external:
      return strong_if(pass_writes(cursor, facts) && pass_reply(cursor, facts) && facts.reply_present &&
                       cursor.wire_left() == 0);
    case HeaderType::reply_middle:
      return strong_if(pass_words(cursor, 1) && rpc_follows(cursor, fixed.xid, false, true));
    case HeaderType::reply_inline:
      return strong_if(pass_writes(cursor, facts) && rpc_follows(cursor, fixed.xid, false, true));
  }
  return Plausible::no;
}

}  // namespace

Plausible plausible_rpcrdma(Bytes octets, std::size_t wire_length) noexcept {
  const auto fixed = decode_fixed_words(octets, wire_length);
  if (!fixed) return Plausible::no;
  Cursor cursor(octets, wire_length);
  if (!cursor.take(16, "fixed words")) return Plausible::no;

  if (fixed->version == 1) return fixed->proc <= 4 ? judge_v1_layout(cursor, *fixed) : Plausible::no;
  const Plausible as_v2 = fixed->version == 2 ? judge_v2(cursor, *fixed) : Plausible::no;
  if (as_v2 != Plausible::no) return as_v2;
  // A peer that speaks (or answers) a version nobody knows still uses the layout all versions share.
  if (fixed->version != 0 && fixed->version <= 255 && fixed->proc <= 4 &&
      judge_v1_layout(cursor, *fixed) == Plausible::strong && fixed->proc != 3) {
    return Plausible::weak;
  }
  return Plausible::no;
}

}  // namespace rpcrdma::wire
