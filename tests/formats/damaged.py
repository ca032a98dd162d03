#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""damaged.py --analyzer PATH [--captures N] [--cuts N] [--flips N]: files of every kind, cut and with octets flipped."""
import argparse
import gzip
import json
import os
import random
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
LONGEST = 20  # seconds that a run may take on a busy machine


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
                              check=False, timeout=LONGEST)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--captures", type=int, default=2)
    parser.add_argument("--cuts", type=int, default=8)
    parser.add_argument("--flips", type=int, default=16)
    GIVEN, rest = parser.parse_known_args()
    alone.main(rest)
