# SPDX-License-Identifier: GPL-2.0-or-later
"""NFS and its relatives where there is no RDMA: over TCP and UDP, in fragments, with Kerberos, in TLS. RFC 5531, 1813, 8881, 2203, 9289."""
import struct

from foreign.capture import Foreign
from foreign.network import Tcp, udp

PORTMAP, NFS, MOUNT, NLM, STATUS, CALLBACK = 100000, 100003, 100005, 100021, 100024, 0x40000000
FILE = bytes(range(28))
SESSION = b"\x5e" * 16


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def opaque(octets):
    return words(len(octets)) + octets + b"\0" * (-len(octets) % 4)


SYSTEM = words(1) + opaque(words(0) + opaque(b"host") + words(0, 0, 0))
NONE = words(0, 0)


def call(xid, program, version, procedure, *body, credential=SYSTEM, verifier=NONE):
    return words(xid, 0, 2, program, version, procedure) + credential + verifier + b"".join(body)


def reply(xid, *body, verifier=NONE, status=0):
    return words(xid, 1, 0) + verifier + words(status) + b"".join(body)


def record(message, *sizes):
    """As TCP carries it, in fragments of these sizes and a last one of the rest."""
    out = b""
    for size in sizes:
        out, message = out + words(min(size, len(message))) + message[:size], message[size:]
    return out + words(0x80000000 | len(message)) + message


ATTRIBUTES = words(1, 0o644, 1, 0, 0, 0, 4096, 0, 4096, 0, 0, 0, 1, 0, 7, 1, 0, 1, 0, 1, 0)
DATA = bytes(range(256)) * 16
GETATTR = call(11, NFS, 3, 1, opaque(FILE)), reply(11, words(0), ATTRIBUTES)
READ = call(12, NFS, 3, 6, opaque(FILE), words(0, 0, 4096)), reply(12, words(0, 1), ATTRIBUTES, words(4096, 1), opaque(DATA))
WRITE = (call(13, NFS, 3, 7, opaque(FILE), words(0, 0, 4096, 2), opaque(DATA)),
         reply(13, words(0, 0, 1), ATTRIBUTES, words(4096, 2, 1, 2)))
NULL = call(10, NFS, 3, 0), reply(10)
SEQUENCE = words(53) + SESSION + words(1, 0, 0, 0)
SEQUENCE_DONE = words(53, 0) + SESSION + words(1, 0, 0, 0, 0)
COMPOUND = (call(21, NFS, 4, 1, opaque(b""), words(1, 3), SEQUENCE, words(22), opaque(FILE), words(9, 2, 0x18, 0)),
            reply(21, words(0), opaque(b""), words(3), SEQUENCE_DONE, words(22, 0, 9, 0, 2, 0x18, 0), opaque(words(0, 7, 0, 4096))))
RECALL = (call(31, CALLBACK, 1, 1, opaque(b""), words(1, 0, 2), words(11), SESSION, words(1, 0, 0, 0, 0), words(4, 1), b"\x0d" * 12, words(0),
               opaque(FILE)),
          reply(31, words(0), opaque(b""), words(2), words(11, 0), SESSION, words(1, 0, 0, 0), words(4, 0)))
GSS_INIT = words(6) + opaque(words(1, 1, 0, 1) + opaque(b""))
GSS_DATA = words(6) + opaque(words(1, 0, 1, 3) + opaque(b"ctx1"))
TOKEN = bytes.fromhex("6081 0506 092a 8648 86f7 1201 0202 0100") + b"\x6e" * 60
MIC = words(6) + opaque(b"\x04\x04\x05" + b"\xff" * 5 + b"\x1c" * 20)
CLIENT_HELLO = (b"\x16\x03\x01\0\x31\x01\0\0\x2d\x03\x03" + b"\x52" * 32 + b"\0" + bytes.fromhex("0004 1301 1302 01 00 0000"))


def sealed(message):
    """TLS application data."""
    return b"\x17\x03\x03" + struct.pack(">H", len(message)) + bytes(o ^ 0x5A for o in message)


def talk(port, *pairs, fragments=(), **how):
    """The first pair is never in fragments: by it Wireshark knows RPC."""
    connection = Tcp(port, **how)
    for at, pair in enumerate(pairs):
        asked, answered = (record(message, *(fragments if at else ())) for message in pair)
        connection.ask(asked).answer(answered)
    return connection.close()


def datagrams(port, *pairs, version=4):
    return [udp(port, octets, back, version, client=900) for pair in pairs for back, octets in enumerate(pair)]


