#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""octets.py: what a lesson explains word by word is what stands in the header that it shows.

The rows `| 1 | `20000001` | ...` of each table are the words that the od commands above it print, in this order. A row may
name two words (`00000008 / 00000003`) when two headers are explained at once.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PART = re.compile(r"^```console\n(\$ od .*?)^```$|^\| (\d+) \| `([0-9a-f /]+)` \|", re.M | re.S)


def explained(text):
    """[(the headers printed last, number of the row, its words)]"""
    headers, fresh = [], False
    for block, number, words in PART.findall(text):
        if block:
            shown = [re.findall(r"^ ([0-9a-f]{8})$", each, re.M) for each in re.split(r"^\$ ", block, flags=re.M) if each]
            headers, fresh = (shown, True)
        elif fresh:
            yield headers, int(number), words.split(" / ")


def main():
    rows, wrong = 0, []
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "learn", "*.md"))):
        with open(path, encoding="utf-8") as handle:
            text = handle.read()
        for headers, number, words in explained(text):
            rows += 1
            real = [header[number - 1] if number <= len(header) else None for header in headers]
            if [w for w in words if w not in real]:
                wrong.append(f"{os.path.basename(path)}: word {number} is {' / '.join(map(str, real))}, not {' / '.join(words)}")
    print("\n".join(wrong))
    print(f"{rows} words explained, {len(wrong)} wrong")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
