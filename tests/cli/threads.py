#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""threads.py --analyzer PATH [--multiply PATH] [--short]: the same octets come out whatever -j says.

Every bundled capture in one trace, copies of them that were damaged on the way, many connections and a single one, what was made to hurt: each
report in every format, with one thread and with several.
"""
import argparse
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("harness", "hostile"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import links  # noqa: E402
import pcapfile  # noqa: E402
import shapes  # noqa: E402
from folder import Folder  # noqa: E402

GIVEN = None
THREADS = ("2", "3", "8")
FORMATS = (["--json"], ["--verbose"], ["--quiet", "--severity", "warning"], ["--statistics"], ["--format", "csv"], ["--format", "junit"],
           ["--format", "ndjson"], ["--json", "--check-crc"])
IN_ORDER = (["--ladder"],)  # what is told as it happens
LONG_ENOUGH = 4096  # frames after which the others begin


def said(threads, *arguments, stdin=None):
    """-> exit status, standard output, standard error"""
    done = subprocess.run([GIVEN.analyzer, "-j", threads, "--no-progress", *arguments], stdin=stdin or subprocess.DEVNULL, capture_output=True,
                          timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


def of_link(link):
    """The bundled pcap files of one link type: [(path, file header, records)]"""
    for path in harness.captures():
        if path.endswith(".pcap"):
            header, records = pcapfile.read(path)
            if struct.unpack("<I", header[20:24])[0] == link and header[:4] == b"\xd4\xc3\xb2\xa1":
                yield path, header, records


def ethernet():
    header, everything = None, []
    for _, header, records in of_link(1):  # noqa: B007
        everything += records
    return header, everything


def doubled(records):
    return [each for record in records for each in (record, record)]


def exchanged(records):
    out = list(records)
    for i in range(0, len(out) - 1, 7):
        out[i], out[i + 1] = out[i + 1], out[i]
    return out


def interleaved(many):
    """Frames of several captures in turn, so that all are open at once."""
    out, at = [], [0] * len(many)
    while any(at[i] < len(many[i]) for i in range(len(many))):
        for i, records in enumerate(many):
            out += records[at[i]:at[i] + 3]
            at[i] += 3
    return out


def readdressed(records, network):
    """IPv4 addresses of another network: pairs of their own. No checksum is made anew."""
    out = []
    for record in records:
        octets = bytearray(record)
        if octets[28:30] == b"\x08\x00":
            octets[16 + 14 + 12 + 1] ^= network
            octets[16 + 14 + 16 + 1] ^= network
        out.append(bytes(octets))
    return out


def tagged(records, vlan):
    """In a VLAN."""
    tag = struct.pack(">HH", 0x8100, vlan)
    return [r[:8] + struct.pack("<II", *(n + 4 for n in struct.unpack("<II", r[8:16]))) + r[16:28] + tag + r[28:] for r in records]


class Threads(Folder):
    def same(self, *arguments, formats=FORMATS, threads=THREADS):
        for form in formats:
            one = said("1", *form, *arguments)
            self.assertIn(one[0], (0, 1, 2, 3), one[2])
            for number in threads:
                with self.subTest(form=form, threads=number):
                    several = said(number, *form, *arguments)
                    self.assertEqual(several[0], one[0], several[2])
                    self.assertEqual(several[2], one[2])
                    if several[1] != one[1]:
                        self.assertEqual(several[1].decode().splitlines(), one[1].decode().splitlines())

    def pile(self, name, header, records):
        self.assertGreater(len(records), LONG_ENOUGH)
        pcapfile.write(self.path(name), header, records)
        return self.path(name)

    def variants(self, header, records):
        chance = random.Random(17)
        yield "snapped", [pcapfile.snapped(header, record, 130) for record in records]
        yield "lost", [record for record in records if chance.random() > 0.05]
        yield "half", [record for record in records if chance.random() > 0.5]
        yield "tail", records[len(records) // 3:]
        yield "doubled", doubled(records)
        yield "exchanged", exchanged(records)
        flipped = []
        for record in records:
            octets = bytearray(record)
            if chance.random() < 0.1 and len(octets) > 60:
                octets[chance.randrange(16, len(octets))] ^= 1 << chance.randrange(8)
            flipped.append(bytes(octets))
        yield "flipped", flipped

    def test_every_capture_in_one_trace(self):
        self.same(*harness.captures())
        self.same(*harness.captures(), formats=IN_ORDER, threads=("2",))

    def test_all_at_once(self):
        captures = [records for _, header, records in of_link(1)]
        header, _ = ethernet()
        self.same(self.pile("turns.pcap", header, interleaved([readdressed(records, i) for i, records in enumerate(captures)])))

    def test_networks_and_what_they_are_called(self):
        """The same addresses in as many VLANs as have names, and in more; and packets that change between them."""
        captures = [records for _, header, records in of_link(1)]
        header, _ = ethernet()
        for most in (6, 12):
            named = [tagged(readdressed(records, i // 24), i % most + 1) for i, records in enumerate(captures)]
            path = self.pile("networks.pcap", header, interleaved(named))
            self.same(path)
            self.assertIn(b'"networks":["VLAN 1"]', said("3", "--json", path)[1])
        turns = interleaved([readdressed(records, i) for i, records in enumerate(captures)])
        self.same(self.pile("turns.pcap", header, [record for i, r in enumerate(turns) for record in tagged([r], i % 5 + 1)]), formats=FORMATS[:2])

    def test_what_was_damaged(self):
        header, records = ethernet()
        for name, changed in self.variants(header, records):
            with self.subTest(name):
                self.same(self.pile("changed.pcap", header, changed), formats=FORMATS[:2], threads=THREADS[1:])

    def test_a_file_that_ends_inside(self):
        header, records = ethernet()
        path = self.pile("cut.pcap", header, records)
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) - 5)
        self.same(path)

    def test_standard_input_and_what_is_copied(self):
        header, records = ethernet()
        path = self.pile("piped.pcap", header, records)
        with open(path, "rb") as pipe:
            one = said("1", "--json", "-", stdin=pipe)
        for number in THREADS:
            with open(path, "rb") as pipe:
                self.assertEqual(said(number, "--json", "-", stdin=pipe), one)
        for ending, pack in (("gz", ["gzip", "-1", "--keep"]), ("zst", ["zstd", "-q", "-1"]), ("lz4", ["lz4", "-q", "-1", "-m"])):
            subprocess.run([*pack, path], check=True)
            packed = f"{path}.{ending}"
            self.same(packed, formats=FORMATS[:2])
            with open(packed, "r+b") as file:
                file.truncate(os.path.getsize(packed) // 3)
            self.same(packed, formats=FORMATS[:1])

    def test_files_that_are_written(self):
        header, records = ethernet()
        path = self.pile("input.pcap", header, records)
        for option in ("--annotate", "--html"):
            written = []
            for number in ("1", "3"):
                done = said(number, "--json", option, self.path("out"), path)
                with open(self.path("out"), "rb") as file:
                    written.append((done, file.read()))
                os.remove(self.path("out"))
            self.assertEqual(written[0], written[1], option)

    def as_in_one(self, *arguments):
        """A page is drawn of what happens in the order of the frames: then nothing is shared out."""
        shared, whole = said("2", "--json", *arguments), said("2", "--json", "--html", self.path("page.html"), *arguments)
        self.assertEqual((shared[0], shared[2]), (whole[0], whole[2]))
        if shared[1] != whole[1]:
            self.assertEqual(shared[1].decode().splitlines(), whole[1].decode().splitlines())

    def test_shared_out_as_in_one(self):
        self.as_in_one(*harness.captures())
        for path in harness.captures():
            with self.subTest(path):
                self.as_in_one(path)

    def test_shared_out_as_in_one_where_all_is_open_at_once(self):
        """Ten captures at a time: of connections that are over the newest 64 are kept, and of each share as many."""
        captures = [records for _, header, records in of_link(1)]
        header, _ = ethernet()
        for first in range(0, len(captures), 10):
            turns = interleaved([readdressed(records, i) for i, records in enumerate(captures[first:first + 10])])
            for name, changed in [("whole", turns), *self.variants(header, turns)]:
                with self.subTest(name, first=first):
                    pcapfile.write(self.path("turns.pcap"), header, changed)
                    self.as_in_one(self.path("turns.pcap"))

    def test_made_to_hurt(self):
        few = ("connections", "connections_of_many_clients", "connections_that_go_on", "refusals", "refused_connections", "malformed", "holes",
               "open_calls", "probes_of_version_2")
        for name in few:
            for link in shapes.SHAPES[name].links:
                with self.subTest(name, link=link.name):
                    capture = links.Capture(self.path("shape.pcap"))
                    shapes.SHAPES[name].function(link, capture, shapes.SHAPES[name].size * (1 if GIVEN.short else 4))
                    capture.close()
                    self.same(self.path("shape.pcap"), formats=FORMATS[:1], threads=THREADS[1:])

    def test_more_than_is_kept(self):
        """of connections whose packets are put in order, of mounts, and of what is not decided"""
        for link in shapes.LINKS:
            capture = links.Capture(self.path("many.pcap"))
            shapes.SHAPES["connections_of_many_clients"].function(link, capture, 4000 if GIVEN.short else 20000)
            capture.close()
            self.same(self.path("many.pcap"), formats=FORMATS[:1], threads=THREADS[1:])

    def test_many_pairs_and_a_single_one(self):
        if GIVEN.multiply is None:
            self.skipTest("without multiply")
        for mode, name in (("many", "rxe-nfs41-basic"), ("many", "siw-nfs41-basic"), ("long", "rxe-nfs3-big-rw"), ("mixed", "siw-nfs41-big-rw")):
            with self.subTest(mode, name=name):
                subprocess.run([GIVEN.multiply, mode, "30000", harness.capture(name), self.path("many.pcap")], check=True, capture_output=True)
                self.same(self.path("many.pcap"), formats=FORMATS[:2])


def main():
    global GIVEN
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--analyzer", required=True, type=os.path.abspath)
    options.add_argument("--multiply", type=os.path.abspath)
    options.add_argument("--short", action="store_true", help="smaller captures")
    GIVEN, rest = options.parse_known_args()
    alone.main(rest)


if __name__ == "__main__":
    main()
