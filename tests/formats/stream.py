#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stream.py --analyzer PATH --multiply PATH: ndjson comes while the capture is still being written, and keeps nothing."""
import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402

GIVEN = None
FAULTY = "rxe-upeer-over-client-threshold-breaks"


def command(*arguments):
    return [GIVEN.analyzer, "--no-progress", "--format", "ndjson", *arguments]


class Live(unittest.TestCase):
    def test_findings_come_before_the_end_of_the_capture(self):
        with open(harness.capture(FAULTY), "rb") as file:
            octets = file.read()
        with subprocess.Popen(command("-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
            run.stdin.write(octets)
            run.stdin.flush()
            seen = b""
            while seen.count(b'"type":"finding"') < 2:
                ready, _, _ = select.select([run.stdout], [], [], 60)
                self.assertTrue(ready, "nothing is told while standard input is open")
                seen += os.read(run.stdout.fileno(), 65536)
            self.assertNotIn(b'"type":"totals"', seen)
            run.stdin.close()
            seen += run.stdout.read()
        rules = [json.loads(line).get("rule") for line in seen.splitlines()]
        self.assertIn("inline-threshold-exceeded", rules)
        self.assertEqual(json.loads(seen.splitlines()[-1])["type"], "totals")
        self.assertEqual(run.returncode, 1)

    def test_a_reader_that_leaves_is_no_trouble(self):
        with subprocess.Popen(command(harness.capture(FAULTY)), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdout.close()
            self.assertEqual(run.stderr.read(), b"")
        self.assertEqual(run.returncode, 1)

    def test_a_full_disk_is_2(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command(harness.capture(FAULTY)), stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count(b"\n"), 1)


class Bounded(unittest.TestCase):
    def peak(self, path):
        """-> (KiB, lines)"""
        with subprocess.Popen(command(path), stdout=subprocess.PIPE) as run:
            lines = sum(1 for _ in run.stdout)
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 1)
        return usage.ru_maxrss, lines

    def test_more_connections_take_no_more_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            peaks = []
            for frames in (60_000, 180_000):
                path = os.path.join(folder, "many.pcap")
                subprocess.run([GIVEN.multiply, "many", str(frames), harness.capture(FAULTY), path], check=True, stdout=subprocess.DEVNULL)
                peaks.append(self.peak(path))
            (few, few_lines), (many, many_lines) = peaks
            self.assertGreater(many_lines, 2 * few_lines)
            # What is kept of a client and a server, and of addresses, has reached its bounds with the first; the findings of the second
            # alone would be 30 MiB.
            self.assertLess(many, few + 8_000, f"{few} KiB, then {many} KiB")


class Nothing(unittest.TestCase):
    def test_no_such_connection_prints_nothing(self):
        done = subprocess.run(command("--connection", "77", harness.capture(FAULTY)), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_pcapfile_without_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "empty.pcap")
            pcapfile.write(path, pcapfile.read(harness.capture(FAULTY))[0], [])
            done = subprocess.run(command(path), capture_output=True, check=False)
            kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
            self.assertEqual((done.returncode, kinds), (3, ["report", "verdict", "input", "totals"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--multiply", required=True)
    GIVEN, rest = parser.parse_known_args()
    alone.main(rest)
