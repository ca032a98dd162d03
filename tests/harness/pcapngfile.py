# SPDX-License-Identifier: GPL-2.0-or-later
"""pcapng files block by block, and the packets in them: enough to build, take apart and compare captures in tests."""
import struct

import pcapfile

SECTION, INTERFACE, OLD_PACKET, SIMPLE, NAMES, STATISTICS, PACKET = 0x0A0D0D0A, 1, 2, 3, 4, 5, 6


def padded(octets):
    return octets + bytes(-len(octets) % 4)


def block(kind, body, order="<"):
    body = padded(body)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + padded(value)


def section(order="<", length=-1, options=b""):
    return block(SECTION, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, length) + options, order)


def interface(link=1, order="<", options=b"", snap=0):
    return block(INTERFACE, struct.pack(order + "HHI", link, 0, snap) + options, order)


def packet(octets, ticks=0, number=0, order="<", options=b"", length=None):
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(octets), length or len(octets))
    return block(PACKET, head + padded(octets) + options, order)


def old_packet(octets, ticks=0, number=0, order="<", options=b""):
    head = struct.pack(order + "HHIIII", number, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(octets), len(octets))
    return block(OLD_PACKET, head + padded(octets) + options, order)


def blocks(data):
    """[(kind, byte order, whole block)]"""
    out, at, order = [], 0, "<"
    while at < len(data):
        if data[at:at + 4] == b"\n\r\r\n":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, size = struct.unpack(order + "II", data[at:at + 8])
        whole = data[at:at + size]
        assert size % 4 == 0 and len(whole) == size and whole[-4:] == whole[4:8], f"broken block at {at}"
        out.append((kind, order, whole))
        at += size
    return out


def options(data, order):
    """[(code, value)]; what does not parse ends the list."""
    out = []
    while len(data) >= 4:
        code, size = struct.unpack(order + "HH", data[:4])
        if code == 0 or 4 + size > len(data):
            break
        out.append((code, data[4:4 + size]))
        data = data[4 + size + (-size % 4):]
    return out


def packet_options_at(order, whole):
    captured = struct.unpack(order + "I", whole[20:24])[0]
    return 28 + captured + (-captured % 4)


def without_comments(kind, order, whole, mine):
    """The block without the comments for which `mine` holds."""
    if kind not in (PACKET, OLD_PACKET):
        return whole
    at = packet_options_at(order, whole)
    taken = 0
    while True:
        head = whole[at + taken:at + taken + 4]
        if len(head) < 4 or at + taken + 4 >= len(whole):
            break
        code, size = struct.unpack(order + "HH", head)
        if code != 1 or not mine(whole[at + taken + 4:at + taken + 4 + size]):
            break
        taken += 4 + size + (-size % 4)
    if taken == 0:
        return whole
    rest = whole[at + taken:-4]
    if rest == bytes(4):
        rest = b""
    size = struct.pack(order + "I", at + len(rest) + 4)
    return whole[:4] + size + whole[8:at] + rest + size


def packets(data):
    """[{link, time (ns, None where there is none), octets, length, comments, options}] in file order."""
    out, links = [], []
    for kind, order, whole in blocks(data):
        if kind == SECTION:
            links = []
        elif kind == INTERFACE:
            found = dict(options(whole[16:-4], order))
            raw = found.get(9, b"\x06")[0]
            scale = 2 ** (raw & 0x7F) if raw & 0x80 else 10 ** raw
            later = struct.unpack(order + "q", found[14])[0] if 14 in found else 0
            links.append((struct.unpack(order + "H", whole[8:10])[0], scale, later))
        elif kind in (PACKET, OLD_PACKET):
            number = struct.unpack(order + ("I" if kind == PACKET else "H"), whole[8:12 if kind == PACKET else 10])[0]
            high, low, captured, length = struct.unpack(order + "IIII", whole[12:28])
            link, scale, later = links[number]
            all_options = options(whole[packet_options_at(order, whole):-4], order)
            out.append({"link": link, "time": (high << 32 | low) * 10 ** 9 // scale + later * 10 ** 9, "octets": whole[28:28 + captured],
                        "length": length, "comments": [v.decode() for c, v in all_options if c == 1], "options": all_options})
        elif kind == SIMPLE:
            length = struct.unpack(order + "I", whole[8:12])[0]
            out.append({"link": links[0][0], "time": None, "octets": whole[12:12 + min(length, len(whole) - 16)], "length": length,
                        "comments": [], "options": []})
    return out


def packets_of(data):
    """The packets of a pcap or pcapng file, as pcapngfile gives them."""
    if data[:4] == b"\n\r\r\n":
        return packets(data)
    order = "<" if data[:4] in pcapfile.LITTLE else ">"
    scale = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    link = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
    out, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, captured, length = struct.unpack(order + "IIII", data[at:at + 16])
        if at + 16 + captured > len(data):
            break
        out.append({"link": link, "time": seconds * 10 ** 9 + fraction * scale, "octets": data[at + 16:at + 16 + captured],
                    "length": max(length, captured), "comments": [], "options": []})
        at += 16 + captured
    return out
