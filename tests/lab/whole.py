#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""whole.py --peer PEER: the lab's scripts parse, and its scripts, peers and captures speak of the same stories."""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(ROOT, "captures", "lab")
OURS = re.compile(r"^(?:rxe|siw)-(?:lpeer-|v2-lab-|nfs\d+-lab-)")


def output(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        print(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        sys.exit(1)
    return done.stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True)
    options = parser.parse_args()
    for script in ("run.sh", "guest.sh", "guest-init"):
        output("bash", "-n", os.path.join(LAB, script))
    listed = output("/usr/bin/python3", "-B", os.path.join(LAB, "lab.py"), "--cache", "/", "--out", "/", "--list")
    known = set(output(options.peer, "stories"))
    of_peers = {name.split("-", 1)[1] for name in listed if "-nfs" not in name}
    wrong = [f"{name}: told in only one of peers/*.hpp and peers/stories.txt" for name in sorted(known ^ of_peers)]
    recorded = {name.rsplit(".", 1)[0] for room in ("kernel", "peers", "v2")
                for name in os.listdir(os.path.join(ROOT, "captures", room)) if name.endswith(".pcap") and OURS.match(name)}
    wrong += [f"{name}.pcap: the lab has no such story any more" for name in sorted(recorded - set(listed))]
    if len(listed) != len(set(listed)) or not recorded:
        wrong.append("a story has two captures, or there is none")
    print("\n".join(wrong) or f"{len(listed)} stories, {len(recorded)} of them recorded in captures/")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
