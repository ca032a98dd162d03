# SPDX-License-Identifier: GPL-2.0-or-later
"""One capture of another protocol: its frames, and what stock tshark has to call them."""
import dataclasses
import os
import re
import struct

import pcapfile
import pcapngfile

ETHERNET, PPP, RAW, LOOP, COOKED, ERF, COOKED_2 = 1, 9, 101, 108, 113, 197, 276


@dataclasses.dataclass
class Foreign:
    """`frames`: octets, or (link type, octets) where that is not `link`; those make a pcapng file with an interface for each link type."""
    shows: str                        # words of frame.protocols, each in some frame of what stock tshark shows
    frames: list = ()
    link: int = ETHERNET
    cut: int | None = None            # the snap length
    left_to_stock: bool = False       # only Wireshark opens it: what its own dissector does there stays as it is

    def write(self, path):
        if all(isinstance(f, bytes) for f in self.frames):
            header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, self.link)
            records = [struct.pack("<IIII", 1_700_000_000 + at, 0, len(f), len(f)) + f for at, f in enumerate(self.frames)]
            pcapfile.write(path, header, [pcapfile.snapped(header, r, self.cut or 65535) for r in records])
            return path
        frames = [f if isinstance(f, tuple) else (self.link, f) for f in self.frames]
        links = sorted({link for link, _ in frames})
        with open(path, "wb") as file:
            file.write(pcapngfile.section() + b"".join(pcapngfile.interface(link) for link in links))
            for at, (link, octets) in enumerate(frames):
                file.write(pcapngfile.packet(octets, (1_700_000_000 + at) * 10**6, links.index(link)))
        return path


def written(captures, folder):
    """{path: capture} of {name: capture}"""
    return {capture.write(os.path.join(folder, re.sub(r"[^\w.]+", "-", name) + ".cap")): capture for name, capture in captures.items()}
