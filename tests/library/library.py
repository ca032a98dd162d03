#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""library.py --build TREE --analyzer PATH: is the library found where it was installed, and does the example, which is built as
anybody would build it, find what the analyzer finds?"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

GIVEN = None
EXAMPLE = os.path.join(harness.ROOT, "library", "example")
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Werror"


def succeed(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout.decode('utf-8', 'replace')}")


class Example(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # Where nothing of the tree is: the prefix is moved after the installation, too.
        first, cls.prefix = os.path.join(cls.folder, "first"), os.path.join(cls.folder, "a prefix")
        succeed("cmake", "--install", GIVEN.build, "--component", "library", "--prefix", first)
        os.rename(first, cls.prefix)
        shutil.copytree(EXAMPLE, os.path.join(cls.folder, "example"))
        cls.collector = cls.built(["-DCMAKE_CXX_STANDARD=17"])

    @classmethod
    def built(cls, options):
        tree = os.path.join(cls.folder, "tree")
        succeed("cmake", "-S", os.path.join(cls.folder, "example"), "-B", tree, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
                f"-DCMAKE_CXX_FLAGS={STRICT}", *options)
        succeed("cmake", "--build", tree)
        return os.path.join(tree, "collector")

    def test_finds_what_the_analyzer_finds(self):
        compared = 0
        for path in harness.captures():
            collected = subprocess.run([self.collector, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if collected.returncode == 2:  # a kind of file that libpcap does not open
                self.assertTrue(collected.stderr, path)
                continue
            said = harness.run(GIVEN.analyzer, "--format", "ndjson", "--no-progress", path, as_json=False)
            lines = [json.loads(line) for line in said.output.splitlines()]
            wanted = sorted((f["rule"], f["connection"] or 0, f["frames"][0] if f["frames"] else 0) for f in lines
                            if f["type"] == "finding" and f["severity"] != "note")
            verdict = next(line for line in lines if line["type"] == "verdict")
            *findings, sentence = collected.stdout.decode().splitlines()
            found = [re.match(r"(\S+) connection (\d+) frame (\d+): ", line) for line in findings]
            self.assertNotIn(None, found, path)
            self.assertEqual(sorted((m[1], int(m[2]), int(m[3])) for m in found), wanted, path)
            self.assertEqual(sentence, verdict["sentence"], path)
            self.assertEqual(collected.returncode, 1 if verdict["state"] in ("down", "never-up") else 0, path)
            compared += 1
        self.assertGreater(compared, 100)

    def test_is_fifty_lines(self):
        with open(os.path.join(EXAMPLE, "collector.cpp"), encoding="utf-8") as handle:
            self.assertLessEqual(len(handle.read().splitlines()), 50)

    def test_another_version_is_not_found(self):
        text = os.path.join(self.folder, "example", "CMakeLists.txt")
        with open(text, encoding="utf-8") as handle:
            was = handle.read()
        self.addCleanup(self.write, text, was)
        self.write(text, was.replace("find_package(rpcrdma 0.1 ", "find_package(rpcrdma 9.9 "))
        with self.assertRaisesRegex(AssertionError, "9.9"):
            succeed("cmake", "-S", os.path.dirname(text), "-B", os.path.join(self.folder, "other"),
                    f"-DCMAKE_PREFIX_PATH={self.prefix}")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--analyzer", required=True)
    GIVEN, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
