# SPDX-License-Identifier: GPL-2.0-or-later
"""What is true in recorded captures and concerns the plugin's decoding, by name without ending; from the manifests."""
import re

# Frames in which a peer sent octets that no dissector can make sense of: (frames or None for any, why).
WRONG = {
    "rxe-v2-f-write-list-dropped": ({15}, "the reply lacks the Write list that says where its data are"),
    "rxe-v2-rpc-errors": ({8, 14}, "a Call whose arguments nobody can read, and the answer to a Call of a program that does not exist"),
}

# RPC messages that cannot be whole: their octets are not in the capture, or not in memory when they are answered.
INCOMPLETE = {
    "rxe-nfs41-dropped": "frames of an RDMA Read and of RDMA Writes are missing from the capture",
    "rxe-nfs41-cutfile": "the file ends within a Read",
    "rxe-nfs41-server-killed": "the server dies during a WRITE",
    "rxe-nfs41-lab-server-killed": "the server dies during a WRITE",
    "siw-nfs41-lab-server-killed": "the server dies during a WRITE",
    "siw-nfs3-client-dies": "the client dies while its WRITEs are read",
    "rxe-kpeer-long-call-with-data": "the server never reads the second chunk",
    "rxe-kpeer-read-chunk-bad-handle": "the Read of the chunk is refused",
    "siw-kpeer-read-chunk-beyond": "the Read of the chunk is refused",
    "siw-upeer-read-beyond-chunk": "the Read of the chunk is refused",
    "siw-upeer-done-noread": "what the Reply offers is never read",
    "rxe-lpeer-pull-unread": "what the Replies offer is never read",
    "rxe-upeer-done-before-read-dereg": "what the Reply offers is withdrawn before it is read",
    "rxe-upeer-long-call-unread": "the chunk is never read",
    "rxe-upeer-write-after-reply": "the data are written after the Reply",
    "rxe-upeer-write-bad-handle": "the Write is refused",
    "rxe-upeer-write-length-not-updated": "the Reply claims more than was written",
    "rxe-kpeer-oversize-send": "a Send is refused",
}

# Captures with only one direction, or without the beginning: Replies whose Call is not there.
NO_CALLS = re.compile(r"-(oneway-(client|server)|nohandshake)$")

# Files that were made with a counter: 32-bit words, most significant octet first, from 0 at the file's start.
COUNTER = re.compile(r"-(big-rw|cutfile|dropped|duplicated|nohandshake|oneway-(client|server)|reseg-(split|both|lro))$")


def stem(name):
    return name.rsplit(".", 1)[0]


def wrong_on_the_wire(name, frame):
    entry = WRONG.get(stem(name))
    return entry is not None and (entry[0] is None or frame in entry[0])


def incomplete(name):
    return stem(name) in INCOMPLETE
