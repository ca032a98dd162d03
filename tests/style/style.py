#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""style.py format|licence|length|readmes: rules of the tree that need no compiler.

format   clang-format has nothing to change in any C++ file
licence  each source file names its licence in one of its first three lines
length   no source file is longer than 600 lines unless long_files.txt lists it, with a reason
readmes  the two upper levels of folders, and all of analyzer/, say in a README.md what lives there; in no document a heading, list,
         table or link has run into the text around it, as when a formatter of another language went over it
"""
import os
import re
import subprocess
import sys

import tree

LIMIT = 600
LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later"
SOURCES = (".cpp", ".hpp", ".py", ".sh", ".cmake")
NAMED_SOURCES = {"CMakeLists.txt", "quickstart", "check", "run", ".clang-tidy"}


def lines(name):
    with open(os.path.join(tree.ROOT, name), encoding="utf-8", errors="replace") as handle:
        return handle.read().splitlines()


def sources():
    return [n for n in tree.files() if n.endswith(SOURCES) or os.path.basename(n) in NAMED_SOURCES]


def check_format():
    names = tree.cxx_files()
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *names], cwd=tree.ROOT, check=False,
                          capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error:" in line] or (["clang-format failed"] if done.returncode else []), names


def check_licence():
    names = sources()
    return [f"{n}: no licence line" for n in names if not any(LICENCE in line for line in lines(n)[:3])], names


def check_length():
    names = sources()
    with open(os.path.join(tree.ROOT, "tests", "style", "long_files.txt"), encoding="utf-8") as handle:
        listed = {line.split()[0] for line in handle if line.strip() and not line.startswith("#")}
    long_files = {n for n in names if len(lines(n)) > LIMIT}
    wrong = [f"{n}: {len(lines(n))} lines; split it by subject" for n in sorted(long_files - listed)]
    return wrong + [f"{n}: listed as long, but it is not" for n in sorted(listed - long_files)], names


def check_readmes():
    names = tree.files()
    folders = set()
    for name in names:
        parts = os.path.dirname(name).split("/")
        if not parts[0] or parts[0].startswith("."):
            continue
        for depth in range(1, len(parts) + 1):
            if depth <= 2 or parts[0] == "analyzer" and depth <= 3 and parts[1] == "referee":
                folders.add("/".join(parts[:depth]))
    wrong = [f"{f}: no README.md" for f in sorted(folders) if f"{f}/README.md" not in names]
    documents = [n for n in names if n.endswith(".md")]
    for name in documents:
        text = lines(name)
        found = mangled(text)
        wrong += [f"{name}:{number}: {what}" for number, what in found]
        if not found:
            wrong += [f"{name}: the check would not miss {what}" for what in unnoticed(text)]
    return wrong, sorted(folders) + documents


FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*([*+-]|\d+\.) ")


def bare(line):
    """The line without its inline code."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "``", line)


def cells(row):
    return len(re.split(r"(?<!\\)\|", row.strip().strip("|")))


def mangled(text):
    """-> [(number of the line, what is wrong with it)]"""
    wrong, fence, table, header, before, code = [], 0, 0, "", "", False
    for number, line in enumerate(text, 1):
        if FENCE.match(line):
            fence = 0 if fence else number
            before, table = "", 0
            continue
        if fence:
            continue
        code = line.startswith("    ") and (code or not before.strip()) and not ITEM.match(line)
        if code:
            before = line
            continue
        words = bare(line)
        if re.match(r"#+[^# ]", line):
            wrong.append((number, "a heading without a space"))
        if re.search(r"\]\([^)]*\s[^)]*\)", words):
            wrong.append((number, "a link with spaces in its target"))
        if line.startswith("|"):
            if not line.rstrip().endswith("|"):
                wrong.append((number, "a table row without an end"))
            elif table == 1 and not re.fullmatch(r"(\| ?:?-+:? ?)+\|", line.rstrip()):
                wrong.append((number, "a table without the line below its heads"))
            elif table and cells(words) != cells(header):
                wrong.append((number, f"{cells(words)} cells in a table of {cells(header)}"))
            if not table:
                header = words
                if before:
                    wrong.append((number, "a table that begins within running text"))
            table += 1
            before = line
            continue
        if table == 1:
            wrong.append((number - 1, "a table in a single line"))
        elif table and line.strip():
            wrong.append((number, "running text that joins a table"))
        table = 0
        if words.count(" | ") > 1 or "|--" in words:
            wrong.append((number, "a table in running text"))
        ordered = re.match(r"\s*(\d+)\. ", words)
        if re.search(r"[.,:;] [*+] \S", words) or re.match(r"\s*([*+-]) .*\S \1 \S", words) or \
           ordered and f" {int(ordered[1]) + 1}. " in words:
            wrong.append((number, "a list in running text"))
        if line.startswith("    ") and before.strip() and not before.startswith("  ") and not ITEM.match(before) and not ITEM.match(line):
            wrong.append((number, "running text that is indented like code"))
        before = line
    if table == 1:
        wrong.append((len(text), "a table in a single line"))
    return wrong + ([(fence, "a code fence that is not closed")] if fence else [])


def unnoticed(text):
    """What of this document could be mangled without mangled() noticing: the check has to be able to fail."""
    inside, blocks, fences = False, [], []
    for at, line in enumerate(text):
        if FENCE.match(line):
            inside = not inside
            fences.append(at)
        elif not inside and (line.startswith("|") or ITEM.match(line) and not line.startswith(" ")):
            kind = "table" if line.startswith("|") else "list"
            if blocks and blocks[-1][0] == kind and blocks[-1][2] == at:
                blocks[-1][2] = at + 1
            else:
                blocks.append([kind, at, at + 1])
    out = [f"the {kind} in line {first + 1}" for kind, first, last in blocks
           if last - first > 1 and not mangled(text[:first] + [" ".join(text[first:last])] + text[last:])]
    return out + [f"the fence in line {at + 1}" for at in fences[-1:] if not mangled(text[:at] + text[at + 1:])]


def main():
    checks = {n.removeprefix("check_"): f for n, f in globals().items() if n.startswith("check_")}
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    wrong, looked_at = checks[sys.argv[1]]()
    print("\n".join(wrong))
    print(f"{sys.argv[1]}: looked at {len(looked_at)}, {len(wrong)} wrong")
    return 1 if wrong or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
