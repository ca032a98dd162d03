#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every relative link in a Markdown file of the tree leads to a file or folder that is there."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "style"))
import tree  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def main():
    links, wrong = 0, []
    for name in (n for n in tree.files() if n.endswith(".md")):
        with open(os.path.join(tree.ROOT, name), encoding="utf-8") as handle:
            text = re.sub(r"^```.*?^```$", "", handle.read(), flags=re.M | re.S)
        for target in LINK.findall(text):
            if "://" in target or target.startswith("mailto:"):
                continue
            links += 1
            if not os.path.exists(os.path.join(tree.ROOT, os.path.dirname(name), target)):
                wrong.append(f"{name}: {target} is not there")
    print("\n".join(wrong))
    print(f"{links} links, {len(wrong)} lead nowhere")
    return 1 if wrong or not links else 0


if __name__ == "__main__":
    sys.exit(main())
