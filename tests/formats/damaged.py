#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""damaged.py --analyzer PATH [--captures N] [--cuts N] [--flips N]: what is missing or malformed is told, whatever the kind of file."""
import argparse
import gzip
import json
import os
import random
import resource
import struct
import subprocess
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
SMALL = 40_000  # octets of a capture
SEED = 20260
LONGEST = 20  # processor seconds of a run


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))


def packed(tool, octets):
    return subprocess.run([tool, "-q", "-c"], input=octets, capture_output=True, check=True).stdout


def pcapng_of(path):
    """A section with names, secrets and statistics, so that damage meets each kind of block."""
    _, records = pcapfile.read(path)
    end = ng.option(0, b"")
    names = struct.pack("<HH", 1, 9) + ng.padded(b"\x0a\0\0\1host\0") + bytes(4)
    out = ng.section(options=ng.option(4, b"a test") + end) + ng.interface(1, options=ng.option(9, b"\6") + end)
    out += ng.block(ng.NAMES, names + end) + ng.block(10, struct.pack("<II", 0x544C534B, 5) + ng.padded(b"a b c"))
    for record in records:
        seconds, micros, captured, length = struct.unpack("<IIII", record[:16])
        out += ng.packet(record[16:16 + captured], seconds * 10 ** 6 + micros, options=ng.option(1, b"seen") + end, length=length)
    return out + ng.block(ng.STATISTICS, struct.pack("<III", 0, 0, 0) + ng.option(4, bytes(8)) + end)


def kinds(path):
    """(name, octets, where a cut leaves a whole file) of the capture in each kind of file."""
    with open(path, "rb") as file:
        plain = file.read()
    _, records = pcapfile.read(path)
    at = 24
    whole = {at, *(at := at + len(r) for r in records)}
    yield "pcap", plain, whole
    other = pcapng_of(path)
    at = 0
    yield "pcapng", other, {at := at + len(b) for _, _, b in ng.blocks(other)}
    yield "gzip", gzip.compress(plain, mtime=0), set()
    for tool in ("zstd", "lz4"):
        yield tool, packed(tool, plain), set()
        half = len(plain) // 2
        yield tool + ", two frames", packed(tool, plain[:half]) + packed(tool, plain[half:]), {len(packed(tool, plain[:half]))}
    yield "pcapng, zstd", packed("zstd", other), set()


def chosen():
    small = [p for p in harness.captures() if p.endswith(".pcap") and 4_000 < os.path.getsize(p) < SMALL]
    return random.Random(SEED).sample(small, min(GIVEN.captures, len(small)))


