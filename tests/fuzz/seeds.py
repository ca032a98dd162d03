#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes seed inputs for the fuzz targets out of small captures.

    seeds.py OUTPUT CAPTURE_OR_FOLDER...

Writes OUTPUT/TARGET/* for each target that it has something for. The forms of the inputs are described in README.md.
Knows pcap files, RoCEv2 and iWARP over Ethernet, IPv4 and IPv6; whatever it does not know, it leaves out.
"""
import hashlib
import pathlib
import struct
import sys

LARGEST_CAPTURE = 24 * 1024     # octets; a seed is only good while it is small
LARGEST_FILE = 8 * 1024
SEEDS_PER_TARGET = 400
LINK_TYPES = {1: 0, 247: 1, 197: 2, 113: 3, 276: 4, 101: 5, 228: 6, 229: 7, 0: 8, 108: 9, 284: 11, 285: 12, 281: 13, 282: 14}   # as link_types.hpp
IDENTIFIER = bytes.fromhex("f6ab0e18")
MPA_KEYS = (b"MPA ID Req Frame", b"MPA ID Rep Frame")


def read_pcap(path):
    """(link type, [(time in ms, captured octets, wire length)])"""
    data = path.read_bytes()
    if len(data) < 24:
        return None
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    if struct.unpack(order + "I", magic)[0] not in (0xA1B2C3D4, 0xA1B23C4D):
        return None
    scale = 1000 if struct.unpack(order + "I", magic)[0] == 0xA1B2C3D4 else 1000000
    link = struct.unpack(order + "I", data[20:24])[0] & 0x0FFFFFFF
    frames, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, captured, length = struct.unpack(order + "4I", data[at:at + 16])
        at += 16
        frames.append((seconds * 1000 + fraction // scale, data[at:at + captured], length))
        at += captured
    return link, frames


def as_pcapng(link, frames, order):
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack(order + "2I", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)
    name = struct.pack(order + "2H", 2, 4) + b"eth0" + struct.pack(order + "2H", 0, 0)
    out = block(0x0A0D0D0A, struct.pack(order + "I2Hq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack(order + "2HI", link, 0, 0) + name)
    for time, octets, length in frames:
        out += block(6, struct.pack(order + "5I", 0, *divmod(time * 1000, 1 << 32), len(octets), length) + octets)
    return out + block(5, struct.pack(order + "3I", 0, 0, 0))


def whole_trace(link, frames):
    out = bytearray([LINK_TYPES[link]])
    before = frames[0][0]
    for time, octets, length in frames:
        step = max(0, time - before)
        before = time
        root = min(254, int(step ** 0.5))
        out += struct.pack(">BHH", root, len(octets), min(0xFFFF, length - len(octets)))
        out += octets
    return bytes(out)


def ip_payload(octets):
    """(protocol, payload) of an Ethernet frame with IP in it"""
    if len(octets) < 14:
        return None
    kind, at = struct.unpack(">H", octets[12:14])[0], 14
    while kind in (0x8100, 0x88A8) and len(octets) >= at + 4:
        kind, at = struct.unpack(">H", octets[at + 2:at + 4])[0], at + 4
    packet = octets[at:]
    if kind == 0x0800 and len(packet) >= 20:
        return packet[9], packet[(packet[0] & 15) * 4:struct.unpack(">H", packet[2:4])[0]]
    if kind == 0x86DD and len(packet) >= 40:
        return packet[6], packet[40:40 + struct.unpack(">H", packet[4:6])[0]]
    return None


def header_octets(message):
    """length of a version 1 RDMA_MSG header, or None"""
    def word(at):
        return struct.unpack(">I", message[at:at + 4])[0]
    try:
        if word(4) != 1 or word(12) != 0:
            return None
        at = 16
        while word(at) == 1:
            at += 24
        at += 4
        while word(at) == 1:
            at += 8 + 16 * word(at + 4)
        at += 4
        at += 8 + 16 * word(at + 4) if word(at) == 1 else 4
        return at if at < len(message) else None
    except struct.error:
        return None


def chunks(message):
    """what the lists of a version 1 RDMA_MSG hold: [(position, length)] of Read segments, [length] of Write chunks"""
    def word(at):
        return struct.unpack(">I", message[at:at + 4])[0]
    at, reads, writes = 16, [], []
    while word(at) == 1:
        reads.append((word(at + 4), word(at + 12)))
        at += 24
    at += 4
    while word(at) == 1:
        count = word(at + 4)
        writes.append(sum(word(at + 8 + 16 * i + 4) for i in range(count)))
        at += 8 + 16 * count
    return reads, writes


class Seeds:
    def __init__(self, root):
        self.root = root
        self.counts = {}

    def add(self, target, octets):
        if self.counts.get(target, 0) >= SEEDS_PER_TARGET:
            return
        folder = self.root / target
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha1(octets).hexdigest()[:16]
        if not path.exists():
            path.write_bytes(octets)
            self.counts[target] = self.counts.get(target, 0) + 1

    def add_cut(self, target, octets, missing=0):
        self.add(target, bytes([min(missing, 255)]) + octets)

    def message(self, octets, missing):
        """the octets of one Send"""
        self.add_cut("rpcrdma", octets, missing)
        if octets[4:8] == b"\0\0\0\x02":
            self.add_cut("rpcrdma_v2", octets, missing)
        length = header_octets(octets)
        if length:
            self.add_cut("rpc", octets[length:], missing)
            for asked in (0, 3, 5):    # COMPOUND, CB_COMPOUND, NFSv3 READ: indices of nfs_steps_fuzz.cpp
                self.add("nfs_steps", bytes([asked, min(missing, 255)]) + octets[length:])
            self.nfs_items(*chunks(octets), octets[length:], missing)

    def nfs_items(self, reads, writes, stream, missing):
        if len(reads) > 16 or len(writes) > 16 or any(length > 0xFFFF for _, length in reads):
            return
        is_reply = stream[4:8] == b"\0\0\0\1"
        entries = [struct.pack(">IH", n, 0) for n in writes] if is_reply else [struct.pack(">IH", *r) for r in reads]
        for procedure in (3, 4) if is_reply else (0,):    # NFSv3 READ, NFSv4 COMPOUND: indices of nfs_items_fuzz.cpp
            self.add("nfs_items", bytes([procedure, len(entries)]) + b"".join(entries) + bytes([min(missing, 255)]) +
                     stream)

    def roce(self, bth, missing):
        self.add_cut("ib", bth, missing)
        if len(bth) < 16:
            return
        opcode, pad = bth[0], (bth[1] >> 4) & 3
        end = len(bth) - 4 - pad if missing == 0 else len(bth)
        if opcode == 0x64 and len(bth) >= 12 + 8 + 256:
            mad = bth[20:20 + 256]
            self.add_cut("cm", mad)
            attribute = struct.unpack(">H", mad[16:18])[0]
            if attribute == 0x0010:
                self.add_cut("private_data", mad[24 + 140 + 36:24 + 140 + 92])
            elif attribute == 0x0013:
                self.add_cut("private_data", mad[24 + 36:24 + 36 + 64])
        elif opcode == 0x04:
            self.message(bth[12:end], missing)
        elif opcode == 0x17:
            self.message(bth[16:end], missing)

    def iwarp(self, payload):
        if not payload:
            return
        self.add_cut("mpa", payload)
        if payload[:16] in MPA_KEYS:
            at = payload.find(IDENTIFIER)
            if at >= 0:
                self.add_cut("private_data", payload[20:])
            return
        length = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 0
        if 18 <= length and length + 6 <= len(payload):
            ddp = payload[2:2 + length]
            self.add_cut("ddp", ddp)
            if ddp[0] & 0xC0 == 0x40 and ddp[1] & 0x0F in (3, 4, 5, 6):   # untagged, last, a Send
                self.message(ddp[18:], 0)

    def one_stream(self, frames):
        """the first TCP connection that begins with MPA, as iwarp_fuzz.cpp places its segments"""
        client, records = None, b""
        for _, octets, _ in frames:
            protocol, tcp = ip_payload(octets) or (0, b"")
            if protocol != 6 or len(tcp) < 20:
                continue
            ports, payload = tcp[:4], tcp[(tcp[12] >> 4) * 4:]
            if payload[:16] == MPA_KEYS[0] and client is None:
                client = ports
            if client is None or not payload or ports not in (client, client[2:] + client[:2]):
                continue
            record = struct.pack(">BBHH", 0x40 | (ports != client), 0, len(payload), 0) + payload
            if len(records) + len(record) > LARGEST_FILE:
                break
            records += record
        if records:
            for settings in (3, 7):    # a service port, SYNs; 7: every CRC
                self.add("iwarp", bytes([settings]) + records)

    def capture(self, path):
        opened = read_pcap(path)
        if not opened or not opened[1]:
            return
        link, frames = opened
        if path.stat().st_size <= LARGEST_FILE:
            for packing in range(4):    # packing.hpp
                self.add("reader", bytes([packing]) + path.read_bytes())
                for order in "<>":
                    self.add("reader", bytes([packing]) + as_pcapng(link, frames, order))
        if link in LINK_TYPES and path.stat().st_size <= LARGEST_CAPTURE:
            self.add("frames", whole_trace(link, frames))
            self.add("journal", whole_trace(link, frames))
        if link == 1:
            self.one_stream(frames)
        for _, octets, length in frames:
            if link in LINK_TYPES:
                self.add("link", bytes([LINK_TYPES[link]]) + octets)
            inner = ip_payload(octets) if link == 1 else None
            if not inner:
                continue
            protocol, payload = inner
            if protocol == 17 and payload[2:4] == struct.pack(">H", 4791):
                self.roce(payload[8:], length - len(octets))
            elif protocol == 6 and len(payload) >= 20:
                self.iwarp(payload[(payload[12] >> 4) * 4:])


def main():
    seeds = Seeds(pathlib.Path(sys.argv[1]))
    files = []
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        files += sorted(path.glob("*.pcap")) if path.is_dir() else [path] if path.is_file() else []
    for path in sorted(files, key=lambda p: p.stat().st_size):
        seeds.capture(path)
    print(", ".join(f"{target} {count}" for target, count in sorted(seeds.counts.items())) or "no seeds")


if __name__ == "__main__":
    main()
