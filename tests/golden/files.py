#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""files.py --analyzer PATH: what the file is like, and not what is in it, through the program.

formats     the same frames as pcap, pcapng, gzip, zstd and from standard input: the same document apart from its inputs
cut         the file ends in the middle of a record: exit status 2, a report up to there, nobody accused
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402

HEALTHY = ["rxe-nfs3-basic", "rxe-nfs41-basic", "rxe-nfs41-ipv6", "rxe-nfs3-big-rw", "rxe-nfs41-cb-recall", "rxe-nfs3-dup-reorder",
           "siw-nfs40-basic", "siw-nfs41-basic", "siw-nfs41-big-rw", "siw-nfs41-mpa-crc", "siw-nfs3-ipv6", "siw-nfs41-cb-recall"]


class Story:
    def __init__(self, analyzer, folder):
        self.analyzer, self.folder, self.wrong, self.runs = analyzer, folder, [], 0

    def run(self, *arguments, **more):
        self.runs += 1
        return harness.run(self.analyzer, *arguments, **more)

    def temporary(self, name, header, records):
        path = os.path.join(self.folder, name + ".pcap")
        pcapfile.write(path, header, records)
        return path

    def expect(self, condition, line):
        if not condition:
            self.wrong.append(line)

    def quiet(self, run, what, statuses=(0, 3), cut_short=False):
        """No warning, no error, and an exit status that says so."""
        self.expect(run.document is not None, f"{what}: no document: {run.errors[-200:]}")
        self.expect(run.status in statuses, f"{what}: exit status {run.status}")
        for found in run.findings("warning"):
            if cut_short and found["kind"] == "symptom":
                continue  # a wait that the rest of the capture ended
            self.wrong.append(f"{what}: {harness.describe(found)}")


def same_but_inputs(document):
    return {k: v for k, v in (document or {}).items() if k != "inputs"}


def first_difference(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            inner = first_difference(a.get(key), b.get(key), f"{path}.{key}")
            if inner:
                return inner
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next(filter(None, (first_difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)
    return None if a == b else f"{path}: {str(a)[:80]} against {str(b)[:80]}"


def formats(story):
    for name in ["rxe-nfs3-basic", "rxe-nfs3-nsec", "siw-nfs41-basic", "siw-nfs3-nsec", "rxe-nfs42-pcapng", "rxe-kpeer-read-too-big-inline",
                 "siw-upeer-done-good"]:
        source = harness.capture(name)
        whole = story.run(source)
        story.expect(whole.document is not None, f"{name}: no document")
        made = {}
        for kind in ("nsecpcap", "pcapng"):
            made[kind] = os.path.join(story.folder, f"{name}.{kind}")
            subprocess.run(["editcap", "-F", kind, source, made[kind]], check=True)
        for tool, plain in (("gzip", source), ("zstd", source), ("gzip", made["pcapng"]), ("zstd", made["nsecpcap"])):
            packed = os.path.join(story.folder, os.path.basename(plain) + "." + tool)
            with open(packed, "wb") as out:
                subprocess.run([tool, "-c", plain], stdout=out, check=True)
            made[os.path.basename(packed)] = packed
        for kind, path in made.items():
            other = story.run(path)
            story.expect(other.status == whole.status, f"{name} as {kind}: exit status {other.status}, {other.errors[-200:]}")
            difference = first_difference(same_but_inputs(whole.document), same_but_inputs(other.document))
            story.expect(not difference, f"{name} as {kind}: {difference}")
        for path in (source, made["pcapng"]):
            with open(path, "rb") as stream:
                other = story.run("-", stdin=stream)
            difference = first_difference(same_but_inputs(whole.document), same_but_inputs(other.document))
            story.expect(not difference and other.status == whole.status, f"{os.path.basename(path)} through standard input: {difference}")


def cut(story):
    for name in HEALTHY:
        source = harness.capture(name)
        header, records = pcapfile.read(source)
        for share in (0.3, 0.7):
            keep = int(len(records) * share)
            path = story.temporary(name, header, [*records[:keep], records[keep][:-1]])
            run = story.run(path)
            story.quiet(run, f"{name} cut in record {keep + 1}", statuses=(2,), cut_short=True)
            damaged = ((run.document or {}).get("inputs") or [{}])[0].get("damaged")
            story.expect(bool(damaged), f"{name} cut in record {keep + 1}: inputs[0].damaged is {damaged}")
            story.expect(os.path.basename(path) in run.errors, f"{name}: standard error does not name the file: {run.errors!r}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        story = Story(given.analyzer, folder)
        for told in (formats, cut):
            told(story)
    print("\n".join(story.wrong[:60]))
    print(f"{story.runs} runs, {len(story.wrong)} things wrong")
    return 1 if story.wrong or not story.runs else 0


if __name__ == "__main__":
    sys.exit(main())
