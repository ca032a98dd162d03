# SPDX-License-Identifier: GPL-2.0-or-later
"""What a network carries besides, on the ports of NFS over RDMA and next to them; other link types; and captures that are cut or damaged."""
import random
import struct

import tunnels as wrapping

from foreign import infiniband, iwarp, rpc
from foreign.capture import COOKED, COOKED_2, ERF, LOOP, PPP, RAW, Foreign
from foreign.network import RESET, Tcp, ip, quoted, tcp, udp

HTTP = b"GET /export HTTP/1.1\r\nHost: server\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
NAME = b"\3www\7example\3com\0"
QUERY = bytes.fromhex("1234 0100 0001 0000 0000 0000") + NAME + bytes.fromhex("0001 0001")
ANSWER = bytes.fromhex("1234 8180 0001 0001 0000 0000") + NAME + bytes.fromhex("0001 0001 c00c 0001 0001 0000003c 0004 c0000202")
KERBEROS = bytes.fromhex("7e35 3033 a003020105 a10302011e a411180f 32303236 31313235 30303030 30305a a505020300ffff a603020119 a9061b0452 45414d")
SMB2 = (b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ16s", 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, b"")
        + struct.pack("<HHHHI16sQHH", 36, 2, 1, 0, 0x7F, b"\1" * 16, 0, 0x0202, 0x0210))
ISCSI = struct.pack(">BBHI8sIIII16s", 0x40, 0x80, 0, 0, b"", 1, 0xFFFFFFFF, 1, 1, b"")
NVME = struct.pack("<BBBBIHBBI", 0, 0, 128, 0, 128, 0, 0, 0, 0).ljust(128, b"\0")
NOISE = random.Random(20049).randbytes(3000)
ETHERTYPES = {0x88CC: "0207040200000000010403050161060200780000", 0x8808: "00010000" + "00" * 42, 0x888E: "0101000000",
              0x88F7: "0002002c" + "00" * 40, 0x8906: "00" * 13 + "2e" + "22" * 24 + "42" * 8 + "41000000",
              0x88A2: "10000001010000000001" + "00" * 12, 0x88E5: "2c000000000100" + "5a" * 40, 0x8914: "1000000101" + "00" * 40,
              0x892F: "00010034" + "0800" + "00" * 46, 0x8917: "0a" * 46, 0x8916: "5b" * 46, 0x22F0: "02" * 46}
PLACED = {"hop by hop": (0, "1100 0502 0000 0100"), "routing": (43, "1102 0400 00000000 20010db8000000000000000000000009"),
          "destination": (60, "1100 0104 00000000"), "a lone fragment": (44, "1100 0000 00000001")}


SENT = [infiniband.rocev2(infiniband.packet(4, b"\xa5" * 100)), udp(2049, rpc.READ[0]), tcp(20049, iwarp.mpa(iwarp.REQUEST, b"\xf6\xab\x0e")),
        tcp(2049, rpc.record(rpc.GETATTR[0])), udp(53, QUERY)]
SENT_6 = [infiniband.rocev2(infiniband.packet(4, b"\xa5" * 100), version=6), udp(2049, rpc.READ[0], version=6), tcp(20049, b"\x55" * 90, version=6)]
EMBEDDED = [quoted(frame, kind, code, kept) for frame in SENT for kind, code, kept in ((3, 3, 28), (3, 13, 60), (11, 0, 200))]
EMBEDDED_6 = [quoted(frame, kind, 0, kept, 6) for frame in SENT_6 for kind, kept in ((1, 48), (2, 90), (3, 300))]


def extended(number, header):
    return ip(number, bytes.fromhex(header) + udp(4791, infiniband.packet(4, b"\xa5" * 40) + infiniband.ICRC, version=6)[54:], version=6)


def a_bit_of_everything():
    """A frame or some of each kind, for links, tunnels and damage."""
    return [*rpc.talk(2049, rpc.GETATTR, rpc.READ), *rpc.datagrams(111, *rpc.PORTMAPPER), *map(infiniband.rocev2, infiniband.of_nobody()),
            *(infiniband.rocev2(infiniband.datagram(m)) for m in infiniband.GSI[:2]),
            *iwarp.begun(b"private", b"data", client=40009).ask(*iwarp.SENDS).answer(iwarp.READ).close(), udp(53, QUERY), udp(53, ANSWER, True),
            udp(4791, infiniband.packet(4, b"\x5a" * 20) + infiniband.ICRC, version=6), EMBEDDED[0]]


def sctp():
    chunk = struct.pack(">BBHIHHI", 0, 3, 16 + 40, 1, 0, 0, 0) + rpc.NULL[0]
    return [ip(132, struct.pack(">HHII", 20049, 2049, 7, 0) + octets) for octets in (struct.pack(">BBHIIHHI", 1, 0, 20, 9, 8192, 1, 1, 1), chunk)]


