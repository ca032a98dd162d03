// SPDX-License-Identifier: GPL-2.0-or-later
#include "packing.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

namespace rpcrdma::fuzz {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets gzip(std::span<const std::uint8_t> octets) {
  constexpr int window = 15 + 16;  // with the header of gzip
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  Octets in(octets.begin(), octets.end());
  Octets out(deflateBound(&stream, static_cast<uLong>(in.size())) + 64);
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

Octets zstd(std::span<const std::uint8_t> octets) {
  Octets out(ZSTD_compressBound(octets.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), octets.data(), octets.size(), 1);
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

Octets lz4(std::span<const std::uint8_t> octets) {
  Octets out(LZ4F_compressFrameBound(octets.size(), nullptr));
  const std::size_t size = LZ4F_compressFrame(out.data(), out.size(), octets.data(), octets.size(), nullptr);
  out.resize(LZ4F_isError(size) != 0 ? 0 : size);
  return out;
}

}  // namespace

Octets packed(Packing packing, std::span<const std::uint8_t> octets) {
  switch (packing) {
    case Packing::gzip:
      return gzip(octets);
    case Packing::zstd:
      return zstd(octets);
    case Packing::lz4:
      return lz4(octets);
    case Packing::none:
      break;
  }
  return {octets.begin(), octets.end()};
}

}  // namespace rpcrdma::fuzz
