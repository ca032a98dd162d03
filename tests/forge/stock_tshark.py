#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stock_tshark.py --forge PATH [--transport NAME]... [SCENARIO...]: stock Wireshark reads what was forged.

All scenarios on one fabric stand in one capture, which one tshark reads: RPC-over-RDMA in exactly the frames where the forge put it, and
nothing malformed below RPC. Wireshark's own faults are known (NFS READ replies with Write chunks are dissected twice, odd TCP segments
are passed over): so what RPC and NFS say is not judged. A scenario's `tshark: {skip}` and `{blind_on}` say what Wireshark cannot read.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import forge as forging  # noqa: E402
import tshark  # noqa: E402

# All but iwarp-split: Wireshark passes over segments that are cut so oddly.
FABRICS = ("rocev2", "rocev2-ipv6", "rocev2-vlan", "rocev1", "infiniband", "iwarp", "iwarp-rev1-crc", "iwarp-markers")
FIELDS = ["frame.number", "frame.protocols", "_ws.malformed", "rpcordma.xid"]


def read(forge, shark, chosen, fabric, folder):
    """-> {scenario: [complaints]}, of every scenario that the fabric has."""
    paths = [path for path, scenario in chosen.items() if forging.plays_on(scenario, fabric)
             and forging.family(fabric) not in (scenario.get("tshark") or {}).get("blind_on", [])]
    complaints = {path: [] for path in paths}
    if not paths:
        return complaints
    reel = forging.Reel(forge, paths, fabric, os.path.join(folder, fabric + ".pcap"))
    for path, why in reel.left_out.items():
        complaints[path].append(f"was not played: {why}")
    rows, done = shark.rows(reel.capture, FIELDS, display_filter="rpcordma or _ws.malformed")
    if done.status != 0:
        raise SystemExit(f"{fabric}: tshark ends with {done.status}: {done.errors[-400:]}")
    seen = {story["scenario"]: [] for story in reel.stories}
    for row in rows:
        number, protocols = int(row["frame.number"][0]), row["frame.protocols"][0]
        story = reel.story(number)
        if row["rpcordma.xid"]:
            seen[story["scenario"]].append(number)
        if row["_ws.malformed"] and not {"rpc", "nfs"} & set(protocols.split(":")):
            complaints[story["scenario"]].append(f"frame {number - story['first'] + 1} malformed: {protocols}")
    for story in reel.stories:
        first, found = story["first"] - 1, seen[story["scenario"]]
        if found != story["rpcrdma_frames"]:
            complaints[story["scenario"]].append(f"rpcordma in frames {[n - first for n in found]}, not "
                                                 f"{[n - first for n in story['rpcrdma_frames']]}")
    return complaints


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--forge", required=True)
    options.add_argument("--transport", action="append", choices=FABRICS)
    options.add_argument("scenarios", nargs="*")
    given = options.parse_args()
    every = {path: forging.load(path) for path in given.scenarios} or forging.scenarios()
    chosen = {path: scenario for path, scenario in every.items() if "skip" not in (scenario.get("tshark") or {})}
    asked = wrong = 0
    with tshark.Tshark() as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for fabric in given.transport or FABRICS:
            complaints = read(given.forge, shark, chosen, fabric, folder)
            asked += len(complaints)
            for path, lines in complaints.items():
                for line in lines:
                    print(f"WRONG {forging.name_of(path)} on {fabric}: {line}")
                if lines:
                    wrong += 1
                    print("    " + alone.command("--forge", given.forge, "--transport", fabric, path))
    print(f"{len(chosen)} of {len(every)} scenarios, {asked} with their fabrics, {wrong} that stock tshark does not read")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
