#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""companions.py --analyzer PATH: the manual page and the completions know the options that --help knows, and no others."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

ANALYZER = None
MAN = os.path.join(harness.ROOT, "docs", "man", "rpcrdma-analyzer.1")
BASH = os.path.join(harness.ROOT, "analyzer", "cli", "completion", "rpcrdma-analyzer.bash")
ZSH = os.path.join(harness.ROOT, "analyzer", "cli", "completion", "_rpcrdma-analyzer")
OPTION = re.compile(r"^ +(?:(-\w),)?(--[\w-]+)(?: (\S+))?", re.M)


def output(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def options():
    """{long: (short or "", what it takes or "")} as --help has them."""
    return {long: (short, takes) for short, long, takes in OPTION.findall(output(ANALYZER, "--help").stdout)}


def choices(takes):
    return takes.split("|") if "|" in takes else None


class Version(unittest.TestCase):
    """CMakeLists.txt says it; who cannot ask there is compared here."""

    def setUp(self):
        with open(os.path.join(harness.ROOT, "CMakeLists.txt"), encoding="utf-8") as handle:
            self.version = re.search(r"^project\(\S+ VERSION (\S+)", handle.read(), re.M)[1]

    def test_of_the_program_and_its_libraries(self):
        first, *libraries = output(ANALYZER, "-V").stdout.splitlines()
        self.assertEqual(first, f"rpcrdma-analyzer {self.version}")
        for name in ("libpcap", "Wireshark's wiretap", "zlib", "ISA-L", "Zstandard", "LZ4", "GLib", "fmt", "CLI11"):
            self.assertEqual(len([line for line in libraries if re.fullmatch(rf"  {name} \d+\.\d+(\.\d+)?", line)]), 1,
                             f"{name}: {libraries}")

    def test_of_the_manual_page_and_the_changelog(self):
        for path, pattern in ((MAN, r'^\.TH \S+ \d+ \S+ "rpcrdma-analyzer (\S+)"'),
                              (os.path.join(harness.ROOT, "CHANGELOG.md"), r"^## (\S+) \(\d{4}-\d\d-\d\d\)$")):
            with open(path, encoding="utf-8") as handle:
                self.assertEqual(re.search(pattern, handle.read(), re.M)[1], self.version, path)


class Help(unittest.TestCase):
    def test_is_read_rightly(self):
        known = options()
        self.assertGreater(len(known), 20)
        self.assertEqual(known["--format"], ("", "text|json|ndjson|csv|junit"))
        self.assertEqual(known["--help"], ("-h", ""))


class ManualPage(unittest.TestCase):
    def rendered(self):
        return output("groff", "-man", "-Tascii", "-P-c", "-rLL=200n", MAN, env={**os.environ, "GROFF_NO_SGR": "1"}).stdout

    def test_has_no_mistakes(self):
        done = output("groff", "-man", "-ww", "-b", "-z", "-Tutf8", MAN)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_the_same_options(self):
        text = re.sub(".\b", "", self.rendered())
        entries = {}
        for line in text.splitlines():
            found = re.fullmatch(r" {7}(?:(-\w), )?(--[\w-]+)(?: (\S+))?(?: \.\.\.)?", line)
            if found:
                entries[found[2]] = (found[1] or "", found[3] or "")
        self.assertEqual(entries, options())

    def completed(self, *words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rpcrdma_analyzer "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "nfs.pcap"), "w", encoding="utf-8"):
                pass
            done = output("bash", "-c", script, "bash", BASH, ANALYZER, *words, cwd=folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_knows_the_same_options(self):
        known = options()
        self.assertEqual(sorted(self.completed("-")), sorted([*known, *(short for short, _ in known.values() if short)]))

    def test_knows_what_they_take(self):
        for name, (_, takes) in options().items():
            if choices(takes):
                self.assertEqual(self.completed(name, ""), choices(takes), name)
                self.assertEqual(self.completed(name, "="), choices(takes), name)
            elif takes.startswith("FILE"):
                self.assertEqual(self.completed(name, "n"), ["nfs.pcap"], name)
            elif takes not in ("", "NAME", "RULE"):
                self.assertEqual(self.completed(name, "n"), [], name)
        self.assertEqual(self.completed("--format", "=", "nd"), ["ndjson"])

    def test_asks_for_the_rules(self):
        rules = [line.split()[0] for line in output(ANALYZER, "--list-rules").stdout.splitlines()[1:]]
        self.assertGreater(len(rules), 100)
        for name in ("--rule", "--no-rule", "--explain"):
            self.assertEqual(self.completed(name, ""), rules)
            self.assertEqual(self.completed(name, "inline-th"), ["inline-threshold-exceeded"])

    def test_captures_are_files(self):
        self.assertEqual(self.completed("nf"), ["nfs.pcap"])
        self.assertEqual(self.completed("--merge", "nf"), ["nfs.pcap"])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(unittest.TestCase):
    def specifications(self):
        done = output("zsh", "-fc", '_arguments() { print -rl -- "$@" }; source "$1"', "zsh", ZSH)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [s for s in done.stdout.splitlines() if s not in ("-s", "-S")]

    def test_knows_the_same_options_and_what_they_take(self):
        found = {}
        for text in self.specifications():
            spec = re.fullmatch(r"(?:\([^)]*\)|\*)?(-[\w-]+)\[[^\]]+\](?::[^:]*:(.*))?", text)
            if spec is None:
                self.assertEqual(text, "*:capture:_files")
                continue
            found[spec[1]] = spec[2]
        wanted = {}
        for name, (short, takes) in options().items():
            values = choices(takes)
            action = None if not takes else f"({' '.join(values)})" if values else "_files" if takes.startswith("FILE") else \
                "_rpcrdma_analyzer_rules" if takes in ("NAME", "RULE") else ""
            wanted.update({n: action for n in (name, short) if n})
        self.assertEqual(found, wanted)

    def test_asks_for_the_rules(self):
        script = ('_arguments() { }; _call_program() { shift; eval "$@" }; compadd() { print -rl -- ${(P)2} }; source "$1"; '
                  'words=("$2"); _rpcrdma_analyzer_rules')
        done = output("zsh", "-fc", script.replace("${(P)2}", "$rules"), "zsh", ZSH, ANALYZER)
        rules = [line.split()[0] for line in output(ANALYZER, "--list-rules").stdout.splitlines()[1:]]
        self.assertEqual(done.stdout.split(), rules, done.stderr)


class Installed(unittest.TestCase):
    def test_where_each_is_looked_for(self):
        build = os.path.dirname(ANALYZER)
        with tempfile.TemporaryDirectory() as folder:
            done = output("cmake", "--install", build, "--prefix", folder, "--component", "program")
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in ("bin/rpcrdma-analyzer", "share/man/man1/rpcrdma-analyzer.1", "share/bash-completion/completions/rpcrdma-analyzer",
                         "share/zsh/site-functions/_rpcrdma-analyzer"):
                self.assertTrue(os.path.isfile(os.path.join(folder, path)), path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    given, rest = parser.parse_known_args()
    ANALYZER = os.path.abspath(given.analyzer)
    alone.main(rest)
