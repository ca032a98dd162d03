#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mounts.py --analyzer PATH [NAME...]: what the analyzer says about each mount against mounts.tsv.

Before the captures, the comparison itself: with each row made wrong in one column it has to object.
"""
import argparse
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mounts.tsv")
COLUMNS = ("capture", "state", "owes", "since", "symptoms")
STATES = {"working", "waiting", "down", "never-up", "closed", "unknown"}
OWES = {"server", "client", "server-unreachable", "client-unreachable", "nobody", "unknown"}


def rows(lines):
    for line in lines:
        if not line.startswith("#") and line.strip():
            yield dict(zip(COLUMNS, line.rstrip("\n").split("\t")))


def holds(frames, frame):
    """"8|10-12": whether it holds the frame"""
    spans = ([int(end) for end in part.split("-")] for part in frames.split("|"))
    return frame is not None and any(span[0] <= frame <= span[-1] for span in spans)


def complaints(row, document):
    """Yields a line for each thing that is not as the row says."""
    mounts = document.get("mounts") or []
    if len(mounts) != 1:
        yield f"{len(mounts)} mounts; there is one"
        return
    mount = mounts[0]
    for column in ("state", "owes"):
        if mount[column] not in row[column].split("|"):
            yield f"{column}: expected {row[column]}, found {mount[column]}"
    since = (mount["since"] or {}).get("frame")
    if row["since"] != "-" and not holds(row["since"], since):
        yield f"since: expected frame {row['since']}, found {since}"
    wanted = dict(pair.split(":") for pair in row["symptoms"].split(",")) if row["symptoms"] != "-" else {}
    findings = document.get("findings") or []
    for rule, severity in wanted.items():
        if not any(f["rule"] == rule and f["severity"] == severity for f in findings):
            yield f"missed: {severity} {rule}"
    for finding in findings:
        if finding["kind"] == "symptom" and finding["severity"] not in ("note", wanted.get(finding["rule"])):
            yield "not true: " + harness.describe(finding)
    verdict = document.get("verdict") or {}
    if verdict.get("state") != mount["state"] or not (verdict.get("sentence") or "").startswith(mount["sentence"] or " "):
        yield f"the verdict is {verdict}, the mount's is {mount['state']}: {mount['sentence']}"


def wrong_copies(row):
    """The row with one column at a time made wrong."""
    yield {**row, "state": next(s for s in sorted(STATES) if s not in row["state"].split("|"))}
    yield {**row, "owes": next(o for o in sorted(OWES) if o not in row["owes"].split("|"))}
    if row["since"] != "-":
        yield {**row, "since": "999999"}
    yield {**row, "symptoms": "no-such-rule:warning"}
    if ":warning" in row["symptoms"]:
        yield {**row, "symptoms": row["symptoms"].replace(":warning", ":note")}
        yield {**row, "symptoms": "-"}


def judge(analyzer, row):
    path = os.path.join(harness.ROOT, "captures", row["capture"])
    run = harness.run(analyzer, path)
    if run.document is None:
        return [f"no JSON document: {run.errors.strip()[-300:]}"]
    lines = list(complaints(row, run.document))
    if not lines:
        lines += [f"the comparison does not object to {wrong}" for wrong in wrong_copies(row) if not list(complaints(wrong, run.document))]
    return lines


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("names", nargs="*", help="only captures whose path holds one of these")
    given = options.parse_args()
    with open(TABLE, encoding="utf-8") as handle:
        asked = [r for r in rows(handle) if not given.names or any(n in r["capture"] for n in given.names)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        said = list(pool.map(lambda row: judge(given.analyzer, row), asked))
    for row, lines in zip(asked, said):
        for line in lines:
            print(f"{row['capture']}: {line}")
    wrong = sum(bool(lines) for lines in said)
    print(f"{len(asked)} captures, {wrong} with something wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
