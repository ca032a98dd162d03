#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fields.py --plugin SO [--write]: docs/guide/fields.md lists every field of rpcordma, as `tshark -G fields` does. The fields of the rules
say what they are about."""
import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import tshark  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "guide", "fields.md")
HEAD = """# All fields

For those who write filters, columns and scripts. `tests/plugin/fields.py --write` makes this page from what Wireshark knows with the plugin;
a test compares them. [wireshark.md](wireshark.md) says what the fields that matter most tell, and has examples.

Types are Wireshark's: a number of 8 to 64 bits, text (`FT_STRING`), a frame's number that one can go to (`FT_FRAMENUM`).
"""
ROOMS = {"The header": "What Wireshark's own dissector has too.",
         "What other frames tell": "In brackets in the packet's details: not in the octets of the frame.",
         "Private data": "RFC 8797, of the handshake.",
         "Version 2": "What only that version's header has.",
         "Reassembly": "Of Wireshark's own dissector; the plugin does not fill them."}
RULES = """## Findings

Each rule is a field, too, that is there where the rule is broken: `rpcordma.finding.` and its name with `_` for `-`, as
`rpcordma.finding.credit_overrun_fatal`. [All rules](../rules/README.md).
"""
# In the octets of the header: what stands in 4.0's own dissector; the rest is what the plugin knows of other frames.
HEADER = {"xid", "version", "flow_control", "msg_type", "reads_count", "writes_count", "reply_count", "position", "segment_count", "rdma_handle",
          "rdma_length", "rdma_offset", "rdma_align", "rdma_thresh", "errcode", "vers_low", "vers_high", "undecoded"}


def table(fields):
    lines = ["| field | type | |", "|---|---|---|"]
    return lines + [f"| `{name}` | `{kind}` | {title}{': ' + blurb if blurb and blurb != title else ''} |" for name, kind, title, blurb in fields]


def page(shark):
    fields, rules = [], set()
    command = [word for word in shark.command("-G", "fields") if word != "-n"]  # -G has to stand first
    for line in subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.splitlines():
        words = line.split("\t")
        if words[0] == "F" and words[2].startswith("rpcordma.finding."):
            rules.add(words[2])
            if not words[-1]:
                raise SystemExit(f"{words[2]} has no description")
        if words[0] == "F" and words[2].startswith("rpcordma.") and not words[2].startswith("rpcordma.finding."):
            fields.append((words[2], words[3], words[1], words[7].replace("|", "\\|") if len(words) > 7 else ""))
    rooms = {title: [] for title in ROOMS}
    for field in sorted(set(fields)):
        bare = field[0].removeprefix("rpcordma.")
        room = ("Private data" if bare.startswith("cm.") else "Version 2" if bare.startswith("v2.") else
                "Reassembly" if bare.startswith(("fragment", "reassembled")) else "The header" if bare in HEADER else "What other frames tell")
        rooms[room].append(field)
    parts = ["\n".join([f"## {title}", "", text, "", *table(rooms[title])]) + "\n" for title, text in ROOMS.items()]
    if not fields:
        raise SystemExit("tshark knows no field of the plugin")
    named = set(re.findall(r"rpcordma\.finding\.\w+", RULES))
    if not named <= rules:
        raise SystemExit(f"the page names {named - rules}, which no filter can")
    return "\n".join([HEAD, *parts, RULES])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--plugin", required=True)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    with tshark.Tshark(given.plugin) as shark:
        text = page(shark)
    if given.write:
        with open(PAGE, "w", encoding="utf-8") as out:
            out.write(text)
        return 0
    with open(PAGE, encoding="utf-8") as there:
        same = there.read() == text
    print("docs/guide/fields.md: " + ("good" if same else "not what Wireshark knows; renew it with --write"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
