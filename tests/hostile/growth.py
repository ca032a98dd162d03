#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""growth.py [--build FOLDER] [--analyzer FILE] [--short] [SHAPE...]: what hostile shapes cost when they grow.

Each shape of shapes.py is made on each kind of link at 1, 4 and 16 times its size (--short: a few shapes, 1 and 8 times), and
judged with each kind of report that matters to it. Processor time and peak memory, less what an empty capture takes, may grow
like the size and no faster. The shape `merged` is of many captures with --merge: as many frames in 2 files as in 64. 1: one grew
faster, or the program failed.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

from links import LINKS, Capture, Iwarp, Roce
from shapes import C, S, SHAPES, ask, begin, closed_mounts, segment

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLACK = 1.6  # a sort's logarithm, colder caches
SECONDS = 0.1  # that a busy machine may add to any run
PAIRS = 5  # runs of the least and the most, one right behind the other: a machine's speed changes from one minute to the next
KIBS = 6 * 1024  # that an allocator may keep
OF_SEGMENTS = 6  # octets kept for each octet of a capture of segments: one of 20 is an interval of 16 and what finds it
OF_CONNECTION = 2  # KiB for each that is over, beyond those of the first size
OF_JUNIT = 1.2  # of the memory of JSON, which holds the same
OF_FILE = 256  # KiB of a capture that is read beside others
TOO_LONG = 60  # processor seconds


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (TOO_LONG, TOO_LONG))


def measured(given, paths, form, *options):
    """-> processor seconds, peak KiB"""
    command = [given.peak, given.analyzer, "--format", form, "--no-progress", *options, *paths]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, preexec_fn=limited)
    found = re.fullmatch(r"(\d+) KiB, (\d+) ms of processor time, exit status (\d+)\n", done.stdout)
    if not found:
        return float("inf"), 0  # ended by a signal
    if int(found[3]) not in (0, 1, 3):
        raise SystemExit(f"{' '.join(command)}: exit status {found[3]}")
    return int(found[2]) / 1000, int(found[1])


def too_slow(times, least, most):
    """least, most: -> processor seconds, of one more run. True: each time the most took more than `times` the least."""
    return all(most() > times * least() + SECONDS for _ in range(PAIRS - 1))


def split(path):
    """-> the file's head, its records"""
    with open(path, "rb") as file:
        octets = file.read()
    records, at = [], 24
    while at < len(octets):
        behind = at + 16 + int.from_bytes(octets[at + 8:at + 12], "little")
        records.append(octets[at:behind])
        at = behind
    return octets[:24], records


def capture_of(link, function, size, path):
    """-> octets"""
    capture = Capture(path)
    function(link, capture, size)
    capture.close()
    return capture.size


def grown(given, folder, name, link):
    """True: nothing grew faster than the capture."""
    given_shape = SHAPES[name]
    paths = [os.path.join(folder, f"{times}.pcap") for times in given.times]
    octets = [capture_of(link, given_shape.function, given_shape.size * times, path) for times, path in zip(given.times, paths)]
    ratio = SLACK * octets[-1] / octets[0]
    good = True
    peaks = {}
    for form in given_shape.formats:
        empty_seconds, empty_kib = given.empty[form]
        costs = [measured(given, [path], form) for path in paths]
        seconds = [max(cost[0] - empty_seconds, 0) for cost in costs]
        kibs = [max(cost[1] - empty_kib, 0) for cost in costs]
        least, most = ((lambda path=path, form=form, empty=empty_seconds: max(measured(given, [path], form)[0] - empty, 0))
                       for path in (paths[0], paths[-1]))
        slow = seconds[-1] > ratio * seconds[0] + SECONDS and too_slow(ratio, least, most)
        peaks[form] = kibs[-1]
        large = kibs[-1] > ratio * kibs[0] + KIBS or \
            (name.startswith("segments_") and kibs[-1] * 1024 > OF_SEGMENTS * octets[-1] + KIBS * 1024) or \
            (name == "connections_one_after_the_other" and
             kibs[-1] - kibs[0] > OF_CONNECTION * given_shape.size * (given.times[-1] - 1)) or \
            (form == "junit" and kibs[-1] > OF_JUNIT * peaks["json"] + KIBS)
        good = good and not slow and not large
        print(f"{link.name:6} {name:29} {form:6}", " ".join(f"{size / 1e6:6.2f}" for size in octets), "MB ",
              " ".join(f"{each:6.3f}" for each in seconds), "s ", " ".join(f"{each / 1024:6.1f}" for each in kibs), "MiB",
              *(["TIME"] if slow else []), *(["MEMORY"] if large else []), flush=True)
    return good


