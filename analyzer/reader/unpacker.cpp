// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/unpacker.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace rpcrdma::reader {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 24U;

class Gzip final : public Unpacker {
 public:
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  Gzip() {
    constexpr int gzip_only = 15 + 16;
    ready_ = ::inflateInit2(&stream_, gzip_only) == Z_OK;
  }
  ~Gzip() override {
    if (ready_) {
      (void)::inflateEnd(&stream_);
    }
  }
  [[nodiscard]] bool ready() const noexcept { return ready_; }

 private:
  Said run(wire::Bytes from, std::uint8_t* to, std::size_t length, Moved& moved) override {
    stream_.next_in = const_cast<Bytef*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): it only reads
    stream_.avail_in = static_cast<uInt>(std::min(from.size(), kStep));
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(std::min(length, kStep));
    const int said = ::inflate(&stream_, Z_NO_FLUSH);
    moved.in = static_cast<std::size_t>(stream_.next_in - from.data());
    moved.out = static_cast<std::size_t>(stream_.next_out - to);
    if (said == Z_STREAM_END) {
      return ::inflateReset(&stream_) == Z_OK ? Said::part_over : Said::failed;
    }
    if (said == Z_OK || said == Z_BUF_ERROR) {
      return Said::more;
    }
    failure_ = stream_.msg != nullptr ? stream_.msg : "cannot be decompressed";
    return Said::failed;
  }
  [[nodiscard]] bool padding(std::uint8_t octet) const noexcept override { return octet == 0; }

  z_stream stream_{};
  bool ready_ = false;
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
    case Content::gzip: {
      auto made = std::make_unique<Gzip>();
      const bool ready = made->ready();
      return if_ready(std::move(made), ready);
    }
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
