#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""documents.py --analyzer PATH: every format is a document of its kind, also where no capture could be opened."""
import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import jsonschema  # noqa: E402

ANALYZER = None
HEALTHY = "rxe-nfs3-basic"
SQL = os.path.join(harness.ROOT, "docs", "guide", "ndjson.sql")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, octets=None):
        path = os.path.join(self.folder, name)
        if octets is not None:
            with open(path, "wb") as file:
                file.write(octets)
        return path

    def printed(self, how, *arguments, status=2, stdin=b""):
        done = subprocess.run([ANALYZER, "--no-progress", "--format", how, *arguments], input=stdin, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.errors = done.stderr.decode()
        return done.stdout.decode()


class NothingOpened(Folder):
    def inputs(self):
        """(arguments, the paths of the inputs)"""
        missing, empty, text = self.path("missing.pcap"), self.path("empty.pcap", b""), self.path("a.txt", b"no capture\n")
        yield [missing], [missing]
        yield ["--severity", "error", empty, text], [empty, text]
        yield ["--merge", missing, missing], [missing, missing]
        yield ["-"], ["-"]
        yield ["--html", self.path("page.html"), "--annotate", self.path("out.pcapng"), missing], [missing]

    def each(self, how, check):
        for arguments, paths in self.inputs():
            with self.subTest(arguments):
                text = self.printed(how, *arguments)
                self.assertEqual(self.errors.count("\n"), len(paths), self.errors)
                check(text, paths)
                self.assertFalse({"page.html", "out.pcapng"} & set(os.listdir(self.folder)))

    def of(self, found, paths):
        self.assertEqual([i["path"] for i in found], paths)
        for one in found:
            self.assertEqual((one["format"], one["frames"], one["damaged"]["offset"]), ("unreadable", 0, 0))
            self.assertTrue(one["damaged"]["reason"])

    def test_json(self):
        with open(os.path.join(harness.ROOT, "docs", "report.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)

        def check(text, paths):
            document = json.loads(text)
            jsonschema.validate(document, schema)
            self.of(document["inputs"], paths)
            self.assertEqual((document["connections"], document["findings"]), ([], []))
        self.each("json", check)

    def test_ndjson(self):
        def check(text, paths):
            lines = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([o["type"] for o in lines], ["report", "verdict"] + ["input"] * len(paths) + ["totals"])
            self.of(lines[2:-1], paths)
        self.each("ndjson", check)

    def test_csv(self):
        def check(text, _):
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
            self.assertEqual([row[:2] for row in rows], [["rule", "severity"]])
        self.each("csv", check)

    def test_junit(self):
        def check(text, paths):
            root = tree.fromstring(text)
            self.assertEqual((root.tag, root.get("errors"), root.get("failures")), ("testsuites", str(len(paths)), "0"))
            errors = root.findall(".//testcase/error")
            self.assertEqual(len(errors), len(paths))
            for error in errors:  # nowhere in them is an octet to look at
                self.assertEqual(error.get("type"), "unreadable")
                self.assertNotIn("octet", error.get("message"))
        self.each("junit", check)

    def test_text_is_the_line_on_standard_error_alone(self):
        self.each("text", lambda text, _: self.assertEqual(text, ""))


class Names(Folder):
    def test_every_test_of_a_capture_has_its_own(self):
        path = harness.capture(HEALTHY)
        with open(path, "rb") as file:
            octets = file.read()
        other, input_, odd = self.path("a (2)", octets), self.path("standard input", octets), [self.path(n, octets) for n in ("a", "b\1", "b\2")]
        os.chdir(self.folder)
        self.addCleanup(os.chdir, harness.ROOT)
        for captures in ([path, path], ["a", "a", "a (2)", "a"], ["a (2)", "a", "a"], ["standard input", "-"], ["b\1", "b\2"], [input_, other, *odd]):
            done = subprocess.run([ANALYZER, "--format", "junit", "--no-progress", *captures], input=octets, capture_output=True, check=False)
            for suite in tree.fromstring(done.stdout):
                names = [case.get("name") for case in suite.findall("testcase")]
                self.assertEqual(len(names), len(set(names)), captures)
                if suite.get("name") == "capture":
                    self.assertEqual(sum(n.startswith("read ") for n in names), len(captures))

    def test_one_capture_has_its_plain_name(self):
        suite = tree.fromstring(self.printed("junit", harness.capture(HEALTHY), status=0))[0]
        self.assertEqual(suite[0].get("name"), "read " + harness.capture(HEALTHY))


@unittest.skipUnless(shutil.which("sqlite3"), "sqlite3 is not installed")
class Database(Folder):
    """docs/guide/ndjson.sql"""

    def load(self, octets, query):
        done = subprocess.run(["sqlite3", "-batch", "-init", SQL, self.path("db"), ".mode list", ".headers off", query], input=octets, capture_output=True, check=False)
        self.assertEqual(done.stderr.decode().replace(f"-- Loading resources from {SQL}\n", ""), "")
        return done.stdout.decode().splitlines()

    def test_rows_say_of_which_capture_they_are(self):
        one, two = harness.capture(HEALTHY), harness.capture("rxe-upeer-over-client-threshold-breaks")
        query = "SELECT capture, count(*) FROM {} GROUP BY capture ORDER BY capture"
        counts = {}
        for arguments, name in (([one], one), ([two], two), ([two, one, one], f"{two} and 2 more")):
            document = harness.run(ANALYZER, *arguments).document
            counts[name] = len(document["findings"])
            got = self.load(self.printed("ndjson", *arguments, status=1 if two in arguments else 0).encode(), query.format("findings"))
            self.assertEqual(got, [f"{n}|{c}" for n, c in sorted(counts.items())])
        self.assertEqual([row.split("|")[0] for row in self.load(b"", query.format("connections"))], sorted(counts))
        procedures = self.load(b"", "SELECT capture, sum(calls) FROM procedures GROUP BY capture")
        calls = self.load(b"", "SELECT capture, sum(calls) FROM connections GROUP BY capture")
        self.assertEqual({row.split("|")[0] for row in procedures} <= set(counts), True)
        self.assertTrue(calls)

    def test_half_a_line_is_passed_over(self):
        """What a run that was broken off leaves at the end."""
        whole = self.printed("ndjson", harness.capture("rxe-upeer-over-client-threshold-breaks"), status=1).encode()
        lines = whole.splitlines(True)
        query = "SELECT count(*) FROM findings"
        self.assertEqual(self.load(whole + lines[-1][:40], query), [str(sum(b'"type":"finding"' in line for line in lines))])

    def test_what_was_cut_off_has_no_name(self):
        whole = self.printed("ndjson", harness.capture("rxe-upeer-over-client-threshold-breaks"), status=1)
        lines = [line for line in whole.splitlines(True) if '"type":"input"' not in line]
        self.assertEqual(self.load("".join(lines[:-1]).encode(), "SELECT DISTINCT capture IS NULL FROM findings"), ["1"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    given, rest = parser.parse_known_args()
    ANALYZER = os.path.abspath(given.analyzer)
    alone.main(rest)
