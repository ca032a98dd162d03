# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections as the shapes see them, on RoCEv2 and on iWARP: what a side sends becomes frames of a capture."""
import struct

CLIENT, SERVER = bytes((192, 0, 2, 2)), bytes((192, 0, 2, 1))
MTU = 4096  # of InfiniBand packets; a TCP segment here carries one FPDU, of up to SEGMENT octets
SEGMENT = 8192
ETHERNET = b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0"
MICROSECONDS = 10  # between two frames


class Capture:
    """A pcap file that grows frame by frame."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=1 << 20)
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        self.time = 1_700_000_000_000_000
        self.size = 24

    def packet(self, source, destination, protocol, octets):
        self.time += MICROSECONDS
        length = 34 + len(octets)
        self.file.write(struct.pack("<IIII", self.time // 1_000_000, self.time % 1_000_000, length, length) + ETHERNET
                        + struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(octets), 0, 0x4000, 64, protocol, 0) + source + destination + octets)
        self.size += 16 + length

    def close(self):
        self.file.close()


def address(number):
    return struct.pack(">I", 0x0A000000 + number)


class Roce:
    """One connection of two queue pairs; the capture begins in the middle of it."""
    name = "RoCEv2"
    SEND, FIRST, MIDDLE, LAST, WRITE, READ, ANSWER, ACK, SEND_INVALIDATE = 4, 0, 1, 2, 10, 12, 16, 17, 23

    def __init__(self, capture, number=0, client=CLIENT):
        self.capture = capture
        self.address = (client, SERVER)
        self.to = (0x11 + 2 * (number % 8_000_000), 0x10 + 2 * (number % 8_000_000))  # queue pair that side 0, side 1 sends to
        self.psn = [0, 0]
        self.msn = [0, 0]

    def _packet(self, side, code, octets, psn):
        pad = -len(octets) % 4
        body = struct.pack(">BBHII", code, pad << 4 | 0x40, 0xFFFF, self.to[side], 0x80000000 | psn & 0xFFFFFF)
        udp = struct.pack(">HHHH", 50000, 4791, 24 + len(octets) + pad, 0)
        self.capture.packet(self.address[side], self.address[1 - side], 17, udp + body + octets + bytes(pad + 4))

    def _next(self, side, code, octets):
        self._packet(side, code, octets, self.psn[side])
        self.psn[side] += 1

    def send(self, side, octets):
        if len(octets) <= MTU:
            self._next(side, self.SEND, octets)
            return
        for at in range(0, len(octets), MTU):
            code = self.FIRST if at == 0 else self.LAST if at + MTU >= len(octets) else self.MIDDLE
            self._next(side, code, octets[at:at + MTU])

    def send_and_invalidate(self, side, handle, octets):
        self._next(side, self.SEND_INVALIDATE, struct.pack(">I", handle) + octets)

    def write(self, side, handle, offset, octets):
        self._next(side, self.WRITE, struct.pack(">QII", offset, handle, len(octets)) + octets)

    def read(self, side, handle, offset, octets):
        """Asks for these octets, and gets them."""
        asked = self.psn[side]
        self._next(side, self.READ, struct.pack(">QII", offset, handle, len(octets)))
        self.msn[1 - side] += 1
        self._packet(1 - side, self.ANSWER, struct.pack(">I", self.msn[1 - side]) + octets, asked)

    def ask(self, side, handle, offset, length):
        """Asks for octets that never come."""
        self._next(side, self.READ, struct.pack(">QII", offset, handle, length))

    def received(self, side):
        """Acknowledges everything that the other side sent."""
        self.msn[side] += 1
        self._packet(side, self.ACK, struct.pack(">I", 0x1F000000 | self.msn[side]), self.psn[1 - side] - 1)

    def refuse(self, side):
        """NAK: invalid request."""
        self.msn[side] += 1
        self._packet(side, self.ACK, struct.pack(">I", 0x61000000 | self.msn[side]), self.psn[1 - side] - 1)

    def repeat(self, side, octets):
        self._packet(side, self.SEND, octets, self.psn[side] - 1)

    def lose(self, side, packets):
        """The capture lacks so many packets."""
        self.psn[side] += packets


class Iwarp:
    """One TCP connection with MPA, without markers and checksums; its opening is in the capture."""
    name = "iWARP"
    FIN, SYN, PSH, ACK = 1, 2, 8, 16

    def __init__(self, capture, number=0, client=CLIENT):
        self.capture = capture
        self.address = (client if number < 60000 else address(0x10000 + number // 60000), SERVER)
        self.port = (1024 + number % 60000, 20049)
        self.sequence = [1000, 5000]
        self.msn = [[1, 1, 1], [1, 1, 1]]
        self._segment(0, self.SYN, b"")
        self.sequence[0] += 1
        self._segment(1, self.SYN | self.ACK, b"")
        self.sequence[1] += 1
        self.octets(0, b"MPA ID Req Frame" + bytes((0, 1, 0, 0)))
        self.octets(1, b"MPA ID Rep Frame" + bytes((0, 1, 0, 0)))

    def _segment(self, side, flags, octets):
        tcp = struct.pack(">HHIIBBHHH", self.port[side], self.port[1 - side], self.sequence[side] & 0xFFFFFFFF,
                          self.sequence[1 - side] & 0xFFFFFFFF if flags != self.SYN else 0, 0x50, flags, 0xFFFF, 0, 0)
        self.capture.packet(self.address[side], self.address[1 - side], 6, tcp + octets)

    def finish(self):
        """Both sides close it."""
        for side in (0, 1):
            self._segment(side, self.FIN | self.ACK, b"")
            self.sequence[side] += 1
        self._segment(0, self.ACK, b"")

    def octets(self, side, octets):
        self._segment(side, self.PSH | self.ACK, octets)
        self.sequence[side] += len(octets)

    def _fpdu(self, side, octets):
        self.octets(side, struct.pack(">H", len(octets)) + octets + bytes(-(len(octets) + 2) % 4 + 4))

    def _untagged(self, side, code, queue, octets, invalidated=0):
        number = self.msn[side][queue]
        self.msn[side][queue] += 1
        for at in range(0, max(len(octets), 1), SEGMENT):
            last = 0x40 if at + SEGMENT >= len(octets) else 0
            self._fpdu(side, struct.pack(">BBIIII", last | 1, 0x40 | code, invalidated, queue, number, at) + octets[at:at + SEGMENT])

    def send(self, side, octets):
        self._untagged(side, 3, 0, octets)

    def send_and_invalidate(self, side, handle, octets):
        self._untagged(side, 4, 0, octets, handle)

    def write(self, side, handle, offset, octets):
        self._fpdu(side, struct.pack(">BBIQ", 0xC1, 0x40, handle, offset) + octets)

    def read(self, side, handle, offset, octets):
        self.ask(side, handle, offset, len(octets))
        self._fpdu(1 - side, struct.pack(">BBIQ", 0xC1, 0x42, 0x5151, 0) + octets)

    def ask(self, side, handle, offset, length):
        self._untagged(side, 1, 1, struct.pack(">IQIIQ", 0x5151, 0, length, handle, offset))

    def received(self, side):
        self._segment(side, self.ACK, b"")

    def refuse(self, side):
        """Terminate: DDP, tagged buffer error, invalid STag. The connection is over."""
        self._untagged(side, 7, 2, struct.pack(">I", 0x11000000))

    def repeat(self, side, octets):
        """The newest Send once more."""
        length = len(octets) + 20
        before = self.sequence[side], self.msn[side][0]
        self.sequence[side] -= length + -length % 4 + 4
        self.msn[side][0] -= 1
        self.send(side, octets)
        self.sequence[side], self.msn[side][0] = before

    def lose(self, side, packets):
        self.sequence[side] += 60 * packets


LINKS = (Roce, Iwarp)
