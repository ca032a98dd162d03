#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""exports.py --plugin SO: --export-objects rpcrdma,DIR writes the octets that Wireshark's NFS dissector shows.

What a file holds is put together here from the fields of single frames: handle, offset and data of each READ and WRITE.
"""
import argparse
import collections
import hashlib
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

FIELDS = ["frame.number", "rpc.xid", "rpc.msgtyp", "rpc.programversion", "nfs.procedure_v3", "nfs.opcode", "nfs.fh.hash", "nfs.offset3",
          "nfs.offset4", "nfs.data", "rpcordma.payload", "nfs.status3", "nfs.nfsstat4", "nfs.count3", "nfs.count4"]
READ3, WRITE3, READ4, WRITE4 = "6", "7", "25", "38"


def pieces(shark, path):
    """-> {(read or written, file): [(offset, octets)]}, and how many frames could not be told apart."""
    rows, _ = shark.rows(path, FIELDS, display_filter="nfs", passes=2)
    asked, files, unclear = {}, collections.defaultdict(list), 0
    for row in rows:
        if len(row["rpc.xid"]) != 1:
            unclear += 1
            continue
        if row["rpcordma.payload"]:
            continue  # not whole: not exported
        xid, call = row["rpc.xid"][0], row["rpc.msgtyp"] == ["0"]
        octets = [bytes.fromhex(d.replace(":", "")) for d in row["nfs.data"] if d != "<MISSING>"]
        if not call:
            done, file, what = asked.pop(xid, (None, None, None))
            if done == "read" and len(octets) == 1:
                files[done, file].append((what, octets[0]))
            elif done == "written" and not set(row["nfs.status3"] + row["nfs.nfsstat4"]) - {"0"}:
                counts = [int(c, 0) for c in row["nfs.count3"] + row["nfs.count4"]]
                files[done, file] += [(o, d[:c]) for (o, d), c in zip(what, counts if len(counts) == len(what) else map(len, (d for _, d in what)))
                                      if c]
            continue
        version = 3 if row["nfs.procedure_v3"] else 4
        kind = [o for o in row["nfs.opcode"] if o in (READ4, WRITE4)] if version == 4 else row["nfs.procedure_v3"]
        offsets = row["nfs.offset4"] if version == 4 else row["nfs.offset3"]
        if not kind or not offsets:
            continue
        file, offsets = (row["nfs.fh.hash"] or ["found by its name"])[-1], [int(o, 0) for o in offsets]
        if kind in ([READ3], [READ4]):
            asked[xid] = "read", file, offsets[-1]
        elif set(kind) & {WRITE3, WRITE4} and len(kind) == len(offsets) == len(octets):
            asked[xid] = "written", file, list(zip(offsets, octets))
    return files, unclear


def stretches(of_file):
    """Octets that follow each other, from where on."""
    found = []
    for offset, octets in sorted(of_file):
        if found and found[-1][0] + len(found[-1][1]) >= offset:
            begin, before = found[-1]
            found[-1] = begin, before[:offset - begin] + octets + before[offset - begin + len(octets):]
        else:
            found.append((offset, octets))
    return found


def check(shark, path, folder):
    files, unclear = pieces(shark, path)
    if unclear:
        return 0, 0, []  # messages that share a frame
    by_file = collections.defaultdict(list)
    files = {key: of_file for key, of_file in files.items() if of_file}
    for (_, file), of_file in files.items():
        by_file[file] += of_file
    shutil.rmtree(folder, ignore_errors=True)
    done = shark.run("-2", "-q", "-r", path, "--export-objects", f"rpcrdma,{folder}")
    got = {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)} if os.path.isdir(folder) else {}
    wrong = [] if done.status == 0 or "cut short" in done.errors else [f"tshark ends with {done.status}: {done.errors[-200:]}"]
    whole = {n: o for n, o in got.items() if "with-holes" not in n}
    digests = collections.Counter(hashlib.sha256(o).hexdigest() for o in whole.values())
    for file, of_file in by_file.items():
        parts = stretches(of_file)
        if len(parts) > 1:  # then the holes between them are zeros
            begin, end = parts[0][0], parts[-1][0] + len(parts[-1][1])
            octets = bytearray(end - begin)
            for at, part in parts:
                octets[at - begin:at - begin + len(part)] = part
            if bytes(octets) not in got.values():
                wrong.append(f"file {file} with its holes is not exported")
            continue
        digest = hashlib.sha256(parts[0][1]).hexdigest()
        if not digests[digest]:
            wrong.append(f"file {file}: {len(parts[0][1])} octets from {parts[0][0]} are not exported; there are "
                         f"{ {n: len(o) for n, o in got.items()} }")
        digests[digest] -= 1
    if len(got) != len(by_file):
        wrong.append(f"{len(got)} objects of {len(by_file)} files: {sorted(got)}")
    return sum(k == "read" for k, _ in files), sum(k == "written" for k, _ in files), wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("captures", nargs="*")
    given = options.parse_args()
    read = written = failed = looked_at = 0
    with tshark.Tshark(given.plugin, one_start=given.one_start) as shark:
        folder = os.path.join(shark.home, "objects")
        if os.geteuid() == 0:
            os.chown(shark.home, tshark.NOBODY, tshark.NOBODY)
        for path in given.captures or harness.captures():
            of_read, of_written, wrong = check(shark, path, folder)
            looked_at += bool(of_read or of_written)
            read, written, failed = read + of_read, written + of_written, failed + bool(wrong)
            for line in wrong:
                print(f"WRONG {os.path.basename(path)}: {line}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, path))
    print(f"{looked_at} captures with files in them: {read} files read and {written} written, {failed} captures wrong")
    enough = given.captures or (read >= 3 and written >= 3)
    return 1 if failed or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
