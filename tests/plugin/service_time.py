#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""service_time.py --plugin SO --analyzer PATH [CAPTURE...]: -z rpc,srt counts each operation once, and from the Call.

The table of `-z rpc,srt,PROGRAM,VERSION` against the frames themselves: how many Replies each procedure has, as the analyzer counts
Calls, and the longest time, from the frame of each Call to the frame of its Reply (rpcordma.call_in). In one pass and two.
"""
import argparse
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

CAPTURES = ["rxe-nfs3-big-rw", "rxe-nfs3-basic", "siw-nfs3-ipv6", "siw-nfs3-mpa-p2p", "rxe-nfs41-basic", "siw-nfs41-big-rw"]
ROW = re.compile(r"^(\d+)\s+(.+?)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$")


def table(output):
    """Procedure number -> (count, shortest, longest)."""
    rows = {}
    for line in output.splitlines():
        found = ROW.match(line.strip())
        if found:
            rows[int(found[1])] = (int(found[3]), float(found[4]), float(found[5]))
    return rows


def from_frames(shark, path):
    """(program, version, procedure) -> times in seconds, from the frames where Calls and Replies stand."""
    rows, _ = shark.rows(path, ["frame.number", "frame.time_epoch", "rpc.msgtyp", "rpc.xid", "rpc.program", "rpc.programversion",
                                "rpc.procedure", "rpcordma.direction", "rpcordma.xid"], display_filter="rpcordma.direction or rpc", passes=2)
    sent, times = {}, collections.defaultdict(list)
    for row in rows:
        when = float(row["frame.time_epoch"][0])
        for kind, xid in zip(row["rpcordma.direction"], row["rpcordma.xid"]):
            if kind == "Call":
                sent.setdefault(int(xid, 0), when)
        # Frames with several messages are left to the counts.
        if row["rpc.msgtyp"] == ["1"] and row["rpcordma.direction"] == ["Reply"]:
            xid = int(row["rpc.xid"][0], 0)
            if xid in sent:
                times[tuple(int(row[n][0]) for n in ("rpc.program", "rpc.programversion", "rpc.procedure"))].append(when - sent[xid])
    return times


def check(shark, analyzer, path):
    wrong, shown = [], []
    run = harness.run(analyzer, path)
    calls = collections.Counter()
    for connection in run.connections():
        for p in connection["procedures"]:
            calls[p["program"], p["version"], p["procedure"]] += p["calls"]
    times = from_frames(shark, path)
    for program, version in sorted({k[:2] for k in calls}):
        if program == 0x40000000:
            continue
        for passes in (1, 2):
            done = shark.run(*(["-2"] if passes == 2 else []), "-q", "-r", path, "-z", f"rpc,srt,{program},{version}")
            rows = table(done.output)
            if not rows:
                wrong.append(f"{passes} pass: no table for {program} version {version}: {done.errors[-200:]}")
            for procedure, (count, _, longest) in sorted(rows.items()):
                key = (program, version, procedure)
                if count != calls[key]:
                    wrong.append(f"{passes} pass: {key} is counted {count} times, there are {calls[key]} Calls")
                known = times.get(key)
                if known and len(known) == count and abs(longest - max(known)) > 2e-6:
                    wrong.append(f"{passes} pass: {key} takes {longest} s at most, by its frames {max(known):.6f}")
                shown.append((key, count, longest))
    if not shown:
        wrong.append("nothing to compare")
    return os.path.basename(path), wrong, shown


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--analyzer", required=True)
    options.add_argument("captures", nargs="*")
    given = options.parse_args()
    paths = given.captures or [harness.capture(c) for c in CAPTURES]
    failed = 0
    with tshark.Tshark(given.plugin, one_start=given.one_start) as shark:
        for path in paths:
            name, wrong, shown = check(shark, given.analyzer, path)
            longest = max((s for s in shown), key=lambda s: s[2], default=None)
            print(f"{name}: {len(shown)} rows, the longest {longest}")
            for line in wrong:
                print(f"    WRONG {line}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, "--analyzer", given.analyzer, path))
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
