#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""archive.py --analyzer PATH: the parts of docs/guide/archive/archive put together are what one run prints, whatever became of a task."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

GIVEN = None
ARCHIVE = os.path.join(harness.ROOT, "docs", "guide", "archive", "archive")


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.work = folder.name, os.path.join(folder.name, "the work")
        names = ("rxe-nfs41-basic", "rxe-upeer-no-reply", "siw-nfs41-basic", "rxe-nfs41-cutfile", "rxe-nfs41-refused")
        self.captures = []
        for n, name in enumerate(names):
            self.captures.append(os.path.join(self.folder, f"{n} of it's.pcap"))
            shutil.copy(harness.capture(name), self.captures[-1])
        self.captures[2:2] = [os.path.join(self.folder, "is not there.pcap")]
        self.list = self.write("list", "".join(path + "\n" for path in self.captures))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        return path

    def archive(self, *arguments):
        return subprocess.run([ARCHIVE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**os.environ, "RPCRDMA_ANALYZER": GIVEN.analyzer})

    def succeed(self, *arguments):
        done = self.archive(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, part):
        return os.path.join(self.work, "rows", f"{part:05}.ndjson")

    def single(self):
        return harness.run(GIVEN.analyzer, "--each", "--format", "ndjson", "--no-progress", *self.captures, as_json=False).output

    def merged(self):
        self.succeed("merge", self.work)
        with open(os.path.join(self.work, "all.ndjson"), encoding="utf-8") as handle:
            return handle.read()

    def test_parts_are_one_run(self):
        for tasks in ("1", "3", "6", "9"):
            with self.subTest(tasks=tasks):
                self.work = os.path.join(self.folder, tasks)
                self.succeed("split", self.list, self.work, tasks)
                for number in range(int(tasks)):
                    self.succeed("task", self.work, str(number))
                self.assertEqual(self.merged(), self.single())

    def test_a_killed_task_goes_on(self):
        self.succeed("split", self.list, self.work, "2")
        self.succeed("task", self.work, "0")
        self.succeed("task", self.work, "1")
        with open(self.rows(1), "rb") as handle:
            whole = handle.read()
        for length in (0, 1, 200, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)):
            with self.subTest(length=length):
                with open(self.rows(1), "wb") as handle:
                    handle.write(whole[:length])
                self.succeed("task", self.work, "1")
                self.assertEqual(self.merged(), self.single())

    def test_what_is_not_whole_is_not_merged(self):
        self.succeed("split", self.list, self.work, "3")
        self.succeed("task", self.work, "1")
        refused = self.archive("merge", self.work)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("not whole: 0 2;", refused.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.work, "all.ndjson")))

    def test_a_task_without_its_program_fails(self):
        self.succeed("split", self.list, self.work, "1")
        GIVEN.analyzer, was = "/bin/false", GIVEN.analyzer
        try:
            failed = self.archive("task", self.work, "0")
        finally:
            GIVEN.analyzer = was
        self.assertEqual(failed.returncode, 1)
        self.assertIn("0 of 6 captures", failed.stderr)

    def test_summary_counts(self):
        self.succeed("split", self.list, self.work, "1")
        self.succeed("task", self.work, "0")
        self.merged()
        text = self.succeed("summary", self.work)
        self.assertRegex(text, r"(?m)^down +1 +1 +0")
        self.assertRegex(text, r"(?m)^error +credit-initial-exceeded +1 +1")
        self.assertRegex(text, r"(?m)^1 +0 +down +.*1 of it's\.pcap")

    def test_what_cannot_be_laid_out(self):
        twice = self.write("twice", f"{self.captures[0]}\n{self.captures[1]}\n{self.captures[0]}\n")
        for arguments, word in (((twice, self.work, "2"), "twice"), ((self.write("none", "\n"), self.work, "2"), "no capture"),
                                ((os.path.join(self.folder, "nowhere"), self.work, "2"), "cannot be read")):
            refused = self.archive("split", *arguments)
            self.assertEqual(refused.returncode, 1, arguments)
            self.assertIn(word, refused.stderr)
        for usage in ((), ("split", self.list, self.work), ("split", self.list, self.work, "0"), ("task", self.work), ("other",)):
            self.assertEqual(self.archive(*usage).returncode, 2, usage)
        self.succeed("split", self.list, self.work, "2")
        self.assertIn("laid out already", self.archive("split", self.list, self.work, "2").stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--analyzer", required=True)
    GIVEN, rest = parser.parse_known_args()
    GIVEN.analyzer = os.path.realpath(GIVEN.analyzer)
    unittest.main(argv=[sys.argv[0], *rest])
