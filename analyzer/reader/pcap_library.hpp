// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of libpcap that are called here, as pcap.h declares them.
#pragma once

#include <pcap/pcap.h>

#include "reader/loaded_library.hpp"

namespace rpcrdma::reader {

struct PcapLibrary {
  /// Loaded at the first call. Where something is missing(), no function may be called.
  [[nodiscard]] static const PcapLibrary& instance();

  decltype(&::pcap_close) close = nullptr;
  decltype(&::pcap_datalink) datalink = nullptr;
  decltype(&::pcap_datalink_ext) datalink_ext = nullptr;
  decltype(&::pcap_datalink_val_to_name) datalink_val_to_name = nullptr;
  decltype(&::pcap_fopen_offline_with_tstamp_precision) fopen_offline_with_tstamp_precision = nullptr;
  decltype(&::pcap_geterr) geterr = nullptr;
  decltype(&::pcap_lib_version) lib_version = nullptr;
  decltype(&::pcap_next_ex) next_ex = nullptr;
  std::string missing;

 private:
  PcapLibrary();
};

}  // namespace rpcrdma::reader
