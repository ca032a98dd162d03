#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""copies.py --analyzer PATH: a packet that a capture holds cut and whole is one packet, whichever stands first."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
from folder import Folder  # noqa: E402

ANALYZER = None
NAMES = ["siw-nfs41-basic", "rxe-nfs41-basic", "rxe-nfs3-big-rw", "siw-nfs41-big-rw", "siw-nfs3-ipv6", "rxe-nfs41-ipv6", "rxe-upeer-inv-R00"]
SEEN_TWICE = {"capture-duplicate", "frame-truncated"}
MICROSECOND = 1000


def at(record, later):
    """The record `later` ns later. The bundled captures are little-endian and of microseconds."""
    seconds, parts = struct.unpack("<II", record[:8])
    time = seconds * 10**9 + parts * 1000 + later
    return time, struct.pack("<II", time // 10**9, time % 10**9 // 1000) + record[8:]


class Copies(Folder):
    def knows(self, run):
        """What does not tell how often a packet was seen, and in which frame."""
        return {"findings": sorted((f["rule"], f["severity"], f["occurrences"]) for f in run.document["findings"] if f["rule"] not in SEEN_TWICE),
                "messages": [c["messages"] for c in run.document["connections"]],
                "thresholds": [c["thresholds"] for c in run.document["connections"]],
                "octets": [(c["operations"]["read_bytes"], c["operations"]["write_bytes"]) for c in run.document["connections"]],
                "state": run.document["verdict"]["state"],
                "unchecked": sorted(u["rule"] for u in run.document["unchecked"])}

    def doubled(self, name, octets, later, whole_first=False):
        header, records = pcapfile.read(harness.capture(name))
        made = []
        for record in records:
            short = pcapfile.snapped(header, record, octets)
            first, second = (record, short) if whole_first else (short, record)
            made += [at(first, 0), at(second, later)]
        made.sort(key=lambda one: one[0])
        pcapfile.write(self.path("copies.pcap"), header, [record for _, record in made])
        return harness.run(ANALYZER, self.path("copies.pcap"))

    def test_the_whole_one_first(self):
        for name in NAMES:
            plain = self.knows(harness.run(ANALYZER, harness.capture(name)))
            for octets in (64, 96, 160):
                with self.subTest(name=name, octets=octets):
                    run = self.doubled(name, octets, 20 * MICROSECOND, whole_first=True)
                    self.assertEqual(self.knows(run), plain)
                    self.assertEqual([c["operations"]["retransmitted"] for c in run.document["connections"]], [0] * len(plain["messages"]))

    def test_the_cut_one_first(self):
        """Its octets are what is known. Nobody is accused, nothing was sent again, and it is the same connection."""
        for name in NAMES:
            plain = harness.run(ANALYZER, harness.capture(name)).document
            said = {f["rule"] for f in plain["findings"]}
            for octets in (128, 160):
                with self.subTest(name=name, octets=octets):
                    run = self.doubled(name, octets, 20 * MICROSECOND).document
                    self.assertLessEqual({f["rule"] for f in run["findings"] if f["severity"] != "note"}, said)
                    self.assertEqual(len(run["connections"]), len(plain["connections"]))
                    self.assertEqual([c["operations"]["retransmitted"] for c in run["connections"]], [0] * len(plain["connections"]))


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
