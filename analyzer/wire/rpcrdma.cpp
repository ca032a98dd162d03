// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma.hpp"

#include <utility>

#include "wire/body_v1.hpp"

namespace rpcrdma::wire {

namespace {

// Memory kept for the next message; a message of more, or larger, chunks than any real one has pays for them itself.
constexpr std::size_t kept_chunks = 16;
constexpr std::size_t kept_segments = 1024;

FixedWords fixed_at(const std::uint8_t* p) noexcept {
  return {load_be32(p), load_be32(p + 4), load_be32(p + 8), load_be32(p + 12)};
}

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

/// Keeps what the walk tells. What was decoded before an error stays; the last chunk may then be incomplete.
struct Decoder {
  HeaderV1& out;

  void word(Field field, std::uint32_t value) const {
    switch (field) {
      case Field::align:
        out.align = value;
        break;
      case Field::thresh:
        out.thresh = value;
        break;
      case Field::error_code:
        out.error = value;
        break;
      case Field::version_low:
        out.vers_low = value;
        break;
      case Field::version_high:
        out.vers_high = value;
        break;
      default:
        break;
    }
  }

  struct Reads : chunk_lists::Listener {
    explicit Reads(HeaderV1& header) : out(header) {}
    void read(const ReadSegment& s) const { out.reads.push_back(s); }
    HeaderV1& out;
  };
  struct Writes : chunk_lists::Listener {
    explicit Writes(HeaderV1& header) : out(header) {}
    void chunk(std::size_t segments) const { begin_chunk(out).reserve(segments); }
    void segment(const Segment& s) const { out.writes.back().push_back(s); }
    HeaderV1& out;
  };
  struct Reply : chunk_lists::Listener {
    explicit Reply(HeaderV1& header) : out(header) {}
    void chunk(std::size_t segments) const { begin_reply(out).reserve(segments); }
    void segment(const Segment& s) const { out.reply->push_back(s); }
    HeaderV1& out;
  };
  [[nodiscard]] Reads reads() const { return Reads(out); }
  [[nodiscard]] Writes writes() const { return Writes(out); }
  [[nodiscard]] Reply reply() const { return Reply(out); }
};

/// Most messages have nothing in either list, and no Reply chunk: three words of 0.
[[nodiscard]] bool no_chunks(Bytes lists) noexcept {
  if (lists.size() < body_v1::empty_lists_octets) return false;
  return (load_be64(lists.data()) | load_be32(lists.data() + 8)) == 0;
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
  const auto words = cursor.take(body_v1::fixed_octets, "fixed words");
  if (!words) return tl::make_unexpected(words.error());
  return fixed_at(words->data());
}

tl::expected<void, DecodeError> decode_header_v1(Bytes octets, std::size_t wire_length, HeaderV1& out) {
  out.clear();
  if (out.spare.capacity() < kept_chunks) out.spare.reserve(kept_chunks);

  Cursor cursor(octets, wire_length);
  if (cursor.wire_left() < body_v1::fixed_octets) return body_v1::too_short();
  const auto words = cursor.take(body_v1::fixed_octets, "fixed words");
  if (!words) return tl::make_unexpected(words.error());
  out.fixed = fixed_at(words->data());
  if (out.fixed.proc > static_cast<std::uint32_t>(Proc::error)) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "proc", 12});
  }

  const auto proc = static_cast<Proc>(out.fixed.proc);
  if (cursor.wire_left() + body_v1::fixed_octets < body_v1::least_octets(proc)) return body_v1::too_short();
  if ((proc == Proc::msg || proc == Proc::nomsg) && no_chunks(cursor.rest())) {
    out.length = cursor.offset() + body_v1::empty_lists_octets;
    return {};
  }
  Decoder decoder{out};
  auto step = body_v1::walk(cursor, proc, decoder);
  if (step) out.length = cursor.offset();
  return step;
}

}  // namespace rpcrdma::wire
