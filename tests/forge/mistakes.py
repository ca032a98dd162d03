#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mistakes.py --forge PATH: a scenario that makes no sense is refused with one line and no file."""
import argparse
import os
import subprocess
import sys
import tempfile

MISTAKES = {
    "a word without a meaning": "title: x\nsteps:\n  - connect\n  - call: {sise: 3}\n",
    "an unknown step": "title: x\nsteps:\n  - connect\n  - sing\n",
    "a reply to nothing": "title: x\nsteps:\n  - connect\n  - reply\n",
    "two steps of one name": "title: x\nsteps:\n  - connect\n  - call: {}\n    as: a\n  - call: {}\n    as: a\n",
    "a message too small for its header": "title: x\nsteps:\n  - connect\n  - call: {size: 20}\n",
    "data before a connection": "title: x\nsteps:\n  - call\n",
    "an attempt that gets what does not exist": "title: x\nsteps:\n  - attempt: perhaps\n",
    "TCP on InfiniBand": "title: x\nsteps:\n  - attempt: withdrawn\n",
    "keep-alive on InfiniBand": "title: x\nsteps:\n  - connect\n  - keep-alive\n",
    "an operation fails that was not asked for": "title: x\nsteps:\n  - connect\n  - call: {nfs4: read}\n"
                                                 "  - reply: {fails: write, nfs_status: 5}\n",
    "a part that no step has is lost": "title: x\nsteps:\n  - connect:\n    lose: [REQ]\n",
    "no title": "steps:\n  - connect\n",
    "not YAML": "title: [x\n",
}
GOOD = "title: x\nsteps:\n  - connect\n  - call\n  - reply\n"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--forge", required=True)
    given = options.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        good, path, out = (os.path.join(folder, n) for n in ("good.yaml", "mistake.yaml", "out.pcap"))
        with open(good, "w", encoding="utf-8") as file:
            file.write(GOOD)
        for what, text in MISTAKES.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([given.forge, path, "--out", out], capture_output=True, text=True, check=False)
            if done.returncode != 2 or not done.stderr.startswith("forge: ") or os.path.exists(out):
                print(f"WRONG {what}: status {done.returncode}, said {done.stderr.strip()!r}, a file: {os.path.exists(out)}")
                wrong += 1
        if subprocess.run([given.forge, good, "--out", out], check=False).returncode or not os.path.exists(out):
            print("WRONG a scenario that makes sense is refused")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
