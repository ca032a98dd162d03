#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture lacks, repeats or has in another order must not make anybody guilty who was not before.

Each mutation of a forged capture may lose findings of the original, and may gain notes and warnings that name nobody; a
new accusation (rule and violator, at warning or above) is wrong. Only such mutations are made as tell no other story: one
frame lost, one frame twice, neighbours exchanged that carry sequence numbers, a late start, an early end, a snap length.
"""
import struct

SEVERE = ("warning", "error")


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    records, at = [], 24
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        records.append(data[at : at + 16 + kept])
        at += 16 + kept
    return data[:24], records


def write(path, head, records):
    with open(path, "wb") as file:
        file.write(head + b"".join(records))


def with_time(record, other):
    return other[:8] + record[8:]


def cut(record, snap):
    kept, length = struct.unpack_from("<II", record, 8)
    size = min(kept, snap)
    return record[:8] + struct.pack("<II", size, length) + record[16 : 16 + size]


def mutations(records, shots):
    """-> (name, records)"""
    ordered = ("send", "write", "read", "response")
    for i, shot in enumerate(shots):
        yield f"without frame {i + 1}", records[:i] + records[i + 1 :]
        yield f"frame {i + 1} twice", records[: i + 1] + records[i:]
        if i + 1 == len(records):
            break
        following = shots[i + 1]
        if shot["from"] == following["from"] and shot["part"] in ordered and following["part"] in ordered:
            swapped = [with_time(records[i + 1], records[i]), with_time(records[i], records[i + 1])]
            yield f"frames {i + 1} and {i + 2} exchanged", records[:i] + swapped + records[i + 2 :]
        # Two taps: an acknowledgement stands before what it acknowledges.
        if shot["from"] != following["from"] and shot["part"] in ordered and following["part"] == "ack":
            swapped = [with_time(records[i + 1], records[i]), with_time(records[i], records[i + 1])]
            yield f"frames {i + 1} and {i + 2} exchanged", records[:i] + swapped + records[i + 2 :]
        yield f"from frame {i + 2} on", records[i + 1 :]
        yield f"up to frame {i + 1}", records[: i + 1]
    for snap in (60, 80, 96, 110, 128, 160, 200, 256):
        yield f"cut to {snap} octets", [cut(r, snap) for r in records]


def accusations(document):
    return {(f["rule"], f["violator"]) for f in document["findings"] if f["severity"] in SEVERE and f["violator"]}


def new_accusations(document, known):
    for finding in document["findings"]:
        if finding["severity"] in SEVERE and finding["violator"] and (finding["rule"], finding["violator"]) not in known:
            yield f"{finding['severity']} {finding['rule']} by {finding['violator']} at frame {finding['frames']}: {finding['message']}"
