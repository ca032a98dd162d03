# SPDX-License-Identifier: GPL-2.0-or-later
"""InfiniBand and RoCE without RPC-over-RDMA: management datagrams, unreliable datagrams, connections whose beginning nobody has seen.
InfiniBand Architecture Specification volume 1, chapters 7, 9, 12 to 16."""
import struct

import tunnels as wrapping

from foreign.capture import ERF, Foreign
from foreign.network import Tcp, udp

ICRC = b"\x1c" * 4
SEND_ONLY, UD_SEND, MULTICAST = 0x04, 0x64, 0xFFFFFF
SUBNET, SUBNET_DIRECTED, ADMINISTRATION, PERFORMANCE, COMMUNICATION = 0x01, 0x81, 0x03, 0x04, 0x07
GET, SET, SEND, RESPONSE = 0x01, 0x02, 0x03, 0x81


def packet(opcode, payload=b"", psn=1, pair=0x55):
    """From the base transport header to the pad."""
    pad = -len(payload) % 4
    return struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xFFFF, pair, psn) + payload + b"\0" * pad


def datagram(payload, pair=1, key=0x80010000, source=1, **how):
    return packet(UD_SEND, struct.pack(">II", key, source) + payload, pair=pair, **how)


def management(kind, method, attribute, data=b"", modifier=0, version=1, status=0):
    head = struct.pack(">BBBBHHQHHI", 1, kind, version, method, status, 0, 0x1234567800000001, attribute, 0, modifier)
    return head + data.ljust(232, b"\0")[:232]


def rocev2(octets, back=False, version=4):
    return udp(4791, octets + ICRC, version=version, client=0xC000 + back)


def rocev1(octets, _=False):
    return wrapping.ethernet(0x8915, wrapping.ipv6(0x1B, octets + ICRC))


def erf(kind, octets):
    """A record of an ERF card, as link type 197 has it."""
    return struct.pack("<QBB", 1_700_000_000 << 32, kind, 4) + struct.pack(">HHH", 16 + len(octets), 0, len(octets)) + octets


