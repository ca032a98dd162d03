// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma.hpp"

#include <array>
#include <utility>

#include "wire/chunk_lists.hpp"

namespace rpcrdma::wire {

namespace {

using chunk_lists::Step;

constexpr std::size_t fixed_octets = 16;
constexpr std::size_t empty_lists_octets = 12;

// Memory kept for the next message; a message of more, or larger, chunks than any real one has pays for them itself.
constexpr std::size_t kept_chunks = 16;
constexpr std::size_t kept_segments = 1024;

FixedWords fixed_at(const std::uint8_t* p) noexcept {
  return {load_be32(p), load_be32(p + 4), load_be32(p + 8), load_be32(p + 12)};
}

Step too_short() { return tl::make_unexpected(DecodeError{Fault::invalid, "header too short", 0}); }

WriteChunk& begin_chunk(HeaderV1& out) {
  if (out.spare.empty()) return out.writes.emplace_back();
  out.writes.push_back(std::move(out.spare.back()));
  out.spare.pop_back();
  return out.writes.back();
}

WriteChunk& begin_reply(HeaderV1& out) {
  if (out.spare.empty()) return out.reply.emplace();
  out.reply.emplace(std::move(out.spare.back()));
  out.spare.pop_back();
  return *out.reply;
}

// Reads, writes, reply. What was decoded before an error stays in `out`; the last chunk may then be incomplete.
Step decode_lists(Cursor& cursor, HeaderV1& out) {
  auto step = chunk_lists::walk_read_list(cursor, [&out](const ReadSegment& s) { out.reads.push_back(s); });
  if (!step) return step;
  step = chunk_lists::walk_write_list(
      cursor, [&out](std::size_t segments) { begin_chunk(out).reserve(segments); },
      [&out](const Segment& s) { out.writes.back().push_back(s); });
  if (!step) return step;

  const auto present = chunk_lists::another(cursor);
  if (!present) return tl::make_unexpected(present.error());
  if (!*present) return {};
  return chunk_lists::walk_write_chunk(
      cursor, [&out](std::size_t segments) { begin_reply(out).reserve(segments); },
      [&out](const Segment& s) { out.reply->push_back(s); });
}

Step decode_error_body(Cursor& cursor, HeaderV1& out) {
  const std::size_t at = cursor.offset();
  const auto code = cursor.be32("error code");
  if (!code) return tl::make_unexpected(code.error());
  out.error = *code;
  if (*code == err_chunk) return {};
  if (*code != err_vers) return tl::make_unexpected(DecodeError{Fault::invalid, "error code", at});
  if (cursor.wire_left() < 8) return too_short();
  const auto low = cursor.be32("lowest version");
  if (!low) return tl::make_unexpected(low.error());
  out.vers_low = *low;
  const auto high = cursor.be32("highest version");
  if (!high) return tl::make_unexpected(high.error());
  out.vers_high = *high;
  return {};
}

Step decode_padded_body(Cursor& cursor, HeaderV1& out) {
  const auto align = cursor.be32("rdma_align");
  if (!align) return tl::make_unexpected(align.error());
  out.align = *align;
  const auto thresh = cursor.be32("rdma_thresh");
  if (!thresh) return tl::make_unexpected(thresh.error());
  out.thresh = *thresh;
  return decode_lists(cursor, out);
}

// The shortest complete header of a procedure that is known.
constexpr std::size_t least_octets(Proc proc) noexcept {
  switch (proc) {
    case Proc::msg:
    case Proc::nomsg:
      return fixed_octets + empty_lists_octets;
    case Proc::msgp:
      return fixed_octets + 8 + empty_lists_octets;
    case Proc::error:
      return fixed_octets + 4;
    case Proc::done:
      break;
  }
  return fixed_octets;
}

}  // namespace

void HeaderV1::clear() noexcept {
  const auto keep = [this](WriteChunk&& chunk) {
    // The pool has its full capacity from the first chunk on, so that pushing never allocates after that.
    if (chunk.capacity() == 0 || chunk.capacity() > kept_segments || spare.size() >= kept_chunks) return;
    if (spare.capacity() < kept_chunks) return;
    chunk.clear();
    spare.push_back(std::move(chunk));
  };
  fixed = {};
  reads.clear();
  for (auto& chunk : writes) keep(std::move(chunk));
  writes.clear();
  if (reply) keep(std::move(*reply));
  reply.reset();
  align = thresh = 0;
  error = vers_low = vers_high = 0;
  length = 0;
}

Decoded<FixedWords> decode_fixed_words(Bytes octets, std::size_t wire_length) noexcept {
  Cursor cursor(octets, wire_length);
  const auto words = cursor.take(fixed_octets, "fixed words");
  if (!words) return tl::make_unexpected(words.error());
  return fixed_at(words->data());
}

tl::expected<void, DecodeError> decode_header_v1(Bytes octets, std::size_t wire_length, HeaderV1& out) {
  out.clear();
  if (out.spare.capacity() < kept_chunks) out.spare.reserve(kept_chunks);

  Cursor cursor(octets, wire_length);
  if (cursor.wire_left() < fixed_octets) return too_short();
  const auto words = cursor.take(fixed_octets, "fixed words");
  if (!words) return tl::make_unexpected(words.error());
  out.fixed = fixed_at(words->data());
  if (out.fixed.proc > static_cast<std::uint32_t>(Proc::error)) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "proc", 12});
  }

  const auto proc = static_cast<Proc>(out.fixed.proc);
  if (cursor.wire_left() + fixed_octets < least_octets(proc)) return too_short();
  Step step;
  switch (proc) {
    case Proc::msg:
    case Proc::nomsg:
      step = decode_lists(cursor, out);
      break;
    case Proc::msgp:
      step = decode_padded_body(cursor, out);
      break;
    case Proc::error:
      step = decode_error_body(cursor, out);
      break;
    case Proc::done:
      break;
  }
  if (step) out.length = cursor.offset();
  return step;
}

std::string_view proc_name(std::uint32_t proc) noexcept {
  static constexpr std::array<std::string_view, 5> names{"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE",
                                                         "RDMA_ERROR"};
  return proc < names.size() ? names[proc] : std::string_view{};
}

std::string_view htype_name_v2(std::uint32_t htype) noexcept {
  static constexpr std::uint32_t first = 4;
  static constexpr std::array<std::string_view, 10> names{
      "RDMA2_ERROR",       "RDMA2_GRANT",       "RDMA2_CONNPROP_MIDDLE", "RDMA2_CONNPROP_FINAL", "RDMA2_CALL_EXTERNAL",
      "RDMA2_CALL_MIDDLE", "RDMA2_CALL_INLINE", "RDMA2_REPLY_EXTERNAL",  "RDMA2_REPLY_MIDDLE",   "RDMA2_REPLY_INLINE"};
  return htype >= first && htype - first < names.size() ? names[htype - first] : std::string_view{};
}

}  // namespace rpcrdma::wire
