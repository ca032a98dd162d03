#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark_fields.py --analyzer PATH CAPTURE...: the analyzer's counts against what tshark sees in the same frames.

Only what tshark gets right is asked of it: InfiniBand and iWARP operation codes, lengths and syndromes; which RPC-over-RDMA
procedures there are; and the RPC procedures called. It decodes no private data, dissects READ replies twice, loses FPDUs
that TCP cut oddly, and counts retransmissions: captures where that matters are not given to this test.
"""
import argparse
import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

SEND_FIRST, SEND_ONLY, SEND_ONLY_IMM, SEND_LAST_INV, SEND_ONLY_INV = 0, 4, 5, 0x16, 0x17
WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST, ACKNOWLEDGE, READ_LAST, READ_ONLY = 6, 10, 11, 12, 17, 15, 16
NAK, RNR = 3, 1
MESSAGES = ["rdma_msg", "rdma_nomsg", "rdma_msgp", "rdma_done", "rdma_error"]


INFINIBAND = ["infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.reth.dmalen", "infiniband.aeth.syndrome.opcode"]
IWARP = ["iwarp_rdma.opcode", "iwarp_ddp.last_flag", "iwarp_mpa.ulpdulength", "iwarp_rdma.rdmardsz"]
CALLED = ["rpc.program", "rpc.programversion", "rpc.procedure"]


def rows_of(path, own):
    """What tshark, started once, says of each frame: a dict, field -> list of its values in the frame."""
    names = ["frame.protocols", "rpcordma.msg_type", "rpc.msgtyp", *CALLED, *own]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,"]
    command += [w for n in names for w in ("-e", n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    rows = []
    for line in done.stdout.splitlines():
        values = line.split("\t")
        rows.append({n: v.split(",") if v else [] for n, v in zip(names, values + [""] * len(names))})
        rows[-1]["frame.protocols"] = set(values[0].split(":"))
    return rows


def number(text):
    return int(text, 0)


def infiniband(rows):
    count = collections.Counter()
    for row in rows:
        if not any(number(qp) > 1 for qp in row["infiniband.bth.destqp"]):
            continue
        opcode = number(row["infiniband.bth.opcode"][0])
        length = sum(map(number, row["infiniband.reth.dmalen"]))
        count["sends"] += opcode in (SEND_FIRST, SEND_ONLY, SEND_ONLY_IMM, SEND_ONLY_INV)
        count["sends_with_invalidate"] += opcode in (SEND_LAST_INV, SEND_ONLY_INV)
        if opcode == READ_REQUEST:
            count["reads"] += 1
            count["read_bytes"] += length
        if opcode in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM):
            count["writes"] += 1
            count["write_bytes"] += length
        for syndrome in row["infiniband.aeth.syndrome.opcode"]:
            if opcode == ACKNOWLEDGE:
                count["naks"] += number(syndrome) == NAK
                count["rnr_naks"] += number(syndrome) == RNR
    return count


def iwarp(path, rows):
    count = collections.Counter()
    for row in rows:
        if "iwarp_ddp_rdmap" not in row["frame.protocols"]:
            continue
        opcodes, last, sizes = row["iwarp_rdma.opcode"], row["iwarp_ddp.last_flag"], row["iwarp_mpa.ulpdulength"]
        if not len(opcodes) == len(last) == len(sizes):
            raise SystemExit(f"{path}: tshark's FPDU fields do not line up: {row}")
        for opcode, is_last, size in zip(map(number, opcodes), last, map(number, sizes)):
            is_last = is_last in ("1", "True")
            if opcode == 0 and size > 14:
                count["writes"] += is_last
                count["write_bytes"] += size - 14
            count["sends"] += is_last and opcode in (3, 4, 5, 6)
            count["sends_with_invalidate"] += is_last and opcode in (4, 6)
        for size in row["iwarp_rdma.rdmardsz"]:
            count["reads"] += number(size) > 0
            count["read_bytes"] += number(size)
    return count


def messages(rows):
    count = collections.Counter()
    for row in rows:
        for kind in row["rpcordma.msg_type"]:
            count[MESSAGES[number(kind)]] += 1
    return count


def procedures(rows):
    """Calls by (program, version, procedure). Each is dissected once: in its own frame or where its Read chunks end."""
    count = collections.Counter()
    for row in rows:
        if row["frame.protocols"] & {"infiniband", "iwarp_mpa"} and row["rpc.msgtyp"] == ["0"] and row["rpc.program"]:
            count[tuple(number(row[n][0]) for n in CALLED)] += 1
    return count


def compare(what, theirs, ours, keys):
    return [f"{what}.{k}: tshark {theirs.get(k, 0)}, analyzer {ours.get(k, 0)}" for k in keys if theirs.get(k, 0) != ours.get(k, 0)]


def total(connections, part):
    count = collections.Counter()
    for connection in connections:
        count.update({k: v for k, v in connection[part].items() if isinstance(v, int)})
    return count


def check(analyzer, path):
    run = harness.run(analyzer, path)
    if run.document is None:
        return [f"no document: {run.errors[-200:]}"]
    is_iwarp = {c["transport"] for c in run.connections()} == {"iwarp"}
    rows = rows_of(path, IWARP if is_iwarp else INFINIBAND)
    theirs = iwarp(path, rows) if is_iwarp else infiniband(rows)
    keys = ["sends", "sends_with_invalidate", "reads", "writes", "read_bytes", "write_bytes"] + ([] if is_iwarp else ["naks", "rnr_naks"])
    wrong = compare("operations", theirs, total(run.connections(), "operations"), keys)
    wrong += compare("messages", messages(rows), total(run.connections(), "messages"), MESSAGES)
    ours = collections.Counter()
    for connection in run.connections():
        for p in connection["procedures"]:
            ours[p["program"], p["version"], p["procedure"]] += p["calls"]
    theirs = procedures(rows)
    wrong += compare("procedures", theirs, ours, sorted(set(theirs) | set(ours)))
    if not theirs or not sum(ours.values()):
        wrong.append("nothing to compare")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("captures", nargs="+", help="names of bundled captures")
    given = options.parse_args()
    wrong = 0
    for name in given.captures:
        complaints = check(given.analyzer, harness.capture(name))
        wrong += len(complaints)
        if complaints:
            print("\n".join([*(f"{name}: {line}" for line in complaints), alone.command("--analyzer", given.analyzer, name)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
