#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""unusual.py --analyzer PATH: --annotate of inputs that grow, are damaged, or hold what captures seldom hold."""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapngfile as ng  # noqa: E402
from annotate import bare, contents, FAULTY, mine, wanted_comments  # noqa: E402

ANALYZER = None
HEALTHY = "rxe-nfs3-basic"
END = ng.option(0, b"")


def pcap_header(snap=0, link=1):
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)


def record(p):
    return struct.pack("<IIII", p["time"] // 10 ** 9, p["time"] % 10 ** 9 // 1000, len(p["octets"]), p["length"]) + p["octets"]


def enhanced(p, number=0, options=b""):
    return ng.packet(p["octets"], p["time"] // 1000, number, options=options, length=p["length"])


def journal(seconds):
    return ng.block(9, f"__REALTIME_TIMESTAMP={seconds}000000\nMESSAGE=nfs mounted\n".encode())


def without(findings, *keys):
    return [{k: v for k, v in f.items() if k not in keys} for f in findings]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out.pcapng")
        self.packets = ng.packets_of(contents(harness.capture(FAULTY)))

    def write(self, data, name="in"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def annotated(self, data, status=1, *options):
        """-> (run, octets of the annotated file)"""
        run = harness.run(ANALYZER, *options, "--annotate", self.out, self.write(data))
        self.assertEqual(run.status, status, run.errors)
        return run, contents(self.out)

    def stripped(self, data):
        return b"".join(ng.without_comments(*b, mine) for b in ng.blocks(data))

    def comments_stand_right(self, run, out):
        frames = {n for n, p in enumerate(ng.packets(out), 1) if any(mine(c.encode()) for c in p["comments"])}
        self.assertEqual(frames, set(wanted_comments(run.document)))


class Changing(Folder):
    """Inputs that change between the two readings: the first is over when something is printed."""

    def meanwhile(self, change, *arguments):
        command = [ANALYZER, "--json", "--no-progress", "--annotate", self.out, *arguments]
        # small from the start: a pipe that holds more already is not made smaller
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pipesize=4096) as run:
            first = os.read(run.stdout.fileno(), 1)
            change()
            document = harness.json.loads(first + run.stdout.read())
            errors = run.stderr.read().decode()
        self.assertGreater(len(str(document)), 10_000, "it would not have waited in the middle of printing")
        return harness.Run(run.returncode, document, errors, "")

    @staticmethod
    def append(path, octets):
        with open(path, "ab") as file:
            file.write(octets)

    def refused(self, run, path):
        self.assertEqual(run.status, 2)
        self.assertEqual(run.errors.count("\n"), 1, run.errors)
        self.assertIn(f"{path}: it changed while it was read; {self.out} is not written", run.errors)
        self.assertFalse(os.path.exists(self.out))

    def two(self):
        first = self.write(contents(harness.capture(HEALTHY)), "first")
        return first, self.write(contents(harness.capture(FAULTY)), "second")

    def test_one_before_another_that_grows_is_refused(self):
        for more in ([], ["--merge"]):
            first, second = self.two()
            run = self.meanwhile(lambda path=first: self.append(path, record(self.packets[0])), *more, first, second)
            self.refused(run, first)

    def test_the_last_one_may_still_be_written_to(self):
        first, second = self.two()
        run = self.meanwhile(lambda: self.append(second, record(self.packets[0]) * 3), first, second)
        self.assertEqual((run.status, run.errors), (1, ""))
        out = contents(self.out)
        self.assertEqual(bare(ng.packets(out)), bare(ng.packets_of(contents(first)) + self.packets))
        self.comments_stand_right(run, out)

    def test_the_last_of_a_merge_is_refused(self):
        first, second = self.two()
        self.refused(self.meanwhile(lambda: self.append(second, record(self.packets[0])), "--merge", first, second), second)

    def test_one_that_lost_frames_is_refused(self):
        for which in (0, 1):
            files = self.two()
            run = self.meanwhile(lambda path=files[which]: os.truncate(path, os.path.getsize(path) - 500), *files)
            self.refused(run, files[which])

    def test_others_of_the_same_number_are_refused(self):
        first, second = self.two()
        longer = pcap_header() + b"".join(record({**p, "octets": p["octets"] + b"\0", "length": p["length"] + 1}) for p in self.packets)
        self.refused(self.meanwhile(lambda: self.write(longer, "second"), first, second), second)


class Damage(Folder):
    def up_to(self, data, offset):
        """What was read is copied, whatever kind of block it is."""
        run, out = self.annotated(data, 2)
        self.assertEqual(run.document["inputs"][0]["damaged"]["offset"], offset)
        self.assertEqual(run.errors.count("\n"), 1, run.errors)
        self.assertEqual(self.stripped(out), data[:offset])
        self.comments_stand_right(run, out)

    BROKEN = {"a length that is none": struct.pack("<III", 6, 13, 0) + bytes(40), "cut": struct.pack("<III", 6, 400, 0) + bytes(40),
              "cut in its header": b"\6\0\0\0", "no interface": ng.packet(bytes(60), 1, 9),
              "an interface too short": struct.pack("<III", 1, 12, 12) + bytes(80)}

    def test_before_the_first_packet(self):
        names = ng.block(ng.NAMES, bytes(4))
        for head in (ng.section() + ng.interface(), ng.section() + ng.interface() + names, ng.section() + ng.interface() + names + ng.interface(113)):
            for what, broken in self.BROKEN.items():
                with self.subTest(what, head=len(head)):
                    self.up_to(head + broken, len(head))

    def test_behind_what_is_no_packet(self):
        head = ng.section() + ng.interface() + b"".join(enhanced(p) for p in self.packets)
        for foreign in (ng.block(ng.NAMES, bytes(4)), ng.block(0x0BAD, struct.pack("<I", 32473) + b"custom"), journal(1_700_000_000)):
            for what, broken in self.BROKEN.items():
                with self.subTest(what, foreign=foreign[:4]):
                    self.up_to(head + foreign * 2 + broken, len(head + foreign * 2))

    def test_in_a_file_that_is_not_the_last(self):
        head = ng.section() + ng.interface() + ng.block(ng.NAMES, bytes(4))
        first = self.write(head + self.BROKEN["cut"], "first")
        run = harness.run(ANALYZER, "--annotate", self.out, first, harness.capture(FAULTY))
        self.assertEqual(run.status, 2)
        out = contents(self.out)
        self.assertTrue(out.startswith(head))
        self.assertEqual(bare(ng.packets(out)), bare(self.packets))
        self.comments_stand_right(run, out)

    def test_a_large_block_and_one_that_no_reader_takes(self):
        """libpcap takes 16 MiB, libwiretap as much as its version says, but not half a gigabyte."""
        head = ng.section() + ng.interface() + b"".join(enhanced(p) for p in self.packets)
        large = ng.block(0x0BAD, struct.pack("<I", 32473) + bytes(17 << 20))
        data = head + large + enhanced(self.packets[0])
        run, out = self.annotated(data, 1)
        self.assertEqual(run.document["inputs"][0]["frames"], len(self.packets) + 2)
        self.assertEqual(self.stripped(out), data)
        huge = 512 << 20
        path = self.write(head + struct.pack("<III", 0x0BAD, huge, 32473))
        os.truncate(path, len(head) + huge)  # with a hole
        with open(path, "ab") as file:
            file.write(enhanced(self.packets[0]))
        run = harness.run(ANALYZER, "--annotate", self.out, path)
        self.assertEqual(run.status, 2)
        self.assertEqual(run.document["inputs"][0]["damaged"]["offset"], len(head))
        self.assertRegex(run.errors, f"^[^\n]*damaged at octet {len(head)}: [^\n]*{huge}[^\n]*\n$")
        self.assertEqual(self.stripped(contents(self.out)), head)


class NoPacket(Folder):
    """Journal entries have frame numbers and times of their own, and are not part of what is judged."""

    def pcapng(self, *entries):
        """`entries`: (before which packet, seconds)"""
        data = ng.section() + ng.interface()
        for i, p in enumerate(self.packets + [None]):
            data += b"".join(journal(seconds) for before, seconds in entries if before == i)
            data += enhanced(p) if p else b""
        return data

    def test_their_time_is_no_clock(self):
        plain, _ = self.annotated(self.pcapng())
        last = len(self.packets)
        for entries in ([(last, 4_000_000_000)], [(3, 1)], [(0, 4_000_000_000), (5, 5)], [(last, 1), (last, 2)]):
            run, out = self.annotated(self.pcapng(*entries))
            self.assertEqual(without(run.document["findings"], "frames", "filter", "message"), without(plain.document["findings"], "frames", "filter", "message"), entries)
            for key in ("first_time", "last_time"):
                self.assertEqual(run.document["inputs"][0][key], plain.document["inputs"][0][key])
            self.assertEqual(run.document["inputs"][0]["frames"], last + len(entries))
            self.assertEqual(self.stripped(out), self.pcapng(*entries))
            packets = [n for n in range(1, last + len(entries) + 1)]
            for i, (before, _) in enumerate(sorted(entries)):
                packets.remove(before + 1 + i)
            for finding in run.document["findings"]:
                self.assertTrue(set(finding["frames"]) <= set(packets), finding)

    def test_their_time_does_not_hold_up_a_merge(self):
        first = self.write(self.pcapng((2, 4_000_000_000), (4, 1)), "first")
        second = self.write(pcap_header() + b"".join(record(p) for p in ng.packets_of(contents(harness.capture(HEALTHY)))), "second")
        plain = harness.run(ANALYZER, "--merge", self.write(self.pcapng(), "plain"), second)
        run = harness.run(ANALYZER, "--merge", first, second)
        self.assertEqual(without(run.document["findings"], "frames", "filter", "message"), without(plain.document["findings"], "frames", "filter", "message"))

    def test_nothing_but_journal(self):
        run, out = self.annotated(ng.section() + ng.interface() + journal(5) + journal(4), 3)
        self.assertEqual(run.document["findings"], [])
        self.assertEqual(len(out), os.path.getsize(os.path.join(self.folder, "in")))


class SnapLength(Folder):
    def interface(self, out):
        return struct.unpack("<I", next(b for k, _, b in ng.blocks(out) if k == ng.INTERFACE)[12:16])[0]

    def test_of_what_is_compressed(self):
        plain = pcap_header(4096) + b"".join(record(p) for p in self.packets)
        for tool in ("gzip", "zstd", "lz4"):
            packed = subprocess.run([tool, "-q", "-c"], input=plain, capture_output=True, check=True).stdout
            _, out = self.annotated(packed)
            self.assertEqual(self.interface(out), 4096, tool)
            self.assertEqual(bare(ng.packets(out)), bare(self.packets))

    def test_that_records_do_not_keep_is_none(self):
        plain = pcap_header(96) + b"".join(record(p) for p in self.packets)
        self.assertGreater(max(len(p["octets"]) for p in self.packets), 96)
        for more in ([], ["--merge", harness.capture(HEALTHY)]):
            run = harness.run(ANALYZER, "--annotate", self.out, *more, self.write(plain))
            self.assertEqual(run.status, 1, run.errors)
            out = contents(self.out)
            snaps = [struct.unpack("<I", b[12:16])[0] for k, _, b in ng.blocks(out) if k == ng.INTERFACE]
            self.assertIn(0, snaps)
            self.assertNotIn(96, snaps)
            again = harness.run(ANALYZER, self.out)
            self.assertEqual((again.status, again.document["totals"]), (1, run.document["totals"]))


class Interfaces(Folder):
    def simple(self, p):
        return ng.block(ng.SIMPLE, struct.pack("<I", len(p["octets"])) + p["octets"])

    def test_simple_packets_have_no_time_whatever_the_interface_adds(self):
        for offset in (0, 1_000_000, -1_000_000):
            head = ng.section() + ng.interface(1, options=ng.option(14, struct.pack("<q", offset)) + END)
            run, out = self.annotated(head + b"".join(self.simple(p) for p in self.packets))
            self.assertEqual([run.document["inputs"][0][k] for k in ("first_time", "last_time")], [None, None])
            self.assertEqual({f["time"] for f in run.document["findings"]}, {"0.000000000"})
            self.assertEqual([p["octets"] for p in ng.packets(out)], [p["octets"] for p in self.packets])
            self.assertEqual({p["time"] for p in ng.packets(out)}, {None, offset * 10 ** 9})
            again = harness.run(ANALYZER, self.write(out, "again"))
            self.assertEqual(without(again.document["findings"], "time"), without(run.document["findings"], "time"))

    def test_merged_statistics_of_an_interface_that_is_not_there_are_left_out(self):
        statistics = [ng.block(ng.STATISTICS, struct.pack("<III", number, 0, 0) + END) for number in (0, 7)]
        data = ng.section() + ng.interface() + b"".join(enhanced(p) for p in self.packets) + b"".join(statistics)
        short = ng.section() + ng.interface(113) + ng.block(ng.STATISTICS, bytes(4))
        run = harness.run(ANALYZER, "--merge", "--annotate", self.out, self.write(short, "short"), self.write(data))
        out = contents(self.out)
        self.assertEqual(bare(ng.packets(out)), bare(self.packets))
        self.comments_stand_right(run, out)
        kept = [b for k, _, b in ng.blocks(out) if k == ng.STATISTICS]
        self.assertEqual([len(b) for b in kept], [len(statistics[0])])
        link = [struct.unpack("<H", b[8:10])[0] for k, _, b in ng.blocks(out) if k == ng.INTERFACE]
        self.assertEqual(link[struct.unpack("<I", kept[0][8:12])[0]], 1)

    def test_frame_check_sequences(self):
        """Of all frames; those of the second half are not in the capture, which for that is not cut."""
        plain = harness.run(ANALYZER, harness.capture(FAULTY)).document
        check, half = b"\x5a" * 4, len(self.packets) // 2
        for said in (4, 32):
            data = ng.section() + ng.interface(1, options=ng.option(13, bytes([said])) + END)
            for i, p in enumerate(self.packets):
                octets = p["octets"] + (check if i < half else b"")
                data += enhanced({**p, "octets": octets, "length": p["length"] + 4})
            run, out = self.annotated(data)
            self.assertEqual(run.document["inputs"][0]["truncated_frames"], plain["inputs"][0]["truncated_frames"])
            for part in ("connections", "findings", "unchecked"):
                self.assertEqual(run.document[part], plain[part], part)
            self.assertEqual(self.stripped(out), data)

    def test_frame_check_sequences_of_pcap(self):
        """Its header says it beside the link type: a bit that it is there, and in the highest four how many units of two octets."""
        data = pcap_header(link=0x24000001)
        data += b"".join(record({**p, "octets": p["octets"] + b"\x5a" * 4, "length": p["length"] + 4}) for p in self.packets)
        run, out = self.annotated(data)
        interface = next(b for k, _, b in ng.blocks(out) if k == ng.INTERFACE)
        self.assertEqual(struct.unpack("<HH", interface[8:12]), (1, 0))
        self.assertEqual(dict(ng.options(interface[16:-4], "<"))[13], b"\x20")
        self.assertEqual([p["octets"][:-4] for p in ng.packets(out)], [p["octets"] for p in self.packets])
        self.assertEqual(harness.run(ANALYZER, self.write(out, "again")).document["findings"], run.document["findings"])

    def test_frame_check_sequences_of_frames_without_a_length(self):
        """A segment that the adapter is to cut up says 0 for its length: then it ends where the frame does, less the check sequence."""
        path = harness.capture("siw-nfs41-basic")
        packets = ng.packets_of(contents(path))
        plain = harness.run(ANALYZER, "--json", path).document
        head = ng.section() + ng.interface(1, options=ng.option(13, b"\x20") + END)
        data, changed = head, 0
        for p in packets:
            octets = p["octets"]
            if octets[12:14] == b"\x08\x00" and len(octets) == 14 + struct.unpack(">H", octets[16:18])[0]:
                octets, changed = octets[:16] + b"\0\0" + octets[18:], changed + 1
            data += enhanced({**p, "octets": octets + b"\x5a" * 4, "length": p["length"] + 4})
        self.assertGreater(changed, 20)
        run = harness.run(ANALYZER, self.write(data))
        for part in ("connections", "findings", "unchecked"):
            self.assertEqual(run.document[part], plain[part], part)


class Links(Folder):
    def test_one_that_leads_to_nothing_leads_to_the_file(self):
        os.mkdir(os.path.join(self.folder, "there"))
        os.symlink("there/new.pcapng", os.path.join(self.folder, "second"))
        for to in ("there/new.pcapng", "second", os.path.join(self.folder, "there", "new.pcapng")):
            os.symlink(to, self.out)
            run = harness.run(ANALYZER, "--annotate", self.out, harness.capture(FAULTY))
            self.assertEqual((run.status, run.errors), (1, ""))
            self.assertTrue(os.path.islink(self.out))
            new = os.path.join(self.folder, "there", "new.pcapng")
            self.assertEqual(bare(ng.packets(contents(new))), bare(self.packets))
            os.remove(new)
            os.remove(self.out)

    def test_two_names_of_a_file_that_is_not_there_yet(self):
        os.symlink("new", self.out)
        for one, other in ((self.out, os.path.join(self.folder, "new")), (os.path.join(self.folder, "new"), self.out)):
            run = harness.run(ANALYZER, "--html", one, "--annotate", other, harness.capture(FAULTY))
            self.assertEqual((run.status, run.document), (2, None))
            self.assertIn("name the same file", run.errors)
            self.assertEqual(os.listdir(self.folder), ["out.pcapng"])

    def test_one_that_can_lead_nowhere_is_refused(self):
        for to, why in (("out.pcapng", "Too many levels"), ("no/such/folder", "No such file")):
            os.symlink(to, self.out)
            run = harness.run(ANALYZER, "--annotate", self.out, harness.capture(FAULTY))
            self.assertEqual((run.status, run.document), (2, None))
            self.assertEqual(run.errors.count("\n"), 1, run.errors)
            self.assertIn(why, run.errors)
            self.assertEqual(os.readlink(self.out), to)
            self.assertEqual(harness.run(ANALYZER, "--html", self.out, "--annotate", self.out, harness.capture(FAULTY)).status, 2)
            os.remove(self.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    given, rest = parser.parse_known_args()
    ANALYZER = os.path.abspath(given.analyzer)
    alone.main(rest)
