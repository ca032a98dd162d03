#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""shares.py --analyzer PATH --forge PATH [--seed N] [--reels N]: how a capture was judged shows nowhere.

One referee has all connections (a page is drawn, or findings are told as they become known), or eight have a share each, on one thread or
on several: the same octets. Captures are drawn by chance: scenarios of several clients one after the other or side by side, each of them
whole, of one direction, with frames lost, repeated, cut or in another order.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import forge as forging  # noqa: E402
import pcapfile  # noqa: E402
from folder import Folder  # noqa: E402

GIVEN = None
FEW, MANY = 10, 150  # stories: those of the second are more than is judged before threads begin
SECOND = 1_000_000_000
PAUSES = (0, SECOND // 100, SECOND // 4, SECOND, 6 * SECOND, 100 * SECOND)
LIST_OF = {"finding": "findings", "connection": "connections", "unchecked": "unchecked", "mount": "mounts", "input": "inputs"}

OPEN = [{"call": {"nfs3": "getattr"}}, "reply"]
CLOSED = [*OPEN, {"disconnect": "client"}]


def time_of(record):
    seconds, fraction = struct.unpack("<II", record[:8])
    return seconds * SECOND + fraction


def at_time(record, when):
    return struct.pack("<II", *divmod(when, SECOND)) + record[8:]


def source(record, link):
    octets = record[16:]
    if link == 247:
        return octets[6:8]
    where = {b"\x08\x00": slice(26, 30), b"\x86\xdd": slice(22, 38)}.get(octets[12:14], slice(6, 12))
    return octets[where]


def restamped(records, order):
    """In another order, and captured in that one."""
    return [at_time(records[i], time_of(stamped)) for stamped, i in zip(records, order)]


def changed(chance, header, records):
    """As a tap might have had it."""
    link = struct.unpack("<I", header[20:24])[0]
    first = source(records[0], link)
    kind = chance.choice(("whole", "client", "server", "lost", "late", "shuffled", "repeated", "cut", "begin", "end", "client", "server"))
    if kind in ("client", "server"):  # who speaks first is the client, or sends the first SYN
        records = [r for r in records if (source(r, link) == first) == (kind == "client")]
        kind = chance.choice(("whole", "whole", "lost", "shuffled", "begin", "end"))
    if kind == "lost":
        rate = chance.choice((0.03, 0.1, 0.5))
        return [r for r in records if chance.random() > rate]
    if kind == "late":
        return [at_time(r, time_of(r) + (SECOND // 20 if source(r, link) == first else 0)) for r in records]
    if kind == "shuffled":
        return restamped(records, sorted(range(len(records)), key=lambda i: i + chance.random() * 8))
    if kind == "repeated":
        return [each for r in records for each in [r] * (2 if chance.random() < 0.3 else 1)]
    if kind == "cut":
        return [pcapfile.snapped(header, r, chance.choice((96, 128))) for r in records]
    middle = chance.randrange(len(records) + 1)
    return {"begin": records[:middle], "end": records[middle:]}.get(kind, records)


def laid_out(chance, stories):
    """One after the other, each behind a pause, or side by side."""
    side_by_side = chance.random() < 0.3
    begin, out = 1_700_000_000 * SECOND, []
    for records in filter(None, stories):
        begin += chance.randrange(SECOND // 10) if side_by_side else chance.choice(PAUSES)
        first = min(map(time_of, records))
        moved = [at_time(r, time_of(r) - first + begin) for r in records]
        if not side_by_side:
            begin = max(map(time_of, moved))
        out += moved
    return sorted(out, key=time_of) if side_by_side else out


class Shares(Folder):
    def said(self, *options):
        done = subprocess.run([GIVEN.analyzer, "--no-progress", *options, self.path("drawn.pcap")], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600, check=False)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return done.returncode, done.stdout

    def same(self, one, other, what):
        self.assertEqual(one[1].decode().splitlines(), other[1].decode().splitlines(), what)
        self.assertEqual(one[0], other[0], what)

    def judged_the_same(self, header, records, threads):
        pcapfile.write(self.path("drawn.pcap"), header, records)
        whole = self.said("--json", "--html", self.path("page.html"))
        shared = self.said("--json", "-j", "1")
        self.same(whole, shared, "-j 1")
        for number in threads:
            self.assertEqual(shared, self.said("--json", "-j", number), f"-j {number}")
        told = [json.loads(line) for line in self.said("--format", "ndjson")[1].splitlines()]
        document = json.loads(whole[1])
        for kind, name in LIST_OF.items():
            objects = [{k: v for k, v in each.items() if k != "type"} for each in told if each["type"] == kind]
            in_order = [sorted(json.dumps(each, sort_keys=True) for each in some) for some in (document[name], objects)]
            self.assertEqual(*in_order, f"ndjson, {name}")
        self.assertEqual(document["verdict"], {k: v for k, v in next(e for e in told if e["type"] == "verdict").items() if k != "type"})

    def stories(self, paths, fabric):
        reel = forging.Reel(GIVEN.forge, paths, fabric, self.path("reel.pcap"))
        header, records = pcapfile.read(reel.capture)
        at, each = 0, []
        for story in reel.stories:
            each.append(records[at:at + story["frames"]])
            at += story["frames"]
        return header, [records for records in each if records]

    def test_drawn_by_chance(self):
        everything = forging.scenarios()
        fabrics = forging.transports(GIVEN.forge)
        for number in range(GIVEN.reels):
            seed = GIVEN.seed + number
            chance = random.Random(seed)
            many = seed % 10 == 0
            fabric = chance.choice(fabrics)
            playable = [path for path, story in everything.items() if forging.plays_on(story, fabric)]
            paths = chance.sample(playable, min(len(playable), MANY if many else FEW))
            with self.subTest(alone.command("--analyzer", GIVEN.analyzer, "--forge", GIVEN.forge, "--seed", seed, "--reels", 1), fabric=fabric):
                header, stories = self.stories(paths, fabric)
                drawn = laid_out(chance, [changed(chance, header, records) for records in stories])
                self.judged_the_same(header, drawn, ("2", "8") if many else ())

    def of_clients(self, *conversations):
        """Of the first one's frames and so on, those of the client, 100 seconds apart."""
        paths = []
        for i, steps in enumerate(conversations):
            story = {"title": "A conversation", "why": "one of several clients", "steps": ["connect", *steps], "expect": []}
            paths.append(self.write(f"story-{i}.yaml", json.dumps(story).encode()))
        header, stories = self.stories(paths, "rocev2")
        return header, [[r for r in records if source(r, 1) == source(records[0], 1)] for records in stories], stories

    def test_one_direction_of_several_clients(self):
        """Closed at once, the server's side of a handshake may still come: for as long as the clock of all frames says, not of one pair's."""
        for conversations in ((OPEN, CLOSED, OPEN), (CLOSED, CLOSED, CLOSED), (CLOSED, [], CLOSED, CLOSED)):
            header, one_way, whole = self.of_clients(*conversations)
            for name, stories in (("one way", one_way), ("both", whole)):
                with self.subTest(name, conversations=len(conversations)):
                    self.judged_the_same(header, [record for story in stories for record in story], ())


def main():
    global GIVEN
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--analyzer", required=True, type=os.path.abspath)
    options.add_argument("--forge", required=True, type=os.path.abspath)
    options.add_argument("--seed", type=int, default=1, help="of the first capture")
    options.add_argument("--reels", type=int, default=60, help="so many captures")
    GIVEN, rest = options.parse_known_args()
    alone.main(rest)


if __name__ == "__main__":
    main()
