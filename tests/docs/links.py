#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every relative link in a Markdown file of the tree leads to a file, folder or heading that is there."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "style"))
import tree  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)]*))?\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def headings(path):
    """The names that headings have in links."""
    with open(path, encoding="utf-8") as handle:
        found = re.findall(r"^#+ (.*)$", FENCE.sub("", handle.read()), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


def main():
    links, wrong = 0, []
    for name in (n for n in tree.files() if n.endswith(".md")):
        with open(os.path.join(tree.ROOT, name), encoding="utf-8") as handle:
            text = FENCE.sub("", handle.read())
        for target, heading in LINK.findall(text):
            if "://" in target or target.startswith("mailto:"):
                continue
            links += 1
            path = os.path.join(tree.ROOT, os.path.dirname(name), target) if target else os.path.join(tree.ROOT, name)
            if not os.path.exists(path):
                wrong.append(f"{name}: {target} is not there")
            elif heading and heading not in headings(path):
                wrong.append(f"{name}: {target} has no heading {heading}")
    print("\n".join(wrong))
    print(f"{links} links, {len(wrong)} lead nowhere")
    return 1 if wrong or not links else 0


if __name__ == "__main__":
    sys.exit(main())
