#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""names.py [--analyzer PATH] [--build FOLDER] [DOCUMENT…]: what a document names is there.

Looked at are words `in backticks`, commands in fenced blocks, and the table of labels in tests/README.md:
paths (from the top, or the end of one: `wire/mpa`), tests and labels (of FOLDER and of the CMake files), options (of --help, or of
a script of the tree), rules (of --list-rules), names of code. Capitals stand for any word: `expect/NAME.json`.
"""
import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "style"))
import tree  # noqa: E402

FENCE = re.compile(r"^```.*?\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PATH = re.compile(r"[\w.*-]+(/[\w.*-]+)*")
SUFFIX = re.compile(r".\.(md|py|cpp|hpp|cmake|sh|ya?ml|json|txt|sql|mjs|js|css|html|1)$")
ANY = re.compile(r"(?<![A-Za-z])(NAME|FILE|RULE|ROOM|STEP|STORY|LABEL|NN?)(?![A-Za-z])")
JOINED = re.compile(r"(?<![\w-])[a-z0-9]+(?:-[a-z0-9]+)+(?![\w-])")
MANIFEST = re.compile(r"captures/(kernel|peers)/MANIFEST\.md")  # rows about recordings, in the words of kernels and tools
SOURCE = (".cpp", ".hpp", ".py", ".sh", ".cmake", ".mjs", ".js", ".html", ".css", ".yaml", ".json", ".txt", ".sql", "check", "quickstart",
          "install-for-user", "tshark-with-plugin", "run")

# What is not of this tree, and why a document names it all the same.
ELSEWHERE = {
    "--mem-mode": "ibdump's",
    "--discard-packet-comments": "editcap's",
    "--disable-protocol rpcordma": "tshark's",
    "--disable-heuristic": "tshark's",
    "if_tsoffset": "pcapng's",
    "union_by_name": "DuckDB's",
    "epoch_second": "Elasticsearch's",
    "wmem_packet_scope()": "Wireshark's, and not used",
    "svc_rdma/max_req_size": "the Linux server's, in /proc/sys/sunrpc",
    "svc_rdma/max_requests": "the Linux server's, in /proc/sys/sunrpc",
    "STORIES.md": "the lab writes it",
    "step/part": "words of a scenario",
    "sid/": "in the folder of tests/plugin/versions.sh",
    "tests/fuzz/found": "in the tree with sanitizers",
    "tests/fuzz/found/NAME": "in the tree with sanitizers",
    "corpus/NAME/": "nothing has been worth keeping there so far",
    "v2-lab": "how names of captures begin",
    "unsafe-inline": "of a Content-Security-Policy",
    "seeds/NAME/": "in the build folder",
    "crash-3f2a": "a name that no file should have",
    "unit.ROOM": "in the debug tree",
    "unit_trace": "a program in the tree with sanitizers",
}
MISTYPED = {"inline-treshold"}  # on purpose: the program names the nearest rule


class Tree:
    """Everything that may be named."""

    def __init__(self, given):
        files = tree.files()
        self.files, self.tails, self.words, self.joined, self.options = files, set(), set(), set(), set()
        tests = ""
        for name in files:
            parts = name.split("/")
            for end in range(1, len(parts) + 1):
                for begin in range(end):
                    tail = "/".join(parts[begin:end])
                    self.tails |= {tail, tail.rsplit(".", 1)[0]} if end == len(parts) else {tail}
            if name.endswith(SOURCE) and not name.endswith(".md"):
                with open(os.path.join(tree.ROOT, name), encoding="utf-8", errors="replace") as handle:
                    text = handle.read()
                self.words |= set(re.findall(r"\w+", text))
                self.joined |= set(JOINED.findall(text))
                if not name.startswith(("analyzer/", "plugin/")):
                    self.options |= set(OPTION.findall(text))
                if name.startswith("tests/") and name.endswith("CMakeLists.txt"):
                    tests += text
        self.tails.discard("")
        self.help = self.run(given.analyzer, "--help")
        self.own = set(OPTION.findall(self.help))
        self.rules = {rule["name"] for rule in json.loads(self.run(given.analyzer, "--list-rules", "--json"))}
        with tempfile.TemporaryDirectory() as apart:  # ctest writes a log even then, and may be running in FOLDER
            with open(os.path.join(apart, "CTestTestfile.cmake"), "w", encoding="utf-8") as handle:
                handle.write(f"subdirs([==[{os.path.abspath(given.build)}]==])\n")
            listed = json.loads(self.run("ctest", "--test-dir", apart, "--show-only=json-v1"))["tests"]
        self.tests = {test["name"] for test in listed} | set(re.findall(r"\bNAME ([a-z]+\.[\w.-]+)", tests))
        self.labels = {label for test in listed for each in test["properties"] if each["name"] == "LABELS" for label in each["value"]}

    @staticmethod
    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    @staticmethod
    def is_one(name, names):
        name = ANY.sub("*", name)
        return name in names or ("*" in name and bool(fnmatch.filter(names, name)))


def command_faults(line, known):
    """Of one command: its options, and what they name."""
    for part in re.split(r"\s[|;&]+\s|\$\(", line):
        words = part.split()
        program = os.path.basename(words[0]) if words else ""
        if program == "rpcrdma-analyzer":
            yield from (f"the program has no option {o}" for o in OPTION.findall(part) if o not in known.own)
            yield from (f"there is no rule {r}" for r in re.findall(r"--(?:explain|rule|no-rule)[ =]([a-z][\w-]*)", part) if r not in known.rules | MISTYPED)
        elif words and re.match(r"(\.?[\w-]*/)*[\w-]+\.(py|sh)$|tests/html/run$", words[0]):
            yield from (f"there is no {words[0]}" for _ in [0] if not known.is_one(words[0].removeprefix("./"), known.tails))
            yield from (f"no script has an option {o}" for o in OPTION.findall(part) if o not in known.options)
        if program in ("check", "ctest"):
            yield from (f"there is no label {each}" for each in re.findall(r"-L ([a-z][\w-]*)", part) if each not in known.labels)
            yield from (f"no test matches {each}" for each in re.findall(r"-R ([a-z][\w.-]*)", part)
                        if not any(re.search(each, test) for test in known.tests))
    yield from (f"there is no rule {r}" for r in re.findall(r'rpcordma\.finding == "([^"]*)"', line) if r not in known.rules)


def span_fault(span, known):
    if re.fullmatch(r"[a-z]+\.[\w.-]+", span) and span.split(".")[0] in known.labels | {"unit"} and not SUFFIX.search(span):
        return None if known.is_one(span, known.tests) else f"there is no test {span}"
    if re.fullmatch(r"--[a-z][a-z-]*( .*)?", span):
        option = span.split()[0]
        return None if option in known.own | known.options else f"there is no option {option}"
    path = span.removeprefix("./").rstrip("/")
    if PATH.fullmatch(path) and ("/" in span or SUFFIX.search(path)) and not path.startswith("build/"):
        there = any(f.endswith(path) for f in known.files) if path.startswith(".") else known.is_one(path, known.tails)
        return None if there else f"there is no {span}"
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", span):
        there = known.rules | known.tails | known.joined
        return None if span in there or span in known.help else f"there is no rule {span}"
    if re.fullmatch(r"[\w:]+\(\)|[a-z]+(_[a-z0-9]+)+|([A-Z][a-z]+){2,}", span):
        word = re.split(r"::", span.removesuffix("()"))[-1]
        there = word in known.words or any(tail.startswith(word + "_") for tail in known.tails)
        return None if there else f"nothing is called {span}"
    return None


def faults(name, text, known):
    for block in FENCE.findall(text):
        for line in block.splitlines():
            yield from command_faults(line.removeprefix("$ "), known)
    prose = FENCE.sub("", text)
    for span in SPAN.findall(prose):
        if span not in ELSEWHERE:
            yield from command_faults(span, known)
            fault = span_fault(span, known)
            if fault:
                yield fault
    if name == "tests/README.md":
        rows = re.findall(r"^\| \[\w+\]\((\w+)/README\.md\) \| (\S+) \|", prose, re.M)
        yield from (f"there is no label {label}" for _, label in rows if label not in known.labels | {"–"})
        yield from (f"label {label} has no row" for label in sorted(known.labels - {label for _, label in rows}))
        folders = {f.split("/")[1] for f in tree.files() if re.fullmatch(r"tests/\w+/README\.md", f)}
        yield from (f"folder {folder} has no row" for folder in sorted(folders - {folder for folder, _ in rows}))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", default=os.path.join(tree.ROOT, "build", "rpcrdma-analyzer"))
    options.add_argument("--build", default=os.path.join(tree.ROOT, "build"))
    options.add_argument("documents", nargs="*", help="only these")
    given = options.parse_args()
    known = Tree(given)
    wrong, spans = [], 0
    named = [os.path.relpath(d, tree.ROOT) for d in given.documents]
    for name in named or [n for n in tree.files() if n.endswith(".md") and not MANIFEST.fullmatch(n)]:
        with open(os.path.join(tree.ROOT, name), encoding="utf-8") as handle:
            text = handle.read()
        spans += len(SPAN.findall(text))
        wrong += dict.fromkeys(f"{name}: {fault}" for fault in faults(name, text, known))
    print("\n".join(wrong))
    print(f"{spans} names, {len(wrong)} of nothing")
    return 1 if wrong or not spans else 0


if __name__ == "__main__":
    sys.exit(main())
