# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames with something in them that is nobody's business, each in another field of a header: written here from the specifications.

FRAMES: link type -> [(name, octets of the frame, [what must not be in the copy])]
"""
import struct

MACS = bytes.fromhex("525400aabb01 525400aabb02")
SOURCE, DESTINATION = bytes([192, 168, 9, 1]), bytes([192, 168, 9, 2])
SOURCE6, DESTINATION6 = bytes.fromhex("20010db8000900000000000000000001"), bytes.fromhex("20010db8000900000000000000000002")
TEXT = b"SeCrEt"


def summed(octets):
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ether(kind, payload, macs=MACS):
    return macs + struct.pack(">H", kind) + payload


def ipv4(protocol, payload, options=b""):
    header = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 7, 0, 64, protocol, 0) + SOURCE + DESTINATION + options
    return header[:10] + struct.pack(">H", summed(header)) + header[12:] + payload


def ipv6(first, payload):
    return struct.pack(">IHBB", 0x60000000, len(payload), first, 64) + SOURCE6 + DESTINATION6 + payload


def over4(protocol, payload, options=b""):
    return ether(0x0800, ipv4(protocol, payload, options))


def over6(first, payload):
    return ether(0x86DD, ipv6(first, payload))


def udp(port, payload=b""):
    return struct.pack(">HHHH", 3333, port, 8 + len(payload), 0) + payload


def tcp(options):
    options += bytes([1]) * (-len(options) % 4)
    return struct.pack(">HHIIBBHHH", 40001, 20049, 100, 0, 0x50 + len(options) * 4, 2, 1000, 0, 0) + options


def icmp(kind, word, payload=b"", code=1):
    octets = bytes([kind, code, 0, 0]) + word + payload
    return octets[:2] + struct.pack(">H", summed(octets)) + octets[4:]


def address6(number):
    return bytes.fromhex("20010db8dead00000000000000000000")[:15] + bytes([number])


QUIET = udp(2222)
INNER = over4(17, QUIET)
GATEWAY, CLIENT = bytes([198, 51, 100, 77]), bytes([198, 51, 100, 88])
ROUTED = bytes([7, 7, 8]) + CLIENT + bytes(1)  # record route, with a filler
HOME = bytes([1, 2, 0, 0, 201, 16]) + address6(9)
TARGETS = address6(7) + address6(8)

ETHERNET = [
    ("IPv4 option", over4(17, QUIET, ROUTED), [CLIENT]),
    ("IPv4 in which no version is", ether(0x0800, b"\x55" + TEXT * 8), [TEXT]),
    ("IPv4 with a header too short", ether(0x0800, b"\x42" + TEXT * 8), [TEXT]),
    ("IPv6 in which no version is", ether(0x86DD, b"\x55" + TEXT * 8), [TEXT]),
    ("TCP option of an address", over4(6, tcp(bytes([254, 12, 0x15, 0xB3]) + CLIENT + TEXT[:4])), [CLIENT, TEXT[:4]]),
    ("MPTCP's addresses", over4(6, tcp(bytes([30, 8, 0x34, 1]) + CLIENT)), [CLIENT]),
    ("TCP option of a known number and another length", over4(6, tcp(bytes([2, 8]) + TEXT)), [TEXT]),
    ("TCP option that is cut", over4(6, tcp(bytes([1, 1, 8, 40]) + TEXT[:4])), [TEXT[:4]]),
    ("behind the end of TCP's options", over4(6, tcp(bytes([0, 0]) + TEXT)), [TEXT]),
    ("hop-by-hop option", over6(0, bytes([17, 1, 0x1E, 12]) + TEXT * 2 + QUIET), [TEXT]),
    ("home address", over6(60, bytes([17, 2]) + HOME + QUIET), [address6(9)]),
    ("routing header", over6(43, bytes([17, 4, 4, 1, 1, 0, 0, 0]) + TARGETS + QUIET), [address6(7), address6(8)]),
    ("routing header's tag and TLVs", over6(43, bytes([17, 4, 4, 0, 0, 0]) + TEXT[:2] + address6(7) + b"\x7f\x0e" + TEXT + bytes(8) + QUIET), [TEXT, address6(7)]),
    ("source route", over6(43, bytes([17, 4, 0, 2, 0, 0, 0, 0]) + TARGETS + QUIET), [address6(7), address6(8)]),
    ("routing header of no known form", over6(43, bytes([17, 4, 99, 2]) + TEXT * 6 + QUIET), [TEXT]),
    ("mobility", over6(135, bytes([17, 1, 5, 0]) + TEXT * 2 + QUIET), [TEXT]),
    ("authentication", over6(51, bytes([17, 4, 0, 0]) + TEXT * 3 + bytes(2) + QUIET), [TEXT]),
    ("extension header that is cut", over6(60, bytes([17, 9]) + TEXT * 4), [TEXT]),
    ("ICMP redirect", over4(1, icmp(5, GATEWAY, ipv4(17, QUIET))), [GATEWAY]),
    ("ICMP of no known kind", over4(1, icmp(200, TEXT[:4], TEXT)), [TEXT[:4]]),
    ("ICMPv6 redirect", over6(58, icmp(137, TEXT[:4], TARGETS)), [TEXT[:4], address6(7), address6(8)]),
    ("ICMPv6 of no known kind", over6(58, icmp(200, TEXT[:4], TEXT)), [TEXT[:4]]),
    ("quoted IPv4 option", over4(1, icmp(3, bytes(4), ipv4(6, tcp(b""), ROUTED))), [CLIENT]),
    ("quoted IPv6 option", over6(58, icmp(1, bytes(4), ipv6(60, bytes([6, 2]) + HOME + tcp(b"")))), [address6(9)]),
    ("neighbour solicitation", over6(58, icmp(135, TEXT[:4], address6(7) + b"\x0e\x01" + TEXT, 0)), [TEXT[:4], address6(7)]),
    ("VXLAN's reserved octets", over4(17, udp(4789, b"\x88" + TEXT[:3] + b"\0\0\7\0" + INNER)), [TEXT[:3]]),
    ("Geneve option", over4(17, udp(6081, b"\4\0\x65\x58\0\0\1\0\1\2\x80\3" + TEXT * 2 + INNER)), [TEXT]),
    ("Geneve option of a version that is not opened", over4(17, udp(6081, b"\xc4\0\x65\x58" + TEXT * 4)), [TEXT]),
    ("TZSP tag", over4(17, udp(37008, b"\1\0\0\1\x3c\6" + TEXT + b"\1" + INNER)), [TEXT]),
    ("TZSP of another link", over4(17, udp(37008, b"\1\0\0\x12\x3c\6" + TEXT + b"\1" + INNER)), [TEXT]),
    *((f"port {port} of something else", over4(17, udp(port, b"PaSsWoRd" * 4)), [b"PaSs", b"WoRd"])
      for port in (4789, 8472, 4790, 6081, 6635, 37008)),
    ("port 4791 of something else", over4(17, udp(4791, TEXT * 5)), [TEXT]),
    ("port 4791 of something else, of a version that could be", over4(17, udp(4791, b"PpSsWoRd" * 4)), [b"SsWo"]),
    ("atomic operands", over4(17, udp(4791, b"\x13\0\xff\xff\0\0\0\7\0\0\0\1" + bytes(12) + TEXT * 2 + TEXT[:4] + bytes(4))), [TEXT]),
    ("LLC", ether(38, b"\x42\x42\3" + TEXT * 6), [TEXT]),
    ("SNAP", ether(40, b"\xaa\xaa\3\0\0\x0c\x20\0" + TEXT * 6), [TEXT]),
    ("MPLS to nowhere", ether(0x8847, TEXT[:2] + b"\0\x40" + TEXT[:2] + b"\1\x40\x10" + TEXT * 3), [TEXT]),
    ("PPPoE session of no IP", ether(0x8864, b"\x11\0" + TEXT[:2] + b"\0\x10\xc0\x21" + TEXT * 2), [TEXT]),
    ("PPPoE discovery", ether(0x8863, b"\x11\x09\0\0\0\x0c\1\1\0\6" + TEXT), [TEXT]),
    ("Cisco MetaData", ether(0x8909, b"\1\2\0\1" + TEXT + b"\x08\0" + ipv4(17, QUIET)), [TEXT]),
    ("NVIDIA's mirror header", ether(0x8949, TEXT * 3 + INNER), [TEXT]),
    ("GRE's source route", over4(47, b"\x40\0\x08\0" + TEXT * 4), [TEXT]),
    ("ERSPAN's platform header", over4(47, b"\x10\0\x22\xeb\0\0\0\1" + b"\x20\1\0\0\0\0\0\0\0\0\0\1" + TEXT + bytes(2) + INNER), [TEXT]),
    ("ARP of another link", ether(0x0806, b"\0\x20\x08\0\6\4\0\1" + TEXT * 4), [TEXT]),
    ("a cluster's group address", ether(0x0800, ipv4(17, QUIET), b"\3\xbf" + CLIENT + MACS[6:]), [CLIENT]),
    ("group with a network's prefix", ether(0x86DD, ipv6(17, QUIET)[:24] + b"\xff\x3e\0\x30" + TEXT * 2 + QUIET), [TEXT]),
    ("link-local address", ether(0x86DD, ipv6(17, QUIET)[:24] + b"\xfe\x80" + TEXT + bytes(7) + b"\1" + QUIET), [TEXT]),
    ("behind the packet", INNER + TEXT * 2, [TEXT]),
    ("address that is cut", over4(17, QUIET)[:33], [DESTINATION[:3]]),
    ("IPv6 address that is cut", over6(17, QUIET)[:53], [DESTINATION6[:4]]),
    ("LLDP", ether(0x88CC, b"\2\7\4" + TEXT + b"\4\7\3" + TEXT), [TEXT]),
]


def erf(kind, extensions, frame):
    size = 16 + len(extensions) + len(frame)
    return bytes(8) + struct.pack(">BBHHH", kind | (0x80 if extensions else 0), 4, size, 0, max(0, len(frame) - 2)) + extensions + frame


FRAMES = {
    1: ETHERNET,
    113: [("SLL of a longer address", b"\0\0\0\x20\0\x08" + TEXT + TEXT[:2] + b"\x08\0" + ipv4(17, QUIET), [TEXT]),
          ("SLL behind its address", b"\0\0\0\1\0\6" + MACS[:6] + TEXT[:2] + b"\x08\0" + ipv4(17, QUIET), [MACS[:6], TEXT[:2]])],
    276: [("SLL2 of a longer address", b"\x08\0" + TEXT[:2] + b"\0\0\0\2\0\x20\0\x08" + TEXT + TEXT[:2] + ipv4(17, QUIET), [TEXT[:2]]),
          ("SLL2 behind its address", b"\x08\0\0\0\0\0\0\2\0\1\0\6" + MACS[:6] + TEXT[:2] + ipv4(17, QUIET), [MACS[:6], TEXT[:2]])],
    197: [("ERF extension header", erf(2, b"\3" + TEXT + b"\0", TEXT[:2] + INNER), [TEXT[:2]]),
          ("ERF metadata", erf(27, b"", TEXT * 4), [TEXT])],
    0: [("loopback of no family", TEXT[:4] + ipv4(17, QUIET), [TEXT[:4], SOURCE])],
    286: [("a switch's tag in front", TEXT[:4] + INNER, [TEXT[:4]])],
}
