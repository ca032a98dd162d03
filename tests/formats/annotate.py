#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""annotate.py --analyzer PATH: --annotate writes the same capture, with the findings on their packets and nothing else changed.

The pcapng that comes out is taken apart here, without the analyzer's reader; tshark is asked once for all of them.
"""
import argparse
import concurrent.futures
import glob
import gzip
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402

ANALYZER = None
FAULTY = "rxe-upeer-over-client-threshold-breaks"
FIELDS = ("link", "time", "octets", "length")


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def bare(packets):
    return [tuple(p[f] for f in FIELDS) for p in packets]


def wanted_comments(document):
    out = {}
    for finding in document["findings"]:
        if finding["frames"]:
            out.setdefault(finding["frames"][0], []).append(
                f"{finding['severity']}{', symptom' if finding['kind'] == 'symptom' else ''} {finding['rule']}: {finding['message']}")
    return out


def mine(comment):
    return comment.endswith(b")") and b" (rpcrdma-analyzer, connection " in comment


def annotated(path, folder, *options, stdin=None):
    """-> (document, octets of the annotated file)"""
    out = os.path.join(folder, "out.pcapng")
    run = harness.run(ANALYZER, *options, "--annotate", out, path, stdin=stdin)
    if run.document is None or run.status == 2 and "damaged" not in run.errors:
        raise AssertionError(f"{path}: {run.status} {run.errors}")
    return run.document, contents(out)


def differences(path, options):
    """What is wrong with one annotated capture; and its frames and findings, for tshark."""
    with tempfile.TemporaryDirectory() as folder:
        document, data = annotated(path, folder, *options)
    original, wrong = contents(path), []
    got, want = ng.packets(data), ng.packets_of(original)
    if bare(got) != bare(want):
        wrong.append(f"{len(got)} packets for {len(want)}, or not the same")
    said = {n: p["comments"] for n, p in enumerate(got, 1) if any(mine(c.encode()) for c in p["comments"])}
    findings = wanted_comments(document)
    if set(said) != set(findings):
        wrong.append(f"comments on {sorted(set(said) ^ set(findings))[:5]}, or missing there")
    for frame, starts in findings.items():
        texts = [c for c in said.get(frame, []) if mine(c.encode())]
        if len(texts) != len(starts) or not all(t.startswith(s) for t, s in zip(texts, starts)):
            wrong.append(f"frame {frame} says {texts}, not {starts}")
    if original[:4] == b"\n\r\r\n":
        stripped = b"".join(ng.without_comments(*b, mine) for b in ng.blocks(data))
        if stripped != original[:len(stripped)] or (len(stripped) != len(original) and "damaged" not in str(document["inputs"])):
            wrong.append("without the comments it is not the original file")
    return [f"{os.path.relpath(path, harness.ROOT)}: {w}" for w in wrong], data, len(got), sorted(findings)


class Bundled(unittest.TestCase):
    def test_every_capture_and_tshark(self):
        paths = harness.captures() + sorted(glob.glob(os.path.join(harness.ROOT, "captures", "v2", "*.pcap*")))
        choices = [[], ["--severity", "warning"], ["--no-rule", "capture-start-missing"]]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            results = list(pool.map(lambda at: differences(at[1], choices[at[0] % 3]), enumerate(paths)))
        self.assertEqual([line for wrong, *_ in results for line in wrong], [])
        self.assertGreater(sum(len(found) for *_, found in results), 200)
        # Sections one after the other are a pcapng file, too: one run of tshark for a third of them.
        wanted, before = [], 0
        with tempfile.TemporaryDirectory() as folder:
            whole = os.path.join(folder, "all.pcapng")
            with open(whole, "wb") as file:
                for _, data, frames, found in results[::3]:
                    file.write(data)
                    wanted += [before + n for n in found]
                    before += frames
            done = subprocess.run(["tshark", "-n", "-r", whole, "-Y", "frame.comment", "-T", "fields", "-e", "frame.number"],
                                  capture_output=True, text=True, check=False, env={**os.environ, "HOME": folder})
        self.assertEqual([int(line) for line in done.stdout.split()], wanted, done.stderr[-500:])


class Special(unittest.TestCase):
    """Blocks that no bundled capture holds, around the packets of one that has findings."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.packets = ng.packets_of(contents(harness.capture(FAULTY)))

    def write(self, data, name="in"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def ticks(self, packet):
        return packet["time"] // 1000

    def kept(self, data, foreign=(), **more):
        """Annotated; stripped of our comments it is what it was."""
        path = self.write(data)
        document, out = annotated(path, self.folder, **more)
        self.assertEqual(contents(path), data, "the input was touched")
        self.assertTrue(document["findings"])
        self.assertEqual(b"".join(ng.without_comments(*b, mine) for b in ng.blocks(out)), data)
        frames = {n for n, p in enumerate(ng.packets(out), 1) if any(mine(c.encode()) for c in p["comments"])}
        self.assertEqual(frames, set(wanted_comments(document)))
        for comment in foreign:
            self.assertIn(comment, [c for p in ng.packets(out) for c in p["comments"]])
        return document, out

    def foreign(self, order="<"):
        end = ng.option(0, b"", order)
        data = ng.section(order, options=ng.option(2, b"hardware", order) + ng.option(1, b"of the file", order) + end)
        data += ng.interface(1, order, ng.option(2, b"mlx5_0", order) + ng.option(9, b"\x06", order) + end)
        data += ng.interface(1, order, ng.option(2, b"unused", order) + end, snap=96)
        data += ng.block(ng.NAMES, struct.pack(order + "HH", 1, 9) + b"\xc0\xa8\x4d\x01host\0" + bytes(3) + bytes(4), order)
        data += ng.block(0x0A, struct.pack(order + "II", 0x544C534B, 3) + b"key", order)
        flags = ng.option(2, struct.pack(order + "I", 1), order)
        for i, p in enumerate(self.packets):
            extra = [b"", flags + end, ng.option(1, b"seen by hand", order) + flags + end, ng.option(1, "ü".encode() * 3, order)][i % 4]
            data += ng.packet(p["octets"], self.ticks(p), 0, order, extra, p["length"])
        return data + ng.block(ng.STATISTICS, struct.pack(order + "III", 0, 0, 0) + ng.option(4, bytes(8), order) + end, order)

    def test_foreign_blocks_options_and_comments(self):
        for order in "<>":
            self.kept(self.foreign(order), ["seen by hand", "üüü"])

    def test_gzip_of_pcapng(self):
        data = self.foreign()
        _, out = annotated(self.write(gzip.compress(data[:999]) + gzip.compress(data[999:])), self.folder)
        self.assertEqual(b"".join(ng.without_comments(*b, mine) for b in ng.blocks(out)), data)

    def test_a_second_time_changes_nothing(self):
        _, once = self.kept(self.foreign())
        _, twice = annotated(self.write(once), self.folder)
        self.assertEqual(once, twice)

    def test_sections_that_say_how_long_they_are(self):
        for order in "<>":
            body = ng.interface(1, order) + b"".join(ng.packet(p["octets"], self.ticks(p), 0, order) for p in self.packets)
            data = (ng.section(order, len(body)) + body) * 2
            _, out = annotated(self.write(data), self.folder)
            at = 0
            for _ in range(2):
                size, length = struct.unpack(order + "I", out[at + 4:at + 8])[0], struct.unpack(order + "q", out[at + 16:at + 24])[0]
                self.assertGreaterEqual(length, len(body))
                at += size + length
            self.assertEqual(at, len(out))

    def test_blocks_of_unknown_kind_keep_their_place(self):
        custom = ng.block(0x0BAD, struct.pack("<I", 32473) + b"custom")
        data = ng.section() + custom + ng.interface()
        for p in self.packets:
            data += custom + ng.packet(p["octets"], self.ticks(p))
        path = self.write(data + custom)
        document, out = annotated(path, self.folder)
        self.assertEqual(b"".join(ng.without_comments(*b, mine) for b in ng.blocks(out)), data + custom)
        said = [n for n, p in enumerate(ng.packets(out), 1) if p["comments"]]
        done = subprocess.run(["tshark", "-n", "-r", os.path.join(self.folder, "out.pcapng"), "-Y", "frame.comment", "-T", "fields", "-e",
                               "frame.number"], capture_output=True, text=True, check=False, env={**os.environ, "HOME": self.folder})
        self.assertEqual([int(n) for n in done.stdout.split()], sorted(wanted_comments(document)), said)

    def test_obsolete_packet_blocks(self):
        self.kept(ng.section() + ng.interface() + b"".join(ng.old_packet(p["octets"], self.ticks(p)) for p in self.packets))

    def test_simple_packets_become_enhanced_ones(self):
        for order in "<>":
            simple = [ng.block(ng.SIMPLE, struct.pack(order + "I", len(p["octets"])) + p["octets"], order) for p in self.packets]
            document, out = annotated(self.write(ng.section(order) + ng.interface(1, order) + b"".join(simple)), self.folder)
            said = wanted_comments(document)
            self.assertTrue(said)
            kinds = [k for k, _, _ in ng.blocks(out)][2:]
            self.assertEqual([n for n, k in enumerate(kinds, 1) if k == ng.PACKET], sorted(said))
            self.assertEqual([p["octets"] for p in ng.packets(out)], [p["octets"] for p in self.packets])

    def test_options_that_do_not_parse_are_kept(self):
        broken = struct.pack("<HH", 77, 60000)
        path = self.write(ng.section() + ng.interface() + b"".join(ng.packet(p["octets"], self.ticks(p), options=broken) for p in self.packets))
        document, out = annotated(path, self.folder)
        self.assertTrue(document["findings"])
        self.assertEqual(b"".join(ng.without_comments(*b, mine) for b in ng.blocks(out)), contents(path))

    def converted(self, data, packets, *options, **more):
        document, out = annotated(self.write(data), self.folder, *options, **more)
        self.assertEqual(bare(ng.packets(out)), bare(packets))
        self.assertEqual({n for n, p in enumerate(ng.packets(out), 1) if p["comments"]}, set(wanted_comments(document)))
        self.assertTrue(document["findings"])
        return out

    def test_kinds_of_pcap(self):
        for order in "<>":
            for magic, scale in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1)):
                data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 4096, 1)
                for p in self.packets:
                    data += struct.pack(order + "IIII", p["time"] // 10 ** 9, p["time"] % 10 ** 9 // scale, len(p["octets"]), p["length"]) + p["octets"]
                out = self.converted(data, self.packets)
                self.assertEqual(struct.unpack("<I", ng.blocks(out)[1][2][12:16])[0], 4096, "snap length")
                self.assertEqual(dict(ng.options(ng.blocks(out)[1][2][16:-4], "<"))[9], b"\x06" if scale == 1000 else b"\x09")
                self.converted(gzip.compress(data), self.packets)

    def test_times_that_do_not_fit_31_bits(self):
        packets = [{**p, "time": p["time"] + (1 << 31) * 10 ** 9} for p in self.packets]
        data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0, 1)
        for p in packets:
            data += struct.pack("<IIII", p["time"] // 10 ** 9, p["time"] % 10 ** 9 // 1000, len(p["octets"]), p["length"]) + p["octets"]
        self.converted(data, packets)

    def test_erf(self):
        data = b""
        for p in self.packets:
            octets = b"\0\0" + p["octets"]
            stamp = (p["time"] // 10 ** 9) << 32
            data += struct.pack("<Q", stamp) + struct.pack(">BBHHH", 2, 4, 16 + len(octets), 0, len(p["octets"])) + octets
        document, out = annotated(self.write(data), self.folder)
        self.assertEqual(document["inputs"][0]["format"], "erf")
        got = ng.packets(out)
        self.assertEqual(b"".join(p["octets"] for p in got), data)
        self.assertEqual({p["link"] for p in got}, {197})
        self.assertEqual({n for n, p in enumerate(got, 1) if p["comments"]}, set(wanted_comments(document)))

    def test_zstd(self):
        plain = contents(harness.capture(FAULTY))
        packed = subprocess.run(["zstd", "-q", "-c"], input=plain, capture_output=True, check=True).stdout
        self.converted(packed, self.packets)
        _, wanted = annotated(self.write(self.foreign()), self.folder)
        packed = subprocess.run(["zstd", "-q", "-c"], input=self.foreign(), capture_output=True, check=True).stdout
        _, out = annotated(self.write(packed), self.folder)
        self.assertEqual(out, wanted)

    def test_standard_input(self):
        for data in (contents(harness.capture(FAULTY)), self.foreign()):
            path = self.write(data)
            _, out = annotated(path, self.folder)
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
                document, piped = annotated("-", self.folder, stdin=cat.stdout)
            self.assertEqual(piped, out)
            self.assertEqual(document["inputs"][0]["path"], "-")
            with open(path, "rb") as file:
                self.assertEqual(annotated("-", self.folder, stdin=file)[1], out)

    def test_several_files_are_one_trace(self):
        first = self.write(contents(harness.capture("rxe-nfs3-basic")), "first")
        second = self.write(self.foreign(), "second")
        out = os.path.join(self.folder, "out.pcapng")
        run = harness.run(ANALYZER, "--annotate", out, first, second, os.path.join(self.folder, "missing"))
        self.assertEqual(run.status, 2)
        got = ng.packets(contents(out))
        self.assertEqual(bare(got), bare(ng.packets_of(contents(first)) + self.packets))
        self.assertEqual({n for n, p in enumerate(got, 1) if any(mine(c.encode()) for c in p["comments"])}, set(wanted_comments(run.document)))

    def test_interleaved(self):
        even, odd = self.packets[::2], self.packets[1::2]
        end = ng.option(0, b"")
        first = self.write(ng.section() + ng.interface(113) + ng.interface() + b"".join(ng.packet(p["octets"], self.ticks(p), 1) for p in even)
                           + ng.block(ng.STATISTICS, struct.pack("<III", 1, 0, 0)), "first")
        data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0, 1)
        for p in odd:
            data += struct.pack("<IIII", p["time"] // 10 ** 9, p["time"] % 10 ** 9 // 1000, len(p["octets"]), p["length"]) + p["octets"]
        second = self.write(data, "second")
        third = self.write(ng.section() + ng.interface(1, options=ng.option(2, b"third") + end) + ng.block(ng.NAMES, bytes(4)), "third")
        out = os.path.join(self.folder, "out.pcapng")
        run = harness.run(ANALYZER, "--merge", "--annotate", out, first, second, third)
        self.assertEqual(run.status, 1, run.errors)
        got = contents(out)
        self.assertEqual(bare(ng.packets(got)), bare(self.packets))
        self.assertEqual({n for n, p in enumerate(ng.packets(got), 1) if p["comments"]}, set(wanted_comments(run.document)))
        kinds = [k for k, _, _ in ng.blocks(got)]
        self.assertEqual((kinds.count(ng.SECTION), kinds.count(ng.INTERFACE), kinds.count(ng.NAMES)), (1, 4, 1))
        statistics = next(b for k, _, b in ng.blocks(got) if k == ng.STATISTICS)
        link = [struct.unpack("<H", b[8:10])[0] for k, _, b in ng.blocks(got) if k == ng.INTERFACE]
        self.assertEqual(link[struct.unpack("<I", statistics[8:12])[0]], 1)

    def test_damage_ends_the_copy_there(self):
        data = self.foreign()
        for cut in (data[:-30], data[:len(data) // 2]):
            run = harness.run(ANALYZER, "--annotate", os.path.join(self.folder, "out.pcapng"), self.write(cut))
            self.assertEqual(run.status, 2)
            got = ng.packets(contents(os.path.join(self.folder, "out.pcapng")))
            self.assertEqual(len(got), run.document["totals"]["frames"])
            self.assertEqual(bare(got), bare(self.packets[:len(got)]))

    def test_two_kinds_of_link_in_one_pcapng(self):
        data = ng.section() + ng.interface(1) + ng.interface(113) + ng.packet(bytes(16) + b"\x12\x34", 5, 1)
        self.kept(data + b"".join(ng.packet(p["octets"], self.ticks(p)) for p in self.packets))


class Target(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.input = os.path.join(self.folder, "in.pcap")
        shutil.copy(harness.capture(FAULTY), self.input)

    def refused(self, target, word, *more, stdin=None):
        run = harness.run(ANALYZER, "--annotate", target, *(more or [self.input]), as_json=False, stdin=stdin)
        self.assertEqual((run.status, run.output), (2, ""), run.errors)
        self.assertIn(word, run.errors)
        self.assertEqual(run.errors.count("\n"), 1)
        self.assertEqual(contents(self.input), contents(harness.capture(FAULTY)))

    def test_an_input_is_never_written(self):
        hard, soft = os.path.join(self.folder, "hard"), os.path.join(self.folder, "soft")
        os.link(self.input, hard)
        os.symlink("in.pcap", soft)
        for target in (self.input, hard, soft, os.path.join(self.folder, ".", "in.pcap")):
            self.refused(target, "is an input")
        self.refused(self.input, "is an input", harness.capture("rxe-nfs3-basic"), self.input)
        with open(self.input, "rb") as file:
            self.refused(hard, "is an input", "-", stdin=file)

    def test_where_no_file_can_be(self):
        self.refused("-", "needs the name of a file")
        self.refused("", "needs the name of a file")
        self.refused("/dev/null", "not a file")
        self.refused(self.folder, "not a file")
        self.refused(os.path.join(self.folder, "no", "such", "folder.pcapng"), "No such file")

    def test_nothing_is_left_where_nothing_was_read(self):
        run = harness.run(ANALYZER, "--annotate", os.path.join(self.folder, "out.pcapng"), os.path.join(self.folder, "missing"))
        self.assertEqual(run.status, 2)
        self.assertEqual(os.listdir(self.folder), ["in.pcap"])
        run = harness.run(ANALYZER, "--annotate", os.path.join(self.folder, "out.pcapng"), "--connection", "7", self.input)
        self.assertEqual(run.status, 2)
        self.assertEqual(os.listdir(self.folder), ["in.pcap"])

    def test_what_was_there_is_replaced_whole_and_keeps_its_mode(self):
        out, link = os.path.join(self.folder, "out.pcapng"), os.path.join(self.folder, "link")
        with open(self.input + "ng", "wb") as file:
            file.write(ng.section() + ng.interface() + b"".join(ng.packet(p["octets"]) for p in ng.packets_of(contents(self.input))))
        harness.run(ANALYZER, "--annotate", out, self.input + "ng")
        os.remove(self.input + "ng")
        self.assertNotIn(b"rpcrdma-analyzer", contents(out)[:100], "the section is the input's: the comments tell")
        os.chmod(out, 0o640)
        os.symlink("out.pcapng", link)
        run = harness.run(ANALYZER, "--annotate", link, self.input)
        self.assertEqual(run.status, 1)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o640)
        self.assertEqual(len(ng.packets(contents(out))), 11)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.pcap", "link", "out.pcapng"])

    def test_a_copy_without_comments_is_replaced_as_well(self):
        """It is somebody's capture itself."""
        packets = ng.packets_of(contents(harness.capture("rxe-nfs3-basic")))
        clean, out = os.path.join(self.folder, "clean"), os.path.join(self.folder, "out.pcapng")
        with open(clean, "wb") as file:
            file.write(ng.section() + ng.interface() + b"".join(ng.packet(p["octets"]) for p in packets))
        for _ in range(2):
            self.assertEqual(harness.run(ANALYZER, "--severity", "error", "--annotate", out, clean).status, 0)
            self.assertEqual(contents(out), contents(clean))
        self.assertEqual(harness.run(ANALYZER, "--annotate", out, self.input).status, 1)
        self.assertIn(b"rpcrdma-analyzer", contents(out))

    def test_what_is_no_copy_stays(self):
        """An option whose file was forgotten takes the capture behind it for its own."""
        other = os.path.join(self.folder, "other.pcap")
        for octets in (contents(harness.capture("rxe-nfs3-basic")), b"notes\n"):
            with open(other, "wb") as file:
                file.write(octets)
            self.refused(other, "left as it is")
            self.assertEqual(contents(other), octets)

    def test_every_format_goes_with_it(self):
        for how in ("text", "json", "ndjson", "csv", "junit"):
            out = os.path.join(self.folder, how + ".pcapng")
            plain = harness.run(ANALYZER, "--format", how, self.input, as_json=False)
            both = harness.run(ANALYZER, "--format", how, "--annotate", out, self.input, as_json=False)
            self.assertEqual((plain.status, plain.errors, len(plain.output)), (both.status, both.errors, len(both.output)))
            self.assertEqual(contents(out), contents(os.path.join(self.folder, "text.pcapng")))

    def test_only_what_is_shown(self):
        out = os.path.join(self.folder, "out.pcapng")
        harness.run(ANALYZER, "--rule", "inline-overrun-fatal", "--annotate", out, self.input)
        comments = [c for p in ng.packets(contents(out)) for c in p["comments"]]
        self.assertEqual(len(comments), 1)
        self.assertTrue(comments[0].startswith("error inline-overrun-fatal: "))

    def test_a_full_disk_leaves_nothing(self):
        out = os.path.join(self.folder, "out.pcapng")
        command = f"ulimit -f 2; trap '' XFSZ; exec {ANALYZER} --json --no-progress --annotate {out} {self.input} >/dev/null"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("too large", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["in.pcap"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    given, rest = parser.parse_known_args()
    ANALYZER = os.path.abspath(given.analyzer)
    alone.main(rest)
