#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""others.py --plugin SO --forge PATH [CAPTURE...]: captures without RPC-over-RDMA look as they do without the plugin.

`tshark -V` with the plugin against stock tshark, in one pass and two: forged connections of other users of RDMA on every fabric, plain
Ethernet with DNS and TCP, and the CAPTURES. Where stock tshark's own RPC-over-RDMA dissector meddles with other protocols' Sends, the
output is that of a stock tshark whose dissector is switched off. How often it meddles is counted:
  B8  any Send of less than 16 octets is called malformed
  B9  a Send that is not ours is taken, and then not shown at all
"""
import argparse
import difflib
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
import alone  # noqa: E402
import pcapfile  # noqa: E402
import tshark  # noqa: E402

SWITCHED_OFF = ["--disable-heuristic", "rpcrdma_infiniband", "--disable-heuristic", "rpcrdma_iwarp"]
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def record(number, octets):
    return struct.pack("<IIII", 1_700_000_000 + number, 0, len(octets), len(octets)) + octets


def ipv4(protocol, payload):
    return (bytes.fromhex("020000000001020000000002 0800") + struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0)
            + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + payload)


def udp(source, destination, payload):
    return ipv4(17, struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload)


def tcp(source, destination, sequence, flags, payload=b""):
    return ipv4(6, struct.pack(">HHIIBBHHH", source, destination, sequence, 1, 0x50, flags, 8192, 0, 0) + payload)


def packet(opcode, psn, payload, pad=0):
    """RoCEv2 without a connection that anybody has seen."""
    return udp(0xC000, 4791, struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, 0x55, psn) + payload + b"\0" * pad + b"\x1c\x1c\x1c\x1c")


def plain(folder):
    """DNS, HTTP, RPC over TCP, and RoCEv2 packets of nobody's connection."""
    query = bytes.fromhex("1234 0100 0001 0000 0000 0000 03777777076578616d706c6503636f6d00 0001 0001")
    null_call = struct.pack(">IIIIIIIIII", 7, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
    frames = [udp(40000, 53, query), tcp(40001, 80, 1, 2), tcp(40001, 80, 2, 0x18, b"GET / HTTP/1.1\r\n\r\n"),
              tcp(700, 2049, 1, 0x18, struct.pack(">I", 0x80000000 | len(null_call)) + null_call),
              tcp(20049, 40002, 1, 0x18, b"MPA ID Req Frame" + bytes.fromhex("00010000")),
              tcp(40003, 20049, 1, 0x18, b"\x55" * 300)]
    for length in (0, 1, 3, 4, 8, 12, 15, 16, 17, 24, 64, 300):
        frames.append(packet(4, 100 + length, b"\xa5" * length, -length % 4))
    for kind in (1, 3, 4):  # what stock takes for RDMA_NOMSG, RDMA_DONE and RDMA_ERROR, whatever stands before it
        frames.append(packet(4, 500 + kind, struct.pack(">IIII", 0xFEED, 0x77000000, 0x88, kind) + b"\xa5" * 48))
    path = os.path.join(folder, "plain.pcap")
    pcapfile.write(path, HEADER, [record(i, f) for i, f in enumerate(frames)])
    return path


def forged(forge, folder):
    for transport in ("rocev2", "rocev1", "infiniband", "iwarp", "iwarp-split"):
        # Wireshark reads native InfiniBand from ERF files only.
        options, ending = (["--erf"], "erf") if transport == "infiniband" else ([], "pcap")
        path = os.path.join(folder, f"other-users-{transport}.{ending}")
        subprocess.run([forge, os.path.join(HERE, "stories", "other-users.yaml"), "--transport", transport, "--out", path, *options], check=True)
        yield path


def frames_of(output):
    """The output of -V as one text a frame."""
    return re.split(r"^(?=Frame \d+: )", output, flags=re.MULTILINE)


def check(ours, stock, path):
    wrong, meddled = [], {"B8": 0, "B9": 0}
    for passes in (1, 2):
        arguments = [*(["-2"] if passes == 2 else []), "-V", "-r", path]
        mine, theirs, without = ours.run(*arguments), stock.run(*arguments), stock.run(*arguments, *SWITCHED_OFF)
        if mine.status or theirs.status:
            wrong.append(f"{passes} pass: tshark ends with {mine.status}, stock with {theirs.status}: {mine.errors[-300:]}")
        for number, (a, b, c) in enumerate(zip(*(frames_of(r.output) for r in (mine, theirs, without)), strict=True), start=1):
            if b != c:
                meddled["B8" if "Malformed" in b else "B9"] += 1
            if a not in (b, c):
                lines = [d for d in difflib.unified_diff(c.splitlines(), a.splitlines(), lineterm="", n=0)][2:8]
                wrong.append(f"{passes} pass: frame {number}: {lines}")
            elif b != c and a == b:
                wrong.append(f"{passes} pass: frame {number}: the built-in's fault is still there")
    return os.path.basename(path), wrong, meddled


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
        paths = [p for p in (plain(folder), *forged(given.forge, folder), *given.captures) if re.search(given.only, os.path.basename(p))]
        seen = {"B8": 0, "B9": 0}
        for path in paths:
            name, wrong, meddled = check(ours, stock, path)
            print(f"{name:40} stock's own faults, in both passes: {meddled}")
            for line in wrong[:12]:
                print(f"    WRONG {line}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, "--forge", given.forge, "--only", f"^{re.escape(name)}$", *given.captures))
            failed += bool(wrong)
            seen = {k: seen[k] + meddled[k] for k in seen}
    if not given.only and not (seen["B8"] and seen["B9"]):
        print("stock tshark has lost a fault that is counted here: the lists in this file are out of date")
        failed += 1
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
