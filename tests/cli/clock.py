#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""clock.py --analyzer PATH: healthy captures whose time stamps are as early and as late as a file can say.

Nothing overflows (which the tree with sanitizers sees), and no wait is shorter than nothing or longer than all there is
between the two ends.
"""
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402
from folder import Folder  # noqa: E402

ANALYZER = None
CAPTURES = ("rxe-nfs3-basic", "rxe-nfs41-basic", "siw-nfs3-mpa-p2p", "siw-nfs41-basic")
LATEST = (1 << 63) - 1
LONGEST_US = 9.3e15  # 146 years before 1970 to 146 years after, and rounding
# With nine decimals it is no amount, but a time by the clock.
AMOUNT = re.compile(r"-(?!\d+[.]\d{9} s)\d[\d.,']*(e[+-]?\d+)? ?(ns|us|ms|s|seconds?|minutes?|hours?|days?)\b")
TIMES = {"time", "first_time", "last_time"}  # of the clock, not amounts


def late(number):
    return 0, LATEST - 1000 + number


def early(number):
    """On the interface whose clock is set back by as much as one can say."""
    return 1, 100 + number


def written(name, ends):
    """The capture again as pcapng, with ends(number) instead of each time."""
    _, records = pcapfile.read(harness.capture(name))
    out = [ng.section(), ng.interface(1, options=ng.option(9, b"\x09") + ng.option(0, b"")),
           ng.interface(1, options=ng.option(9, b"\x09") + ng.option(14, struct.pack("<q", -9223372036)) + ng.option(0, b""))]
    for number, record in enumerate(records):
        captured, length = struct.unpack("<II", record[8:16])
        interface, time = ends(number)
        data = record[16:16 + captured]
        out.append(ng.block(6, struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, captured, length) + data + b"\0" * (-captured % 4)))
    return b"".join(out)


WAYS = {
    "every other one": lambda n: (late if n % 2 else early)(n),
    "in turns": lambda n: (late if n // 7 % 2 else early)(n),
    "late after the handshake": lambda n: (early if n < 20 else late)(n),
    "early after the handshake": lambda n: (late if n < 20 else early)(n),
}


def amounts(node, path=""):
    """Every number of a document that is a time or a latency, with where it stands."""
    if isinstance(node, dict):
        for key, value in node.items():
            here = f"{path}/{key}"
            is_time = key.endswith("_us") or key == "seconds" or path.endswith("_us")
            if is_time and isinstance(value, (int, float)) and not (path.endswith("_us") and key == "count"):
                yield here, value * (1e6 if key == "seconds" else 1)
            elif key not in TIMES:
                yield from amounts(value, here)
    elif isinstance(node, list):
        for value in node:
            yield from amounts(value, path)


class Ends(Folder):
    def run_through(self, what, *arguments):
        run = harness.run(ANALYZER, *arguments)
        self.assertIn(run.status, range(4), (what, run.errors))
        self.assertIsNotNone(run.document, (what, run.errors))
        self.assertNotIn("runtime error", run.errors, what)
        return run

    def judge(self, what, *arguments):
        run = self.run_through(what, *arguments)
        found = list(amounts(run.document))
        self.assertTrue(found, what)
        for place, value in found:
            self.assertTrue(0 <= value <= LONGEST_US, (what, place, value))
        texts = [json.dumps(run.document)]
        for form in ("text", "ndjson", "csv", "junit"):
            again = harness.run(ANALYZER, "-v", "--no-progress", "--format", form, *arguments, as_json=False)
            self.assertEqual(again.status, run.status, (what, form, again.errors))
            texts.append(again.output)
        for text in texts:
            said = AMOUNT.search(text)
            self.assertIsNone(said, (what, said and text[max(0, said.start() - 100):said.end()]))

    def test_times_at_both_ends(self):
        for name in CAPTURES:
            for way, ends in WAYS.items():
                with self.subTest(capture=name, way=way):
                    self.judge((name, way), self.write("ends.pcapng", written(name, ends)))

    def test_two_taps_with_clocks_at_both_ends(self):
        """By how much one clock is ahead of the other has a sign: only that nothing overflows."""
        for name in (CAPTURES[0], CAPTURES[2]):
            files = [self.write(f"{which.__name__}.pcapng", written(name, which)) for which in (early, late)]
            files.append(self.write("turns.pcapng", written(name, WAYS["in turns"])))
            for chosen in (files[:2], files[1:], files):
                with self.subTest(capture=name, files=len(chosen)):
                    self.run_through(name, "--merge", *chosen)

    def test_an_amount_with_a_sign_is_seen(self):
        for text in ("by -15581357333334.1 us on average", "in -3 s", "after -1,000 ms"):
            self.assertTrue(AMOUNT.search(text), text)
        for text in ("frame 1, +12.000001 s", "RFC 8166-3", "at -4599999999.999999900 s", "10 s"):
            self.assertIsNone(AMOUNT.search(text), text)
        self.assertEqual([v for _, v in amounts({"latency_us": {"count": 1, "min": -2}, "seconds": 3, "time": 7})], [-2, 3e6])


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
