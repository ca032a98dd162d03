# SPDX-License-Identifier: GPL-2.0-or-later
"""iWARP without RPC-over-RDMA, and what only looks like iWARP. RFC 5044, 5041, 5040, 6581. Not to port 20049: who begins MPA there
means NFS over RDMA, whatever comes next."""
import struct

from foreign.capture import Foreign
from foreign.network import ACK, RESET, SYN, Tcp, quoted, tcp, udp

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MARKERS, CRC, REJECTED = 0x80, 0x40, 0x20


def mpa(key, private=b"", flags=0, revision=1, says=None):
    return key + struct.pack(">BBH", flags, revision, len(private) if says is None else says) + private


def fpdu(ddp, crc=0):
    octets = struct.pack(">H", len(ddp)) + ddp
    return octets + b"\0" * (-len(octets) % 4) + struct.pack(">I", crc)


def untagged(opcode, payload=b"", queue=0, number=1, offset=0, last=True, version=1):
    return fpdu(struct.pack(">BBIIII", (0x40 if last else 0) | 1, version << 6 | opcode, 0, queue, number, offset) + payload)


def tagged(opcode, payload=b"", steering=0xABCD, offset=0x1000, last=True):
    return fpdu(struct.pack(">BBIQ", (0xC0 if last else 0x80) | 1, 0x40 | opcode, steering, offset) + payload)


def begun(request=b"", reply=b"", flags=0, revision=1, **how):
    return Tcp(5000, **how).ask(mpa(REQUEST, request, flags, revision)).answer(mpa(REPLY, reply, flags, revision))


READ = untagged(1, struct.pack(">IQIIQ", 7, 0, 100, 0xABCD, 0x1000), queue=1)
SENDS = [untagged(opcode, bytes([opcode]) * size, number=at)
         for at, (opcode, size) in enumerate(((3, 40), (4, 0), (5, 3), (6, 15), (3, 16), (3, 300)), start=1)]
IN_PIECES = [untagged(3, b"\x31" * 500, number=7, last=False), untagged(3, b"\x32" * 200, number=7, offset=500)]
LOOK_ALIKES = [untagged(3, struct.pack(">IIII", 0xFEED, 0x77000000, 0x88, kind) + b"\xa5" * 48, number=8 + kind) for kind in (1, 3, 4)]
TO_QUEUES = [untagged(3, b"\x44" * 44, queue) for queue in (1, 2, 3, 4, 200, 0xFFFFFFFF)]
TERMINATE = untagged(7, bytes.fromhex("10020000") + b"\0" * 20, queue=2)
OURS = bytes.fromhex("f6ab0e18 01 01 03 03")  # RFC 8797
ENHANCED = bytes.fromhex("80010001")

def within_others(private):
    """MPA frames that begin no stream: in HTTP, in UDP, in a stream that began otherwise, in a quotation of ICMP."""
    asked, answered = mpa(REQUEST, private), mpa(REPLY, private)
    length = f"Content-Length: {len(asked)}\r\n\r\n".encode()
    return [*Tcp(80).ask(b"POST / HTTP/1.1\r\n", length, asked).answer(b"HTTP/1.1 200 OK\r\n", length, answered).close(),
            udp(5000, asked), udp(5000, answered, back=True), *Tcp(5000).ask(b"hello").answer(answered).ask(asked).close(),
            quoted(tcp(5000, asked, client=40001), 3, 13)]


def refused(port, client):
    return [tcp(port, client=client, sequence=1000, acknowledged=0, flags=SYN),
            tcp(port, back=True, client=client, sequence=0, acknowledged=1001, flags=RESET | ACK)]


CAPTURES = {
    "MPA with the private data of others": Foreign("iwarp_mpa", begun(b"NVMe" + b"\0" * 28, b"\x11" * 512).ask(*SENDS, *IN_PIECES)
                                                   .answer(*SENDS).close()),
    "MPA revision 2": Foreign("iwarp_mpa", begun(ENHANCED + b"peer", ENHANCED, revision=2).ask(SENDS[0]).answer(READ)
                              .ask(tagged(2, b"\6" * 100)).close()),
    "MPA refused": Foreign("iwarp_mpa", Tcp(5000).ask(mpa(REQUEST, b"let me in")).answer(mpa(REPLY, b"no", REJECTED)).close()),
    "MPA refused, and then TCP": Foreign("iwarp_mpa", [*Tcp(5000).ask(mpa(REQUEST, b"let me in")).answer(mpa(REPLY, b"no", REJECTED)).close(),
                                                       *refused(5000, 40001), *refused(5000, 40002)]),
    "MPA of an unknown revision": Foreign("tcp", begun(b"9", b"9", revision=9).ask(*SENDS).close()),
    "MPA that never ends": Foreign("tcp", Tcp(5000).ask(mpa(REQUEST, b"short", says=512)).answer(mpa(REPLY, says=0xFFFF)).close()),
    "MPA with the wrong checksums": Foreign("iwarp_mpa", begun(flags=CRC).ask(*SENDS).close()),
    "MPA that says markers and has none": Foreign("iwarp_mpa", begun(flags=MARKERS).ask(*SENDS).close()),
    "MPA over IPv6": Foreign("iwarp_mpa", begun(b"x" * 8, b"y" * 20, version=6).ask(*SENDS).answer(*SENDS[::-1]).close()),
    "Sends that look alike": Foreign("iwarp_mpa iwarp_ddp_rdmap", begun().ask(*SENDS, *LOOK_ALIKES).answer(*LOOK_ALIKES).close()),
    "DDP with other queues": Foreign("iwarp_mpa iwarp_ddp_rdmap", begun().ask(*TO_QUEUES, SENDS[0]).close()),
    "RDMAP with other operations": Foreign("iwarp_mpa iwarp_ddp_rdmap", begun().ask(READ, *(untagged(o, b"\x55" * 55) for o in range(8, 16)))
                                           .answer(*(tagged(o, b"\x66" * 66) for o in range(16)), TERMINATE).close()),
    "RDMAP of another version": Foreign("iwarp_mpa", begun().ask(*(untagged(3, b"\x77" * 20, version=v) for v in (0, 2, 3))).close()),
    "FPDUs cut up and together": Foreign("iwarp_mpa iwarp_ddp_rdmap", begun(segment=37).ask(*SENDS, *IN_PIECES, READ)
                                         .answer(*SENDS, tagged(0, b"\7" * 99)).again().close()),
    "a connection without its MPA": Foreign("tcp", Tcp(5000).ask(*SENDS).answer(*SENDS, READ).close()),
    "an MPA Reply without its Request": Foreign("tcp", Tcp(5000).answer(mpa(REPLY, b"late")).ask(*SENDS).close()),
    "MPA inside of other talk": Foreign("http udp", within_others(b"private data")),
    "MPA of RPC-over-RDMA inside of other talk": Foreign("http udp", within_others(OURS)),
}
