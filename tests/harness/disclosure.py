# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture says of people and machines: addresses, names and data, found without knowing the protocols that carry them."""
import ipaddress
import re
import sys

import pcapngfile

# Said by every machine alike, or by the specifications.
PUBLIC = (b"MPA ID Req Frame", b"MPA ID Rep Frame")
NAME = re.compile(rb"[\x21-\x7e][\x20-\x7e]{6,}[\x21-\x7e]")
# Data has octets of zero here and there; numbers of 32 bits have them more often. The end of one length, an offset of 64 bits and an XID
# may stand together, and the head of an FPDU behind a CRC.
UNBROKEN = {6: 24, 17: 14}


def packets(path):
    with open(path, "rb") as handle:
        return pcapngfile.packets_of(handle.read())


def ethernet(octets):
    """(MAC addresses, EtherType, where its payload begins)"""
    at = 12
    while octets[at:at + 2] in (b"\x81\0", b"\x88\xa8"):
        at += 4
    return [octets[:6], octets[6:12]], octets[at:at + 2], at + 2


def of_machine(address):
    return not (address.is_multicast or address.is_unspecified or address.is_loopback or address == ipaddress.ip_address("255.255.255.255"))


def addresses(octets):
    """Packed addresses in an Ethernet frame's own headers, and where what they carry begins: None where that is not known."""
    macs, kind, at = ethernet(octets)
    found = [m for m in macs if len(m) == 6 and not m[0] & 1 and any(m)]
    if kind == b"\x08\0" and len(octets) >= at + 20:
        pair, size, protocol = (octets[at + 12:at + 16], octets[at + 16:at + 20]), (octets[at] & 15) * 4, octets[at + 9]
    elif kind == b"\x86\xdd" and len(octets) >= at + 40:
        pair, size, protocol = (octets[at + 8:at + 24], octets[at + 24:at + 40]), 40, octets[at + 6]
    elif kind == b"\x89\x15" and len(octets) >= at + 40:
        pair, size, protocol = (octets[at + 8:at + 24], octets[at + 24:at + 40]), 40, 17
        at -= 8  # no UDP
    else:
        return found, None, None
    found += [p for p in pair if of_machine(ipaddress.ip_address(p))]
    return found, at + size, protocol


def disclosed(path):
    """Octet strings that must not be in a copy."""
    out = set()
    for packet in packets(path):
        octets = packet["octets"]
        if len(octets) < 14 or packet["link"] != 1:
            continue
        found, at, protocol = addresses(octets)
        for address in found:
            out.add(bytes(address))
            if len(address) in (4, 16):
                text = str(ipaddress.ip_address(address))
                out.add(text.encode())
        if at is None or protocol not in (6, 17):
            continue
        if protocol == 17 and octets[at + 8:at + 9] == b"\x64":
            continue  # messages of the communication manager are kept; their addresses are those of the frames
        if protocol == 17:  # UDP, base and extended transport headers: no more than 8, 12 and 28 octets
            payload = octets[at + 48:]
        else:
            payload = octets[at + (octets[at + 12] >> 4) * 4:] if len(octets) > at + 12 else b""
        for name in NAME.findall(payload[:-4]):  # a checksum may end in letters, and what stands before it as well
            if not any(name in p or p in name for p in PUBLIC):
                out.add(name[:16])
        for opening in PUBLIC:
            payload = payload.replace(opening, bytes(len(opening)))
        size = UNBROKEN[protocol]
        for run in re.findall(rb"[^\0]{%d,}" % size, payload):
            windows = (run[i:i + size] for i in range(0, len(run) - size + 1, size))
            out.update(w for w in windows if len(set(w)) > 3)  # what fills space tells nothing
    return out


def told(kind, whole):
    """A block without the time and the lengths of its packet, which a copy keeps and which may look like anything."""
    return whole[28:] if kind in (pcapngfile.PACKET, pcapngfile.OLD_PACKET) else whole


def words_of(data, size):
    """Each run of `size` octets of it, wherever it begins, as numbers."""
    for at in range(min(size, len(data) + 1 - size)):
        yield from memoryview(data)[at:at + (len(data) - at) // size * size].cast({4: "I", 8: "Q"}[size])


def found_in(strings, path):
    """Those of the strings that stand in a pcapng file."""
    with open(path, "rb") as handle:
        data = b"".join(told(kind, whole) for kind, _, whole in pcapngfile.blocks(handle.read()))
    found = []
    for size in (4, 8):  # most are not there with their first octets or their last ones, which is told without a search for each
        ends = {s: (int.from_bytes(s[:size], sys.byteorder), int.from_bytes(s[-size:], sys.byteorder))
                for s in strings if (len(s) >= 8) == (size == 8)}
        there = {end for pair in ends.values() for end in pair}.intersection(words_of(data, size))
        found += [s for s, (first, last) in ends.items() if first in there and last in there and s in data]
    return found
