#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""payloads.py --plugin SO [--folder FOLDER] [--only REGEX]: the data of every NFS READ and WRITE, octet by octet, in one pass and two.

length    each READ and WRITE shows as many octets as its count says
totals    where the client's own statistics were kept (truth/*.mountstats.txt): their READ and WRITE octets
content   by checksum (SHA-256): files made with a counter hold that counter at the offset of the READ or WRITE; READs return what the
          capture's WRITEs put there; user-space peers send octets that count modulo 251, from 0 in each segment; files of unknown
          content begin the same wherever they are read, inline or by chunks
"""
import argparse
import hashlib
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import known  # noqa: E402
import tshark  # noqa: E402

FIELDS = ["frame.number", "rpc.msgtyp", "rpc.xid", "rpc.procedure", "nfs.procedure_v3", "nfs.opcode", "nfs.fh.hash", "nfs.offset3",
          "nfs.offset4", "nfs.count3", "nfs.read.data_length", "nfs.write.data_length", "nfs.data", "rpcordma.payload", "frame.len",
          "frame.cap_len"]
# (the cut frames say that the capture does not hold everything)
WANTED = "nfs.procedure_v3 == 6 or nfs.procedure_v3 == 7 or nfs.opcode == 25 or nfs.opcode == 38 or nfs.data or frame.cap_len < frame.len"
COUNTER = b"".join(struct.pack(">I", i) for i in range(1 << 18))


def octets(value):
    return b"" if value.startswith("<") else bytes.fromhex(value)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def counts_modulo_251(data):
    ramp = (bytes(range(251)) * (len(data) // 251 + 2))
    runs = 0
    while data and runs < 8:
        length = next((i for i, (a, b) in enumerate(zip(data, ramp)) if a != b), len(data))
        if length == 0:
            return False
        data, runs = data[length:], runs + 1
    return not data


class Look:
    """The READs and WRITEs of one capture in one run of tshark."""

    def __init__(self, name, rows, whole):
        self.name, self.wrong, self.count, self.totals, self.sums = name, [], 0, {"READ": 0, "WRITE": 0}, []
        self.calls, self.written, self.beginnings = {}, {}, {}
        self.whole = whole
        for row in rows:
            if len(row["rpc.msgtyp"]) == 1:
                self.message(row)

    def message(self, row):
        xid, reply = row["rpc.xid"][0], row["rpc.msgtyp"] == ["1"]
        call = self.calls.setdefault(xid, row) if reply else row
        if not reply:
            self.calls[xid] = row
        v3 = (row["nfs.procedure_v3"] or [""])[0]
        operation = {"6": "READ", "7": "WRITE"}.get(v3) or ("READ" if "25" in row["nfs.opcode"] else "WRITE" if "38" in row["nfs.opcode"] else None)
        if operation is None or (operation == "READ") != reply or not row["nfs.data"]:
            return
        lengths = row["nfs.count3"] or row["nfs.read.data_length"] or row["nfs.write.data_length"]
        offset = int((call["nfs.offset3"] or call["nfs.offset4"] or ["0"])[0])
        handle = (call["nfs.fh.hash"] or [None])[0]
        for said, value in zip(lengths, row["nfs.data"]):
            self.data(row["frame.number"][0], operation, handle, offset, int(said), octets(value), bool(row["rpcordma.payload"]))

    def data(self, frame, operation, handle, offset, said, data, marked):
        self.count += 1
        self.totals[operation] += len(data)
        self.sums.append(f"{operation} {frame} {said} {digest(data)}")
        where = f"frame {frame}, {operation} of {said} at {offset}"
        if len(data) != said:
            if not (marked and known.incomplete(self.name)) and self.whole:
                self.wrong.append(f"{where}: {len(data)} octets are shown")
        if operation == "WRITE":
            self.written.setdefault(handle, {}).update({offset: data})
        stem, expected = known.stem(self.name), None
        if known.COUNTER.search(stem):
            expected = COUNTER[offset:offset + len(data)]
        elif "peer" in stem:
            if len(set(data)) > 1 and not counts_modulo_251(data):
                self.beginnings[frame] = data
        elif operation == "READ":
            for at, before in self.written.get(handle, {}).items():
                if at <= offset and offset + len(data) <= at + len(before):
                    expected = before[offset - at:][:len(data)]
        if expected is not None and digest(expected) != digest(data):
            self.wrong.append(f"{where}: checksum {digest(data)}, not {digest(expected)}")


def client_statistics(path):
    lines = harness.truth(path, "mountstats.txt") or []
    sums, found = {"READ": 0, "WRITE": 0}, False
    for line in lines:
        if line.split()[:1] == ["bytes:"]:
            numbers = [int(n) for n in line.split()[1:]]
            sums["READ"] += numbers[4]
            sums["WRITE"] += numbers[5]
            found = True
    return sums if found and sum(1 for line in lines if line.split()[:1] == ["bytes:"]) == 1 else None


def check(shark, path):
    name = os.path.basename(path)
    wrong, looks = [], []
    for passes in (1, 2):
        rows, done = shark.rows(path, FIELDS, display_filter=WANTED, passes=passes)
        if done.status not in (0, 2):
            raise SystemExit(f"{path}: tshark ends with {done.status}: {done.errors[-400:]}")
        looks.append(Look(name, rows, all(row["frame.len"] == row["frame.cap_len"] for row in rows)))
        wrong += [f"{passes} pass: {line}" for line in looks[-1].wrong]
    if not known.incomplete(name) and looks[0].sums != looks[1].sums:
        wrong.append("one pass and two do not show the same data")
    truth = client_statistics(path)
    complete = looks[1].whole and not known.incomplete(name) and not known.NO_CALLS.search(known.stem(name))
    if truth and complete and "krb5i" not in name and truth != looks[1].totals:
        wrong.append(f"octets: the client counted {truth}, shown are {looks[1].totals}")
    return name, wrong, looks[1], bool(truth)


def same_beginnings(results):
    """Data of unknown content: what begins the same goes on the same."""
    found, wrong = {}, []
    for name, _, look, _ in results:
        for frame, data in look.beginnings.items():
            other, before = found.setdefault(data[:8], (f"{name} frame {frame}", data))
            length = min(len(before), len(data))
            if before[:length] != data[:length]:
                wrong.append(f"{name} frame {frame}: not the file of {other}")
            if len(data) > len(before):
                found[data[:8]] = (f"{name} frame {frame}", data)
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--folder", action="append", default=[])
    options.add_argument("--only", default="")
    given = options.parse_args()
    paths = harness.captures()
    if given.folder:
        paths = sorted(os.path.join(f, n) for f in given.folder for n in os.listdir(f) if n.endswith((".pcap", ".pcapng", ".erf")))
    paths = [p for p in paths if re.search(given.only, os.path.basename(p))]
    with tshark.Tshark(given.plugin, one_start=given.one_start) as shark:
        results = [check(shark, path) for path in paths]
    failed = 0
    for name, wrong, look, counted in results:
        if look.count:
            print(f"{name:45} {look.count:3} READs and WRITEs, {sum(look.totals.values()):8} octets{', as the client counted' if counted else ''}")
        for line in wrong:
            print(f"    WRONG {line}")
        if wrong:
            folders = [word for f in given.folder for word in ("--folder", f)]
            print("    " + alone.command("--plugin", given.plugin, *folders, "--only", f"^{re.escape(name)}$"))
        failed += bool(wrong)
    beginnings = same_beginnings(results)
    for line in beginnings:
        print(f"    WRONG {line}")
    print(f"{sum(look.count for *_, look, _ in results)} READs and WRITEs in {len(results)} captures, {failed} captures wrong")
    return 1 if failed or beginnings or not any(look.count for *_, look, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
