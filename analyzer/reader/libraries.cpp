// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/libraries.hpp"

#include <fmt/format.h>
#include <glib.h>
#include <isa-l.h>
#include <lz4.h>
#include <ws_version.h>
#include <zlib.h>
#include <zstd.h>

#include "reader/pcap_library.hpp"

namespace rpcrdma::reader {
namespace {

/// Of what libpcap says of itself ("libpcap version 1.10.3 (with TPACKET_V3)") the number.
std::string pcap_version() {
  const PcapLibrary& library = PcapLibrary::instance();
  if (!library.missing.empty()) {
    return "(cannot be loaded)";
  }
  std::string_view text = library.lib_version();
  if (const std::size_t at = text.find("version "); at != std::string_view::npos) {
    text.remove_prefix(at + std::string_view("version ").size());
  }
  return std::string(text.substr(0, text.find(' ')));
}

}  // namespace

std::vector<Library> libraries() {
  // ISA-L and wiretap have no call that says it: what this was built with (whose SONAME is asked for when it runs, of
  // wiretap when a capture needs it).
  return {{"libpcap", pcap_version()},
          {"Wireshark's wiretap",
           fmt::format("{}.{}.{}", WIRESHARK_VERSION_MAJOR, WIRESHARK_VERSION_MINOR, WIRESHARK_VERSION_MICRO)},
          {"zlib", zlibVersion()},
          {"ISA-L", fmt::format("{}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)},
          {"Zstandard", ZSTD_versionString()},
          {"LZ4", LZ4_versionString()},
          {"GLib", fmt::format("{}.{}.{}", glib_major_version, glib_minor_version, glib_micro_version)}};
}

}  // namespace rpcrdma::reader
