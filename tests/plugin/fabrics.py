#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fabrics.py --plugin SO --analyzer PATH --forge PATH: the same story on every fabric, and recorded ones from their middle.

Scenarios are forged for RoCEv2 (also with wrapping PSNs), RoCEv1, InfiniBand and iWARP (FPDUs that share segments, are cut by them, have
markers; wrapping sequence numbers), some with frames in the wrong order; recorded captures lose their handshakes, or have neighbours
exchanged. Each is then compared as captures.py does: nothing malformed, no operation unknown whose Call is there, everything shown
once, the analyzer's Calls, Replies, private data and findings. Every RPC message is shown, except where the capture lacks octets.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import captures  # noqa: E402
import pcapfile  # noqa: E402
import tshark  # noqa: E402

SCENARIOS = os.path.join(HERE, "..", "..", "captures", "scenarios")
STORIES = [*(os.path.join(SCENARIOS, s + ".yaml") for s in ("healthy-nfs3", "healthy-nfs41", "capture-reordered")),
           os.path.join(HERE, "stories", "wrong-pads.yaml"),
           os.path.join(HERE, "stories", "offered-reply.yaml"), os.path.join(HERE, "stories", "long-messages.yaml")]
PADDED_READS = [1001, 1003, 777]
CUT = ["rxe-nfs3-basic", "rxe-nfs41-cb-recall", "siw-nfs41-basic", "siw-nfs3-ipv6", "siw-nfs41-mpa-crc", "siw-nfs41-reseg-both-crc"]
EXCHANGED = ["rxe-nfs3-basic", "rxe-nfs41-ipv6"]


def forged(forge, folder):
    every = subprocess.run([forge, "--list-transports"], capture_output=True, text=True, check=True).stdout.split()
    for story in STORIES:
        for transport in every:
            # Wireshark reads native InfiniBand from ERF files only.
            plays = [(["--erf"], "erf")] if transport == "infiniband" else [([], "pcap")]
            if story != STORIES[-1] and transport not in ("rocev2", "infiniband", "iwarp-split"):
                continue
            if transport in ("rocev2", "iwarp"):
                plays.append((["--wrap"], "pcap"))
            for options, ending in plays:
                capture = os.path.join(folder, f"{harness.stem(story)}-{transport}{''.join(options).replace('--', '-')}.{ending}")
                done = subprocess.run([forge, story, "--transport", transport, "--out", capture, *options], capture_output=True, check=False)
                if done.returncode == 0 and os.path.exists(capture):
                    yield capture


def from_the_middle(folder):
    for name in CUT:
        header, records = pcapfile.read(harness.capture(name))
        handshake = max(c["private_data"]["server"]["frame"] for c in harness.expectation(harness.capture(name))["connections"])
        path = os.path.join(folder, f"{name}-from-frame-{handshake + 2}.pcap")
        pcapfile.write(path, header, records[handshake + 1:])
        yield path


def exchanged(folder):
    """Some neighbours change places behind the handshake, each keeping its octets."""
    for name in EXCHANGED:
        header, records = pcapfile.read(harness.capture(name))
        chance = random.Random(name)
        at = max(c["private_data"]["server"]["frame"] for c in harness.expectation(harness.capture(name))["connections"]) + 2
        while at + 1 < len(records):
            # Of one direction only: no Reply before its Call.
            if chance.random() < 0.3 and records[at][16:28] == records[at + 1][16:28]:
                records[at], records[at + 1] = records[at + 1], records[at]
                at += 1
            at += 1
        path = os.path.join(folder, f"{name}-exchanged.pcap")
        pcapfile.write(path, header, records)
        yield path


def padded_reads(shark, capture):
    """What the READs of wrong-pads.yaml show that is not their data: the count says how much of a chunk is."""
    for passes in (1, 2):
        rows = shark.rows(capture, ["nfs.data"], display_filter="nfs.data", passes=passes)[0]
        shown = [bytes.fromhex(row["nfs.data"][0]) for row in rows]
        # What the forge writes to the beginning of a segment: pattern() in captures/forge/octets.cpp
        written = [bytes((i + i // 251) % 256 for i in range(length)) for length in PADDED_READS]
        if shown != written:
            yield f"pass {passes}: READs show {[len(data) for data in shown]} octets, not {PADDED_READS}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--analyzer", required=True)
    options.add_argument("--forge", required=True)
    options.add_argument("--only", default="", help="regular expression for names")
    given = options.parse_args()
    given.stock = "none"
    failed = shown = 0
    with tshark.Tshark(given.plugin, one_start=given.one_start) as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        paths = [*forged(given.forge, folder), *from_the_middle(folder), *exchanged(folder)]
        paths = [p for p in paths if re.search(given.only, os.path.basename(p))]
        comparison = captures.Comparison(given, shark, None)
        for name, wrong, line, figures in map(comparison.capture, paths):
            count = sum(figures[0][2].rpc.values()) if figures else 0
            if name.startswith("wrong-pads"):
                wrong = [*wrong, *padded_reads(shark, next(p for p in paths if os.path.basename(p).startswith(name)))]
            print(f"{name:55} {line}  {count} RPC messages")
            for problem in wrong:
                print(f"    WRONG {problem}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, "--analyzer", given.analyzer, "--forge", given.forge,
                                             "--only", f"^{re.escape(name)}$"))
            failed += bool(wrong)
            shown += count
    print(f"{len(paths)} captures, {failed} wrong, {shown} RPC messages")
    return 1 if failed or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