def native(octets, global_route=False):
    """LRH; with a GRH where the packet goes beyond its subnet."""
    inside = wrapping.ipv6(0x1B, octets + ICRC) if global_route else octets + ICRC
    lrh = struct.pack(">BBHHH", 0xF0, 3 if global_route else 2, 2, (8 + len(inside)) // 4, 1)
    return erf(21, lrh + inside + b"\xab\xcd")


def request(service, private=b"", local=0x11):
    """A REQ; its private data begin at octet 140."""
    head = struct.pack(">IIQQIIQ", local, 0, service, 0x0002C90300000001, 0, 0, 0x0002C90300000001)
    return management(COMMUNICATION, SEND, 0x10, head.ljust(140, b"\0") + private, version=2)


def answer(attribute, body=b"", private=b"", at=36, local=0x22, remote=0x11):
    return management(COMMUNICATION, SEND, attribute, (struct.pack(">II", local, remote) + body).ljust(at, b"\0") + private, version=2)


REPLY, READY, REJECT, ACKNOWLEDGE, DISCONNECT, DISCONNECTED, LOAD, SIDR, SIDR_REPLY = 0x13, 0x14, 0x12, 0x11, 0x15, 0x16, 0x19, 0x17, 0x18


def connection(service, to_server=b"", to_client=b"", between=()):
    """Frames of a connection that is made, used and closed."""
    qpn = struct.pack(">II", 0, 0x99 << 8)
    made = [request(service, to_server), answer(ACKNOWLEDGE), answer(REPLY, qpn, to_client), answer(READY, local=0x11, remote=0x22, at=8)]
    ended = [answer(DISCONNECT, struct.pack(">I", 0x99 << 8), at=12), answer(DISCONNECTED, at=8)]
    return [*(datagram(m) for m in made), *between, *(datagram(m) for m in ended)]


def of_nobody():
    """Sends of every length, and three that Wireshark's own dissector takes for RDMA_NOMSG, RDMA_DONE and RDMA_ERROR, whatever stands
    before that word."""
    sends = [packet(SEND_ONLY, b"\xa5" * length, 100 + length) for length in (0, 1, 3, 4, 8, 12, 15, 16, 17, 24, 64, 300)]
    return sends + [packet(SEND_ONLY, struct.pack(">IIII", 0xFEED, 0x77000000, 0x88, kind) + b"\xa5" * 48, 500 + kind) for kind in (1, 3, 4)]


RETH = struct.pack(">QII", 0x7F0000001000, 0xABCD, 4096)
AETH = bytes.fromhex("1f000001")
IMMEDIATE = b"\0\0\0\7"
EXTENSIONS = {0x00: b"", 0x01: b"", 0x02: b"", 0x03: IMMEDIATE, 0x04: b"", 0x05: IMMEDIATE, 0x16: IMMEDIATE, 0x17: IMMEDIATE, 0x06: RETH,
              0x07: b"", 0x08: b"", 0x09: IMMEDIATE, 0x0A: RETH, 0x0B: RETH + IMMEDIATE, 0x0D: AETH, 0x0E: b"", 0x0F: AETH, 0x10: AETH}
# Read request, acknowledgement, RNR NAK, both atomics and their answer
WITHOUT_PAYLOAD = [(0x0C, RETH), (0x11, AETH), (0x11, bytes.fromhex("60000001")), (0x13, RETH[:12] + b"\1" * 16), (0x14, RETH[:12] + b"\1" * 16),
                   (0x12, AETH + b"\2" * 8)]


def operations(kind=0):
    """Each opcode of a service; PSNs wrap on the way."""
    out = [packet(kind | opcode, extension + bytes([opcode]) * 40, 0xFFFFF8 + at & 0xFFFFFF)
           for at, (opcode, extension) in enumerate(EXTENSIONS.items())]
    return out + [packet(kind | opcode, octets, 20 + at) for at, (opcode, octets) in enumerate(WITHOUT_PAYLOAD)]


GSI = [management(PERFORMANCE, GET, 0x0001), management(PERFORMANCE, RESPONSE, 0x0001, b"\0" * 40 + b"\1\1\2\0"),
       management(PERFORMANCE, GET, 0x0012, b"\0" * 41 + b"\1"), management(PERFORMANCE, RESPONSE, 0x0012, b"\0" * 41 + b"\1" * 60),
       management(PERFORMANCE, SET, 0x0012, b"\0" * 41 + b"\1\xff\xff"),
       management(PERFORMANCE, RESPONSE, 0x001D, b"\0" * 41 + b"\1" * 90, status=0xC)]
SUBNET_AGENT = [management(SUBNET, GET, 0x0011), management(SUBNET, RESPONSE, 0x0011, b"\0" * 40 + b"\1\1\1\2" * 10),
                management(SUBNET, RESPONSE, 0x0015, b"\0" * 40 + b"\3" * 64, modifier=1), management(SUBNET, SET, 0x0016, b"\0" * 40 + b"\x7f\xff"),
                management(SUBNET_DIRECTED, GET, 0x0010, b"\0" * 104 + b"\0\1\2", modifier=0xFFFFFFFF),
                management(SUBNET, 0x05, 0x0002, b"\1" * 100)]
QUERIES = [management(ADMINISTRATION, GET, 0x0035, b"\0" * 12 + b"\0" * 8 + b"\0\4" + b"\0" * 18 + b"\xfe\x80" * 20, version=2),
           management(ADMINISTRATION, RESPONSE, 0x0035, b"\1\1\7\0" + b"\0" * 36 + b"\xfe\x80" * 30, version=2),
           management(ADMINISTRATION, SET, 0x0038, b"\0" * 40 + b"\xff\x12" * 20, version=2), management(ADMINISTRATION, 0x12, 0x0011, version=2)]
OTHER_CLASSES = [management(kind, GET, 1, b"\x0b" * 100) for kind in (0x02, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x10, 0x21, 0x30, 0x4F, 0xFE)]
SRP_LOGIN = struct.pack(">BxxxxxxxQIIHH", 0, 1, 0x1000, 0, 6, 0) + b"\x11" * 32
OUTSIDE_CM = [management(COMMUNICATION, SEND, kind, b"\0\0\0\x11" * 40, version=2)
              for kind in (ACKNOWLEDGE, LOAD, 0x1A, SIDR, SIDR_REPLY, 0x01, 0x99)]
UNKNOWN, SRP, SDP = 0x1000DEADBEEF0001, 0x0002C90300000001, 0x0000000000010000 | 5001
IPOIB = [datagram(struct.pack(">HH", kind, 0) + octets, pair, 0x0B1B, 0x48)
         for kind, octets, pair in ((0x0806, struct.pack(">HHBBH", 32, 0x0800, 20, 4, 1) + b"\7" * 48, MULTICAST),
                                    (0x0800, wrapping.ipv4(17, bytes.fromhex("d431003500090000 41")), 0x49),
                                    (0x0800, Tcp(20049).ask(b"no frame of MPA").frames[-1][14:], 0x49))]
SMC_LINK = [packet(SEND_ONLY, bytes([kind, 44]) + b"\0\x80" + b"\x31" * 40, 70 + kind) for kind in (1, 2, 3, 4, 6, 7, 8, 9)]
SMC = (Tcp(5000).ask(bytes.fromhex("e2d4c3d9 01 0034 10") + b"\x42" * 40 + bytes.fromhex("e2d4c3d9"))
       .answer(bytes.fromhex("e2d4c3d9 02 0044 10") + b"\x43" * 56 + bytes.fromhex("e2d4c3d9")).frames)
BROKEN = [udp(4791, packet(SEND_ONLY, b"\xa5" * 40)[:length], client=0xC000) for length in range(0, 40, 3)]
MANAGEMENT = [datagram(m) for m in (*GSI, *SUBNET_AGENT, *QUERIES, *OTHER_CLASSES, *OUTSIDE_CM)]

CAPTURES = {
    "RoCEv2 of nobody": Foreign("infiniband", [rocev2(p) for p in of_nobody()]),
    "RoCEv1 of nobody": Foreign("infiniband", [rocev1(p) for p in of_nobody()]),
    "performance management": Foreign("infiniband", [rocev2(datagram(m)) for m in GSI]),
    "subnet management on RoCEv1": Foreign("infiniband", [rocev1(datagram(m, 0)) for m in SUBNET_AGENT]),
    "subnet administration on IPv6": Foreign("infiniband", [rocev2(datagram(m), version=6) for m in QUERIES]),
    "management on InfiniBand": Foreign("erf infiniband", [native(p, bool(at % 2)) for at, p in enumerate(MANAGEMENT)], ERF),
    "CM messages that make no connection": Foreign("infiniband", [rocev2(datagram(m)) for m in OUTSIDE_CM]),
    "CM with an unknown service": Foreign("infiniband", [rocev2(p) for p in connection(UNKNOWN, b"hello", b"world", of_nobody())]),
    "CM refused": Foreign("infiniband", [rocev2(datagram(m)) for m in (request(UNKNOWN), answer(REJECT, b"\0\0\0\x1c", b"no", 80))]),
    "SRP": Foreign("infiniband", [rocev1(p) for p in connection(SRP, SRP_LOGIN, b"\xc0" + b"\0" * 51, [packet(SEND_ONLY, b"\2" + b"\0" * 47)])]),
    "SDP": Foreign("infiniband infiniband_sdp", [rocev2(p) for p in connection(SDP, b"\0" * 36 + b"\0\0\0\x10" * 4, b"\1\0\0\x10" * 4,
                                                                               [packet(SEND_ONLY, b"\xff\0\0\1" * 4)])]),
    "IPoIB": Foreign("infiniband arp", [rocev2(p) for p in IPOIB]),
    "IPoIB on InfiniBand": Foreign("erf infiniband arp", [native(p, True) for p in IPOIB], ERF),
    "SMC-R": Foreign("smc infiniband", [*SMC, *map(rocev2, SMC_LINK)]),
    "reliable operations": Foreign("infiniband", [rocev2(p) for p in operations()]),
    "unreliable and other services": Foreign("infiniband", [rocev2(p) for kind in (0x20, 0x40, 0x80, 0xA0, 0xC0) for p in operations(kind)]),
    "reliable operations on InfiniBand": Foreign("erf infiniband", [native(p) for p in operations()], ERF),
    "RoCEv2 packets that end too early": Foreign("infiniband", BROKEN),
    "congestion and multicast": Foreign("infiniband", [rocev2(packet(0x81, b"\0" * 16)), rocev2(datagram(b"to all" * 9, MULTICAST, 0x77))]),
}