def damaged(seed):
    """Each frame with some octets changed."""
    chance, out = random.Random(seed), []
    for frame in a_bit_of_everything():
        octets = bytearray(frame)
        for _ in range(chance.randint(1, 6)):
            octets[chance.randrange(12, len(octets))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        out.append(bytes(octets))
    return out


def shortened():
    """Each frame with its last octets gone from the wire too: its headers promise more than there is."""
    chance = random.Random(7)
    return [frame[:chance.randint(1, len(frame))] for frame in a_bit_of_everything()]


def cooked(frame, later=False):
    if later:
        return frame[12:14] + struct.pack(">HIHBB", 0, 1, 1, 0, 6) + frame[6:12] + b"\0\0" + frame[14:]
    return struct.pack(">HHH", 0, 1, 6) + frame[6:12] + b"\0\0" + frame[12:]


def dialled(frame):
    return b"\xff\x03" + (b"\0\x21" if frame[12:14] == b"\x08\0" else b"\0\x57") + frame[14:]


def looped(frame):
    return struct.pack(">I", 2 if frame[12:14] == b"\x08\0" else 24) + frame[14:]


PIECES = [wrapping.fragments(frame, [1480, 1480]) for frame in (udp(2049, rpc.WRITE[0]), udp(4791, NOISE))]
MIXED = a_bit_of_everything()

CAPTURES = {
    "HTTP on the port of NFS over RDMA": Foreign("http", Tcp(20049).ask(HTTP[0]).answer(HTTP[1]).ask(HTTP[0]).answer(HTTP[1]).close()),
    "noise on the port of NFS over RDMA": Foreign("tcp data", [*Tcp(20049).ask(NOISE).answer(NOISE[::-1]).close(),
                                                              tcp(20049, flags=RESET), tcp(20049, b"\x55" * 300, client=50000)]),
    "noise over UDP": Foreign("udp data", [udp(port, NOISE[at:at + 90]) for at, port in enumerate((20049, 20049, 4790, 5000, 20049))]),
    "TLS on the port of NFS over RDMA": Foreign("tls", Tcp(20049).ask(rpc.CLIENT_HELLO).answer(rpc.sealed(b"x" * 90)).close()),
    "SSH": Foreign("ssh", Tcp(22).answer(b"SSH-2.0-OpenSSH_9.2\r\n").ask(b"SSH-2.0-OpenSSH_9.2\r\n").close()),
    "SMB2 over TCP": Foreign("nbss smb2", Tcp(445).ask(struct.pack(">I", len(SMB2)) + SMB2).close()),
    "iSCSI over TCP": Foreign("iscsi", Tcp(3260).ask(ISCSI).close()),
    "NVMe over TCP": Foreign("nvme-tcp", Tcp(4420).ask(NVME).close()),
    "SCTP": Foreign("sctp", sctp()),
    "DNS": Foreign("dns", [udp(53, QUERY), udp(53, ANSWER, True), *Tcp(53).ask(struct.pack(">H", len(QUERY)) + QUERY).close()]),
    "Kerberos": Foreign("kerberos", [udp(88, KERBEROS), *Tcp(88).ask(struct.pack(">I", len(KERBEROS)) + KERBEROS).close()]),
    "ARP": Foreign("arp", [wrapping.ethernet(0x0806, struct.pack(">HHBBH", 1, 0x0800, 6, 4, kind) + b"\2" * 20 + b"\0" * 18)
                           for kind in (1, 2)]),
    "ICMP with what it is about": Foreign("icmp infiniband rpc", EMBEDDED),
    "ICMPv6 with what it is about": Foreign("icmpv6 infiniband", EMBEDDED_6),
    "extension headers of IPv6": Foreign("ipv6 infiniband", [extended(*header) for header in PLACED.values()]),
    "fragments of UDP": Foreign("ip udp nfs", [piece for pieces in PIECES for piece in pieces]),
    "fragments that lack": Foreign("ip", [piece for pieces in PIECES for piece in pieces[1:]]),
    "other kinds of Ethernet": Foreign("lldp macc eapol ptp fcoe aoe",
                                       [wrapping.ethernet(kind, bytes.fromhex(octets)) for kind, octets in ETHERTYPES.items()]),
    "802.3 with LLC": Foreign("llc stp", [wrapping.MACS + struct.pack(">H", 38) + bytes.fromhex("424203 0000000000") + b"\1" * 30,
                                          wrapping.MACS + struct.pack(">H", 4) + bytes.fromhex("e0e003ff") + b"\0" * 42]),
    "raw IP": Foreign("raw ip ipv6 nfs infiniband iwarp_mpa", [f[14:] for f in MIXED], RAW),
    "loopback of BSD": Foreign("null nfs infiniband iwarp_mpa", list(map(looped, MIXED)), LOOP),
    "cooked": Foreign("sll nfs infiniband iwarp_mpa", list(map(cooked, MIXED)), COOKED),
    "cooked, version 2": Foreign("sll nfs infiniband iwarp_mpa", [cooked(f, later=True) for f in MIXED], COOKED_2),
    "PPP": Foreign("ppp nfs infiniband iwarp_mpa", list(map(dialled, MIXED)), PPP, left_to_stock=True),
    "Ethernet in ERF": Foreign("erf eth nfs infiniband iwarp_mpa", [infiniband.erf(2, b"\0\0" + f + b"\0" * 4) for f in MIXED], ERF),
    "several interfaces": Foreign("eth sll raw nfs infiniband iwarp_mpa",
                                  [((RAW, f[14:]), (COOKED, cooked(f)), f)[at % 3] for at, f in enumerate(MIXED)]),
    "a bit of everything": Foreign("eth nfs infiniband iwarp_mpa portmap dns icmp", MIXED),
    **{f"cut to {kept} octets": Foreign("eth ip", MIXED, cut=kept) for kept in (14, 34, 48, 60, 96, 128)},
    **{f"damaged, {seed}": Foreign("eth ip infiniband", damaged(seed)) for seed in range(1, 5)},
    "shorter than they say": Foreign("eth ip", shortened()),
}
