#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures, expectations, truth files and manifest rows belong together; says which stands alone."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402


def strays(room):
    paths = [p for p in harness.captures() if os.path.dirname(p) == room]
    stems = {harness.stem(p) for p in paths}
    with open(os.path.join(room, "MANIFEST.md"), encoding="utf-8") as handle:
        rows = set(re.findall(r"^\| (\S+\.pcap(?:ng)?) \|", handle.read(), re.M))
    names = {os.path.basename(p) for p in paths}
    for name in sorted(names ^ rows):
        yield f"{name}: {'no row in MANIFEST.md' if name in names else 'a row in MANIFEST.md without a capture'}"
    for name in sorted(os.listdir(os.path.join(room, "expect"))):
        if name.rsplit(".", 1)[0] not in stems:
            yield f"expect/{name}: no such capture"
    for path in paths:
        expected = harness.expectation(path)
        if expected is None:
            yield f"{os.path.basename(path)}: no expectation"
        elif expected["capture"] != os.path.basename(path):
            yield f"expect of {os.path.basename(path)} names {expected['capture']}"
    for name in sorted(os.listdir(os.path.join(room, "truth"))):
        if name.split(".", 1)[0] not in stems:
            yield f"truth/{name}: no such capture"


def main():
    found = [f"{os.path.basename(room)}: {line}" for room in harness.ROOMS for line in strays(room)]
    print("\n".join(found) or f"{len(harness.captures())} captures, each with its expectation and its row")
    return 1 if found or not harness.captures() else 0


if __name__ == "__main__":
    sys.exit(main())
