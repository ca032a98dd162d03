# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames in mirror and overlay headers: in those that the analyzer opens, and in some that it does not."""
import struct

import tunnels as wrapping

from foreign.capture import Foreign

STOCK_KEEPS_SHUT = {"VXLAN, Linux port", "MPLS, pseudowire", "DSA", "EtherType DSA", "NVIDIA mirror, bare", "NVIDIA mirror, bare with a header",
                    "NVIDIA mirror in GRE"}


def transparent(_, packet):
    """GTP-U: a T-PDU of 3GPP TS 29.281."""
    return wrapping.over_udp(2152, struct.pack(">BBHI", 0x30, 0xFF, len(packet), 77) + packet)


LEFT_TO_STOCK = {
    "nine of GRE": lambda f: wrapping.wrapped(f, wrapping.NINE_FOR_WIRESHARK),
    "GTP-U": wrapping.within_ip(transparent),
}
SHUT = {
    "MACsec": lambda f: wrapping.ethernet(0x88E5, f),
    "ESP": lambda f: wrapping.over_ipv4(50, struct.pack(">II", 1, 1) + f),
    "an EtherType of nobody": lambda f: wrapping.ethernet(0x1234, f),
    "a UDP port of nobody": lambda f: wrapping.over_udp(33333, f),
}


def captures(frames):
    """`frames`: some of RoCE and of iWARP among them."""
    opened, out = "infiniband iwarp_mpa", {}
    for name, headers in ({name: [name] for name in wrapping.WRAPPERS} | wrapping.NESTED).items():
        shows = "eth" if STOCK_KEEPS_SHUT & set(headers) else opened
        out[f"in {name}"] = Foreign(shows, [wrapping.wrapped(frame, headers) for frame in frames])
    out |= {f"in {name}": Foreign(opened, list(map(wrap, frames)), left_to_stock=True) for name, wrap in LEFT_TO_STOCK.items()}
    return out | {f"in {name}": Foreign("eth", list(map(wrap, frames))) for name, wrap in SHUT.items()}
