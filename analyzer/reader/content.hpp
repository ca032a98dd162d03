// SPDX-License-Identifier: GPL-2.0-or-later
// What the first octets of a file say about it. Names and suffixes are never looked at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/bytes.hpp"

namespace rpcrdma::reader {

enum class Content : std::uint8_t {
  empty,
  zeros,
  pcap,
  pcap_ns,
  pcap_modified,
  pcapng,
  gzip,
  zstd,
  lz4,
  xz,
  bzip2,
  zip,
  seven_zip,
  text,
  other
};

[[nodiscard]] Content content_of(wire::Bytes head) noexcept;
/// "gzip", "xz", ...; empty for what is not compressed.
[[nodiscard]] std::string_view compression_name(Content content) noexcept;

/// pcap of any kind, or pcapng.
[[nodiscard]] bool is_packet_capture(Content content) noexcept;
/// Nothing that any library here reads can begin like this.
[[nodiscard]] bool is_hopeless(Content content) noexcept;
/// Why what begins like this is no capture, for a person.
[[nodiscard]] std::string not_a_capture(Content content);

}  // namespace rpcrdma::reader
