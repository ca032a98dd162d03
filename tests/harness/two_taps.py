# SPDX-License-Identifier: GPL-2.0-or-later
"""Two taps made of one capture: the client's as it is but for the time that the way takes, and the server's, by a clock of its own."""
import struct

import pcapfile

BIG_MAGIC = pcapfile.BIG


class Frame:
    def __init__(self, header, record):
        self.order = ">" if header[:4] in BIG_MAGIC else "<"
        self.scale = 1 if header[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
        seconds, parts = struct.unpack(self.order + "II", record[:8])
        self.time = seconds * 10**9 + parts * self.scale  # ns
        self.rest = record[8:]

    def record(self, time):
        time = round(time / self.scale) * self.scale
        return struct.pack(self.order + "II", time // 10**9, time % 10**9 // self.scale) + self.rest

    @property
    def octets(self):
        return self.rest[8:]

    def addresses(self):
        """-> (source, destination) of Ethernet frames of IPv4, or None."""
        if self.octets[12:14] != b"\x08\x00":
            return None
        return self.octets[26:30], self.octets[30:34]

    def rdma(self):
        """RoCEv2, or iWARP to the usual port."""
        at = 14 + (self.octets[14] & 15) * 4
        ports = struct.unpack(">HH", self.octets[at:at + 4])
        return ports[1] == 4791 if self.octets[23] == 17 else 20049 in ports


def passages(path, client, one_way):
    """-> (file header, [(frame, from the client, time at the client's tap, time at the server's)]), in ns. The peers take as
    long as in the capture; the way there and back is added to each turn, so that no answer comes before its question."""
    header, records = pcapfile.read(path)
    found, added, before = [], 0, True
    for record in records:
        frame = Frame(header, record)
        addresses = frame.addresses()
        if addresses is None or client not in addresses:
            continue
        by_client = addresses[0] == client
        if before and not by_client:
            added += 2 * one_way
        before = by_client
        time = frame.time + added
        found.append((frame, by_client, time, time + one_way if by_client else time - one_way))
    return header, found


def write(path, header, times):
    """`times`: [(frame, time)], in any order."""
    ordered = sorted(times, key=lambda one: one[1])
    pcapfile.write(path, header, [frame.record(time) for frame, time in ordered])


def write_as_seen(path, header, times, clock):
    """`times`: [(frame, time)] by a clock that nobody sets; what `clock` says instead, in the order in which they were seen."""
    ordered = sorted(times, key=lambda one: one[1])
    pcapfile.write(path, header, [frame.record(clock(time)) for frame, time in ordered])


def cut(path, octets):
    """As if captured with this snap length."""
    header, records = pcapfile.read(path)
    order = ">" if header[:4] in BIG_MAGIC else "<"
    shorter = []
    for record in records:
        held, length = struct.unpack(order + "II", record[8:16])
        held = min(held, octets)
        shorter.append(record[:8] + struct.pack(order + "II", held, length) + record[16:16 + held])
    pcapfile.write(path, header[:16] + struct.pack(order + "I", octets) + header[20:], shorter)
