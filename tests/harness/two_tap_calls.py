# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of each Call of two_taps.passages() went: read off the passages, whole healthy traces without losses."""
SENDS = {0, 1, 2, 4, 0x16, 0x17}  # of an RC queue pair: first, middle, last, only; with invalidate
BEGINS, ENDS = {0, 4, 0x17}, {2, 4, 0x16, 0x17}


class Call:
    def __init__(self, whole, there, back):
        self.whole, self.there, self.back = whole, there, back
        self.peer = whole - there - back


def over_roce(found):
    """-> [(up, XID, passage of its first packet, of its last)] of each SEND"""
    sends, open_ = [], {}
    for passage in found:
        frame, up = passage[:2]
        at = 14 + (frame.octets[14] & 15) * 4
        if frame.octets[23] != 17 or frame.octets[at + 2:at + 4] != b"\x12\xb7":
            continue
        operation = frame.octets[at + 8]
        queue_pair = frame.octets[at + 13:at + 16]
        if operation not in SENDS or queue_pair == b"\0\0\x01":
            continue
        if operation in BEGINS:
            header = at + 20 + (4 if operation == 0x17 else 0)
            open_[up, queue_pair] = frame.octets[header:header + 4], passage
        if operation in ENDS:
            sends.append((up, *open_.pop((up, queue_pair)), passage))
    return sends


def over_iwarp(found):
    sends, streams, open_ = [], {}, {}
    for passage in found:
        frame, up = passage[:2]
        at = 14 + (frame.octets[14] & 15) * 4
        if frame.octets[23] != 6 or not frame.rdma():
            continue
        end = 14 + int.from_bytes(frame.octets[16:18], "big")
        stream = streams.setdefault((up, frame.octets[at:at + 4]), [b"", []])
        payload = frame.octets[at + (frame.octets[at + 12] >> 4) * 4:end]
        stream[0] += payload
        stream[1] += [passage] * len(payload)
        while len(stream[0]) >= 20:
            octets, whence = stream
            handshake = octets[:4] == b"MPA "
            if handshake:
                size = 20 + int.from_bytes(octets[18:20], "big")
            else:
                size = (2 + int.from_bytes(octets[:2], "big") + 3) // 4 * 4 + 4
            if len(octets) < size:
                break
            if not handshake and not octets[2] & 0x80 and octets[3] & 15 in (3, 4, 5, 6):  # untagged, a kind of Send
                key = up, frame.octets[at:at + 4]
                open_.setdefault(key, (octets[20:24], whence[0]))
                if octets[2] & 0x40:
                    sends.append((up, *open_.pop(key), whence[size - 1]))
            stream[0], stream[1] = octets[size:], whence[size:]
    return sends


def calls(found):
    """Of Calls of either side, in the order of their Replies."""
    asked, answered = {}, []
    for up, xid, first, last in over_roce(found) + over_iwarp(found):
        if (not up, xid) not in asked:
            asked[up, xid] = up, first, last
            continue
        by_client, call, call_last = asked.pop((not up, xid))
        here, there = (2, 3) if by_client else (3, 2)  # at the requester's tap, at the responder's
        answered.append(Call(last[here] - call[here], call_last[there] - call_last[here], last[here] - last[there]))
    return answered
