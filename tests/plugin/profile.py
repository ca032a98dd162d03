#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""profile.py: the configuration profile "NFS over RDMA" fits the plugin.

Every column's field exists, every colour rule, filter button and graph is understood by tshark and finds something in a bundled
capture, and the columns show it. RPCRDMA_PLUGIN names the plugin, as for cmake/tshark-with-plugin.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

TSHARK = os.path.join(harness.ROOT, "cmake", "tshark-with-plugin")
NAME = "NFS over RDMA"
PROFILE = os.path.join(harness.ROOT, "plugin", "profile", NAME)
# Between them they hold something for every filter.
CAPTURES = ["rxe-upeer-inv-R00", "rxe-kpeer-read-too-big-inline", "siw-nfs41-basic", "siw-upeer-done-good",
            "rxe-kpeer-reply-chunk-too-small", "rxe-upeer-no-reply", "siw-upeer-write-beyond-chunk", "rxe-nfs41-refused", "rxe-nfs3-lab-call-lost",
            "rxe-upeer-credit-overrun-breaks"]
SHOWN = ("rxe-upeer-inv-R00", 15, r"0x5eed1a02.*remote-invalidation-not-allowed")  # a frame, and what its columns hold


def tshark(*arguments):
    done = subprocess.run([TSHARK, *arguments], capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr.strip()


def lines(name):
    with open(os.path.join(PROFILE, name), encoding="utf-8") as handle:
        return [line.rstrip("\n") for line in handle if line.strip() and not line.startswith("#")]


def columns():
    """[(title, format)]"""
    return re.findall(r'^\t"([^"]*)", "([^"]*)"', "\n".join(lines("preferences")), re.M)


def filters():
    """[(what it is, the filter)]"""
    found = []
    for line in lines("colorfilters"):
        match = re.fullmatch(r"@([^@]+)@([^@]+)@\[\d+,\d+,\d+\]\[\d+,\d+,\d+\]", line)
        found.append((f"colour {match.group(1)}", match.group(2)) if match else (f"colorfilters: {line}", None))
    for line in lines("dfilter_buttons"):
        match = re.fullmatch(r'"TRUE","([^"]+)","([^"]+)","[^"]*"', line)
        found.append((f"button {match.group(1)}", re.sub(r"\\x(..)", lambda m: chr(int(m.group(1), 16)), match.group(2)))
                     if match else (f"dfilter_buttons: {line}", None))
    for line in lines("io_graphs"):
        match = re.fullmatch(r'"(?:Enabled|Disabled)","([^"]+)","([^"]+)","#[0-9a-f]{6}","\w+","[^"]+","[^"]*","None","1"', line)
        found.append((f"graph {match.group(1)}", re.sub(r"\\x(..)", lambda m: chr(int(m.group(1), 16)), match.group(2)))
                     if match else (f"io_graphs: {line}", None))
    return found


def counted(capture, wanted):
    """How many frames each filter finds: one run of tshark, by its statistics, which part filters at commas."""
    arguments = ["-2", "-q", "-r", capture]
    for number, text in enumerate(wanted):
        arguments += ["-z", f"io,stat,0,frame.number < 9{number:06d} && ({text})"]
    said, errors = tshark(*arguments)
    rows = re.findall(r"^\|[^|]*<>[^|]*\|\s*(\d+) \|", said, re.M)
    tables = re.findall(r"frame\.number < 9(\d{6}) ", said)
    if errors or len(rows) != len(wanted) or len(set(tables)) != len(wanted):
        raise SystemExit(f"tshark does not count: {errors or said[:2000]}")
    return {wanted[int(number)]: int(row) for number, row in zip(tables, rows)}


def main():
    complaints = []
    known = {line.split("\t")[2] for line in tshark("-G", "fields")[0].splitlines() if line.startswith(("F\t", "P\t"))}
    custom = [re.fullmatch(r"%Cus:([^:]+):\d+:R", form) for _, form in columns() if form.startswith("%C")]
    if len(custom) < 5 or None in custom:
        complaints.append(f"columns: {columns()}")
    complaints += [f"column of {c.group(1)}: no such field" for c in custom if c and c.group(1) not in known]

    open_filters = {}
    for what, text in filters():
        if text is None:
            complaints.append(f"not understood: {what}")
            continue
        # ${field} is the field of the frame that is selected, and tshark selects none.
        plain = text.replace("${rpcordma.xid}", "rpcordma.xid").replace("${rpcordma.connection}", "rpcordma.connection")
        errors = tshark("-r", harness.capture(CAPTURES[0]), "-c", "1", "-Y", text)[1] if plain != text else ""
        if errors or "," in plain or "${" in plain:
            complaints.append(f"{what}: {errors or 'cannot be counted'}")
        else:
            open_filters[plain] = what
    checked = len(open_filters)
    for name in CAPTURES:
        if open_filters:
            counts = counted(harness.capture(name), list(open_filters))
            open_filters = {text: what for text, what in open_filters.items() if counts[text] == 0}
    complaints += [f"{what} finds nothing in {', '.join(CAPTURES)}" for what in open_filters.values()]

    shown, errors = tshark("-2", "-C", NAME, "-r", harness.capture(SHOWN[0]), "-Y", f"frame.number == {SHOWN[1]}")
    if errors or not re.search(SHOWN[2], shown):
        complaints.append(f"the columns show {shown.strip()!r} {errors}")
    for complaint in complaints:
        print(complaint)
    print(f"{len(custom)} columns of fields, {checked} filters, {len(complaints)} complaints")
    return 1 if complaints or checked < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
