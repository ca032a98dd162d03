#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""excerpts.py [DOCUMENT…]: code that a document shows, or leads through, is the code of the tree.

The line above a ```cpp block links to the file that it is taken from. Its lines stand there in this order and without others
between; indentation and empty lines do not count, and a line `…` stands for any number of lines.

A `name()` in a row of a table that links to sources of the analyzer is in one of these.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "style"))
import tree  # noqa: E402

BLOCK = re.compile(r"^([^\n]*)\n```cpp\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+\.[ch]pp)\)")
CALL = re.compile(r"`(?:\w+::)*(\w+)\(\)`")


def source(document, link):
    """The text behind a relative link; None: nothing is there."""
    path = os.path.join(tree.ROOT, os.path.dirname(document), link)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as handle:
        return handle.read()


def stripped(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def missing(excerpt, code):
    """What of the excerpt does not stand in the code: the first line without a place. None: all of it does."""
    at = 0
    for run in re.split(r"^\s*…\s*$", excerpt, flags=re.M):
        wanted = stripped(run)
        places = [begin for begin in range(at, len(code) - len(wanted) + 1) if code[begin:begin + len(wanted)] == wanted]
        if not places:
            return next((line for line in wanted if line not in code[at:]), wanted[0])
        at = places[0] + len(wanted)
    return None


def faults(name, text):
    for above, excerpt in BLOCK.findall(text):
        link = LINK.search(above)
        code = source(name, link[1]) if link else None
        first = next(iter(stripped(excerpt)), "")
        if code is None:
            yield f"the line above `{first}` links to no source"
        elif set(stripped(excerpt)) <= {"…"}:
            yield f"an excerpt of {link[1]} shows nothing"
        else:
            line = missing(excerpt, stripped(code))
            if line is not None:
                yield f"{link[1]} does not have, in this order: {line}"
    for row in re.findall(r"^\|.*\|$", text, re.M):
        code = "\n".join(source(name, link) or "" for link in LINK.findall(row) if "analyzer/" in link)
        if code:
            yield from (f"{call}() is in none of the files of its row" for call in CALL.findall(row) if not re.search(rf"\b{call}\b", code))


def main():
    names = [os.path.relpath(d, tree.ROOT) for d in sys.argv[1:]] or [n for n in tree.files() if n.endswith(".md")]
    excerpts, wrong = 0, []
    for name in names:
        with open(os.path.join(tree.ROOT, name), encoding="utf-8") as handle:
            text = handle.read()
        excerpts += len(re.findall(r"^\s*```(?:cpp|c\+\+)", text, re.M))
        wrong += [f"{name}: {fault}" for fault in faults(name, text)]
        if len(BLOCK.findall(text)) != len(re.findall(r"^\s*```(?:cpp|c\+\+)", text, re.M)):
            wrong.append(f"{name}: an excerpt without a line above it, or not closed")
    print("\n".join(wrong))
    print(f"{excerpts} excerpts, {len(wrong)} wrong")
    return 1 if wrong or not excerpts else 0


if __name__ == "__main__":
    sys.exit(main())
