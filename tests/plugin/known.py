# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded captures in which a peer sent octets that no dissector can make sense of, as the manifest says."""

# Name without ending -> frames that may be malformed (None: any), and why.
WRONG = {}


def wrong_on_the_wire(name, frame):
    entry = WRONG.get(name.rsplit(".", 1)[0])
    return entry is not None and (entry[0] is None or frame in entry[0])
