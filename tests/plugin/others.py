#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""others.py --plugin SO --forge PATH [CAPTURE...]: captures without RPC-over-RDMA look as they do without the plugin.

The packet list and `tshark -V` with the plugin against stock tshark, in one pass and two: forged connections of other users of RDMA on
every fabric, what `foreign/` makes of everything else, and the CAPTURES. Stock tshark has to call each what it is meant to be. Where its
own RPC-over-RDMA dissector meddles with other protocols' Sends, the output is that of a stock tshark whose dissector is switched off.
How often it meddles is counted:
  B8  any Send of less than 16 octets is called malformed
  B9  a Send that is not ours is taken, and then not shown at all
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "harness"), os.path.join(os.path.dirname(HERE), "formats")]
import alone  # noqa: E402
import tshark  # noqa: E402
import tunnels as wrapping  # noqa: E402
from foreign import elsewhere, infiniband, iwarp, rpc, wrapped  # noqa: E402
from foreign.capture import Foreign, written  # noqa: E402

SWITCHED_OFF = ["--disable-heuristic", "rpcrdma_infiniband", "--disable-heuristic", "rpcrdma_iwarp"]
BEHIND_A_FRAME = "--- behind a frame ---"
FABRICS = ("rocev2", "rocev2-ipv6", "rocev2-vlan", "rocev1", "infiniband", "iwarp", "iwarp-rev1-crc", "iwarp-markers", "iwarp-split")
# What stock tshark calls them on InfiniBand and RoCE, and on iWARP.
STORIES = {"other-users": ("infiniband", "iwarp_mpa"), "nvme-over-rdma": ("nvme-rdma", "tcp"), "iser": ("iser iscsi", "iwarp_mpa"),
           "smb-direct": ("smb_direct smb2", "smb_direct smb2"), "lnet": ("lnet", "iwarp_mpa"), "rds": ("infiniband", "iwarp_mpa")}


def forged(forge, folder):
    """{path: what it shows}"""
    out = {}
    for story, shows in STORIES.items():
        for fabric in FABRICS:
            # Wireshark reads native InfiniBand from ERF files only.
            options, ending = (["--erf"], "erf") if fabric == "infiniband" else ([], "pcap")
            path = os.path.join(folder, f"{story}-{fabric}.{ending}")
            subprocess.run([forge, os.path.join(HERE, "stories", story + ".yaml"), "--transport", fabric, "--out", path, *options], check=True)
            out[path] = Foreign(shows[fabric.startswith("iwarp")])
    return out


def made(forge, folder):
    """{path: its Foreign}"""
    out = forged(forge, folder)
    inside = [octets for name in ("smb-direct-rocev2", "iser-rocev1", "smb-direct-iwarp-markers", "lnet-iwarp-split")
              for _, octets, _ in wrapping.Capture(name, os.path.join(folder, name + ".pcap")).frames]
    for captures in (infiniband.CAPTURES, iwarp.CAPTURES, rpc.CAPTURES, elsewhere.CAPTURES, wrapped.captures([*elsewhere.MIXED, *inside])):
        out |= written(captures, folder)
    return out


def frames_of(output):
    """The line of the packet list and all below it, as one text a frame."""
    return output.split(f"{BEHIND_A_FRAME}\n")


def lacking(stock, path, capture):
    """What stock tshark should call frames of it, and does not: the comparison would be one over nothing."""
    wanted = set(capture.shows.split())
    for row in stock.rows(path, ["frame.protocols"])[0]:
        wanted -= set(row["frame.protocols"][0].split(":"))
    return [f"stock tshark shows no {name} in it" for name in sorted(wanted)]


def check(ours, stock, path, capture):
    wrong, meddled = [], {"B8": 0, "B9": 0}
    for passes in (1, 2):
        arguments = [*(["-2"] if passes == 2 else []), "-P", "-V", "-S", BEHIND_A_FRAME, "-r", path]
        mine, theirs, without = ours.run(*arguments), stock.run(*arguments), stock.run(*arguments, *SWITCHED_OFF)
        if mine.status or theirs.status:
            wrong.append(f"{passes} pass: tshark ends with {mine.status}, stock with {theirs.status}: {mine.errors[-300:]}")
        for number, (a, b, c) in enumerate(zip(*(frames_of(r.output) for r in (mine, theirs, without)), strict=True), start=1):
            if b != c:
                meddled["B8" if "Malformed" in b else "B9"] += 1
            if a not in (b, c):
                lines = [d for d in difflib.unified_diff(c.splitlines(), a.splitlines(), lineterm="", n=0)][2:8]
                wrong.append(f"{passes} pass: frame {number}: {lines}")
            elif b != c and a == b and not capture.left_to_stock:
                wrong.append(f"{passes} pass: frame {number}: the built-in's fault is still there")
    return wrong, meddled


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--forge", required=True)
    options.add_argument("--only", default="", help="regular expression for names")
    options.add_argument("captures", nargs="*")
    given = options.parse_args()
    failed = 0
    with (tshark.Tshark(given.plugin, one_start=given.one_start) as ours, tshark.Tshark(one_start=given.one_start) as stock,
          tempfile.TemporaryDirectory() as folder):
        os.chmod(folder, 0o755)
        captures = made(given.forge, folder) | {path: Foreign("") for path in given.captures}
        captures = {path: capture for path, capture in captures.items() if re.search(given.only, os.path.basename(path))}
        # For all first: a tshark stands for each set of options, and not for as many at once as are needed below.
        not_shown = {path: lacking(stock, path, capture) for path, capture in captures.items()}
        seen = {"B8": 0, "B9": 0}
        for path, capture in captures.items():
            name = os.path.basename(path)
            wrong, meddled = check(ours, stock, path, capture)
            wrong = not_shown[path] + wrong
            print(f"{name:56} stock's own faults, in both passes: {meddled}")
            for line in wrong[:12]:
                print(f"    WRONG {line}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, "--forge", given.forge, "--only", f"^{re.escape(name)}$", *given.captures))
            failed += bool(wrong)
            seen = {k: seen[k] + meddled[k] for k in seen}
    print(f"{len(captures)} captures, {failed} shown differently")
    if not given.only and not (seen["B8"] and seen["B9"]):
        print("stock tshark has lost a fault that is counted here: the lists in this file are out of date")
        failed += 1
    return 1 if failed or not captures else 0


if __name__ == "__main__":
    sys.exit(main())
