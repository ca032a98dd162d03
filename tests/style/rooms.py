#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rooms.py: which room of the analyzer may include which, and what belongs into rules only.

A room includes what stands left of it, and defines what its headers declare. What is said about a capture is said in rules/ and cause/, and nowhere else. A struct
of the referee that needs more than three bools has states without a name.
"""
import os
import re
import sys

import tree

LIBRARIES = ("wire", "trace", "referee", "report")
REFEREE = ("packed", "state", "docket", "message", "rules", "cause", "mount", "exchange")
# What every room of the referee may include: facts, options and the names of the rules.
COMMON = {"facts.hpp", "options.hpp", "observer.hpp", "held_finding.hpp", "rules/list.hpp", "rules/table.hpp"}
INCLUDE = re.compile(r'^#include "([a-z]+)/([a-z_0-9/]+\.hpp)"', re.M)
STRUCT = re.compile(r"^\s*(?:struct|class) (\w+)")
BOOL = re.compile(r"^\s*(?:mutable )?bool (\w+[^()]*);")
MOST_BOOLS = 3
# A function that begins a line, up to what follows its parameters.
FUNCTION = {end: re.compile(r"^(?!using|return|else)[\w\[][\w\[\]:<>*&, ]*[ *&](\w+)\([^;{}]*\)(?: const)?(?: noexcept)? ?" + end, re.M)
            for end in ";{"}
SPEAKS = re.compile(r"\bsay\(\s*RuleId::")


def text(name):
    with open(os.path.join(tree.ROOT, name), encoding="utf-8") as handle:
        return handle.read()


def upward(name, content):
    """Includes against the order."""
    parts = name.split("/")[1:]  # behind analyzer/
    for library, header in INCLUDE.findall(content):
        target = f"{library}/{header}"
        if library in LIBRARIES and parts[0] in LIBRARIES and LIBRARIES.index(library) > LIBRARIES.index(parts[0]):
            yield f"{name}: includes {target}, which stands above it"
        if library == "referee" and parts[0] == "referee" and len(parts) > 2 and header not in COMMON:
            room = header.split("/")[0] if "/" in header else None
            if room is None or REFEREE.index(room) > REFEREE.index(parts[1]):
                yield f"{name}: includes {target}, which stands above it"


def elsewhere(texts):
    """Functions that a header of one room of the referee declares, and another room defines: a way around the order."""
    defined = {}  # name: rooms
    for name, content in texts.items():
        if name.endswith(".cpp"):
            for function in FUNCTION["{"].findall(content):
                defined.setdefault(function, set()).add(name.split("/")[2])
    for name, content in texts.items():
        if name.endswith(".hpp"):
            for function in FUNCTION[";"].findall(content):
                rooms = defined.get(function, set())
                if rooms and name.split("/")[2] not in rooms:
                    yield f"{name}: declares {function}, which {' and '.join(sorted(rooms))} defines"


def flagged(name, content):
    """Structs and classes with too many bools of their own; nested ones count for themselves."""
    open_structs = []  # [name, depth behind its brace, bools]
    depth = 0
    for line in content.splitlines():
        code = line.split("//")[0]
        begins = STRUCT.match(code)
        if begins and "{" in code:
            open_structs.append([begins[1], depth + 1, 0])
        elif open_structs and depth == open_structs[-1][1]:
            found = BOOL.match(code)
            open_structs[-1][2] += found[1].count(",") + 1 if found else 0
        depth += code.count("{") - code.count("}")
        while open_structs and depth < open_structs[-1][1]:
            struct, _, bools = open_structs.pop()
            if bools > MOST_BOOLS:
                yield f"{name}: {struct} has {bools} bools; its states want names"


def main():
    names = [n for n in tree.cxx_files() if n.startswith("analyzer/") and n.split("/")[1] in LIBRARIES]
    rooms = {n: text(n) for n in names if n.startswith("analyzer/referee/") and n.count("/") == 3}
    wrong = list(elsewhere(rooms))
    for name in names:
        content = text(name)
        wrong += upward(name, content)
        if name.startswith("analyzer/referee/"):
            wrong += flagged(name, content)
        if SPEAKS.search(content) and not name.startswith(("analyzer/referee/rules/", "analyzer/referee/cause/")):
            wrong.append(f"{name}: says a finding; that belongs into rules/ or cause/")
    print("\n".join(wrong))
    print(f"rooms: looked at {len(names)}, {len(wrong)} wrong")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
