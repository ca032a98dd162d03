#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tunnels.py --plugin SO --one-start SO --analyzer PATH --forge PATH: captures inside mirror and overlay headers, through tshark.

The captures and headers of tests/formats/tunnels.py. In each the plugin's findings are the analyzer's, and wherever stock tshark shows
RPC-over-RDMA, RPC or NFS, tshark with the plugin does; also where the analyzer opens nothing, and where stock tshark itself does not.
"""
import argparse
import os
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "harness"), os.path.join(os.path.dirname(HERE), "formats")]
import alone  # noqa: E402
import tshark  # noqa: E402
import tunnels as wrapping  # noqa: E402

GIVEN = None
FIELDS = ["frame.number", "frame.protocols", "rpcordma.finding"]
SHOWN = ("rpcordma", "rpc", "nfs")


def protocols(rows):
    """{frame: those of SHOWN that are there}"""
    return {int(row["frame.number"][0]): {p for p in row["frame.protocols"][0].split(":") if p in SHOWN} for row in rows}


class Plugin(wrapping.Prepared):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ours = cls.enterClassContext(tshark.Tshark(GIVEN.plugin, one_start=GIVEN.one_start))
        cls.stock = cls.enterClassContext(tshark.Tshark(one_start=GIVEN.one_start))
        cls.compared = 0
        # Where the two differ over a bare capture, other tests know why.
        cls.known = {c.name: cls.lacking(c.path)[0] for c in cls.captures}

    @classmethod
    def lacking(cls, path):
        """-> (what stock tshark shows and ours does not, as (frame, protocol); the rows of ours)"""
        stock, _ = cls.stock.rows(path, FIELDS[:2])
        rows, _ = cls.ours.rows(path, FIELDS, passes=2)
        theirs, ours = protocols(stock), protocols(rows)
        cls.compared += sum(map(len, theirs.values()))
        return {(frame, protocol) for frame, shown in theirs.items() for protocol in shown if protocol not in ours[frame]}, rows

    def compare(self, capture, headers, findings=True):
        path = capture.write(os.path.join(self.folder.name, "wrapped.pcap"), lambda frame: wrapping.wrapped(frame, headers))
        os.chmod(path, 0o644)
        lacking, rows = self.lacking(path)
        self.assertEqual(lacking - self.known[capture.name], set())
        if findings:
            self.assertEqual(sorted((rule, int(row["frame.number"][0])) for row in rows for rule in row["rpcordma.finding"]),
                             sorted((f["rule"], f["frames"][0]) for f in self.bare[capture.name]["findings"]))

    def test_each_header(self):
        for name in wrapping.WRAPPERS:
            for capture in self.captures:
                with self.subTest(header=name, capture=capture.name):
                    self.compare(capture, [name])

    def test_nested(self):
        for name, headers in wrapping.NESTED.items():
            with self.subTest(headers=name):
                self.compare(self.captures[0], headers)

    def test_in_fragments(self):
        for capture, header in ((self.captures[0], "VXLAN"), (self.captures[2], "GRE over IPv6")):
            with self.subTest(capture=capture.name, header=header):
                path = os.path.join(self.folder.name, "pieces.pcap")
                capture.write_pieces(path, lambda frame, header=header: wrapping.fragments(wrapping.wrapped(frame, [header]), [48]))
                os.chmod(path, 0o644)
                lacking, rows = self.lacking(path)
                self.assertEqual(lacking, set())
                self.assertEqual(sorted((rule, int(row["frame.number"][0])) for row in rows for rule in row["rpcordma.finding"]),
                                 sorted((f["rule"], f["frames"][0]) for f in self.asked(path)["findings"]))

    def test_what_the_analyzer_does_not_open(self):
        for capture in self.captures:
            before = self.compared
            with self.subTest(capture=capture.name):
                self.compare(capture, wrapping.NINE_FOR_WIRESHARK, findings=False)
                self.assertGreater(self.compared, before, "stock tshark shows nothing of it either")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--plugin", "--analyzer", "--forge"):
        parser.add_argument(option, required=True)
    parser.add_argument("--one-start")
    GIVEN, remaining = parser.parse_known_args()
    for path_of in ("plugin", "analyzer", "forge"):
        setattr(GIVEN, path_of, os.path.abspath(getattr(GIVEN, path_of)))
    wrapping.GIVEN = GIVEN
    alone.main(remaining)
