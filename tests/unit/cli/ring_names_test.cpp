// SPDX-License-Identifier: GPL-2.0-or-later
// Which file of a ring buffer is not there.
#include "cli/ring_names.hpp"

#include <gtest/gtest.h>

namespace rpcrdma::cli {
namespace {

struct NamesCase {
  const char* before;
  const char* after;
  bool skips;
};

TEST(RingNames, ShowWhichFileIsMissing) {
  for (const NamesCase& each : {
           NamesCase{"ring_00001_20250101120000.pcapng", "ring_00003_20250101120200.pcapng", true},
           NamesCase{"ring_00001_20250101120000.pcapng", "ring_00002_20250101120200.pcapng", false},
           NamesCase{"a/ring_00099_20250101120000.pcapng.gz", "a/ring_00101_20250101120200.pcapng.gz", true},
           NamesCase{"ring_20250101120000_00001.pcapng", "ring_20250101120200_00003.pcapng", true},
           NamesCase{"ring_20250101120000_00001.pcapng", "ring_20250101120200_00002.pcapng", false},
           // of another ring, or another machine
           NamesCase{"ring_00001_20250101120000.pcapng", "gnir_00003_20250101120200.pcapng", false},
           NamesCase{"a/ring_00001_20250101120000.pcapng", "b/ring_00003_20250101120200.pcapng", false},
           NamesCase{"ring_00001_20250101120000.pcapng", "ring_00003_20250101120200.pcap", false},
           NamesCase{"all.pcap", "all.pcap1", false},
           NamesCase{"all.pcap", "all.pcap2", true},
           NamesCase{"all.pcap8", "all.pcap9", false},
           NamesCase{"all.pcap08", "all.pcap10", true},
           // the ring begins anew
           NamesCase{"all.pcap9", "all.pcap0", false},
           // times of day, or whatever people count by
           NamesCase{"cap-1200.pcap", "cap-1300.pcap", false},
           NamesCase{"cap-1200", "cap-1300", false},
           NamesCase{"run_1.pcap", "run_3.pcap", false},
           NamesCase{"ring_00001_1200.pcap", "ring_00003_1300.pcap", false},
           NamesCase{"", "", false},
           NamesCase{"_", "__", false},
           NamesCase{"-", "-", false},
           NamesCase{"all.pcap99999999999999999999", "all.pcap99999999999999999997", false},
       }) {
    EXPECT_EQ(ring_skips(each.before, each.after), each.skips) << each.before << ", " << each.after;
  }
}

}  // namespace
}  // namespace rpcrdma::cli
