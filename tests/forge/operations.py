#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""operations.py --forge PATH: stock Wireshark reads the NFS operations of the stories to their last octet, as what they were meant to be.

Numbers of operations and statuses are those of RFC 1813, 7862 and 8881. Each message stands alone in its frame.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import forge as forging  # noqa: E402
import tshark  # noqa: E402

FABRICS = ("rocev2", "iwarp")
FIELDS = ["nfs.opcode", "nfs.cb.operation", "nfs.nfsstat4", "nfs.stateid.other", "nfs.synchronous", "nfs.offload_status",
          "nfs.sequence.flags.cb_path_down", "_ws.malformed"]
STATE, OTHER = "112233445566778800000009", "112233445566778800000077"
# (step, what Wireshark must show: field -> values). A list of statuses begins with, or ends with, the COMPOUND's: only its set counts.
SPOKEN = [
    ("call: {nfs4: [sequence, putfh, savefh, putfh, copy], asynchronous: yes}",
     {"nfs.opcode": "53 22 32 22 60", "nfs.stateid.other": f"{STATE} {STATE}", "nfs.synchronous": "0"}),
    ("reply: {stateid: 0x77}",
     {"nfs.opcode": "53 22 32 22 60", "nfs.nfsstat4": "0", "nfs.stateid.other": OTHER, "nfs.synchronous": "0"}),
    ("call: {nfs4: [sequence, putfh, savefh, putfh, copy]}", {"nfs.opcode": "53 22 32 22 60", "nfs.synchronous": "1"}),
    ("reply", {"nfs.opcode": "53 22 32 22 60", "nfs.stateid.other": "", "nfs.synchronous": "1"}),
    ("call: {nfs4: [sequence, offload_status], stateid: 0x77}", {"nfs.opcode": "53 67", "nfs.stateid.other": OTHER}),
    ("reply: {sequence_flags: 0x1}",
     {"nfs.opcode": "53 67", "nfs.offload_status": "", "nfs.sequence.flags.cb_path_down": "1"}),
    ("call: {nfs4: [sequence, offload_status], stateid: 0x77}", {"nfs.opcode": "53 67"}),
    ("reply: {complete: 0}", {"nfs.opcode": "53 67", "nfs.offload_status": "0", "nfs.sequence.flags.cb_path_down": "0"}),
    ("call: {nfs4: [sequence, offload_cancel], stateid: 0x77}", {"nfs.opcode": "53 66", "nfs.stateid.other": OTHER}),
    ("reply", {"nfs.opcode": "53 66", "nfs.nfsstat4": "0"}),
    ("call: {reverse: yes, callback: cb_offload, stateid: 0x77}", {"nfs.cb.operation": "11 15", "nfs.stateid.other": OTHER}),
    ("reply: {reverse: yes}", {"nfs.cb.operation": "11 15", "nfs.nfsstat4": "0"}),
    ("call: {reverse: yes, callback: cb_offload, stateid: 0x77, complete: 5}", {"nfs.cb.operation": "11 15", "nfs.nfsstat4": "5"}),
    ("reply: {reverse: yes, fails: cb_sequence, nfs_status: 10008}", {"nfs.cb.operation": "11", "nfs.nfsstat4": "10008"}),
    ("call: {reverse: yes, callback: cb_recall, stateid: 0x77}", {"nfs.cb.operation": "11 4", "nfs.stateid.other": OTHER}),
    ("reply: {reverse: yes, nfs_status: 10025}", {"nfs.cb.operation": "11 4", "nfs.nfsstat4": "0 10025"}),
    ("call: {nfs4: [sequence, putfh, delegreturn], stateid: 0x77}", {"nfs.opcode": "53 22 8", "nfs.stateid.other": OTHER}),
    ("reply", {"nfs.opcode": "53 22 8", "nfs.nfsstat4": "0"}),
    ("call: {reverse: yes, callback: cb_layoutrecall, stateid: 0x77}", {"nfs.cb.operation": "11 5", "nfs.stateid.other": OTHER}),
    ("reply: {reverse: yes}", {"nfs.cb.operation": "11 5", "nfs.nfsstat4": "0"}),
    ("call: {nfs4: [sequence, putfh, layoutreturn], stateid: 0x77}", {"nfs.opcode": "53 22 51", "nfs.stateid.other": OTHER}),
    ("reply", {"nfs.opcode": "53 22 51", "nfs.nfsstat4": "0"}),
    ("call: {nfs4: [sequence, putrootfh, lookup, access, savefh, restorefh, getattr]}", {"nfs.opcode": "53 24 15 3 32 31 9"}),
    ("reply", {"nfs.opcode": "53 24 15 3 32 31 9", "nfs.nfsstat4": "0"}),
    ("call: {nfs4: [sequence, putrootfh, lookup, getattr]}", {"nfs.opcode": "53 24 15 9"}),
    ("reply: {fails: lookup, nfs_status: 2}", {"nfs.opcode": "53 24 15", "nfs.nfsstat4": "0 2"}),
]


def story():
    return "title: operations\nsteps:\n  - connect\n" + "".join(f"  - {step}\n" for step, _ in SPOKEN)


def wrong_with(row, wanted):
    for field, values in wanted.items():
        found = row[field]
        if field == "nfs.nfsstat4":
            same = set(found) == set(values.split())
        else:
            same = found == values.split()
        if not same:
            yield f"{field} is {' '.join(found) or 'nothing'}, not {values or 'nothing'}"
    if row["_ws.malformed"]:
        yield "malformed"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--forge", required=True)
    given = options.parse_args()
    wrong = 0
    with tshark.Tshark() as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "operations.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(story())
        for fabric in FABRICS:
            reel = forging.Reel(given.forge, [path], fabric, os.path.join(folder, fabric + ".pcap"))
            rows, done = shark.rows(reel.capture, FIELDS, display_filter="rpc")
            if done.status != 0 or len(rows) != len(SPOKEN):
                raise SystemExit(f"{fabric}: {len(rows)} messages of {len(SPOKEN)}, tshark ends with {done.status}")
            for (step, wanted), row in zip(SPOKEN, rows):
                for line in wrong_with(row, wanted):
                    print(f"WRONG {fabric}, '{step}': {line}")
                    wrong += 1
    print(f"{len(SPOKEN)} messages on {len(FABRICS)} fabrics, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
