#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py --programs FOLDER [--seconds N | --each N] [TARGET...]: every libFuzzer program in FOLDER begins with all kept inputs
(their time is not counted), then looks for new ones; with --seconds 0 it only goes through the kept ones.

As many at a time as there are processors, or --at-once; all together look for about N seconds, and where that is less than a
second for each, some of them do, others each time. With --each every one of them looks for N seconds. What is new goes to
FOLDER/found/TARGET, an input that fails to FOLDER/found. How many inputs each target executed is said, and their sum.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def kept(programs, target):
    places = [HERE / "regressions" / target, HERE / "corpus" / target, programs / "seeds" / target]
    return [p for p in places if p.is_dir()]


def run(programs, target, seconds):
    """-> (target, exit status, seconds, everything it said, how to repeat it)"""
    found = programs / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    # Without the schedule by entropy, whose bookkeeping takes three quarters of the time of the larger targets.
    begin = [str(programs / f"fuzz_{target}"), "-timeout=10", "-rss_limit_mb=2048", "-entropic=0"]
    search = [f"-max_total_time={seconds}", "-print_final_stats=1"] if seconds else ["-runs=0"]
    command = [*begin, *search, f"-artifact_prefix={found.parent}/{target}-", str(found), *map(str, kept(programs, target))]
    start = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    written = re.search(r"Test unit written to (\S+)", done.stderr)
    again = [*begin, written.group(1)] if written else command
    return target, done.returncode, time.monotonic() - start, done.stdout + done.stderr, shlex.join(again)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--programs", required=True, type=lambda p: pathlib.Path(p).resolve())
    options.add_argument("--seconds", type=int, default=14)
    options.add_argument("--each", type=int)
    options.add_argument("--at-once", type=int, default=os.cpu_count())
    options.add_argument("targets", nargs="*")
    given = options.parse_args()
    sources = {p.name.removesuffix("_fuzz.cpp") for p in HERE.glob("*_fuzz.cpp")}
    targets = given.targets or sorted(sources)
    missing = [t for t in targets if not (given.programs / f"fuzz_{t}").exists()]
    if missing or not targets:
        sys.exit(f"{given.programs}: no program fuzz_{' fuzz_'.join(missing)}; ./check builds it")

    whole = given.seconds * given.at_once
    each = max(1, whole // len(targets)) if whole else 0
    search = random.sample(targets, min(whole, len(targets)))
    if given.each is not None:
        each, search = given.each, targets
    wrong = executed = 0
    with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
        for target, status, seconds, said, again in pool.map(lambda t: run(given.programs, t, each if t in search else 0), targets):
            initial = re.search(r"INITED.*", said)
            runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
            executed += int(runs.group(1)) if runs else 0
            print(f"{target}: exit status {status}, {seconds:.0f} s, {runs.group(1) if runs else 'kept'} inputs", flush=True)
            if status != 0 or not initial:
                wrong += 1
                print(f"{said}\n{target} failed\nalone: {again}", flush=True)
    print(f"{len(targets)} targets, {executed} inputs executed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
