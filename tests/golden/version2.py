#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded captures of version 2 against captures/v2/truth.json."""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import compare  # noqa: E402

FOLDER = os.path.join(harness.ROOT, "captures", "v2")
MOST = {"(W)": "warning", "(N)": "note"}
RNR_NAK = re.compile(r"0x[23][0-9a-f] in frame")  # AETH syndrome of an RNR NAK


def names(rule):
    """"a(W)|b" -> the rules that will do, and the most that they may say"""
    most = next((MOST[mark] for mark in MOST if rule.endswith(mark)), "error")
    return [re.sub(r"\([WN]\)$", "", one) for one in rule.split("|")], most


def complaints(truth, findings):
    explained = set()

    def look(rule, suits, what):
        wanted, most = names(rule)
        hits = [f for f in findings if f["rule"] in wanted and suits(f)]
        explained.update(id(f) for f in hits)
        if not hits:
            yield f"missing {rule}: {what}"
        for f in hits:
            if harness.SEVERITY[f["severity"]] > harness.SEVERITY[most]:
                yield f"{f['rule']} is an {f['severity']}; at most a {most} is true"

    for fault in truth["faults"]:
        for rule in fault["rules"]:
            def suits(f, fault=fault):
                return f["frames"] and f["frames"][0] in fault["frames"] and f["violator"] == fault["who"]
            yield from look(rule, suits, f"{fault['who']}, frames {fault['frames']}: {fault['text']}")
    for more in truth["expect"]:
        for rule in more["rules"]:
            if rule == "connection-lost" and len(more["rules"]) > 1:
                continue  # the other rule says why it was lost
            yield from look(rule, lambda f: True, more["text"])
    most = "warning" if truth["kind"] == "alt" else "note"
    for f in findings:
        if id(f) in explained or harness.SEVERITY[f["severity"]] <= harness.SEVERITY[most]:
            continue
        if f["rule"] == "rnr-nak-seen" and any(RNR_NAK.match(event) for event in truth["link_events"]):
            continue
        yield f"accusation without ground: {f['severity']} {f['rule']} by {f['violator']} at {f['frames']}: {f['message']}"


def untold(truth, document, analyzer, path):
    """What is known about the connection, and what the text report has to tell in this order."""
    for where, wanted, found in compare.differences(truth.get("facts", {}), document["connections"][0], "connection"):
        yield f"{where}: expected {json.dumps(wanted)}, found {json.dumps(found)}"
    if "story" in truth:
        text = " ".join(harness.run(analyzer, "--fail-on", "never", path, as_json=False).output.split())
        at = 0
        for piece in truth["story"]:
            at = text.find(piece, at)
            if at < 0:
                yield f"the text report does not tell (here): {piece}"
                return


def self_test():
    """The comparison must be able to object."""
    truth = {"kind": "fault", "faults": [{"rules": ["a(W)"], "who": "client", "frames": [4], "text": ""}], "expect": [],
             "link_events": []}
    right = {"rule": "a", "severity": "warning", "frames": [4], "violator": "client", "message": ""}
    wrong = [dict(right, severity="error"), dict(right, frames=[5]), dict(right, violator="server"), dict(right, rule="b")]
    return not list(complaints(truth, [right])) and all(list(complaints(truth, [w])) for w in wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    options = parser.parse_args()
    if not self_test():
        print("the comparison cannot object")
        return 1
    with open(os.path.join(FOLDER, "truth.json"), encoding="utf-8") as handle:
        truth = json.load(handle)
    there = {name for name in os.listdir(FOLDER) if name.endswith(".pcap")}
    bad = [f"{name}: {'no truth' if name in there else 'no capture'}" for name in sorted(there ^ set(truth))]
    for name in sorted(there & set(truth)):
        run = harness.run(options.analyzer, "--fail-on", "never", os.path.join(FOLDER, name))
        if run.document is None:
            bad.append(f"{name}: no document, status {run.status}: {run.errors.strip()}")
            continue
        bad += [f"{name}: {line}" for line in complaints(truth[name], run.findings())]
        bad += [f"{name}: {line}" for line in untold(truth[name], run.document, options.analyzer, os.path.join(FOLDER, name))]
    print("\n".join(bad) or f"{len(there)} captures of version 2: all that is true in them was found, and nothing else")
    return 1 if bad or not there else 0


if __name__ == "__main__":
    sys.exit(main())