ADDRESS = opaque(b"tcp") + opaque(b"192.0.2.2.8.1") + opaque(b"superuser")
PORTMAPPER = [(call(1, PORTMAP, 2, 3, words(NFS, 3, 6, 0), credential=NONE), reply(1, words(2049))),
              (call(2, PORTMAP, 2, 4, credential=NONE), reply(2, words(1, NFS, 3, 6, 2049, 1, NFS, 4, 6, 20049, 0))),
              (call(3, PORTMAP, 4, 3, words(NFS, 4), ADDRESS, credential=NONE), reply(3, opaque(b"192.0.2.2.78.81")))]
MOUNTING = [(call(4, MOUNT, 3, 1, opaque(b"/export")), reply(4, words(0), opaque(FILE), words(1, 1))),
            (call(5, MOUNT, 3, 5), reply(5, words(1), opaque(b"/export"), words(0, 0)))]
LOCK = opaque(b"host") + opaque(FILE) + opaque(b"owner") + words(77, 0, 0, 0, 100)
LOCKING = [(call(6, NLM, 4, 2, opaque(b"cook"), words(1, 1), LOCK, words(0, 5)), reply(6, opaque(b"cook"), words(0))),
           (call(7, STATUS, 1, 1, opaque(b"host")), reply(7, words(0, 5)))]
SECURED = [(call(8, NFS, 3, 0, opaque(TOKEN), credential=GSS_INIT), reply(8, opaque(b"ctx1"), words(0, 0, 128), opaque(TOKEN), verifier=MIC)),
           (call(9, NFS, 3, 1, opaque(opaque(b"s" * 60)), credential=GSS_DATA, verifier=MIC), reply(9, opaque(b"t" * 140), verifier=MIC))]
PROBE = call(1, NFS, 4, 0, credential=words(7, 0)), reply(1, verifier=words(0) + opaque(b"STARTTLS"))


def protected():
    """RFC 9289: a probe in the clear, then TLS."""
    connection = Tcp(2049).ask(record(PROBE[0])).answer(record(PROBE[1])).ask(CLIENT_HELLO)
    for asked, answered in (COMPOUND, READ):
        connection.ask(sealed(record(asked))).answer(sealed(record(answered)))
    return connection.close()


CAPTURES = {
    "NFSv3 over TCP": Foreign("nfs rpc tcp", talk(2049, NULL, GETATTR, READ, WRITE)),
    "NFSv3 over TCP and IPv6": Foreign("nfs rpc ipv6", talk(2049, NULL, GETATTR, READ, WRITE, version=6)),
    "NFSv4.1 over TCP with callbacks": Foreign("nfs rpc tcp", Tcp(2049).ask(record(COMPOUND[0])).answer(record(COMPOUND[1]))
                                               .answer(record(RECALL[0])).ask(record(RECALL[1])).close()),
    "NFS over TCP on the port of NFS over RDMA": Foreign("nfs rpc tcp", talk(20049, NULL, GETATTR, READ, COMPOUND)),
    "NFS over UDP": Foreign("nfs rpc udp", datagrams(2049, NULL, GETATTR, READ)),
    "NFS over UDP on the port of NFS over RDMA": Foreign("nfs rpc udp", datagrams(20049, NULL, GETATTR)),
    "portmapper and rpcbind": Foreign("portmap rpc", [*datagrams(111, *PORTMAPPER), *talk(111, *PORTMAPPER)]),
    "MOUNT": Foreign("mount rpc", [*datagrams(635, *MOUNTING), *datagrams(635, *MOUNTING, version=6)]),
    "NLM and NSM": Foreign("nlm rpc", [*talk(32803, *LOCKING), *datagrams(32769, *LOCKING)]),
    "RPCSEC_GSS": Foreign("rpc gss-api", talk(2049, *SECURED)),
    "RPC fragments in many segments": Foreign("nfs rpc", talk(2049, GETATTR, READ, WRITE, fragments=(100, 1000, 7), segment=333)),
    "many RPC messages in a segment": Foreign("nfs rpc", Tcp(2049, segment=9000).ask(*map(record, (NULL[0], GETATTR[0], READ[0])))
                                              .answer(*map(record, (NULL[1], GETATTR[1], READ[1]))).close()),
    "RPC over TCP, repeated and out of order": Foreign("nfs rpc", Tcp(2049).ask(record(WRITE[0])).again().swapped()
                                                       .answer(record(WRITE[1])).again().close()),
    "RPC over TCP, from the middle": Foreign("tcp", Tcp(2049, handshake=False).answer(record(READ[1])[100:]).ask(record(GETATTR[0]))
                                             .answer(record(GETATTR[1])).close()),
    "RPC with TLS": Foreign("rpc", protected()),
    "RPC refused": Foreign("rpc", talk(2049, (call(1, NFS, 9, 0), reply(1, words(2, 4), status=2)), (NULL[0], words(10, 1, 1, 1, 5)))),
}
