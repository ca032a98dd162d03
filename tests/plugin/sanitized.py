#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sanitized.py --plugin SO --one-start SO --analyzer PATH: what --sanitize writes, through tshark.

Each recorded capture and its copy: in every frame the same RDMA, RPC-over-RDMA, RPC and NFS, the same findings, checksums as good as they
were, and nothing malformed that was not.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

GIVEN = None
# Of every frame
FRAME = ("frame.number", "frame.len", "frame.cap_len", "frame.time_epoch", "_ws.malformed", "ip.checksum.status", "udp.checksum.status",
         "tcp.checksum.status", "tcp.seq", "tcp.analysis.flags")
# Of those with RDMA; what they carry beside it is zero
RDMA = ("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "iwarp_mpa.ulpdulength", "iwarp_mpa.bad_length", "iwarp_rdma.opcode",
        "iwarp_ddp.msn", "rpcordma.xid", "rpcordma.version", "rpcordma.flow_control", "rpcordma.msg_type", "rpcordma.rdma_handle",
        "rpcordma.rdma_length", "rpcordma.finding", "rpc.msgtyp", "rpc.program", "rpc.procedure", "rpc.repframe", "rpc.time", "rpc.auth.flavor",
        "nfs.procedure_v3", "nfs.opcode", "nfs.nfsstat4", "nfs.status3")
OPTIONS = ("-n", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")


def carries_rdma(row):
    return any(p in ("infiniband", "iwarp_mpa", "rpcordma") for p in row["frame.protocols"][0].split(":"))


class Sanitized(unittest.TestCase):
    maxDiff = 2000

    def test_captures(self):
        compared = 0
        with tshark.Tshark(GIVEN.plugin, one_start=GIVEN.one_start) as shark, tempfile.TemporaryDirectory() as folder:
            fields = [*FRAME, *RDMA, "frame.protocols"]
            for path in harness.captures():
                if os.path.getsize(path) > GIVEN.largest:
                    continue
                copy = os.path.join(folder, "copy.pcapng")
                subprocess.run([GIVEN.analyzer, "--sanitize", copy, "-q", path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
                os.chmod(copy, 0o644)
                rows = []
                for capture in (path, copy):
                    found, run = shark.rows(capture, fields, *OPTIONS, passes=2)
                    self.assertEqual(run.status, 0, f"{path}: {run.errors}")
                    rows.append(found)
                os.unlink(copy)
                self.assertEqual(*map(len, rows), path)
                for before, after in zip(*rows):
                    rdma = carries_rdma(before)
                    names = [f for f in fields if f in FRAME or (rdma and f != "frame.protocols")]
                    with self.subTest(capture=os.path.basename(path), frame=before["frame.number"][0]):
                        self.assertEqual({f: before[f] for f in names}, {f: after[f] for f in names})
                    compared += rdma
        self.assertGreater(compared, 10000)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--one-start")
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--largest", type=int, default=400000, help="octets of a capture")
    GIVEN, remaining = parser.parse_known_args()
    GIVEN.analyzer = os.path.abspath(GIVEN.analyzer)
    alone.main(remaining)
