#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""libraries.py --analyzer PATH --libpcap SONAME --libwiretap SONAME: a library is loaded for a capture that needs it, and
what is missing is told."""
import argparse
import gzip
import os
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402

GIVEN = None
FAULTY = "rxe-kpeer-read-too-big-inline"


class Libraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        _, self.records = pcapfile.read(harness.capture(FAULTY))

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def without(self, *libraries):
        """An environment in which a file stands first that bears the library's name and is none."""
        for library in libraries:
            self.write(library, b"")
        return {**os.environ, "LD_LIBRARY_PATH": self.folder}

    def run_on(self, path, environment=None, stdin=None):
        return harness.run(GIVEN.analyzer, path, environment=environment, stdin=stdin)

    def erf(self):
        heads = [struct.unpack("<4I", r[:16]) for r in self.records]
        return self.write("capture.erf", b"".join(
            struct.pack("<Q", seconds << 32) + struct.pack(">BBHHH", 2, 4, 18 + kept, 0, length) + b"\0\0" + r[16:]
            for (seconds, _, kept, length), r in zip(heads, self.records)))

    def two_links(self):
        """The second link appears behind everything else."""
        return self.write("two-links.pcapng", ng.section() + ng.interface(1) + b"".join(
            ng.packet(r[16:], 1000 + n) for n, r in enumerate(self.records)) + ng.interface(147) + ng.packet(bytes(40), 2000, 1))

    def refused(self, run, library):
        self.assertEqual(run.status, 2, run.output)
        self.assertRegex(run.errors, rf"what reads such captures cannot be loaded: \S*{library}\b")

    def test_ordinary_files_need_none(self):
        with open(harness.capture(FAULTY), "rb") as file:
            pcap = file.read()
        environment = self.without(GIVEN.libpcap, GIVEN.libwiretap)
        pcapng = ng.section() + ng.interface() + b"".join(ng.packet(r[16:], n) for n, r in enumerate(self.records))
        for data in (pcap, gzip.compress(pcap), pcapng):
            path = self.write("ordinary", data)
            with_all, with_none = self.run_on(path), self.run_on(path, environment)
            self.assertEqual((with_none.status, with_none.errors), (1, ""))
            self.assertEqual(with_none.output, with_all.output)

    def test_libwiretap_is_loaded_for_what_only_it_reads(self):
        run = self.run_on(self.erf())
        self.assertEqual((run.status, run.document["inputs"][0]["format"]), (1, "erf"), run.errors)
        self.assertEqual(run.document["inputs"][0]["frames"], len(self.records))
        self.refused(self.run_on(self.erf(), self.without(GIVEN.libwiretap)), GIVEN.libwiretap)

    def test_what_is_read_before_a_library_is_missing_is_judged(self):
        whole = self.run_on(self.two_links())
        self.assertNotIn("damaged", {k for k, v in whole.document["inputs"][0].items() if v})
        run = self.run_on(self.two_links(), self.without(GIVEN.libwiretap))
        self.refused(run, GIVEN.libwiretap)
        self.assertEqual(run.document["findings"], whole.document["findings"])

    def test_libpcap_is_loaded_for_pipes(self):
        with open(harness.capture(FAULTY), "rb") as file:
            octets = file.read()

        def piped(environment=None):
            reader, writer = os.pipe()
            os.write(writer, octets[:60000])
            os.close(writer)
            with os.fdopen(reader, "rb") as pipe:
                return self.run_on("-", environment, pipe)
        self.assertLess(len(octets), 60000)
        self.assertEqual(piped().status, 1)
        self.assertEqual(piped(self.without(GIVEN.libwiretap)).status, 1)
        self.refused(piped(self.without(GIVEN.libpcap)), GIVEN.libpcap)

    def test_the_version_says_which_is_missing(self):
        said = harness.run(GIVEN.analyzer, "-V", as_json=False, environment=self.without(GIVEN.libpcap))
        self.assertEqual((said.status, said.errors), (0, ""))
        self.assertIn("  libpcap (cannot be loaded)\n", said.output)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--analyzer", required=True, type=os.path.abspath)
    options.add_argument("--libpcap", required=True)
    options.add_argument("--libwiretap", required=True)
    GIVEN, rest = options.parse_known_args()
    alone.main(rest)