def measured_merge(given, paths):
    """-> processor seconds, peak KiB"""
    return measured(given, paths, "text", "--merge")


# How the records of a capture become N files. With one that has them all there are twice as many frames, whatever N is.
DIVISIONS = {
    "in turn": lambda records, n: [records[i::n] for i in range(n)],
    "a ring": lambda records, n: [records[len(records) * i // n:len(records) * (i + 1) // n] for i in range(n)],
    "all the same": lambda records, n: [records[:len(records) // n]] * n,
    "one and a ring": lambda records, n: [records] + DIVISIONS["a ring"](records, n - 1),
    "one and each in turn": lambda records, n: [records] + DIVISIONS["in turn"](records, n - 1),
}
LEAST = {"one and each in turn": 12}  # more than are compared with one


def merged(given, folder, link):
    """True: many files cost no more than few ones with the same frames, but for a bounded buffer each."""
    shape = SHAPES["connections_that_go_on"]
    path = os.path.join(folder, "whole.pcap")
    capture_of(link, shape.function, 300 if given.short else 1000, path)
    head, records = split(path)
    good = True
    for name, divided in DIVISIONS.items():
        costs = []
        numbers = (LEAST.get(name, 2), 64) if given.short else (LEAST.get(name, 2), 24, 64)
        all_paths = []
        for number in numbers:
            paths = []
            for i, part in enumerate(divided(records, number)):
                paths.append(os.path.join(folder, f"merged{number}-{i}.pcap"))
                with open(paths[-1], "wb") as file:
                    file.write(head + b"".join(part))
            all_paths.append(paths)
            costs.append(measured_merge(given, paths))
        slow = costs[-1][0] > SLACK * costs[0][0] + SECONDS and \
            too_slow(SLACK, lambda first=all_paths[0]: measured_merge(given, first)[0],
                     lambda last=all_paths[-1]: measured_merge(given, last)[0])
        large = costs[-1][1] > SLACK * costs[0][1] + OF_FILE * numbers[-1]
        said = True
        if name in LEAST:
            told = subprocess.run([given.analyzer, "--no-progress", "--merge", *paths], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, check=False).stdout
            said = "not compared: at any time a tap is compared with so many others only" in told
        good = good and not slow and not large and said
        print(f"{link.name:6} merged, {name:21} {'/'.join(str(number) for number in numbers):8} files ",
              " ".join(f"{cost[0]:6.3f}" for cost in costs), "s ", " ".join(f"{cost[1] / 1024:6.1f}" for cost in costs), "MiB",
              *(["TIME"] if slow else []), *(["MEMORY"] if large else []), *([] if said else ["NOT SAID"]), flush=True)
    return good


def beyond_the_bound(given, folder):
    """True: the report says how many connections found no room, whatever else was said of the capture before."""
    most, more = 65536, 10
    path = os.path.join(folder, "bound.pcap")
    capture_of(Roce, SHAPES["connections_of_many_clients"].function, most + more, path)
    told = subprocess.run([given.analyzer, "--json", "--no-progress", path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    reasons = [each["reason"] for each in json.loads(told.stdout)["unchecked"] if each["rule"] == "capture-gap"]
    good = any(reason.startswith(f"{most:,} connections") and f" {more} more" in reason for reason in reasons)
    print(f"{most + more} connections at once: {'said' if good else 'NOT SAID'} that {more} were not judged", flush=True)
    return good


def more_segments_than_are_kept(given, folder):
    """True: the report says how many segments found no room, though each connection is far from its own bound; and nobody is
    accused of using them."""
    most, each, calls, connections = 1 << 20, 50_000, 8, 3  # of one share: all connections are of the same two hosts
    path = os.path.join(folder, "segments.pcap")
    capture = Capture(path)
    for x in range(connections):
        c = begin(Iwarp, capture, x)
        for at in range(calls):
            ask(c, 10 + at, writes=[[segment(7, 4, 16 * (each * at + i)) for i in range(each)]])
        c.write(S, 7, 16 * (each * calls - 1), b"abcd")
        c.received(C)
    capture.close()
    more = connections * calls * each - most
    told = json.loads(subprocess.run([given.analyzer, "--json", "--no-progress", path], stdin=subprocess.DEVNULL, capture_output=True,
                                     check=False).stdout)
    reasons = [one["reason"] for one in told["unchecked"] if one["rule"] == "rdma-unknown-handle"]
    good = any(reason.startswith(f"{most:,} segments") and f" {more:,} more" in reason for reason in reasons) and \
        not any(finding["rule"].startswith("rdma-") for finding in told["findings"])
    print(f"{most + more} segments at once: {'said' if good else 'NOT SAID'} that {more} are not known", flush=True)
    return good


def more_mounts_than_are_kept(given, folder):
    """True: nobody is told that none of all mounts hangs, where some are not known."""
    path = os.path.join(folder, "mounts.pcap")
    capture_of(Iwarp, closed_mounts, 9000, path)
    told = json.loads(subprocess.run([given.analyzer, "--json", "--no-progress", path], stdin=subprocess.DEVNULL, capture_output=True,
                                     check=False).stdout)
    kept = len(told["mounts"])
    reasons = [each["reason"] for each in told["unchecked"] if each["rule"] == "call-hangs"]
    good = kept < 9000 and told["verdict"]["state"] == "unknown" and "as many as are kept" in told["verdict"]["sentence"] and \
        any(reason.startswith(f"{kept:,} mounts are kept") for reason in reasons)
    print(f"9000 mounts: {'said' if good else 'NOT SAID'} that only {kept} are known", flush=True)
    return good


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(ROOT, "build"))
    options.add_argument("--analyzer", help="another one than that of the build")
    options.add_argument("--short", action="store_true", help="a few shapes, at 1 and 8 times their size")
    options.add_argument("shapes", nargs="*", metavar="SHAPE", help="without: all")
    given = options.parse_args()
    given.peak = os.path.join(given.build, "tests/bench/peak")
    given.analyzer = given.analyzer or os.path.join(given.build, "rpcrdma-analyzer")
    given.times = (1, 8) if given.short else (1, 4, 16)
    chosen = given.shapes or [name for name, each in SHAPES.items() if each.short or not given.short]
    chosen = [name for name in chosen if name != "merged"]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.pcap")
        Capture(empty).close()
        # Pages of 2 MiB are given or not: beside the most of some runs, what a small capture takes would vanish.
        given.empty = {form: tuple(map(min, *(measured(given, [empty], form) for _ in range(PAIRS))))
                       for form in ("text", "json", "ndjson", "junit")}
        for name in chosen:
            for link in SHAPES[name].links:
                good = grown(given, folder, name, link) and good
        if not given.shapes or "merged" in given.shapes:
            for link in LINKS[:1] if given.short else LINKS:
                good = merged(given, folder, link) and good
        if not given.shapes:
            good = more_mounts_than_are_kept(given, folder) and good
            good = more_segments_than_are_kept(given, folder) and good
        if not given.short and not given.shapes:
            good = beyond_the_bound(given, folder) and good
    if not good:
        print("TIME or MEMORY grew faster than the capture; again, alone: tests/hostile/growth.py SHAPE", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
