#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rings.py --analyzer PATH: files of a ring buffer one of which is not there, by their names."""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
from folder import Folder  # noqa: E402

ANALYZER = None


class Rings(Folder):
    """Files of a ring buffer, the middle one of which is not there: the Call, and somebody else's packet 30 s later."""

    def state(self, names):
        head, records = pcapfile.read(harness.capture("siw-nfs41-basic"))
        seconds = struct.unpack("<I", records[-1][:4])[0] + 30
        arp = b"\xff" * 6 + bytes.fromhex("02005e005309") + b"\x08\x06" + bytes(46)
        later = self.write(names[1], head + struct.pack("<IIII", seconds, 0, len(arp), len(arp)) + arp)
        states = set()
        for end in range(len(records) - 1, len(records) - 40, -1):
            first = self.write(names[0], head + b"".join(records[:end]))
            states.add(harness.run(ANALYZER, first, later).document["verdict"]["state"])
        return states

    def test_names_tell(self):
        for names, told in ((("r_00001_20250101120000.pcap", "r_00003_20250101120200.pcap"), True),
                            (("r_00001_20250101120000.pcap", "r_00002_20250101120200.pcap"), False),
                            (("r.pcap", "r.pcap2"), True), (("r.pcap", "r.pcap1"), False)):
            with self.subTest(names=names):
                self.assertEqual("waiting" in self.state(names), not told)


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
