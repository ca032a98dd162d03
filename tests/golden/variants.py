#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""variants.py --analyzer PATH [--seeds N] [--one CAPTURE]: what a capture lacks, repeats or has in another order makes nobody guilty.

Of every recorded capture a number of variants is made in memory and given to the analyzer on standard input: one frame or one
in a hundred lost, a late start, an early end, a snap length, frames twice, neighbours of one direction exchanged. A variant
may lose findings of the original, and what stays may weaken: an accusation of the original may become a warning that names
nobody. Any other warning or error that the original lacks is wrong.
"""
import argparse
import concurrent.futures
import json
import os
import random
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402

LEAST = 2000          # variants in all; fewer mean that this test tests nothing
LARGEST = 400_000     # octets of a capture: a larger one costs more than it shows
ETHERNET = 1
SEVERE = ("warning", "error")


def ordered(record):
    """The sender of a frame that carries a sequence number of its direction; None for all others."""
    frame = record[16:]
    if len(frame) < 60 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45:
        return None
    if frame[23] == 17 and frame[36:38] == b"\x12\xb7":
        queue_pair = int.from_bytes(frame[47:50], "big")
        return frame[26:30] if frame[42] < 0x18 and frame[42] != 0x11 and queue_pair > 1 else None
    if frame[23] == 6:
        plain = frame[47] & 0x07 == 0  # no SYN, FIN or RST
        data = struct.unpack(">H", frame[16:18])[0] - 20 - (frame[46] >> 4) * 4
        return frame[26:30] if plain and data > 0 else None
    return None


def with_time(record, other):
    return other[:8] + record[8:]


def lose_one(chance, header, records):
    at = chance.randrange(len(records))
    return f"without frame {at + 1}", records[:at] + records[at + 1:]


def lose_some(chance, header, records):
    gone = set(chance.sample(range(len(records)), max(1, len(records) // 100)))
    return f"without frames {sorted(i + 1 for i in gone)}", [r for i, r in enumerate(records) if i not in gone]


def lose_run(chance, header, records):
    # A tap loses bursts under load. In a capture of a few frames a burst takes whole exchanges with all that would show it.
    if len(records) < 200:
        return lose_one(chance, header, records)
    at = chance.randrange(len(records) // 2)
    count = chance.randint(2, 12)
    return f"without frames {at + 1} to {at + count}", records[:at] + records[at + count:]


def late_start(chance, header, records):
    at = chance.randrange(1, len(records))
    return f"from frame {at + 1} on", records[at:]


def early_end(chance, header, records):
    at = chance.randrange(1, len(records))
    return f"up to frame {at}", records[:at]


def snap(chance, header, records):
    length = chance.choice((60, 70, 80, 96, 110, 128, 150, 180, 256, 400, 700))
    return f"cut to {length} octets", [pcapfile.snapped(header, r, length) for r in records]


def twice(chance, header, records):
    again = {i for i in range(len(records)) if chance.random() < 0.2}
    return f"frames {sorted(i + 1 for i in again)[:8]} and more twice", [r for i, record in enumerate(records) for r in [record] * (2 if i in again else 1)]


def exchange(chance, header, records):
    places = [i for i in range(len(records) - 1) if ordered(records[i]) and ordered(records[i]) == ordered(records[i + 1])]
    changed, said = list(records), []
    for at in chance.sample(places, min(len(places), 3)):
        if any(abs(at + 1 - earlier) < 2 for earlier in said):
            continue
        changed[at], changed[at + 1] = with_time(changed[at + 1], changed[at]), with_time(changed[at], changed[at + 1])
        said.append(at + 1)
    return f"frames {said} exchanged with their successors", changed


MUTATIONS = (lose_one, lose_some, lose_run, late_start, early_end, snap, twice, exchange)


def judge(analyzer, octets):
    done = subprocess.run([analyzer, "--json", "--no-progress", "-"], input=octets, capture_output=True, timeout=120, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, None


def accusations(document):
    return {(f["rule"], f["violator"]) for f in document["findings"] if f["severity"] in SEVERE}


def one_capture(analyzer, path, seeds):
    """-> (number of variants, complaints)"""
    try:
        header, records = pcapfile.read(path)
    except ValueError:
        return 0, []
    if len(records) < 4 or struct.unpack("<I", header[20:24])[0] & 0xFFFF != ETHERNET:
        return 0, []
    status, whole = judge(analyzer, header + b"".join(records))
    if whole is None:
        return 0, [f"{path}: no document, exit status {status}"]
    known = accusations(whole)
    count, wrong = 0, []
    for seed in range(seeds):
        for mutation in MUTATIONS:
            name = harness.stem(path)
            chance = random.Random(zlib.crc32(f"{name} {mutation.__name__} {seed}".encode()))
            what, changed = mutation(chance, header, records)
            status, document = judge(analyzer, header + b"".join(changed))
            count += 1
            if document is None or status not in (0, 1, 3):
                wrong.append(f"{name}, {what}: exit status {status}")
                continue
            for f in document["findings"]:
                weakened = f["violator"] is None and f["severity"] == "warning" and known
                if f["severity"] in SEVERE and (f["rule"], f["violator"]) not in known and not weakened:
                    wrong.append(f"{name}, {what}: {f['severity']} {f['rule']} by {f['violator']} at {f['frames']}: {f['message'][:160]}")
    return count, wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--one", help="only the capture of this name")
    given = options.parse_args()
    paths = [p for p in harness.captures() if os.path.getsize(p) <= LARGEST and given.one in (None, harness.stem(p))]
    total, wrong = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, complaints in pool.map(lambda p: one_capture(given.analyzer, p, given.seeds), paths):
            total += count
            wrong += complaints
    print("\n".join(wrong[:80]))
    print(f"{total} variants of {len(paths)} captures, {len(wrong)} things wrong")
    return 1 if wrong or (given.one is None and total < LEAST) else 0


if __name__ == "__main__":
    sys.exit(main())
