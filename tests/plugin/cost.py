#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cost.py --plugin SO --multiply PATH [--frames N] [--pairs N]: what the plugin costs tshark.

`tshark -V` over a capture made by repeating recorded traffic (tests/bench/multiply), with the plugin and without, in one pass and in
two. Both run at the same time on one processor: what slows that processor down, neighbours on the machine or its clock, slows both.
The middle of the pairs' ratios of processor time may be 1.2 (--most). One that is more is measured again behind all others, and once more, each
time by twice as many pairs: for minutes at a time a machine may have little of its caches left.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402


def measured(ours, stock, arguments, pairs):
    """Runs with the plugin and without, pair by pair on one processor."""
    processors = sorted(os.sched_getaffinity(0))
    with_it, without = [], []
    for pair in range(pairs):
        processor = processors[pair % len(processors)]
        running = [shark.begin(*arguments, processor=processor) for shark in (ours, stock)]
        for process, runs in zip(running, (with_it, without)):
            runs.append(tshark.Tshark.end(process))
    return with_it, without


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--multiply", required=True)
    options.add_argument("--frames", type=int, default=20000)
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--most", type=float, default=1.2)
    options.add_argument("captures", nargs="*", default=["siw-nfs41-big-rw", "rxe-nfs41-basic"])
    given = options.parse_args()
    with tshark.Tshark(given.plugin) as ours, tshark.Tshark() as stock, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        waiting = []
        for name in given.captures:
            path = os.path.join(folder, name + ".pcap")
            subprocess.run([given.multiply, "many", str(given.frames), harness.capture(name), path], check=True, stdout=subprocess.DEVNULL)
            os.chmod(path, 0o644)
            waiting += [(f"{name}, {passes} pass", [*(["-2"] if passes == 2 else []), "-V", "-r", path]) for passes in (1, 2)]
        for pairs in (given.pairs, 2 * given.pairs, 4 * given.pairs):
            too_slow = []
            for what, arguments in waiting:
                with_it, without = measured(ours, stock, arguments, pairs)
                failed = [run.status for run in (*with_it, *without) if run.status != 0]
                if failed:
                    print(f"WRONG {what}: tshark ends with {failed[0]}")
                    return 1
                ratios = sorted(a.seconds / b.seconds for a, b in zip(with_it, without))
                ratio = statistics.median(ratios)
                memory = [max(run.memory for run in runs) for runs in (with_it, without)]
                print(f"{what}: {ratio:.2f} times the processor time without the plugin ({ratios[0]:.2f} to {ratios[-1]:.2f}); "
                      f"memory {memory[0] >> 20} MiB and {memory[1] >> 20} MiB: {memory[0] / memory[1]:.2f}")
                if ratio > given.most:
                    too_slow.append((what, arguments))
            waiting = too_slow
    for what, _ in waiting:
        print(f"    WRONG {what}: more than {given.most}")
    return 1 if waiting else 0


if __name__ == "__main__":
    sys.exit(main())
