#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sanitize.py --analyzer PATH --forge PATH: --sanitize writes the same frames, of which the same is to be said, without anybody's data.

The program makes sure of its own work; here nothing of that is believed. The copy is taken apart without the analyzer's reader, and what
must not be in it is found in the original without the analyzer's decoders.
"""
import argparse
import concurrent.futures
import json
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hostile"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import disclosure  # noqa: E402
import forge as forging  # noqa: E402
import hidden_places  # noqa: E402
import links  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402
import shapes  # noqa: E402
from folder import Folder  # noqa: E402

GIVEN = None
FRAME = ("link", "length")
# A copy of this story would be judged otherwise.
NOT_COPIED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "not_copied.yaml")
# And of this one: what a snap length has left of an MPA key is not kept.
CUT_IN_THE_KEY = "symptom-cut-in-the-mpa-key.yaml"
# Nor is this one copied where a message that could not be read, for what looks like a marker in it, can be read without its octets.
CUT_IN_THE_CRC = "symptom-cut-handshake-among-attempts.yaml"
LIKE_A_MARKER = "capture-late-marker-or-length.yaml"


def contents(path):
    with open(path, "rb") as handle:
        return handle.read()


def key(folder, text):
    path = os.path.join(folder, "key-" + text)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    return path


def in_two(record):
    """The frame of a TCP segment with FPDUs as frames of two segments; others as they are."""
    pcap, frame = record[:16], record[16:]
    if frame[12:14] != b"\x08\0" or frame[23] != 6:
        return [record]
    begin = 34 + (frame[46] >> 4) * 4  # the payload
    at = begin + (len(frame) - begin) // 3
    if len(frame) - begin < 40 or frame[begin:].startswith(b"MPA"):
        return [record]
    def one(payload, skipped):
        sequence = (int.from_bytes(frame[38:42], "big") + skipped) % 2 ** 32
        octets = frame[:16] + (begin - 14 + len(payload)).to_bytes(2, "big") + frame[18:38] + sequence.to_bytes(4, "big") + frame[42:begin] + payload
        return pcap[:8] + len(octets).to_bytes(4, "little") * 2 + octets
    return [one(frame[begin:at], 0), one(frame[at:], at - begin)]


def judged(document):
    """What is said of a capture, without the addresses."""
    def connection(c):
        closed = json.dumps(c["closed"])  # a cause names addresses where it is not known who is the client
        for side in ("client", "server"):
            closed = closed.replace(c[side]["address"], side)
        return {k: v for k, v in c.items() if k not in ("client", "server")} | {"ports": [c["client"]["port"], c["server"]["port"]],
                                                                                "pairs": [c["client"]["qpn"], c["server"]["qpn"]],
                                                                                "closed": closed}
    def finding(f):
        return [f[k] for k in ("rule", "severity", "frames", "connection", "xid", "violator", "role", "time", "times", "owes", "kind")]
    def mount(m):
        return [m[k] for k in ("state", "since", "owes", "attempts", "operations", "connections", "waiting", "longest_wait")]
    return {"connections": [connection(c) for c in document["connections"]], "findings": [finding(f) for f in document["findings"]],
            "mounts": [mount(m) for m in document["mounts"]], "totals": document["totals"], "state": document["verdict"]["state"],
            "unchecked": [[u["rule"], u["connection"]] for u in document["unchecked"]]}


class Sanitize(Folder):
    maxDiff = 4000

    def setUp(self):
        super().setUp()
        self.key = key(self.folder, "one")

    def sanitized(self, capture, copy, *options):
        return harness.run(GIVEN.analyzer, "--sanitize", copy, *options, capture)

    def compare(self, capture, whole=True):
        """The name of what is wrong with the copy of a capture, and the copy."""
        name = os.path.basename(capture)
        copy = self.path(name + ".copy.pcapng")
        run = self.sanitized(capture, copy, "--sanitize-key", self.key)
        if not os.path.exists(copy):
            return f"{name}: no copy: {run.errors}", None
        before, after = disclosure.packets(capture), disclosure.packets(copy)
        same = [[p[f] for f in FRAME] + [p["time"] or 0, len(p["octets"])] for p in before]
        if same != [[p[f] for f in FRAME] + [p["time"], len(p["octets"])] for p in after]:
            return f"{name}: other frames", copy
        again = harness.run(GIVEN.analyzer, copy)
        if judged(run.document) != judged(again.document):
            return f"{name}: another report", copy
        found = disclosure.found_in(disclosure.disclosed(capture), copy)
        if found:  # four octets of an address are somewhere by chance; what a copy discloses, it does with any key
            other = self.path(name + ".chance.pcapng")
            self.sanitized(capture, other, "--sanitize-key", key(self.folder, "chance-" + name))
            found = disclosure.found_in(found, other)
            os.unlink(other)
        if found:
            return f"{name}: holds {found[:3]} and {len(found)} in all", copy
        if not whole:
            return None, copy
        for keys, equal in ((self.key, True), (key(self.folder, "two-" + name), False)):
            other = self.path(name + ".other.pcapng")
            self.sanitized(capture, other, "--sanitize-key", keys)
            if (contents(other) == contents(copy)) != equal:
                return f"{name}: {'another' if equal else 'the same'} copy with {'the same' if equal else 'another'} key", copy
            os.unlink(other)
        return None, copy

    def each(self, captures, whole=True):
        def one(capture):
            wrong, copy = self.compare(capture, whole)
            if copy:
                os.unlink(copy)
            return wrong
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(one, captures) if w]
        self.assertEqual(wrong, [])

    def test_recorded_captures(self):
        self.each(harness.captures())

    def test_scenarios_on_every_fabric(self):
        reels = []
        for transport in forging.transports(GIVEN.forge):
            paths = [p for p, s in forging.scenarios().items() if forging.plays_on(s, transport)]
            refused = [CUT_IN_THE_KEY] + ([LIKE_A_MARKER] if transport in ("iwarp", "iwarp-markers") else [])
            refused += [CUT_IN_THE_CRC] if transport == "iwarp-rev1-crc" else []
            for path in [p for p in paths if os.path.basename(p) in refused]:
                paths.remove(path)
                alone = forging.Reel(GIVEN.forge, [path], transport, self.path("cut.pcap"))
                self.assertIn("differs from that of the original", self.sanitized(alone.capture, self.path("cut.pcapng")).errors)
            reel = forging.Reel(GIVEN.forge, paths, transport, self.path(transport + ".pcap"))
            self.assertGreater(len(reel.stories), 400, transport)
            reels.append(reel.capture)
        self.each(reels, whole=False)

    def test_what_is_not_replaced_is_found(self):
        _, records = pcapfile.read(harness.capture("rxe-nfs41-basic"))
        copy = self.path("copy.pcapng")
        with open(copy, "wb") as handle:
            handle.write(ng.section() + ng.interface() + b"".join(ng.packet(record[16:], 0) for record in records))
        strings = disclosure.disclosed(copy)
        self.assertLess({4, 6, 14}, {len(s) for s in strings})
        self.assertEqual(set(disclosure.found_in(strings, copy)), {s for s in strings if s in contents(copy)})
        self.assertGreater(len(disclosure.found_in(strings, copy)), 15)

    def test_segments_that_change_places(self):
        """An FPDU's CRC is right again, in whatever order its segments stand in the file."""
        changed, cut = [], 0
        for transport in (t for t in forging.transports(GIVEN.forge) if forging.family(t) == "iwarp"):
            capture = self.path(transport + ".pcap")
            forging.Reel(GIVEN.forge, [os.path.join(forging.SCENARIOS, "healthy-nfs41.yaml")], transport, capture)
            header, records = pcapfile.read(capture)
            pieces = [list(reversed(in_two(record))) for record in records]
            cut += sum(len(each) > 1 for each in pieces)
            pcapfile.write(capture, header, [piece for each in pieces for piece in each])
            changed.append(capture)
        self.each(changed, whole=False)
        self.assertGreater(cut, 50)

    def test_captures_that_begin_late(self):
        """Markers or none, and where they stand, is found out in the copy as it was in the original."""
        late = []
        for transport in (t for t in forging.transports(GIVEN.forge) if forging.family(t) == "iwarp"):
            capture = self.path(transport + ".pcap")
            forging.Reel(GIVEN.forge, [os.path.join(forging.SCENARIOS, "healthy-nfs41.yaml")], transport, capture)
            header, records = pcapfile.read(capture)
            for first in range(1, len(records), 3):
                late.append(self.path(f"{transport}-{first}.pcap"))
                pcapfile.write(late[-1], header, records[first:])
        self.each(late, whole=False)

    def test_no_snap_length_leaves_a_part_of_what_is_replaced(self):
        """Each frame cut at each length: no two octets in a row are the original's where the copy of the whole capture has others."""
        def two_that_stay(header, frames, length, keys, whole):
            cut, copy = self.path(f"cut-{length}.pcap"), self.path(f"cut-{length}.pcapng")
            pcapfile.write(cut, header, [f[:8] + struct.pack("<I", min(length, len(f) - 16)) + f[12:16 + length] for f in frames])
            self.sanitized(cut, copy, "--sanitize-key", keys)
            os.unlink(cut)
            if not os.path.exists(copy):
                return None
            out = [p["octets"] for p in ng.packets_of(contents(copy))]
            os.unlink(copy)
            stay = set()
            for number, (frame, octets, other) in enumerate(zip(frames, out, whole), 1):
                same = [a == b != c and a != 0 for a, b, c in zip(octets, frame[16:], other)]
                stay.update((number, at) for at in range(1, len(same)) if same[at] and same[at - 1])
            return stay
        def one(length, header, frames, wholes):
            found = [two_that_stay(header, frames, length, keys, whole) for keys, whole in wholes[:1]]
            if found == [None]:
                return "refused"
            if found[0]:  # by chance it stays with one key, not with another
                found.append(two_that_stay(header, frames, length, *wholes[1]))
            return length, set.intersection(*map(set, found))
        for name, number in (("rxe-nfs41-basic", 24), ("rxe-nfs3-basic", 24), ("rxe-nfs41-ipv6", 24), ("siw-nfs41-basic", 30)):
            header, records = pcapfile.read(harness.capture(name))
            frames, wholes = records[:number], []
            if name == "rxe-nfs3-basic":  # nobody's user is 0 there
                frames = [self.with_a_user(f) for f in frames]
            start = self.path("start.pcap")
            pcapfile.write(start, header, frames)
            for keys in (self.key, key(self.folder, "two")):
                copy = self.path("start.pcapng")
                self.assertNotEqual(self.sanitized(start, copy, "--sanitize-key", keys).status, 2, name)
                wholes.append((keys, [p["octets"] for p in ng.packets_of(contents(copy))]))
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = list(pool.map(lambda length: one(length, header, frames, wholes), range(34, 360)))  # pylint: disable=cell-var-from-loop
            self.assertLess(found.count("refused"), 60, name)
            self.assertEqual([f for f in found if f != "refused" and f[1]], [], name)

    @staticmethod
    def with_a_user(record):
        """Of a Call with AUTH_SYS that the superuser sent: the Call of another one."""
        at = record.find(b"\0\1\x86\xa3\0\0\0\3")  # program and version of NFS
        flavor = at + 12  # behind the procedure
        if at < 0 or record[flavor:flavor + 4] != b"\0\0\0\1":
            return record
        name = int.from_bytes(record[flavor + 12:flavor + 16], "big")
        user = flavor + 16 + (name + 3) // 4 * 4
        return record[:user] + b"\0\xa1\xb2\xc3\0\xa4\xb5\xc6" + record[user + 8:]

    def test_a_message_takes_the_room_of_what_came_of_it(self):
        """Calls without a Reply, of each the last octets of a Reply chunk of 1 MiB."""
        calls, story, capture = 500, self.path("story.yaml"), self.path("x.pcap")
        with open(story, "w", encoding="utf-8") as handle:
            handle.write("title: t\nwhy: t\npeers: {client: {credits: 60000}, server: {credits: 60000}}\nexpect: []\nsteps:\n  - connect\n")
            for i in range(calls):
                handle.write(f"  - call: {{nfs3: readdirplus, octets: 4000, reply_chunk: {{handle: {0xC000 + i}, offset: 0x10000, length: 1048576}}}}\n"
                             f"  - write: {{by: server, handle: {0xC000 + i}, offset: {0x10000 + 1048500}, length: 16}}\n")
        forging.Reel(GIVEN.forge, [story], "rocev2", capture)
        process = subprocess.Popen([GIVEN.analyzer, "-q", "--no-progress", "--sanitize", self.path("copy.pcapng"), capture],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        self.assertTrue(os.path.exists(self.path("copy.pcapng")))
        self.assertLess(usage.ru_maxrss, 200 * 1024, "KiB")

    def test_nothing_of_a_session_stays(self):
        """Not its first octets either, which Linux makes of the time at which the server was booted."""
        name = "rxe-nfs41-basic"
        capture, copy = harness.capture(name), self.path("copy.pcapng")
        _, records = pcapfile.read(capture)
        sequence = b"\0\0\0\1\0\0\0\x35"  # minor version, ..., one operation or more, SEQUENCE
        before = [r[16:] for r in records]
        at = next((i, f.find(b"\0\0\0\x35") + 4) for i, f in enumerate(before) if b"\0\0\0\x35" in f and b"\0\1\x86\xa3\0\0\0\4" in f)
        session = before[at[0]][at[1]:at[1] + 16]
        self.assertEqual(sum(session in f for f in before) > 10, True, sequence)
        self.assertEqual(self.sanitized(capture, copy, "--sanitize-key", self.key).status, 0)
        after = [p["octets"] for p in ng.packets_of(contents(copy))]
        other = after[at[0]][at[1]:at[1] + 16]
        self.assertNotEqual(other[:4], session[:4])
        for one, two in zip(before, after):  # and equal stays equal
            where = one.find(session)
            if where >= 0:
                self.assertEqual(two[where:where + 16], other)

    def test_what_frames_lack_is_in_the_copy(self):
        """How many were dropped, and where a file of a ring could not be read: else it would be judged as if it were whole."""
        header, records = pcapfile.read(harness.capture("rxe-nfs3-basic"))
        counted, copy = self.path("counted.pcapng"), self.path("copy.pcapng")
        ticks = [int.from_bytes(r[:4], "little") * 10 ** 6 + int.from_bytes(r[4:8], "little") for r in records]
        data = ng.section() + ng.interface(options=ng.option(0, b"")) + b"".join(ng.packet(r[16:], t) for r, t in zip(records, ticks))
        with open(counted, "wb") as handle:
            handle.write(data + ng.block(ng.STATISTICS, bytes(12) + ng.option(5, struct.pack("<Q", 1234)) + ng.option(0, b"")))
        self.assertEqual(self.sanitized(counted, copy).status, 0)
        self.assertEqual(harness.run(GIVEN.analyzer, copy).document["inputs"][0]["dropped"], 1234)
        late = struct.pack("<I", int.from_bytes(records[-1][:4], "little") + 60)
        noise = late + records[0][4:8] + struct.pack("<II", 60, 60) + b"\xff" * 6 + b"\2\0\x5e\0\x53\x09\x08\x06" + bytes(46)
        torn, later = self.path("torn.pcap"), self.path("later.pcap")
        def waits(end):
            pcapfile.write(torn, header, [*records[:end], noise])
            return harness.run(GIVEN.analyzer, torn).document["verdict"]["state"] == "waiting"
        end = next(end for end in range(len(records) - 1, 0, -1) if waits(end))
        pcapfile.write(later, header, [noise])
        with open(torn, "wb") as handle:
            handle.write(header + b"".join(records[:end]) + records[end][:30])
        said = harness.run(GIVEN.analyzer, torn, later).document
        self.assertEqual(said["verdict"]["state"], "unknown")
        for option in ("--sanitize", "--annotate"):
            if os.path.exists(copy):
                os.unlink(copy)
            self.assertEqual(harness.run(GIVEN.analyzer, option, copy, torn, later).status, 2)
            again = harness.run(GIVEN.analyzer, copy)
            self.assertEqual(judged(again.document)["findings"], judged(said)["findings"], option)
            self.assertEqual(again.document["verdict"]["state"], "unknown", option)
            self.assertEqual(again.document["inputs"][0]["dropped"], 1, option)

    def test_what_cannot_be_told_is_not_written(self):
        """The report would be another one: no file, and one that was there stays as it was."""
        capture, copy = self.path("x.pcap"), self.path("copy.pcapng")
        forging.Reel(GIVEN.forge, [NOT_COPIED], "rocev2", capture)
        for before in (None, ng.section(options=ng.option(4, b"rpcrdma-analyzer 1.0"))):
            if before is not None:
                with open(copy, "wb") as handle:
                    handle.write(before)
            run = self.sanitized(capture, copy)
            self.assertEqual(run.status, 2)
            self.assertIn("differs from that of the original", run.errors)
            self.assertEqual(os.path.exists(copy) and contents(copy), before if before is not None else False)
        self.assertEqual(sorted(os.listdir(self.folder)), ["copy.pcapng", "key-one", "x.pcap"])

    def test_without_a_key_each_copy_is_another(self):
        capture = harness.capture("rxe-nfs41-basic")
        copies = []
        for name in ("a", "b"):
            self.assertEqual(self.sanitized(capture, self.path(name)).status, 0)
            copies.append(contents(self.path(name)))
        self.assertNotEqual(*copies)

    def test_a_key_from_a_pipe(self):
        """As <(gpg -d key) gives it."""
        capture, copies = harness.capture("rxe-nfs41-basic"), []
        for name, given in (("a", self.key), ("b", f"<(cat {self.key})")):
            command = f"exec {GIVEN.analyzer} --sanitize {self.path(name)} --sanitize-key {given} {capture} > /dev/null"
            self.assertEqual(subprocess.run(["bash", "-c", command], check=False).returncode, 0)
            copies.append(contents(self.path(name)))
        self.assertEqual(*copies)

    def test_one_key_over_several_captures(self):
        """The same machine has the same name in both: the second is the first again, some time later."""
        capture = harness.capture("rxe-nfs41-basic")
        header, records = pcapfile.read(capture)
        later = self.path("later.pcap")
        pcapfile.write(later, header, records[len(records) // 2:])
        documents = []
        for path in (capture, later):
            run = self.sanitized(path, self.path("copy"), "--sanitize-key", self.key)
            self.assertNotEqual(run.status, 2, run.errors)
            documents.append(harness.run(GIVEN.analyzer, self.path("copy")).document)
        ends = [{c[side]["address"] for c in d["connections"] for side in ("client", "server")} for d in documents]
        self.assertEqual(*ends)

    def test_what_pcapng_says_beside_packets(self):
        secret = b"secret of this house"
        _, records = pcapfile.read(harness.capture("rxe-nfs41-basic"))
        ticks = [int.from_bytes(r[:4], "little") * 10 ** 6 + int.from_bytes(r[4:8], "little") for r in records]
        data = ng.section(options=b"".join(ng.option(code, secret) for code in (1, 2, 3, 4)) + ng.option(0, b""))
        data += ng.interface(options=b"".join(ng.option(code, secret) for code in (1, 2, 3, 12, 15, 2988)) + ng.option(4, secret[:8]) +
                             ng.option(6, secret[:6]) + ng.option(11, b"\0" + secret) + ng.option(0, b""))
        data += ng.block(ng.STATISTICS, bytes(12) + ng.option(1, secret) + ng.option(0, b""))
        data += ng.block(ng.NAMES, b"\1\0" + bytes([5 + len(secret), 0, 192, 168, 1, 1]) + ng.padded(secret + bytes(1)) + bytes(4)) + ng.block(10, b"KSLT\x14\0\0\0" + secret)
        for tick, record in zip(ticks, records):
            data += ng.packet(record[16:], tick, options=ng.option(1, secret) + ng.option(0, b""))
        data += ng.block(0x0BAD, b"\0\0\0\0" + secret)
        capture, copy = self.path("x.pcapng"), self.path("copy.pcapng")
        with open(capture, "wb") as handle:
            handle.write(data)
        run = self.sanitized(capture, copy)
        self.assertEqual(run.status, 0, run.errors)
        self.assertNotIn(secret, contents(copy))
        # Nothing else is there that could say something: what an interface says of itself is how its times are counted.
        blocks = ng.blocks(contents(copy))
        self.assertEqual({kind for kind, _, _ in blocks}, {ng.SECTION, ng.INTERFACE, ng.PACKET})
        self.assertLessEqual({code for kind, order, b in blocks if kind == ng.INTERFACE for code, _ in ng.options(b[16:-4], order)}, {0, 9, 13, 14})
        self.assertEqual({len(b) - 32 - len(ng.padded(bytes(int.from_bytes(b[20:24], "little")))) for kind, _, b in blocks if kind == ng.PACKET}, {0})
        self.assertEqual([len(p["octets"]) for p in ng.packets_of(contents(copy)) if p["octets"]], [len(r) - 16 for r in records])

    def test_what_is_no_rdma_keeps_its_headers(self):
        """UDP to another port, TCP, ICMP echo, ARP and an unknown EtherType, each with a secret in it."""
        secret = b"secret of this house"
        header, records = pcapfile.read(harness.capture("rxe-nfs41-basic"))
        def record(frame):
            return records[0][:8] + len(frame).to_bytes(4, "little") * 2 + frame
        def ip(protocol, payload):
            return b"\x45\0" + (20 + len(payload)).to_bytes(2, "big") + bytes(4) + b"\x40" + bytes([protocol, 0, 0, 192, 168, 9, 1, 192, 168, 9, 2]) + payload
        macs = bytes.fromhex("525400aabb01 525400aabb02")
        arp = bytes.fromhex("0001080006040001 525400aabb01 c0a80901 000000000000 c0a80902")
        frames = [macs + b"\x08\0" + ip(17, b"\x12\x34\x56\x78" + (8 + len(secret)).to_bytes(2, "big") + b"\0\0" + secret),
                  macs + b"\x08\0" + ip(6, b"\x12\x34\x56\x78" + bytes(8) + b"\x50\x18\1\0\0\0\0\0" + secret),
                  macs + b"\x08\0" + ip(1, b"\x08\0\0\0\0\0\0\0" + secret), macs + b"\x08\6" + arp + secret, macs + b"\x88\xb5" + secret]
        capture, copy = self.path("x.pcap"), self.path("copy.pcapng")
        pcapfile.write(capture, header, [*records, *map(record, frames)])
        self.assertEqual(self.sanitized(capture, copy).status, 0)
        out = [p["octets"] for p in ng.packets_of(contents(copy))][-len(frames):]
        for before, after in zip(frames, out):
            self.assertEqual(len(before), len(after))
            self.assertNotIn(secret[:6], after)
            self.assertNotIn(bytes([192, 168, 9]), after)
            self.assertNotIn(macs[:6], after)
            self.assertEqual(before[12:14], after[12:14])
        self.assertEqual(out[0][34:42], frames[0][34:42])
        # ARP tells the same of the same addresses.
        self.assertEqual(out[3][28:32], out[0][26:30])
        self.assertEqual(out[3][22:28], out[3][:6])

    def test_nothing_is_hidden_in_a_header(self):
        """In which field it may stand; the copy is read with the same result, and what is a checksum stays right."""
        wrong = []
        for link, frames in hidden_places.FRAMES.items():
            capture, copy = self.path("x.pcap"), self.path("copy.pcapng")
            pcapfile.write(capture, struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link),
                           [struct.pack("<IIII", 1, i, len(octets), len(octets)) + octets for i, (_, octets, _) in enumerate(frames)])
            run = self.sanitized(capture, copy, "--sanitize-key", self.key)
            self.assertNotEqual(run.status, 2, run.errors)
            out = [p["octets"] for p in ng.packets_of(contents(copy))]
            self.assertEqual([len(o) for o in out], [len(octets) for _, octets, _ in frames])
            for (name, before, hidden), after in zip(frames, out):
                wrong += [name for what in hidden if what not in before or what in after]
                if before[12:14] == b"\x08\0" and link == 1 and hidden_places.summed(before[14:34 + (before[14] % 16 - 5) * 4]) == 0:
                    wrong += [name + ": checksum"] * (hidden_places.summed(after[14:34 + (after[14] % 16 - 5) * 4]) != 0)
            os.unlink(copy)
        self.assertEqual(wrong, [])

    def good_or_none(self, capture, name):
        """A copy of what could be read, or an error and none."""
        copy = self.path("copy.pcapng")
        run = self.sanitized(capture, copy)
        self.assertIn(run.status, (0, 1, 2, 3), f"{name}: {run.errors}")
        self.assertNotIn("Sanitizer", run.errors, name)
        if not os.path.exists(copy):
            self.assertTrue(run.status == 2 and run.errors, name)
            return False
        self.assertEqual(len(ng.packets_of(contents(copy))), run.document["totals"]["frames"], name)
        os.unlink(copy)
        return True

    def test_damaged_files(self):
        whole = contents(harness.capture("rxe-nfs41-basic"))
        for name, data in (("cut", whole[:len(whole) // 2]), ("garbage", whole[:2000] + b"\xff" * 64 + whole[2064:]), ("empty", b""),
                           ("header", whole[:24])):
            capture = self.path(name)
            with open(capture, "wb") as handle:
                handle.write(data)
            self.good_or_none(capture, name)

    def test_damaged_packets(self):
        """Octets changed at random, here and there, in packets of every fabric."""
        chance, written, tried = random.Random(8), 0, 0
        for name in ("rxe-nfs3-basic", "rxe-nfs41-krb5", "siw-nfs41-basic", "siw-nfs42-basic", "siw-upeer-priv-variants", "rxe-upeer-done-good"):
            header, records = pcapfile.read(harness.capture(name))
            for number in range(8):
                damaged = [bytearray(r) for r in records]
                for _ in range(1 + number * 6):
                    record = chance.choice(damaged)
                    record[chance.randrange(16, len(record))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
                capture = self.path("damaged.pcap")
                pcapfile.write(capture, header, damaged)
                tried += 1
                written += self.good_or_none(capture, f"{name} {number}")
        # Most damage changes nothing that a copy cannot tell as well.
        self.assertGreater(written, tried * 3 // 4)

    def test_what_is_made_to_hurt(self):
        for name, shape in shapes.SHAPES.items():
            link, capture = shape.links[len(name) % len(shape.links)], self.path("shape.pcap")
            file = links.Capture(capture)
            shape.function(link, file, shape.size)
            file.close()
            self.assertTrue(self.good_or_none(capture, name), name)

    def test_options_that_cannot_be(self):
        capture = harness.capture("rxe-nfs41-basic")
        empty = self.path("empty")
        with open(empty, "wb"):
            pass
        huge = self.path("huge")
        with open(huge, "wb") as handle:
            handle.truncate(1 << 42)
        for options, said in ((("--sanitize", ""), "needs the name"), (("--sanitize", capture), "is an input"), (("--sanitize-key", self.key), "goes with --sanitize"),
                              (("--sanitize", self.path("o"), "--sanitize-key", empty), "is empty"),
                              (("--sanitize", self.path("o"), "--sanitize-key", self.path("none")), "No such file"),
                              (("--sanitize", self.path("o"), "--sanitize-key", self.folder), f"--sanitize-key: {self.folder}: is a folder"),
                              (("--sanitize", self.path("o"), "--sanitize-key", "/dev/zero"), "--sanitize-key: /dev/zero: is no file"),
                              (("--sanitize", self.path("o"), "--sanitize-key", huge), f"--sanitize-key: {huge}: is no key"),
                              (("--sanitize", self.path("o"), "--annotate", self.path("o")), "name the same file"),
                              (("--sanitize", self.path("o"), "--merge", capture), "exclude each other")):
            run = harness.run(GIVEN.analyzer, *options, capture)
            self.assertEqual(run.status, 2, options)
            self.assertIn(said, run.errors)
            self.assertFalse(os.path.exists(self.path("o")), options)

    def test_only_what_it_wrote_is_replaced(self):
        capture, there, key_file = harness.capture("rxe-nfs41-basic"), self.path("there"), self.key
        before = contents(harness.capture("rxe-nfs3-basic"))
        foreign = ng.section(options=ng.option(4, b"Dumpcap (Wireshark) 4.0")) + ng.interface() + ng.packet(bytes(60))
        for option in ("--sanitize", "--annotate"):
            # A copy with comments on nothing is somebody's pcapng.
            for data in (before, b"notes", *((foreign, foreign[:40]) if option == "--sanitize" else ())):
                with open(there, "wb") as handle:
                    handle.write(data)
                run = harness.run(GIVEN.analyzer, option, there, capture)
                self.assertEqual((run.status, run.document), (2, None), option)
                self.assertIn(f"{option}: {there} is there, and nothing in it says that this program wrote it", run.errors)
                self.assertEqual(contents(there), data)
            os.unlink(there)
            with open(there, "wb"):
                pass
            for _ in range(2):  # over nothing, and over its own
                self.assertEqual(harness.run(GIVEN.analyzer, option, there, capture).status, 0)
            more = ["--sanitize", self.path("o")] if option == "--annotate" else []
            run = harness.run(GIVEN.analyzer, option, key_file, "--sanitize-key", key_file, *more, capture)
            self.assertEqual(run.status, 2)
            self.assertIn(f"{option}: {key_file} is read for --sanitize-key", run.errors)
        self.assertEqual(contents(key_file), b"one")

    def test_standard_input(self):
        with open(harness.capture("rxe-nfs41-basic"), "rb") as handle:
            run = harness.run(GIVEN.analyzer, "--sanitize", self.path("copy"), "--annotate", self.path("annotated"), "-", stdin=handle)
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual(len(disclosure.packets(self.path("copy"))), len(disclosure.packets(self.path("annotated"))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--forge", required=True)
    GIVEN, remaining = parser.parse_known_args()
    GIVEN.analyzer, GIVEN.forge = os.path.abspath(GIVEN.analyzer), os.path.abspath(GIVEN.forge)
    alone.main(remaining)
