#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cost.py --plugin SO --multiply PATH [--frames N] [--runs N]: what the plugin costs tshark.

`tshark -V` over a capture made by repeating recorded traffic (tests/bench/multiply), with the plugin and without, in one pass and in
two, by turns; the best processor time of each counts, repeated while it is too much, and the largest memory. The ratio may be 1.25 (--most).
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

ATTEMPTS = 8  # times --runs: beside busy neighbours a run may take twice its processor time


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--multiply", required=True)
    options.add_argument("--frames", type=int, default=20000)
    options.add_argument("--runs", type=int, default=2)
    options.add_argument("--most", type=float, default=1.25)
    options.add_argument("captures", nargs="*", default=["siw-nfs41-big-rw", "rxe-nfs41-basic"])
    given = options.parse_args()
    too_slow = 0
    with tshark.Tshark(given.plugin) as ours, tshark.Tshark() as stock, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in given.captures:
            path = os.path.join(folder, name + ".pcap")
            subprocess.run([given.multiply, "many", str(given.frames), harness.capture(name), path], check=True, stdout=subprocess.DEVNULL)
            os.chmod(path, 0o644)
            for passes in (1, 2):
                arguments = [*(["-2"] if passes == 2 else []), "-V", "-r", path]
                best, memory = {}, {}
                for attempt in range(ATTEMPTS * given.runs):
                    for which, shark in (("plugin", ours), ("stock", stock)):
                        run = shark.measured(*arguments)
                        if run.status != 0:
                            print(f"WRONG {name}: tshark ends with {run.status}")
                            return 1
                        best[which] = min(best.get(which, run.seconds), run.seconds)
                        memory[which] = max(memory.get(which, 0), run.memory)
                    # More runs than planned only while others on the machine may be what is measured.
                    if attempt + 1 >= given.runs and best["plugin"] <= given.most * best["stock"]:
                        break
                ratio = best["plugin"] / best["stock"]
                print(f"{name}, {passes} pass: {best['plugin']:.2f} s with the plugin, {best['stock']:.2f} s without: {ratio:.2f}; memory "
                      f"{memory['plugin'] >> 20} MiB and {memory['stock'] >> 20} MiB: {memory['plugin'] / memory['stock']:.2f}")
                if ratio > given.most:
                    print(f"    WRONG more than {given.most}")
                    too_slow += 1
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
