// SPDX-License-Identifier: GPL-2.0-or-later
// Telling RPC-over-RDMA from whatever else may travel in Sends. Nothing is stored and nothing allocated: this runs on
// Sends of connections that may have nothing to do with RPC.
#include <algorithm>

#include "wire/chunk_lists.hpp"
#include "wire/rpcrdma.hpp"

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

[[nodiscard]] bool pass_reads(Cursor& cursor, ListFacts& facts) {
  return chunk_lists::walk_read_list(cursor,
                                     [&facts](const ReadSegment& s) {
                                       ++facts.segments;
                                       facts.empty = false;
                                       if (!position_zero(s)) facts.only_position_zero = false;
                                     })
      .has_value();
}

[[nodiscard]] bool pass_writes(Cursor& cursor, ListFacts& facts) {
  return chunk_lists::walk_write_list(
             cursor, [&facts](std::size_t) { facts.empty = false; }, [&facts](const Segment&) { ++facts.segments; })
      .has_value();
}

[[nodiscard]] bool pass_reply(Cursor& cursor, ListFacts& facts) {
  const auto present = chunk_lists::another(cursor);
  if (!present) return false;
  if (!*present) return true;
  facts.empty = false;
  facts.reply_present = true;
  return chunk_lists::walk_write_chunk(
             cursor, [](std::size_t) {}, [&facts](const Segment&) { ++facts.segments; })
      .has_value();
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

[[nodiscard]] bool version_range_follows(Cursor& cursor) {
  const auto low = cursor.be32("lowest version");
  const auto high = cursor.be32("highest version");
  // No version above 2 exists; leave room for what may come, not for chance.
  return low && high && *low >= 1 && *low <= *high && *high <= 255 && cursor.wire_left() == 0;
}

/// A header in the layout of version 1, read up to the RPC message.
[[nodiscard]] Plausible judge_v1_layout(Cursor cursor, const FixedWords& fixed) {
  ListFacts facts;
  switch (static_cast<Proc>(fixed.proc)) {
    case Proc::msgp:
      if (!pass_words(cursor, 2)) return Plausible::weak;
      [[fallthrough]];
    case Proc::msg:
      return strong_if(pass_lists(cursor, facts) && rpc_follows(cursor, fixed.xid, true, true));
    case Proc::nomsg:
      return strong_if(pass_lists(cursor, facts) && !facts.empty && facts.segments > 0 && cursor.wire_left() == 0);
    case Proc::done:
      return strong_if(cursor.wire_left() == 0);
    case Proc::error: {
      const auto code = cursor.be32("error code");
      if (!code) return Plausible::weak;
      if (*code == err_chunk) return strong_if(cursor.wire_left() == 0);
      return strong_if(*code == err_vers && version_range_follows(cursor));
    }
  }
  return Plausible::weak;
}

[[nodiscard]] bool v2_error_consistent(Cursor& cursor) {
  const auto code = cursor.be32("error code");
  if (!code) return false;
  switch (*code) {
    case 1:
      return version_range_follows(cursor);
    case 6:
    case 7:
    case 8:
    case 10:
      return cursor.wire_left() == 4;
    case 9:
      return cursor.wire_left() == 8;
    case 2:
    case 3:
    case 4:
    case 5:
    case 11:
    case 100:
      return cursor.wire_left() == 0;
    default:
      return false;
  }
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
  switch (fixed.proc) {
    case 4:  // ERROR
      return strong_if(v2_error_consistent(cursor));
    case 5:  // GRANT
      return strong_if(fixed.xid == 0 && cursor.wire_left() == 0);
    case 6:  // CONNPROP_MIDDLE, CONNPROP_FINAL
    case 7:
      return strong_if(v2_properties_consistent(cursor));
    case 8:  // CALL_EXTERNAL: the Call chunk, then the three lists
      return strong_if(pass_words(cursor, 1) && pass_reads(cursor, facts) && !facts.empty && facts.only_position_zero &&
                       pass_lists(cursor, facts) && cursor.wire_left() == 0);
    case 9:  // CALL_MIDDLE: only the first fragment shows its XID
      return strong_if(pass_words(cursor, 1) && rpc_follows(cursor, fixed.xid, true, false));
    case 10:  // CALL_INLINE; the last fragment of a continued Call does not begin with an XID
      return strong_if(pass_words(cursor, 1) && pass_lists(cursor, facts) &&
                       rpc_follows(cursor, fixed.xid, true, false));
    case 11:  // REPLY_EXTERNAL
      return strong_if(pass_writes(cursor, facts) && pass_reply(cursor, facts) && facts.reply_present &&
                       cursor.wire_left() == 0);
    case 12:  // REPLY_MIDDLE
      return strong_if(pass_words(cursor, 1) && rpc_follows(cursor, fixed.xid, false, true));
    case 13:  // REPLY_INLINE
      return strong_if(pass_writes(cursor, facts) && rpc_follows(cursor, fixed.xid, false, true));
    default:
      return Plausible::no;
  }
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
