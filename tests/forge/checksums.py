#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""checksums.py --forge PATH [--transport NAME]...: the forge's ICRCs against an independent reading of the checksum (icrc.py).

The same story twice gives the same file, on every fabric, also with wrapping sequence numbers. Recorded captures prove the reading.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402
import icrc  # noqa: E402

STORY = os.path.join(forging.SCENARIOS, "healthy-nfs3.yaml")


def forged(forge, transport, extra, capture):
    subprocess.run([forge, STORY, "--transport", transport, "--out", capture, *extra], check=True)
    with open(capture, "rb") as file:
        return file.read()


def complaints(given, transport, folder):
    for extra in ([], ["--wrap"]):
        capture = os.path.join(folder, f"{forging.name_of(STORY)}-{transport}{''.join(extra)}.pcap")
        if forged(given.forge, transport, extra, capture) != forged(given.forge, transport, extra, capture):
            yield f"{capture}: another file the second time"
        if forging.family(transport) == "ib" and icrc.main([capture]):
            yield f"{capture}: an ICRC is wrong"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--forge", required=True)
    options.add_argument("--transport", action="append")
    given = options.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for transport in given.transport or forging.transports(given.forge):
            for complaint in complaints(given, transport, folder):
                wrong += 1
                print(f"WRONG {complaint}\n    {alone.command('--forge', given.forge, '--transport', transport)}")
    recorded = sorted(glob.glob(os.path.join(harness.ROOT, "captures", "kernel", "rxe-*.pcap")))[:3]
    if icrc.main(recorded):
        wrong += 1
        print("WRONG the reading of the checksum does not fit recorded captures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
