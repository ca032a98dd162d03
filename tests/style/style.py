#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""style.py format|licence|length|readmes: rules of the tree that need no compiler.

format   clang-format has nothing to change in any C++ file
licence  each source file names its licence in one of its first three lines
length   no source file is longer than 600 lines unless long_files.txt lists it, with a reason
readmes  the two upper levels of folders, and all of analyzer/, say in a README.md what lives there
"""
import os
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
    return [f"{f}: no README.md" for f in sorted(folders) if f"{f}/README.md" not in names], sorted(folders)


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
