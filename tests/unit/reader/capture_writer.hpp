// SPDX-License-Identifier: GPL-2.0-or-later
// Captures written octet by octet, so that a test knows where each record begins.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace rpcrdma::reader::test {

using Octets = std::vector<std::uint8_t>;

enum class Order : std::uint8_t { little, big };

class Writer {
 public:
  explicit Writer(Order order) noexcept : order_(order) {}

  Writer& put(std::uint64_t value, unsigned octets) {
    for (unsigned i = 0; i < octets; ++i) {
      const unsigned shift = 8U * (order_ == Order::big ? octets - 1 - i : i);
      out.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return *this;
  }
  Writer& u16(std::uint64_t value) { return put(value, 2); }
  Writer& u32(std::uint64_t value) { return put(value, 4); }
  Writer& u64(std::uint64_t value) { return put(value, 8); }
  Writer& octets(std::span<const std::uint8_t> more) {
    out.insert(out.end(), more.begin(), more.end());
    return *this;
  }

  Octets out;

 private:
  Order order_;
};

/// `length` octets that tell frames apart.
inline Octets payload(std::size_t length, std::uint8_t seed) {
  Octets out(length);
  for (std::size_t i = 0; i < length; ++i) {
    out[i] = static_cast<std::uint8_t>(seed + i * 7U);
  }
  return out;
}

struct Packet {
  std::uint32_t seconds = 0;
  std::uint32_t fraction = 0;  ///< in the file's unit
  Octets octets;
  std::uint32_t wire_length = 0;
};

struct PcapStyle {
  std::uint32_t magic = 0xa1b2c3d4;
  Order order = Order::little;
  std::uint32_t link_type = 1;
  std::uint32_t snap_length = 262144;
};

inline constexpr std::uint32_t kNanoMagic = 0xa1b23c4d;

/// The file, and where its records begin (and, last, where it ends).
struct File {
  Octets octets;
  std::vector<std::size_t> starts;
};

inline File pcap(const PcapStyle& style, const std::vector<Packet>& packets) {
  Writer w(style.order);
  w.u32(style.magic).u16(2).u16(4).u32(0).u32(0).u32(style.snap_length).u32(style.link_type);
  File file;
  for (const Packet& p : packets) {
    file.starts.push_back(w.out.size());
    w.u32(p.seconds).u32(p.fraction).u32(p.octets.size()).u32(p.wire_length).octets(p.octets);
  }
  file.starts.push_back(w.out.size());
  file.octets = std::move(w.out);
  return file;
}

/// pcapng blocks; each call adds one and remembers where it began.
class Pcapng {
 public:
  explicit Pcapng(Order order = Order::little) noexcept : order_(order) {}

  Pcapng& block(std::uint32_t type, const Octets& body) {
    Writer w(order_);
    const std::size_t padded = (body.size() + 3) / 4 * 4;
    w.u32(type).u32(padded + 12).octets(body);
    w.out.resize(8 + padded);
    w.u32(padded + 12);
    file.starts.push_back(file.octets.size());
    file.octets.insert(file.octets.end(), w.out.begin(), w.out.end());
    return *this;
  }
  Pcapng& section() {
    return block(0x0a0d0d0a, Writer(order_).u32(0x1a2b3c4d).u16(1).u16(0).u64(0xffffffffffffffff).out);
  }
  Pcapng& interface(std::uint32_t link_type, int resolution = 6, std::uint32_t snap_length = 262144) {
    Writer w(order_);
    w.u16(link_type).u16(0).u32(snap_length);
    if (resolution != 6) {
      w.u16(9).u16(1).put(static_cast<std::uint64_t>(resolution), 1).put(0, 1).put(0, 2).u16(0).u16(0);
    }
    return block(1, w.out);
  }
  Pcapng& packet(std::uint32_t interface, std::uint64_t time, const Octets& octets, std::uint32_t wire_length = 0) {
    Writer w(order_);
    w.u32(interface).u32(time >> 32U).u32(time & 0xffffffffU).u32(octets.size());
    w.u32(wire_length != 0 ? wire_length : octets.size()).octets(octets);
    return block(6, w.out);
  }

  File file;

 private:
  Order order_;
};

inline constexpr std::uint8_t kErfInfiniband = 21;

/// One ERF record; extension headers are given as they stand in the file.
inline Octets erf_record(std::uint32_t seconds, std::uint32_t fraction, std::uint8_t type,
                         std::initializer_list<std::uint64_t> extensions, const Octets& octets,
                         std::uint16_t wire_length) {
  Octets out = Writer(Order::little).u32(fraction).u32(seconds).out;
  Writer w(Order::big);
  const std::size_t length = (16 + 8 * extensions.size() + octets.size() + 7) / 8 * 8;
  w.put(extensions.size() != 0 ? type | 0x80U : type, 1).put(0x04, 1).u16(length).u16(0).u16(wire_length);
  for (const std::uint64_t extension : extensions) {
    w.u64(extension);
  }
  w.octets(octets);
  out.insert(out.end(), w.out.begin(), w.out.end());
  out.resize(length);
  return out;
}

inline Octets gzip(const Octets& plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  Octets out(deflateBound(&stream, static_cast<uLong>(plain.size())) + 64);
  Octets in = plain;
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

/// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "reader-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string write(const std::string& name, std::span<const std::uint8_t> octets) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
    return path;
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace rpcrdma::reader::test
