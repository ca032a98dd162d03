#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""metamorphic.py --analyzer PATH STORY: changes to a capture that may not change, or only weaken, what is said about it.

formats     the same frames as pcap, pcapng, gzip, zstd and from standard input: the same document apart from its inputs
handshake   without the frames that set the connection up: thresholds unknown, nobody accused
middle      only the second half, or only the last tenth: nobody accused
loss        1 % of the frames removed, ten times at random: no error that the whole capture lacks
repeats     every fourth frame twice, as a mirror port does: the same messages, nobody accused
snap        captured with short snap lengths: nobody accused
cut         the file ends in the middle of a record: exit status 2, a report up to there, nobody accused
damage      octets changed at random: an exit status of the contract and a whole document, whatever is in it
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402

HEALTHY = ["rxe-nfs3-basic", "rxe-nfs41-basic", "rxe-nfs41-ipv6", "rxe-nfs3-big-rw", "rxe-nfs41-cb-recall", "rxe-nfs3-dup-reorder",
           "siw-nfs40-basic", "siw-nfs41-basic", "siw-nfs41-big-rw", "siw-nfs41-mpa-crc", "siw-nfs3-ipv6", "siw-nfs41-cb-recall"]
FAULTY = ["rxe-upeer-done-twice", "rxe-upeer-write-after-reply", "rxe-kpeer-read-too-big-inline", "rxe-upeer-credit-overrun-breaks",
          "siw-upeer-inv-R01", "siw-upeer-over-client-threshold-survives", "siw-kpeer-inv-R1", "siw-upeer-interleaved-writes"]
ROUNDS = 10


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

    def quiet(self, run, what, statuses=(0, 3)):
        """No warning, no error, and an exit status that says so."""
        self.expect(run.document is not None, f"{what}: no document: {run.errors[-200:]}")
        self.expect(run.status in statuses, f"{what}: exit status {run.status}")
        for found in run.findings("warning"):
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


def handshake(story):
    for name in HEALTHY:
        source = harness.capture(name)
        header, records = pcapfile.read(source)
        expected = harness.expectation(source)["connections"]
        first = max(c["private_data"]["server"]["frame"] for c in expected)
        run = story.run(story.temporary(name, header, records[first:]))
        story.quiet(run, f"{name} from frame {first + 1}")
        story.expect(bool(run.connections()), f"{name} from frame {first + 1}: no connection is reported")
        for connection in run.connections():
            thresholds = connection["thresholds"]
            story.expect(thresholds == {"client_to_server": None, "server_to_client": None, "basis": "unknown"},
                         f"{name} from frame {first + 1}: thresholds {thresholds}")
            story.expect(connection["private_data"] == {"client": None, "server": None}, f"{name}: private data out of nothing")
            story.expect(connection["opened"]["seen"] is False, f"{name}: claims to have seen the handshake")


def middle(story):
    for name in HEALTHY:
        header, records = pcapfile.read(harness.capture(name))
        for part in (2, 10):
            first = len(records) - len(records) // part
            story.quiet(story.run(story.temporary(name, header, records[first:])), f"{name} from frame {first + 1}")


def loss(story):
    for name in HEALTHY + FAULTY:
        source = harness.capture(name)
        header, records = pcapfile.read(source)
        whole = {f["rule"] for f in story.run(source).findings("error")}
        for seed in range(ROUNDS):
            chance = random.Random(f"{name} {seed}")
            gone = set(chance.sample(range(len(records)), max(1, len(records) // 100)))
            run = story.run(story.temporary(name, header, [r for i, r in enumerate(records) if i not in gone]))
            what = f"{name}, seed {seed}, without frames {sorted(i + 1 for i in gone)}"
            if name in HEALTHY:
                story.quiet(run, what)
            story.expect(run.document is not None, f"{what}: no document")
            for found in run.findings("error"):
                story.expect(found["rule"] in whole, f"{what}: {harness.describe(found)}")


def repeats(story):
    for name in HEALTHY:
        source = harness.capture(name)
        header, records = pcapfile.read(source)
        doubled = [r for i, record in enumerate(records) for r in ([record, record] if i % 4 == 3 else [record])]
        whole, run = story.run(source), story.run(story.temporary(name, header, doubled))
        story.quiet(run, f"{name} with repeats")
        for a, b in zip(whole.connections(), run.connections()):
            for part in ("messages", "operations", "thresholds", "credits"):
                x, y = ({k: v for k, v in c[part].items() if k != "retransmitted"} for c in (a, b))
                story.expect(x == y, f"{name} with repeats: {part}: {first_difference(x, y)}")
        story.expect(len(whole.connections()) == len(run.connections()), f"{name} with repeats: other connections")


def snap(story):
    for name in HEALTHY:
        header, records = pcapfile.read(harness.capture(name))
        for length in (64, 96, 128, 200, 500):
            cut = [pcapfile.snapped(header, r, length) for r in records]
            story.quiet(story.run(story.temporary(name, header, cut)), f"{name} at snap length {length}")


def cut(story):
    for name in HEALTHY:
        source = harness.capture(name)
        header, records = pcapfile.read(source)
        for share in (0.3, 0.7):
            keep = int(len(records) * share)
            path = story.temporary(name, header, [*records[:keep], records[keep][:-1]])
            run = story.run(path)
            story.quiet(run, f"{name} cut in record {keep + 1}", statuses=(2,))
            damaged = ((run.document or {}).get("inputs") or [{}])[0].get("damaged")
            story.expect(bool(damaged), f"{name} cut in record {keep + 1}: inputs[0].damaged is {damaged}")
            story.expect(os.path.basename(path) in run.errors, f"{name}: standard error does not name the file: {run.errors!r}")


def damage(story):
    for name in HEALTHY[::3] + FAULTY:
        header, records = pcapfile.read(harness.capture(name))
        for seed in range(ROUNDS):
            chance = random.Random(f"{name} {seed}")
            changed = []
            for record in records:
                octets = bytearray(record)
                if len(octets) > 16 and chance.random() < 0.2:
                    for _ in range(chance.randint(1, 4)):
                        octets[chance.randrange(16 + (len(octets) - 16) // 4, len(octets))] = chance.randrange(256)
                changed.append(bytes(octets))
            run = story.run(story.temporary(name, header, changed))
            story.expect(run.status in (0, 1, 2, 3), f"{name}, seed {seed}: exit status {run.status}: {run.errors[-400:]}")
            story.expect(run.document is not None, f"{name}, seed {seed}: no document")


STORIES = {f.__name__: f for f in (formats, handshake, middle, loss, repeats, snap, cut, damage)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("story", choices=STORIES)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        story = Story(given.analyzer, folder)
        STORIES[given.story](story)
    print("\n".join(story.wrong[:60]))
    print(f"{given.story}: {story.runs} runs, {len(story.wrong)} things wrong")
    return 1 if story.wrong or not story.runs else 0


if __name__ == "__main__":
    sys.exit(main())
