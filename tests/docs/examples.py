#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""examples.py [--analyzer PATH] [--forge PATH] [--update] [DOCUMENT…]: what the documents show is what the programs print.

A fenced block of kind `console` holds commands after `$ ` and below each what it prints; commands that begin with one of
PROGRAMS are run at the top of the tree and compared, the others are left alone. `lesson.pcap` is a file of the
document's own, in a folder that is gone afterwards. A line `...` in the output stands for any number of lines. --update
writes the real output into blocks that hold no `...`.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
PROGRAM = "build/rpcrdma-analyzer"
PLUGIN = "cmake/tshark-with-plugin"  # the plugin is RPCRDMA_PLUGIN, or the one in build/
FORGE = "build/forge"
PROGRAMS = (PROGRAM, PLUGIN, FORGE, "od ", "editcap ")
OWN_FILE = "lesson.pcap"


def documents():
    yield os.path.join(harness.ROOT, "README.md")
    for folder, _, names in sorted(os.walk(os.path.join(harness.ROOT, "docs"))):
        yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".md"))


def steps(block):
    """[(command, [lines of output])]"""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def printed(given, folder, command):
    own = os.path.join(folder, OWN_FILE)
    real = command.replace(PROGRAM, given.analyzer).replace(FORGE, given.forge).replace(OWN_FILE, own)
    done = subprocess.run(["bash", "-c", real], cwd=harness.ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "LC_ALL": "C.UTF-8"})
    return [line.rstrip().replace(own, OWN_FILE) for line in (done.stdout + done.stderr).rstrip().splitlines()]


def is_same(wanted, real):
    pattern = "".join("(?:.*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in real)) is not None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", default=os.path.join(harness.ROOT, PROGRAM))
    options.add_argument("--forge", default=os.path.join(harness.ROOT, FORGE))
    options.add_argument("--update", action="store_true")
    options.add_argument("documents", nargs="*", help="only these")
    given = options.parse_args()
    given.analyzer, given.forge = os.path.abspath(given.analyzer), os.path.abspath(given.forge)
    run = wrong = 0
    for path in map(os.path.abspath, given.documents) if given.documents else documents():
        with open(path, encoding="utf-8") as handle:
            text = handle.read()

        def renewed(match):
            nonlocal run, wrong
            out = []
            for command, wanted in steps(match.group(1)):
                real = wanted
                if command.startswith(PROGRAMS):
                    run += 1
                    real = printed(given, folder, command)
                    if not is_same(wanted, real):
                        wrong += 1
                        print(f"{os.path.relpath(path, harness.ROOT)}: $ {command}\n--- the document says\n" + "\n".join(wanted)
                              + "\n--- the program prints\n" + "\n".join(real))
                    if "..." in (line.strip() for line in wanted):
                        real = wanted
                out += ["$ " + command, *real]
            return "```console\n" + "\n".join(out) + "\n```"

        with tempfile.TemporaryDirectory() as folder:
            new = BLOCK.sub(renewed, text)
        if given.update and new != text:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(new)
    print(f"{run} examples, {wrong} {'renewed' if given.update else 'wrong'}")
    return 1 if (wrong and not given.update) or not run else 0


if __name__ == "__main__":
    sys.exit(main())
