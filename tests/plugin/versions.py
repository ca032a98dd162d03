#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""versions.py --analyzer PATH [CAPTURE...]: tshark with the plugin and the analyzer agree, on every bundled capture.

For each capture, in one pass and in two: no message on standard error, no malformed packet, no dissector bug; the private
data that is shown, and the number of Calls and Replies, are the analyzer's. In two passes the findings and their frames
are the analyzer's, in one pass they are some of them, on later frames too. RPCRDMA_PLUGIN names the plugin, as for cmake/tshark-with-plugin.
"""
import argparse
import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

TSHARK = os.path.join(harness.ROOT, "cmake", "tshark-with-plugin")
CM = ["send_size", "receive_size", "remote_invalidation", "offset", "version", "reserved"]
FIELDS = ["frame.number", "rpcordma.finding", "rpcordma.finding_of", "rpcordma.direction", *("rpcordma.cm." + f for f in CM)]
TRUTH = {"True": "1", "False": "0"}  # since Wireshark 4.2
BROKEN = "_ws.malformed"
NEVER_UP = ("connect-unanswered", "connect-refused", "reconnect-loop")
CUT = "appears to have been cut short"  # tshark's word for a file that ends inside a packet


class Shown:
    """What one run of tshark says of a capture."""

    def __init__(self, path, passes, wanted):
        command = [TSHARK, *(["-2"] if passes == 2 else []), "-r", path, "-Y",
                   f"rpcordma.finding || rpcordma.cm.version || rpcordma.direction || {BROKEN}", "-T", "fields"]
        for field in [*FIELDS, "_ws.expert.message", BROKEN]:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL)
        said = [line for line in done.stderr.splitlines() if line and CUT not in line]
        self.errors = " / ".join(said) or (f"exit status {done.returncode}" if done.returncode and CUT not in done.stderr else "")
        self.findings, self.private, self.kinds = collections.Counter(), [], collections.Counter()
        self.broken = []
        for line in done.stdout.splitlines():
            frame, finding, about, direction, *cm, expert, broken = line.split("\t")
            row = {"frame.number": [frame], "rpcordma.finding": finding.split(",") if finding else [],
                   "rpcordma.finding_of": about.split(",") if about else []}
            self.findings.update(tshark.findings_of_row(row, wanted, passes))
            self.kinds.update(filter(None, direction.split(",")))
            if all(cm):  # of another version, or cut, less of it is shown
                self.private.append((int(frame), *(int(TRUTH.get(v, v), 0) for v in cm)))
            if broken or "Dissector bug" in expert:
                self.broken.append(int(frame))


def private_data(document):
    return sorted((p["frame"], *(int(p[f]) for f in CM)) for c in document["connections"]
                  for p in c["private_data"].values() if p)


def messages(document):
    counts = collections.Counter()
    for connection in document["connections"]:
        m = connection["messages"]
        counts["Call"] += m["calls"] + m["reverse_calls"]
        counts["Reply"] += m["replies"] + m["reverse_replies"]
    return counts


def complaints(path, analyzer):
    document = harness.run(analyzer, path).document
    if document is None:
        yield "the analyzer prints no document"
        return
    wanted = collections.Counter((f["rule"], f["frames"][0]) for f in document["findings"] if f["frames"])
    if not document["connections"]:
        # What is said of captures without RPC-over-RDMA is no matter of frames, but for mounts that never came up.
        wanted = collections.Counter((f["rule"], f["frames"][0]) for f in document["findings"] if f["frames"] and f["rule"] in NEVER_UP)
    for passes in (1, 2):
        shown = Shown(path, passes, wanted)
        where = f"{passes} pass{'es' if passes > 1 else ''}: "
        if shown.errors:
            yield where + "tshark says " + shown.errors
        if shown.broken:
            yield where + f"malformed in frames {shown.broken[:8]}"
        # That a request is a repetition is known when it is answered or given up: one pass has shown its frame by then.
        announced = private_data(document)
        private = [s for s in shown.private if passes == 2 or s in announced or s[1:] not in {a[1:] for a in announced}]
        if sorted(private) != announced:
            yield where + f"private data: shown {sorted(private)}, analyzer {private_data(document)}"
        counts = messages(document)
        if any(shown.kinds[k] != counts[k] for k in ("Call", "Reply")):
            yield where + f"messages: shown {dict(shown.kinds)}, analyzer {dict(counts)}"
        # What is held back until the end, or proven by later frames, is there only in the second pass.
        missing, extra = wanted - shown.findings, shown.findings - wanted
        if passes == 1 and any(rule == "reconnect-loop" for rule, _ in missing):  # told one by one before it is known to be a series
            extra = {e for e in extra if e[0] not in ("cm-rejected", "cm-unanswered")}
        if extra or (missing and passes == 2):
            yield where + f"findings: only the analyzer's {sorted(missing)[:6]}, only the plugin's {sorted(extra)[:6]}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("captures", nargs="*")
    given = options.parse_args()
    captures = given.captures or harness.captures()
    wrong = 0
    for path in captures:
        for complaint in complaints(path, os.path.abspath(given.analyzer)):
            wrong += 1
            print(f"{os.path.basename(path)}: {complaint}", flush=True)
    print(f"{len(captures)} captures, {wrong} differences")
    return 1 if wrong or not captures else 0


if __name__ == "__main__":
    sys.exit(main())
