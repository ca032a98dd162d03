// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcap_library.hpp"

namespace rpcrdma::reader {

const PcapLibrary& PcapLibrary::instance() {
  static const PcapLibrary only;
  return only;
}

PcapLibrary::PcapLibrary() {
  LoadedLibrary library(RPCRDMA_PCAP_SONAME);
  library.find(close, "pcap_close");
  library.find(datalink, "pcap_datalink");
  library.find(datalink_ext, "pcap_datalink_ext");
  library.find(datalink_val_to_name, "pcap_datalink_val_to_name");
  library.find(fopen_offline_with_tstamp_precision, "pcap_fopen_offline_with_tstamp_precision");
  library.find(geterr, "pcap_geterr");
  library.find(lib_version, "pcap_lib_version");
  library.find(next_ex, "pcap_next_ex");
  missing = library.missing();
}

}  // namespace rpcrdma::reader
