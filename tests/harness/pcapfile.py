# SPDX-License-Identifier: GPL-2.0-or-later
"""Classic pcap files as lists of records: enough to cut, drop, repeat and damage captures in tests."""
import struct

LITTLE = {b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"}
BIG = {b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"}


def read(path):
    """-> (file header, [record octets with their 16-octet header]); a cut last record is left out."""
    with open(path, "rb") as handle:
        data = handle.read()
    if data[:4] in LITTLE:
        order = "<"
    elif data[:4] in BIG:
        order = ">"
    else:
        raise ValueError(f"{path} is not a classic pcap file")
    records, at = [], 24
    while at + 16 <= len(data):
        size = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        if at + 16 + size > len(data):
            break
        records.append(data[at:at + 16 + size])
        at += 16 + size
    return data[:24], records


def write(path, header, records):
    with open(path, "wb") as handle:
        handle.write(header)
        handle.write(b"".join(records))


def snapped(header, record, length):
    """The record as a capture with that snap length would hold it."""
    order = "<" if header[:4] in LITTLE else ">"
    captured = struct.unpack(order + "I", record[8:12])[0]
    if captured <= length:
        return record
    return record[:8] + struct.pack(order + "I", length) + record[12:16 + length]