class Damaged(unittest.TestCase):
    def look(self, octets, folder, what):
        """-> (status, frames or None, damage or None)"""
        path = os.path.join(folder, "x")
        with open(path, "wb") as file:
            file.write(octets)
        done = subprocess.run([GIVEN.analyzer, "--json", "--no-progress", path], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=600, preexec_fn=limited)
        self.assertIn(done.returncode, (0, 1, 2, 3), what)
        self.assertLessEqual(done.stderr.count(b"\n"), 1, (what, done.stderr))
        entry = json.loads(done.stdout)["inputs"][0]
        self.assertEqual(done.returncode == 2, entry["damaged"] is not None, what)
        if entry["damaged"]:
            self.assertIn(path.encode(), done.stderr, what)
            self.assertIn(entry["damaged"]["reason"].split(": ")[-1].encode(), done.stderr, what)
            if entry["format"] != "unreadable":
                self.assertIn(b"octet %d:" % entry["damaged"]["offset"], done.stderr, what)
        return done.returncode, entry["frames"], entry["damaged"]

    def each(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in chosen():
                for kind, octets, whole in kinds(path):
                    status, frames, damage = self.look(octets, folder, (path, kind))
                    self.assertIsNone(damage, (path, kind))
                    self.assertNotEqual(status, 2)
                    yield folder, path, kind, octets, whole, frames

    def test_a_cut_is_told(self):
        dice = random.Random(SEED)
        for folder, path, kind, octets, whole, frames in self.each():
            places = {len(octets) - 1, len(octets) - 4, *dice.sample(range(len(octets)), min(GIVEN.cuts, len(octets)))}
            for at in sorted(places):
                status, got, damage = self.look(octets[:at], folder, (path, kind, at))
                self.assertLessEqual(got, frames)
                if at not in whole:
                    self.assertEqual((status, damage is None), (2, False), (path, kind, at, got, frames))

    def test_a_flipped_octet_harms_nobody(self):
        dice = random.Random(SEED)
        for folder, path, kind, octets, _, frames in self.each():
            for _ in range(GIVEN.flips):
                at, bits = dice.randrange(len(octets)), dice.randrange(1, 256)
                broken = octets[:at] + bytes([octets[at] ^ bits]) + octets[at + 1:]
                _, got, damage = self.look(broken, folder, (path, kind, at, bits))
                if got < frames and damage is None:
                    self.assertEqual(kind, "pcapng", f"{frames - got} frames are missing: {path} {at} {bits}")


HEALTHY = "rxe-nfs3-basic"
END = ng.option(0, b"")


def with_trailer(block, length):
    return block[:-4] + struct.pack("<I", length)


def enhanced(record, options=b""):
    seconds, micros, captured, length = struct.unpack("<IIII", record[:16])
    return ng.packet(record[16:16 + captured], seconds * 10 ** 6 + micros, options=options, length=length)


class Told(unittest.TestCase):
    """One line with the file, the octet and the reason; exit status 2; and what could be read is judged."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "x")
        self.header, self.records = pcapfile.read(harness.capture(HEALTHY))
        self.whole = harness.run(GIVEN.analyzer, harness.capture(HEALTHY)).document

    def read(self, octets, piped=False, environment=None):
        if piped:
            with subprocess.Popen(["cat", self.write(octets)], stdout=subprocess.PIPE) as cat:
                return harness.run(GIVEN.analyzer, "-", stdin=cat.stdout)
        return harness.run(GIVEN.analyzer, self.write(octets), environment=environment)

    def write(self, octets):
        with open(self.path, "wb") as file:
            file.write(octets)
        return self.path

    def told(self, octets, offset, reason, frames, what, piped=False):
        run = self.read(octets, piped)
        entry = run.document["inputs"][0]
        self.assertEqual((run.status, entry["frames"]), (2, frames), (what, run.errors))
        self.assertEqual(entry["damaged"]["offset"], offset, what)
        self.assertRegex(entry["damaged"]["reason"], reason, what)
        self.assertRegex(run.errors, rf"\A[^\n]*{'standard input' if piped else self.path}: damaged at octet {offset}: [^\n]*\n\Z", what)
        return run

    def sound(self, octets, what):
        run = self.read(octets)
        self.assertEqual((run.status, run.errors, run.document["inputs"][0]["damaged"]), (0, "", None), what)
        return run

    def malformed(self):
        """(what, reason, blocks before the packets, the malformed one, options of each packet)"""
        head, interface = ng.section(), ng.interface()
        beyond = ng.option(1, b"word")[:2] + struct.pack("<H", 400) + b"word"
        yield "a section's trailer", "length at its end", b"", with_trailer(head, 36), interface
        for what, block in (("a section", ng.section(options=beyond)), ("another section", ng.section(options=beyond) + interface)):
            yield f"{what}'s option", "option", b"" if what == "a section" else head, block, interface if what == "a section" else b""
        yield "an interface's option", "option", head, ng.interface(options=beyond), b""
        yield "a packet's option", "option", head + interface, enhanced(self.records[0], beyond), None
        yield "an option of statistics", "option", head + interface, ng.block(ng.STATISTICS, bytes(12) + beyond), b""
        for what, body in (("beyond the block", struct.pack("<HH", 1, 64) + b"\x0a\0\0\1host"),
                           ("shorter than its address", struct.pack("<HH", 1, 3) + bytes(4)), ("without a name", struct.pack("<HH", 2, 16) + bytes(16)),
                           ("without an end", struct.pack("<HH", 1, 8) + b"\x0a\0\0\1host" + bytes(4)),
                           ("with an option beyond", bytes(4) + beyond)):
            yield f"a name {what}", "option" if "option" in what else "name", head + interface, ng.block(ng.NAMES, body), b""
        yield "secrets beyond", "secrets", head + interface, ng.block(10, struct.pack("<II", 0x544C534B, 100) + b"a b "), b""
        yield "secrets too short", "too short", head + interface, ng.block(10, struct.pack("<I", 0x544C534B)), b""
        yield "statistics too short", "too short", head + interface, ng.block(ng.STATISTICS, bytes(4)), b""

    def test_a_malformed_block_of_pcapng(self):
        for what, reason, before, block, behind in self.malformed():
            skipped = 1 if behind is None else 0
            rest = (behind or b"") + b"".join(enhanced(r) for r in self.records[skipped:])
            for form, octets in (("plain", before + block + rest), ("zstd", packed("zstd", before + block + rest))):
                with self.subTest(what, form=form):
                    # No library goes on behind what it takes for half an interface.
                    frames = 0 if what == "an interface's option" else len(self.records)
                    run = self.told(octets, len(before), reason, frames, what)
                    self.told(octets, len(before), reason, frames, what, piped=True)
                    if frames:
                        self.assertIn("all the same", run.errors)
                        self.assertEqual(run.document["connections"], self.whole["connections"])

    def test_behind_blocks_that_are_not_libpcaps(self):
        custom = ng.block(0x0BAD, struct.pack("<I", 32473) + b"custom")
        for what, _, before, block, behind in self.malformed():
            octets = before + block + (behind or b"") + custom + b"".join(enhanced(r) for r in self.records)
            # libwiretap leaks where it refuses a name.
            run = self.read(octets, environment={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            self.assertEqual((run.status, run.errors.count("\n")), (2, 1), what)
            self.assertEqual(run.document["inputs"][0]["damaged"]["offset"], len(before), what)

    def test_the_copy_with_comments_goes_on_to_the_end(self):
        names = ng.block(ng.NAMES, struct.pack("<HH", 1, 3) + bytes(4))
        octets = ng.section() + ng.interface() + names + b"".join(enhanced(r) for r in self.records) + names
        out = self.path + ".pcapng"
        self.assertEqual(harness.run(GIVEN.analyzer, "--annotate", out, self.write(octets)).status, 2)
        with open(out, "rb") as file:
            copy = file.read()
        self.assertEqual(len(ng.packets(copy)), len(self.records))
        self.assertTrue(copy.endswith(names))

    def test_what_is_unusual_is_sound(self):
        packets = b"".join(enhanced(r) for r in self.records)
        for what, head in (("options without an end", ng.section(options=ng.option(1, b"a")) + ng.interface(options=ng.option(9, b"\6"))),
                           ("an end with something behind", ng.section() + ng.interface(options=END + b"\xff" * 8)),
                           ("no names", ng.section() + ng.interface() + ng.block(ng.NAMES, b"") + ng.block(ng.NAMES, bytes(4))),
                           ("names without an end", ng.section() + ng.interface() + ng.block(ng.NAMES, struct.pack("<HH", 1, 7) + b"\x0a\0\0\1ab\0")),
                           ("two names", ng.section() + ng.interface() + ng.block(ng.NAMES, struct.pack("<HH", 1, 8) + b"\x0a\0\0\1a\0b\0" + bytes(4))),
                           ("names of a kind to come", ng.section() + ng.interface() + ng.block(ng.NAMES, struct.pack("<HH", 9, 2) + b"abcd" + bytes(4)))):
            self.sound(head + packets, what)

    def test_zeros_are_no_frames(self):
        plain = self.header + b"".join(self.records)
        middle = len(self.header) + sum(len(r) for r in self.records[:50])
        for gap in (16, 512, 4096):
            self.told(plain + bytes(gap), len(plain), "zeros", len(self.records), gap)
            self.told(plain + bytes(gap), len(plain), "zeros", len(self.records), gap, piped=True)
            self.told(gzip.compress(plain + bytes(gap)), len(plain), "zeros", len(self.records), gap)
            self.told(plain[:middle] + bytes(gap) + plain[middle:], middle, "zeros", 50, gap)

    def test_a_frame_without_octets_is_a_cut_one(self):
        empty = [r[:8] + bytes(4) + r[12:16] for r in self.records[:2]]
        ngempty = [ng.packet(b"", 1, length=90), ng.packet(b"", 2, length=90)]
        for octets in (self.header + b"".join(empty + self.records[2:]),
                       ng.section() + ng.interface() + b"".join(ngempty) + b"".join(enhanced(r) for r in self.records[2:])):
            run = self.read(octets)
            entry = run.document["inputs"][0]
            self.assertEqual((entry["frames"], entry["truncated_frames"], entry["damaged"]), (len(self.records), 2, None))
            text = harness.run(GIVEN.analyzer, self.path, as_json=False).output
            self.assertRegex(text, r"cut +2 frames cut short")

    def test_several_frames_of_compressed_data(self):
        plain = self.header + b"".join(self.records)
        skippable = struct.pack("<II", 0x184D2A50, 300) + bytes(300)
        for tool in ("gzip", "zstd", "lz4"):
            pieces = [plain[:100], b"", plain[100:101], plain[101:20_000], plain[20_000:]]
            between = skippable if tool != "gzip" else b""
            octets = between.join(packed(tool, p) for p in pieces)
            for piped in (False, True):
                run = self.read(octets, piped)
                self.assertEqual((run.status, run.errors, run.document["inputs"][0]["format"]), (0, "", f"pcap, {tool}"))
                self.assertEqual(run.document["connections"], self.whole["connections"], tool)
            # Where libwiretap has to read it: link types that differ.
            other = ng.section() + ng.interface(1) + ng.interface(101) + b"".join(enhanced(r) for r in self.records)
            run = self.read(packed(tool, other[:5000]) + between + packed(tool, other[5000:]))
            self.assertEqual((run.status, run.errors), (0, ""), tool)
            self.assertEqual(run.document["connections"], self.whole["connections"], tool)

    def test_compressed_data_that_end_at_the_end_of_a_block(self):
        plain = self.header + b"".join(self.records)
        zstd = subprocess.run(["zstd", "-q", "-c", "--no-check", "--format=zstd", "-B1024"], input=plain, capture_output=True, check=True).stdout
        for tool, octets, short in (("zstd", packed("zstd", plain), 4), ("lz4", packed("lz4", plain), 8), ("lz4", packed("lz4", plain), 4),
                                    ("gzip", gzip.compress(plain), 8), ("zstd", zstd, 1)):
            run = self.read(octets[:-short])
            self.assertEqual((run.status, run.errors.count("\n")), (2, 1), tool)
            self.assertRegex(run.document["inputs"][0]["damaged"]["reason"], f"{tool} data end in the middle")
        for tool in ("zstd", "lz4", "gzip"):
            self.told(packed(tool, plain) + b"garbage of some octets", len(plain), f"damaged {tool} data", len(self.records), tool)
            cut = packed(tool, plain[:15_000]) + packed(tool, plain[15_000:])[:-9]
            run = self.read(cut)
            self.assertEqual((run.status, run.errors.count("\n")), (2, 1), tool)
        self.sound(gzip.compress(plain) + bytes(512), "padding")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--captures", type=int, default=2)
    parser.add_argument("--cuts", type=int, default=8)
    parser.add_argument("--flips", type=int, default=16)
    GIVEN, rest = parser.parse_known_args()
    alone.main(rest)
