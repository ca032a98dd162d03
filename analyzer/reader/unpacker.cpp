// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/unpacker.hpp"

#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>

#include "wire/vector_registers.hpp"

namespace rpcrdma::reader {
namespace {

/// By ISA-L, in half the time that zlib takes.
class Gzip final : public Unpacker {
 public:
  Gzip() {
    ::isal_inflate_init(&stream_);
    stream_.crc_flag = ISAL_GZIP;
  }

 private:
  Said run(wire::Bytes from, std::uint8_t* to, std::size_t length, Moved& moved) override {
    constexpr std::size_t most = std::size_t{1} << 24U;
    const auto in = static_cast<std::uint32_t>(std::min(from.size(), most));
    const auto out = static_cast<std::uint32_t>(std::min(length, most));
    stream_.next_in =
        const_cast<std::uint8_t*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): it reads
    stream_.avail_in = in;
    stream_.next_out = to;
    stream_.avail_out = out;
    const int said = ::isal_inflate(&stream_);
    wire::clear_upper_vectors();
    moved.in = in - stream_.avail_in;
    moved.out = out - stream_.avail_out;
    if (said < 0) {
      failure_ = reason(said);
      return Said::failed;
    }
    if (stream_.block_state != ISAL_BLOCK_FINISH) {
      return Said::more;
    }
    ::isal_inflate_reset(&stream_);
    return Said::part_over;
  }
  [[nodiscard]] bool padding(std::uint8_t octet) const noexcept override { return octet == 0; }

  [[nodiscard]] static const char* reason(int said) noexcept {
    switch (said) {
      case ISAL_INVALID_BLOCK:
        return "invalid block";
      case ISAL_INVALID_SYMBOL:
        return "invalid symbol";
      case ISAL_INVALID_LOOKBACK:
        return "invalid distance";
      case ISAL_INVALID_WRAPPER:
      case ISAL_UNSUPPORTED_METHOD:
        return "incorrect header";
      case ISAL_INCORRECT_CHECKSUM:
        return "incorrect checksum";
      default:
        return "";
    }
  }

  inflate_state stream_{};
};

class Zstd final : public Unpacker {
 public:
  [[nodiscard]] bool ready() const noexcept { return context_ != nullptr; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { (void)ZSTD_freeDCtx(context); }
  };

  Said run(wire::Bytes from, std::uint8_t* to, std::size_t length, Moved& moved) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to, length, 0};
    const std::size_t said = ZSTD_decompressStream(context_.get(), &out, &in);
    moved = {in.pos, out.pos};
    if (ZSTD_isError(said) != 0) {
      failure_ = ZSTD_getErrorName(said);
      return Said::failed;
    }
    return said == 0 ? Said::part_over : Said::more;
  }
  [[nodiscard]] bool padding(std::uint8_t /*octet*/) const noexcept override { return false; }

  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
};

class Lz4 final : public Unpacker {
 public:
  [[nodiscard]] bool start() {
    LZ4F_dctx* made = nullptr;
    const bool ready = LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) == 0;
    context_.reset(made);
    return ready;
  }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const noexcept { (void)LZ4F_freeDecompressionContext(context); }
  };

  Said run(wire::Bytes from, std::uint8_t* to, std::size_t length, Moved& moved) override {
    moved = {from.size(), length};
    const std::size_t said = LZ4F_decompress(context_.get(), to, &moved.out, from.data(), &moved.in, nullptr);
    if (LZ4F_isError(said) != 0) {
      failure_ = LZ4F_getErrorName(said);
      moved = {};
      return Said::failed;
    }
    return said == 0 ? Said::part_over : Said::more;
  }
  [[nodiscard]] bool padding(std::uint8_t /*octet*/) const noexcept override { return false; }

  std::unique_ptr<LZ4F_dctx, Free> context_;
};

template <class Kind>
[[nodiscard]] std::unique_ptr<Unpacker> if_ready(std::unique_ptr<Kind> made, bool ready) {
  return ready ? std::unique_ptr<Unpacker>(std::move(made)) : nullptr;
}

}  // namespace

std::unique_ptr<Unpacker> Unpacker::of(Content content) {
  switch (content) {
    case Content::gzip:
      return std::make_unique<Gzip>();
    case Content::zstd: {
      auto made = std::make_unique<Zstd>();
      const bool ready = made->ready();
      return if_ready(std::move(made), ready);
    }
    case Content::lz4: {
      auto made = std::make_unique<Lz4>();
      const bool ready = made->start();
      return if_ready(std::move(made), ready);
    }
    default:
      return nullptr;
  }
}

Unpacker::Moved Unpacker::step(wire::Bytes from, std::uint8_t* to, std::size_t length) {
  Moved moved;
  if (!failure_.empty()) {
    return moved;
  }
  if (complete_) {
    while (moved.in < from.size() && padding(from[moved.in])) {
      ++moved.in;
    }
    if (moved.in != 0 || from.empty()) {
      return moved;
    }
  }
  if (parts_ == 0 || complete_) {
    ++parts_;
    complete_ = false;
  }
  switch (run(from, to, length, moved)) {
    case Said::more:
      break;
    case Said::part_over:
      complete_ = true;
      break;
    case Said::failed:
      if (failure_.empty()) {
        failure_ = "cannot be decompressed";
      }
      break;
  }
  return moved;
}

}  // namespace rpcrdma::reader
