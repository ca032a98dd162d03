#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""inputs.py --analyzer PATH: what is read, from where, and what is said about input that is damaged or holds nothing."""
import gzip
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402

ANALYZER = None
HEALTHY = "rxe-nfs3-basic"
HEALTHY_IWARP = "siw-nfs41-basic"
FAULTY = "rxe-kpeer-read-too-big-inline"


def run(*arguments, **more):
    return harness.run(ANALYZER, *arguments, **more)


def octets_of(name):
    with open(harness.capture(name), "rb") as handle:
        return handle.read()


def piped(octets, *arguments):
    """The analyzer with these octets on a pipe as its standard input."""
    done = subprocess.run([ANALYZER, "--json", *arguments], input=octets, capture_output=True, check=False, timeout=600)
    return harness.Run(done.returncode, harness.json.loads(done.stdout) if done.stdout else None,
                       done.stderr.decode(), done.stdout.decode())


def without_inputs(document):
    return {key: value for key, value in document.items() if key != "inputs"}


def pcapng_of(records, interfaces=((1, 6),)):
    """The records of a little-endian pcap as pcapng, on several interfaces in turn (link type, 10^-n seconds)."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link, resolution in interfaces:
        out += block(1, struct.pack("<HHIHHB3xI", link, 0, 262144, 9, 1, resolution, 0))
    for i, record in enumerate(records):
        seconds, micros, captured, length = struct.unpack("<IIII", record[:16])
        number = i % len(interfaces)
        when = (seconds * 10**6 + micros) * 10**(interfaces[number][1] - 6)
        out += block(6, struct.pack("<IIIII", number, when >> 32, when & 0xFFFFFFFF, captured, length) + record[16:])
    return out


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, octets):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as handle:
            handle.write(octets)
        return path


class Forms(Folder):
    """The same packets give the same document, whatever holds them."""

    def setUp(self):
        super().setUp()
        self.plain = octets_of(FAULTY)
        _, self.records = pcapfile.read(harness.capture(FAULTY))
        self.wanted = run(harness.capture(FAULTY))
        self.assertEqual(self.wanted.status, 1)

    def forms(self):
        yield "pcap", self.plain
        yield "pcapng", pcapng_of(self.records)
        yield "pcapng", pcapng_of(self.records, ((1, 6), (1, 9)))
        yield "pcapng", pcapng_of(self.records, ((1, 9), (1, 6))) + pcapng_of([], ((101, 6),))
        yield "pcap, gzip", gzip.compress(self.plain)
        yield "pcapng, gzip", gzip.compress(pcapng_of(self.records))
        for tool in ("zstd", "lz4"):
            if shutil.which(tool):
                yield f"pcap, {tool}", subprocess.run([tool, "-q", "-c"], input=self.plain, capture_output=True, check=True).stdout

    def test_as_a_file_under_a_misleading_name(self):
        for form, octets in self.forms():
            for name in ("capture.txt", "capture.pcap.gz", "capture"):
                got = run(self.write(name, octets))
                self.assertEqual(got.status, 1, (form, got.errors))
                self.assertEqual(got.document["inputs"][0]["format"], form)
                self.assertEqual(without_inputs(got.document), without_inputs(self.wanted.document), form)

    def test_through_a_pipe(self):
        for form, octets in self.forms():
            got = piped(octets, "-")
            self.assertEqual(got.status, 1, (form, got.errors))
            self.assertEqual(got.document["inputs"][0]["path"], "-")
            self.assertEqual(got.document["inputs"][0]["format"], form)
            self.assertEqual(without_inputs(got.document), without_inputs(self.wanted.document), form)

    def test_as_redirected_standard_input(self):
        for form, octets in self.forms():
            with open(self.write("x", octets), "rb") as handle:
                got = run("-", stdin=handle)
            self.assertEqual(without_inputs(got.document), without_inputs(self.wanted.document), form)

    def test_as_a_process_substitution(self):
        done = subprocess.run(["bash", "-c", '"$0" --json <(cat "$1") | cmp - <("$0" --json <(cat "$1"))', ANALYZER, harness.capture(FAULTY)],
                              capture_output=True, check=False, timeout=600)
        self.assertEqual(done.stderr, b"")

    def test_interfaces_of_different_link_types(self):
        raw = [r[:8] + struct.pack("<II", len(r) - 30, len(r) - 30) + r[30:] if i % 2 else r for i, r in enumerate(self.records)]
        got = run(self.write("x", pcapng_of(raw, ((1, 6), (101, 6)))))
        self.assertEqual(got.document["inputs"][0]["link_types"], ["EN10MB", "RAW"])
        self.assertEqual(without_inputs(got.document), without_inputs(self.wanted.document))


class Damage(Folder):
    def test_cut_anywhere_names_the_octet_where_the_record_begins(self):
        path = harness.capture(HEALTHY)
        plain = octets_of(HEALTHY)
        _, records = pcapfile.read(path)
        starts = [24]
        for record in records:
            starts.append(starts[-1] + len(record))
        for number in (0, 1, 2, len(records) // 2, len(records) - 1):
            for part in (1, 8, 15, 16, 17, len(records[number]) - 1):
                got = run(self.write("cut.pcap", plain[:starts[number] + part]))
                self.assertEqual(got.status, 2)
                self.assertEqual(got.document["inputs"][0]["frames"], number)
                self.assertEqual(got.document["inputs"][0]["damaged"]["offset"], starts[number])
                self.assertEqual(got.errors.count("\n"), 1, got.errors)
                self.assertRegex(got.errors, rf"cut\.pcap: .*octet {starts[number]}\b.*ends")
            whole = run(self.write("whole.pcap", plain[:starts[number]]))
            self.assertIsNone(whole.document["inputs"][0]["damaged"])
            self.assertNotEqual(whole.status, 2)

    def test_a_cut_through_a_pipe_and_inside_gzip(self):
        plain = octets_of(HEALTHY)
        _, records = pcapfile.read(harness.capture(HEALTHY))
        start = 24 + sum(len(r) for r in records[:-1])
        for octets in (plain[:-3], gzip.compress(plain[:-3])):
            got = piped(octets, "-")
            self.assertEqual(got.status, 2)
            self.assertEqual(got.document["inputs"][0]["damaged"]["offset"], start)
            self.assertRegex(got.errors, rf"standard input: .*octet {start}\b")

    def test_damage_wins_over_findings_and_they_are_reported(self):
        got = run(self.write("x", octets_of(FAULTY)[:-5]))
        self.assertEqual(got.status, 2)
        self.assertTrue(got.findings("warning"))

    def test_compressed_data_that_are_cut(self):
        packed = gzip.compress(octets_of(FAULTY))
        got = run(self.write("x", packed[:len(packed) // 2]))
        self.assertEqual(got.status, 2)
        self.assertIsNotNone(got.document["inputs"][0]["damaged"])


class Unreadable(Folder):
    def alone(self, path, word, **more):
        got = run(path, **more)
        self.assertEqual(got.status, 2, path)
        self.assertEqual([(i["format"], i["frames"]) for i in got.document["inputs"]], [("unreadable", 0)])
        self.assertEqual(got.errors.count("\n"), 1, got.errors)
        self.assertIn(word, got.errors)
        return got

    def test_one_line_says_what_and_why(self):
        self.alone(self.write("a", b""), "a: empty")
        self.alone(self.write("b", b"no capture\n"), "b: a text file")
        self.alone(self.write("c", bytes(range(128, 256))), "c: not a capture")
        self.alone(self.write("d", octets_of(HEALTHY)[:10]), "d: ")
        self.alone(self.write("e", b"\xfd7zXZ\0\0\4"), "decompress it first")
        self.alone(os.path.join(self.folder.name, "missing"), "No such file")
        self.alone("-", "standard input: empty")

    def test_a_folder_without_captures(self):
        """There is nothing to be said of any capture."""
        empty = os.path.join(self.folder.name, "folder")
        os.mkdir(empty)
        got = run(empty)
        self.assertEqual((got.status, got.output), (2, ""))
        self.assertIn("folder: there is no capture below it", got.errors)

    def test_a_name_with_a_line_end_stays_one_line(self):
        self.alone(os.path.join(self.folder.name, "a\nb"), "a\\x0ab")

    def test_among_several_the_others_are_analysed(self):
        missing = os.path.join(self.folder.name, "missing")
        for order in ([missing, harness.capture(HEALTHY)], [harness.capture(HEALTHY), missing], ["--merge", missing, harness.capture(HEALTHY)]):
            got = run(*order)
            self.assertEqual(got.status, 2)
            self.assertIn("missing: No such file", got.errors)
            self.assertEqual(got.document["connections"], run(harness.capture(HEALTHY)).document["connections"])

    def test_what_stood_in_a_file_that_cannot_be_read_may_be_the_answer(self):
        """A ring of three: the Call, a file that cannot be read, and somebody else's packet 30 s later."""
        for name in (HEALTHY, HEALTHY_IWARP):
            with self.subTest(name):
                self.broken_ring(name)

    def broken_ring(self, name):
        head, records = pcapfile.read(harness.capture(name))
        seconds = struct.unpack("<I", records[-1][:4])[0] + 30
        arp = b"\xff" * 6 + bytes.fromhex("02005e005309") + b"\x08\x06" + bytes(46)
        later = self.write("later", head + struct.pack("<IIII", seconds, 0, len(arp), len(arp)) + arp)
        broken = self.write("broken", octets_of(HEALTHY)[:10])
        cut = self.write("cut", head + struct.pack("<IIII", seconds - 1, 0, 0xFFFFFF, 0xFFFFFF))
        states = set()
        for end in range(len(records) - 1, len(records) - 40, -1):
            first = self.write("first", head + b"".join(records[:end]))
            if run(first, later).document["verdict"]["state"] != "waiting":
                continue
            for between in (broken, cut, os.path.join(self.folder.name, "missing")):
                got = run(first, between, later)
                states.add(got.document["verdict"]["state"])
                self.assertNotIn("call-hangs", [f["rule"] for f in got.document["findings"]])
                self.assertEqual(without_inputs(run(first, between, later, "-j", "1").document), without_inputs(got.document))
            self.assertEqual(run(first, later, broken).document["verdict"]["state"], "waiting", "nothing is missing in front")
            self.assertEqual(run(broken, first, later).document["verdict"]["state"], "waiting", "nor behind")
        self.assertEqual(states, {"unknown"})

    def ring(self, name, end):
        """Of a capture the first `end` frames; and somebody else's packet 30 s after the last."""
        head, records = pcapfile.read(harness.capture(name))
        seconds = struct.unpack("<I", records[-1][:4])[0] + 30
        arp = b"\xff" * 6 + bytes.fromhex("02005e005309") + b"\x08\x06" + bytes(46)
        first = head + b"".join(records[:end])
        return self.write("first", first), self.write("torn", first + records[end][:20]), \
            self.write("later", head + struct.pack("<IIII", seconds, 0, len(arp), len(arp)) + arp)

    def test_an_attempt_in_front_of_a_file_that_cannot_be_read(self):
        """A ring of three: a SYN, or the answer to it as well, and the rest of the handshake in what is lost."""
        for name, end in ((HEALTHY_IWARP, 1), (HEALTHY_IWARP, 2)):
            with self.subTest(name, end=end):
                first, torn, later = self.ring(name, end)
                missing = os.path.join(self.folder.name, "missing")
                self.assertEqual(run(first, later).document["verdict"]["state"], "never-up")
                for files in ((first, missing, later), (torn, later), ("--merge", torn, later)):
                    got = run(*files)
                    self.assertEqual(got.document["verdict"]["state"], "unknown", got.document["verdict"])
                    self.assertEqual(got.findings("warning"), [])
                    self.assertEqual(got.document["mounts"][0]["attempts"]["unanswered"], 0)
                    self.assertEqual(got.status, 2)

    def test_of_two_taps_one_ends_early(self):
        """What seems not to have come may be what its disk had no room for."""
        for name in (HEALTHY, HEALTHY_IWARP):
            _, records = pcapfile.read(harness.capture(name))
            hung = 0
            for end in range(len(records) - 1, len(records) - 40, -3):
                first, torn, later = self.ring(name, end)
                if run("--merge", first, later).document["verdict"]["state"] != "waiting":
                    continue
                hung += 1
                for files in ((torn, later), (later, torn), (first, later, os.path.join(self.folder.name, "missing"))):
                    got = run("--merge", *files)
                    self.assertEqual(got.document["verdict"]["state"], "unknown", (name, end, got.document["verdict"]))
                    self.assertEqual(got.findings("warning"), [])
            self.assertGreater(hung, 0, name)
        # The one that ends last is just cut there: nothing stands behind it.
        first, torn, later = self.ring(HEALTHY, len(records) // 2)
        self.assertEqual(run("--merge", later, self.write("torn2", octets_of(HEALTHY) + b"\1" * 10)).document["connections"],
                         run("--merge", later, harness.capture(HEALTHY)).document["connections"])

    def test_what_was_dropped_in_front_of_a_packet_may_be_the_answer(self):
        """As after a file of a ring that could not be read. Behind the call, not in front of it."""
        first, _, later = self.ring(HEALTHY, 0)
        _, records = pcapfile.read(harness.capture(HEALTHY))
        end = next(end for end in range(len(records) - 1, 0, -1)
                   if run(self.ring(HEALTHY, end)[0], later).document["verdict"]["state"] == "waiting")
        head, noise = pcapfile.read(later)
        octets = pcapng_of([*records[:end], *noise])
        self.assertEqual(run(self.write("x", octets)).document["verdict"]["state"], "waiting")
        starts, at = [], 0
        while at < len(octets):
            kind, size = struct.unpack("<II", octets[at:at + 8])
            if kind == 6:
                starts.append((at, size))
            at += size
        for (at, size), state in ((starts[-1], "unknown"), (starts[0], "waiting")):
            block = octets[at:at + size]
            told = block[:4] + struct.pack("<I", size + 16) + block[8:-4] + struct.pack("<HHQI", 4, 8, 3, 0) + struct.pack("<I", size + 16)
            counted = octets[:at] + told + octets[at + size:]
            for got in (run(self.write("y", counted)), piped(counted, "-"), run(self.write("z.gz", gzip.compress(counted)))):
                self.assertEqual(got.document["verdict"]["state"], state)
                self.assertEqual(got.document["inputs"][0]["dropped"], 3)

    def test_files_in_another_order_than_their_times(self):
        head, records = pcapfile.read(harness.capture(HEALTHY))
        parts = [self.write(f"cap{i}", head + b"".join(records[at:at + 60])) for i, at in ((1, 0), (2, 60), (10, 120))]
        for options in ([], ["-q"], ["--statistics"], ["--json"]):
            got = run(*options, parts[0], parts[2], parts[1], as_json=False)
            self.assertIn("cap2 begins before the file in front of it", got.errors)
            self.assertIn("$(ls -v FILES)", got.errors)
            self.assertEqual(run(*options, *parts, as_json=False).errors, "")

    def test_a_file_for_each_direction(self):
        """As two ports of a switch, or two interfaces, give them."""
        head, records = pcapfile.read(harness.capture(HEALTHY))
        source = slice(16 + 14 + 12, 16 + 14 + 16)  # of IPv4
        sides = [[r for r in records if (r[source] == records[0][source]) == first] for first in (True, False)]
        files = [self.write(f"side{i}", head + b"".join(side)) for i, side in enumerate(sides)]
        self.assertIn("side1 was taken at the same time as the file in front of it", run(*files).errors)
        merged = run("--merge", *files)
        self.assertEqual((merged.status, merged.errors), (0, ""))
        self.assertEqual(merged.document["verdict"]["state"], run(harness.capture(HEALTHY)).document["verdict"]["state"])

    def test_a_folder_without_captures_is_passed_over(self):
        empty = os.path.join(self.folder.name, "logs")
        os.mkdir(empty)
        got = run(empty, harness.capture(HEALTHY))
        self.assertEqual(got.status, 2)
        self.assertIn("logs: there is no capture below it", got.errors)
        self.assertEqual(got.document["connections"], run(harness.capture(HEALTHY)).document["connections"])

    def test_what_the_capture_program_dropped_is_told(self):
        """Statistics of the interface behind the last packet, as dumpcap writes them; in a pipe as well."""
        _, records = pcapfile.read(harness.capture(HEALTHY))
        octets = pcapng_of(records)
        plain = run(self.write("plain", octets))
        self.assertNotIn("dropped", plain.document["inputs"][0])
        counted = octets + struct.pack("<IIIIIHHQHHQII", 5, 52, 0, 0, 0, 4, 8, 90000, 5, 8, 1234, 0, 52)
        path = self.write("counted", counted)
        for got in (run(path), piped(counted, "-"), run(self.write("a.gz", gzip.compress(counted)))):
            self.assertEqual(got.status, 0, got.errors)
            self.assertEqual(got.document["inputs"][0]["dropped"], 1234)
            self.assertEqual(without_inputs(got.document), without_inputs(plain.document))
        text = run(path, as_json=False).output
        self.assertIn("1,234 frames or more had no room when they were captured", " ".join(text.split()))

    def test_standard_input_is_read_once(self):
        got = piped(octets_of(HEALTHY), "-", "-")
        self.assertEqual(got.status, 2)
        self.assertIn("standard input", got.errors)


class Page(Folder):
    """--html beside what goes to standard output."""

    def test_the_page_comes_beside_what_is_printed(self):
        path = harness.capture(FAULTY)
        for arguments in ([], ["--json"], ["-q"], ["--rule", "credit-stall"]):
            page = os.path.join(self.folder.name, "page.html")
            plain = run(*arguments, path, as_json=False)
            got = run(*arguments, "--html", page, path, as_json=False)
            self.assertEqual((got.status, got.output, got.errors), (plain.status, plain.output, plain.errors))
            with open(page, encoding="utf-8") as handle:
                self.assertTrue(handle.read().startswith("<!doctype html>"))
            os.remove(page)

    def test_what_is_drawn_does_not_depend_on_who_else_listens(self):
        """What was sent again as well."""
        path, page, copy = harness.capture("rxe-nfs3-dup-reorder"), os.path.join(self.folder.name, "page.html"), os.path.join(self.folder.name, "copy")
        plain = run("--ladder", path, as_json=False)
        self.assertIn("sent again", plain.output)
        for beside in (["--html", page], ["--sanitize", copy]):
            self.assertEqual(run("--ladder", *beside, path, as_json=False).output, plain.output)
        with open(page, encoding="utf-8") as handle:
            self.assertIn('"repeat"', handle.read())

    def test_a_page_that_cannot_be_written_is_trouble(self):
        path = harness.capture(HEALTHY)
        # What cannot be written at all is said before the capture is read.
        for page, reads in ((os.path.join(self.folder.name, "no", "page.html"), False), (self.folder.name, False), ("/dev/full", True)):
            got = run("--html", page, path, as_json=False)
            self.assertEqual(got.status, 2, page)
            self.assertIn(page, got.errors)
            self.assertEqual("No rule was broken" in got.output, reads, page)

    def test_the_page_appears_whole_or_not_at_all(self):
        page = os.path.join(self.folder.name, "page.html")
        with open(page, "w", encoding="utf-8") as handle:
            handle.write("<!doctype html>before")
        # Not even its first half fits.
        command = f"ulimit -f 2; trap '' XFSZ; exec {ANALYZER} --no-progress --html {page} {harness.capture(FAULTY)} >/dev/null"
        got = subprocess.run(["/bin/bash", "-c", command], stderr=subprocess.PIPE, check=False)
        self.assertEqual(got.returncode, 2)
        self.assertIn(b"--html", got.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["page.html"])
        with open(page, encoding="utf-8") as handle:
            self.assertEqual(handle.read(), "<!doctype html>before")
        self.assertEqual(run("--html", page, harness.capture(HEALTHY), as_json=False).status, 0)
        with open(page, encoding="utf-8") as handle:
            self.assertIn("</html>", handle.read())

    def test_a_file_of_another_kind_is_left_as_it_is(self):
        # Who forgets the page's name names a capture instead.
        copy = os.path.join(self.folder.name, "copy.pcap")
        shutil.copyfile(harness.capture(HEALTHY), copy)
        got = run("--html", copy, harness.capture(HEALTHY), as_json=False)
        self.assertEqual((got.status, got.output), (2, ""))
        self.assertIn("no HTML page", got.errors)
        with open(copy, "rb") as handle:
            self.assertEqual(handle.read(), octets_of(HEALTHY))

    def test_the_page_never_replaces_a_capture(self):
        copy = os.path.join(self.folder.name, "copy.pcap")
        shutil.copyfile(harness.capture(HEALTHY), copy)
        link = os.path.join(self.folder.name, "link.html")
        os.symlink(copy, link)
        for page in (copy, link, os.path.join(self.folder.name, ".", "copy.pcap")):
            got = run("--html", page, copy, as_json=False)
            self.assertEqual((got.status, got.output), (2, ""), page)
            self.assertIn("is an input", got.errors)
        with open(copy, "rb") as handle:
            self.assertEqual(handle.read(), octets_of(HEALTHY))
        for nothing in ("", "-"):
            self.assertEqual(run("--html", nothing, copy, as_json=False).status, 2)


class Nothing(Folder):
    """Exit status 3, and the line that says why."""

    @staticmethod
    def capture(frames, link=1, snap=262144):
        out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link)
        for i, frame in enumerate(frames):
            kept = frame[:snap]
            out += struct.pack("<IIII", 1700000000 + i, 0, len(kept), len(frame)) + kept
        return out

    def check(self, octets, words):
        for arguments in (["--json"], []):
            got = run(*arguments, self.write("x.pcap", octets), as_json=False)
            self.assertEqual(got.status, 3, got.errors)
            self.assertIn(words, got.errors)
            self.assertEqual(got.errors.count("\n"), 1, got.errors)
            self.assertTrue(got.output)

    def test_no_frames(self):
        self.check(self.capture([]), "holds no frames")

    def test_no_rdma(self):
        ethernet = bytes(12) + b"\x08\x06" + bytes(46)
        self.check(self.capture([ethernet] * 5), "none of the 5 frames carries RDMA")

    def test_a_link_type_that_nobody_opens(self):
        self.check(self.capture([bytes(60)] * 3, link=147), "none of the 3 frames has a link type that can be opened")

    @staticmethod
    def send(number, payload):
        """UDP to port 4791, BTH: SEND only to QP 5, with this payload, and its ICRC."""
        payload = struct.pack(">BBHIII", 4, 0x40, 0xFFFF, 5, number, 0)[:12] + payload + bytes(4)
        udp = struct.pack(">HHHH", 50000, 4791, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
        return bytes(12) + b"\x08\x00" + ip + udp

    def test_other_users_of_rdma(self):
        frames = [self.send(i, b"\x01\x02\x03\x04\x05\x06\x07\x08") for i in range(4)]
        self.check(self.capture(frames), "4 of the 4 frames carry RDMA for other uses")

    def test_repeated_acknowledgements_alone(self):
        """Nothing but ACKs (opcode 17) of a connection: what it is for stands in none of them."""
        frames = [self.send(i, b"") for i in range(3)]
        bth = 14 + 20 + 8
        frames = [frame[:bth] + b"\x11" + frame[bth + 1:-4] + bytes(4) + frame[-4:] for frame in frames]
        self.check(self.capture(frames), "3 of the 3 frames carry RDMA, and nothing in them shows what for")

    def test_cut_before_it_shows_what_it_is(self):
        # An RDMA_MSG with a NULL Call behind its header; the first snap length keeps the XID and the version.
        call = struct.pack(">17I", 7, 1, 32, 0, 0, 0, 0, 7, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
        frames = [self.send(i, call) for i in range(20)]
        for snap in (62, 54, 50):
            self.check(self.capture(frames, snap=snap), "20 of the 20 frames carry RDMA, and were cut too short to tell what for")


class Selection(Folder):
    def test_what_is_not_shown_does_not_count(self):
        path = harness.capture(FAULTY)
        whole = run(path)
        names = {f["rule"] for f in whole.findings("warning")}
        hidden = [word for name in names for word in ("--no-rule", name)]
        self.assertEqual(run(*hidden, path).status, 0)
        self.assertEqual(run("--rule", "icrc-bad", path).status, 0)
        for name in names:
            self.assertEqual(run("--rule", name, path).status, 1, name)

    def test_a_misspelt_rule_is_told_its_neighbour(self):
        got = run("--rule", "inline-treshold-exceded", harness.capture(HEALTHY), as_json=False)
        self.assertEqual(got.status, 2)
        self.assertIn("inline-threshold-exceeded", got.errors)
        self.assertIn("bad-version", run("--explain", "bad-versions", as_json=False).errors)

    def test_a_connection_that_is_not_there(self):
        got = run("--connection", "77", harness.capture(HEALTHY))
        self.assertEqual(got.status, 2)
        self.assertIn("no connection 77", got.errors)

    def test_numbers_that_are_none(self):
        path = harness.capture(HEALTHY)
        for option in (["--port", "0"], ["--port", "65536"], ["--port", "nfs"], ["--pull-timeout", "-1"], ["--pull-timeout", "nan"], ["--wait", "-1"],
                       ["--pull-timeout", "soon"], ["--connection", "0"], ["--connection", "x"], ["-q", "-v"], ["--json", "--format", "text"]):
            got = run(*option, path, as_json=False)
            self.assertEqual((got.status, got.output), (2, ""), option)
            self.assertEqual(got.errors.count("\n"), 1, option)

    def test_options_may_be_repeated_and_stand_anywhere(self):
        path = harness.capture(HEALTHY)
        got = run("--port", "20100", path, "--port", "20101", "--no-rule", "cm-dreq", "--no-rule", "rnr-retry-zero", "-r", path)
        self.assertEqual(len(got.document["inputs"]), 2, got.errors)
        self.assertFalse({"cm-dreq", "rnr-retry-zero"} & {f["rule"] for f in got.findings()})


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
