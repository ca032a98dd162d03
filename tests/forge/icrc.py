#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""icrc.py CAPTURE...: recomputes the ICRC of every RoCE and InfiniBand packet of pcap files. Exit 1 if one is wrong.

An independent reading of the invariant CRC: it is held against recorded captures as well as against forged ones.
"""
import struct
import sys
import zlib


def frames(path):
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    link = struct.unpack_from(order + "I", data, 20)[0]
    at = 24
    while at + 16 <= len(data):
        _, _, kept, length = struct.unpack_from(order + "IIII", data, at)
        if kept == length:
            yield link, data[at + 16 : at + 16 + kept]
        at += 16 + kept


def masked(octets, *places):
    out = bytearray(octets)
    for start, mask in places:
        out[start] |= mask
    return bytes(out)


def packet(link, frame):
    """-> (network headers with variant fields set, transport packet with ICRC) or None"""
    if link == 197:
        if frame[8] != 21:
            return None
        lrh, rest = frame[16:24], frame[24:-2]
        return masked(lrh, (0, 0xF0)), rest
    if link != 1:
        return None
    at = 14
    kind = frame[12:14]
    if kind == b"\x81\x00":
        kind, at = frame[16:18], 18
    ones = b"\xff" * 8
    if kind == b"\x89\x15":
        length = struct.unpack_from(">H", frame, at + 4)[0]
        grh = masked(frame[at : at + 40], (0, 0x0F), (1, 0xFF), (2, 0xFF), (3, 0xFF), (7, 0xFF))
        return ones + grh, frame[at + 40 : at + 40 + length]
    if kind == b"\x08\x00" and frame[at + 9] == 17:
        header = 4 * (frame[at] & 15)
        network = masked(frame[at : at + header], (1, 0xFF), (8, 0xFF), (10, 0xFF), (11, 0xFF))
    elif kind == b"\x86\xdd" and frame[at + 6] == 17:
        header = 40
        network = masked(frame[at : at + 40], (0, 0x0F), (1, 0xFF), (2, 0xFF), (3, 0xFF), (7, 0xFF))
    else:
        return None
    udp = frame[at + header :]
    if udp[2:4] != b"\x12\xb7":
        return None
    length = struct.unpack_from(">H", udp, 4)[0]
    return ones + network + masked(udp[:8], (6, 0xFF), (7, 0xFF)), udp[8:length]


def main(paths):
    bad = 0
    for path in paths:
        seen = wrong = 0
        for link, frame in frames(path):
            found = packet(link, frame)
            if found is None:
                continue
            network, body = found
            seen += 1
            crc = zlib.crc32(network + masked(body[:-4], (4, 0xFF)))
            wrong += struct.pack("<I", crc) != body[-4:]
        print(f"{path}: {seen} packets, {wrong} with a wrong ICRC")
        bad += wrong != 0 or seen == 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
