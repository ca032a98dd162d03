#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""minutes.py CTEST_LOG STEPS: where the minutes of this run of ./check went, the longest first.

STEPS has a line for each step that is no test: name, seconds, processor seconds, separated by tabs.
"""
import re
import sys

TEST = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) [ .]*(.*?)\s+([\d.]+) sec", re.M)
SHORT = 1.0  # seconds; what is shorter is summed up


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8", errors="replace") as handle:
        rows = [(float(seconds), name, "" if verdict == "Passed" else verdict.strip("* "))
                for name, verdict, seconds in TEST.findall(handle.read())]
    with open(sys.argv[2], encoding="utf-8") as handle:
        for line in handle:
            name, seconds, processor = line.rstrip("\n").split("\t")
            rows.append((float(seconds), name, f"processor {float(processor):.0f} s"))
    print("\nWhere the minutes went (tests run beside each other, steps do not)\n\n  seconds")
    for seconds, name, remark in sorted(rows, reverse=True):
        if seconds >= SHORT:
            print(f"{seconds:9.1f}  {name}{', ' + remark if remark else ''}")
    short = [seconds for seconds, _, _ in rows if seconds < SHORT]
    if short:
        print(f"{sum(short):9.1f}  {len(short)} others of less than a second each")
    print()


if __name__ == "__main__":
    main()
