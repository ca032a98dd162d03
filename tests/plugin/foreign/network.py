# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames between a client and a server on Ethernet: IP, UDP, and TCP connections with what both sides say."""
import struct

import tunnels as wrapping

HOSTS = {4: (bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])),
         6: (bytes.fromhex("20010db8") + b"\0" * 11 + b"\1", bytes.fromhex("20010db8") + b"\0" * 11 + b"\2")}
SYN, FIN, ACK, PUSH, RESET = 0x02, 0x01, 0x10, 0x08, 0x04


def ip(protocol, payload, back=False, version=4):
    ends = HOSTS[version][::-1] if back else HOSTS[version]
    if version == 4:
        return wrapping.ethernet(0x0800, wrapping.ipv4(protocol, payload, ends=ends))
    return wrapping.ethernet(0x86DD, wrapping.ipv6(protocol, payload, ends=ends))


def udp(port, payload, back=False, version=4, client=40000):
    ports = (port, client) if back else (client, port)
    return ip(17, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload, back, version)


def tcp(port, payload=b"", back=False, version=4, client=40000, sequence=1, acknowledged=1, flags=ACK | PUSH):
    ports = (port, client) if back else (client, port)
    return ip(6, struct.pack(">HHIIBBHHH", *ports, sequence, acknowledged, 0x50, flags, 8192, 0, 0) + payload, back, version)


def quoted(frame, kind, code, kept=None, version=4):
    """ICMP about a packet of which it holds the beginning. RFC 792, 4443."""
    body = struct.pack(">BBHI", kind, code, 0, 0) + frame[14:][:kept]
    return ip(1 if version == 4 else 58, body, True, version)


class Tcp:
    """A connection; `segment`: so many octets in each at most. What is said of it can be said in one expression."""

    def __init__(self, port, client=40000, version=4, segment=1400, handshake=True):
        self.port, self.client, self.version, self.segment = port, client, version, segment
        self.frames, self.next = [], [1000, 5000]
        if handshake:
            for back, flags in ((False, SYN), (True, SYN | ACK), (False, ACK)):
                self._send(b"", back, flags)
                self.next[back] += bool(flags & SYN)

    def _send(self, octets, back, flags):
        acknowledged = self.next[not back] if flags & ACK else 0
        self.frames.append(tcp(self.port, octets, back, self.version, self.client, self.next[back], acknowledged, flags))

    def _say(self, octets, back):
        for at in range(0, len(octets), self.segment):
            piece = octets[at:at + self.segment]
            self._send(piece, back, ACK | PUSH)
            self.next[back] += len(piece)
        return self

    def ask(self, *octets):
        return self._say(b"".join(octets), False)

    def answer(self, *octets):
        return self._say(b"".join(octets), True)

    def again(self):
        """The newest segment once more."""
        self.frames.append(self.frames[-1])
        return self

    def swapped(self):
        """The two newest segments in the other order."""
        self.frames[-2:] = self.frames[:-3:-1]
        return self

    def close(self):
        for back in (False, True):
            self._send(b"", back, FIN | ACK)
            self.next[back] += 1
        return self.frames
