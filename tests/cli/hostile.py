#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py --analyzer PATH [--no-tmpfile LIBRARY]: inputs without an end, other users' links, signals, very many files at once."""
import argparse
import gzip
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402
from folder import Folder  # noqa: E402

GIVEN = None
HEALTHY = "rxe-nfs3-basic"
FAULTY = "rxe-kpeer-read-too-big-inline"


class Endless(Folder):
    """No file may become larger than 4 MiB here: what is copied without an end fails on that."""

    def limited(self, command):
        script = f"ulimit -f 4096; trap '' XFSZ; export TMPDIR='{self.folder}'; {command}"
        done = subprocess.run(["/bin/bash", "-c", script, "bash", GIVEN.analyzer], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=600)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_what_is_no_capture_is_not_copied(self):
        for feed, why in (("/dev/zero", "zeros, not a capture"), ("- </dev/zero", "zeros, not a capture"), ("<(cat /dev/urandom)", "not a capture"),
                          ("<(printf '\\201 no text, no capture'; cat /dev/zero)", "not a capture"), ("<(yes)", "a text file"),
                          ("<(gzip </dev/zero)", "not a capture"), ("<(zstd -q </dev/urandom)", "not a capture"),
                          ("--annotate '%s/out' - </dev/zero" % self.folder, "zeros, not a capture")):
            status, output, errors = self.limited(f'"$1" {feed}')
            self.assertEqual((status, output, errors.count("\n")), (2, "", 1), (feed, errors))
            self.assertIn(why, errors, feed)
            self.assertNotIn("File too large", errors, feed)
            self.assertEqual(os.listdir(self.folder), [])

    def test_a_capture_with_zeros_behind_it_ends_there(self):
        header, records = pcapfile.read(harness.capture(HEALTHY))
        pcap = self.write("pcap", header + b"".join(records))
        pcapng = self.write("pcapng", ng.section() + ng.interface() + b"".join(ng.packet(r[16:], 1) for r in records))
        for path in (pcap, pcapng):
            status, output, errors = self.limited(f'"$1" --json --no-progress <(cat {path} /dev/zero)')
            entry = harness.json.loads(output)["inputs"][0]
            self.assertEqual((status, entry["frames"], entry["damaged"]["offset"]), (2, len(records), os.path.getsize(path)), errors)

    def test_what_has_no_room_is_read_as_far_as_it_was_kept(self):
        packet = ng.packet(bytes(60), 1)
        head = ng.section() + ng.interface()
        path = self.write("endless", packet * 10_000)
        status, output, errors = self.limited(f'"$1" --json --no-progress <(cat {self.write("head", head)}; while cat {path}; do :; done 2>/dev/null)')
        entry = harness.json.loads(output)["inputs"][0]
        self.assertEqual(status, 2, errors)
        self.assertIn("no room for more of it", errors)
        self.assertAlmostEqual(entry["frames"] * len(packet), 4 << 20, delta=1 << 19)


class Kept(Folder):
    def test_what_is_found_a_capture_by_its_beginning_is_kept_whole(self):
        """ERF is libwiretap's to know; the first mebibyte is enough for that."""
        _, records = pcapfile.read(harness.capture(HEALTHY))
        erf = b"".join(struct.pack("<Q", struct.unpack("<I", r[:4])[0] << 32) + struct.pack(">BBHHH", 2, 4, 18 + len(r) - 16, 0, len(r) - 16) +
                       b"\0\0" + r[16:] for r in records) * 60
        self.assertGreater(len(erf), 3 << 19)
        whole = harness.run(GIVEN.analyzer, self.write("erf", erf)).document
        for octets in (erf, gzip.compress(erf), gzip.compress(erf[:77_777], 0) + gzip.compress(erf[77_777:], 0)):
            for options in ([], ["--annotate", self.path("out.pcapng")]):
                with subprocess.Popen(["cat", self.write("form", octets)], stdout=subprocess.PIPE) as cat:
                    got = harness.run(GIVEN.analyzer, *options, "-", stdin=cat.stdout).document
                self.assertEqual(got["inputs"][0]["frames"], 60 * len(records))
                self.assertEqual(got["connections"], whole["connections"])


class Links(Folder):
    OUTPUTS = (("--html", b"<!doctype html>"), ("--annotate", b"\n\r\r\n"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can make another user's link")
    def test_another_users_in_a_folder_like_tmp_is_not_followed(self):
        for option, _ in self.OUTPUTS:
            for there in (True, False):
                shared = tempfile.mkdtemp(dir=self.folder)
                os.chmod(shared, 0o1777)
                victim = self.path("victim")
                if there:
                    self.write("victim", b"")
                link = os.path.join(shared, "out")
                os.symlink(victim, link)
                os.chown(link, 65534, 65534, follow_symlinks=False)
                run = harness.run(GIVEN.analyzer, option, link, harness.capture(FAULTY))
                self.assertEqual((run.status, run.document, run.errors.count("\n")), (2, None, 1), run.errors)
                self.assertIn("another user's link", run.errors)
                self.assertEqual(os.path.exists(victim) and os.path.getsize(victim), 0 if there else False)
                self.assertEqual(os.listdir(shared), ["out"])
                # In a folder of his own everybody may have links, and so may root, whose folder it is.
                os.chmod(shared, 0o755)
                self.assertEqual(harness.run(GIVEN.analyzer, option, link, harness.capture(FAULTY)).status, 1)
                self.assertGreater(os.path.getsize(victim), 1000)
                os.remove(victim)

    def test_ones_own_is_followed_and_stays(self):
        for option, begins in self.OUTPUTS:
            os.chmod(self.folder, 0o1777)
            elsewhere = tempfile.mkdtemp(dir=self.folder)
            link = self.path("out" + option)
            os.symlink(os.path.join(elsewhere, "there"), link)
            self.assertEqual(harness.run(GIVEN.analyzer, option, link, harness.capture(FAULTY)).status, 1)
            self.assertTrue(os.path.islink(link))
            with open(os.path.join(elsewhere, "there"), "rb") as file:
                self.assertTrue(file.read().startswith(begins))
            self.assertEqual(os.listdir(elsewhere), ["there"])

    def test_standard_output(self):
        out = self.path("out")
        with open(out, "wb") as file:
            done = subprocess.run([GIVEN.analyzer, "--html", "/dev/stdout", harness.capture(FAULTY)], stdout=file, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        with open(out, "rb") as file:
            text = file.read()
        self.assertIn(b"inline-threshold-exceeded", text[:text.index(b"<!doctype html>")])
        self.assertTrue(text.rstrip().endswith(b"</html>"))
        for target in ("/dev/stdout", out):
            with open(out, "wb") as file:
                done = subprocess.run([GIVEN.analyzer, "--annotate", target, harness.capture(FAULTY)], stdout=file, stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, os.path.getsize(out)), (2, 0))
            self.assertIn(b"standard output", done.stderr)


class Signals(Folder):
    def test_nothing_stays_behind(self):
        if not GIVEN.no_tmpfile:
            self.skipTest("no library to preload")
        for option in ("--html", "--annotate"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                pipe = self.path("pipe")
                os.mkfifo(pipe)
                target = self.path("out")
                capture = ["-"] if option == "--annotate" else [pipe]
                source = os.open(pipe, os.O_RDWR)
                with subprocess.Popen([GIVEN.analyzer, "--no-progress", option, target, *capture], stdin=source, stdout=subprocess.DEVNULL,
                                      env={**os.environ, "LD_PRELOAD": GIVEN.no_tmpfile, "TMPDIR": "/tmp"}) as run:
                    for _ in range(6000):
                        if len(os.listdir(self.folder)) == 2:
                            break
                        time.sleep(0.02)
                    self.assertEqual(len(os.listdir(self.folder)), 2, "no temporary file was seen")
                    run.send_signal(number)
                    run.wait(timeout=300)
                os.close(source)
                # Of a pipe SIGINT asks for what has come out of it, and here nothing has.
                self.assertEqual((run.returncode, os.listdir(self.folder)), (2 if number == signal.SIGINT else -number, ["pipe"]))
                os.remove(pipe)

    def test_it_is_whole_all_the_same(self):
        if not GIVEN.no_tmpfile:
            self.skipTest("no library to preload")
        done = subprocess.run([GIVEN.analyzer, "-q", "--html", self.path("page"), harness.capture(HEALTHY)], check=False, stdout=subprocess.DEVNULL,
                              env={**os.environ, "LD_PRELOAD": GIVEN.no_tmpfile})
        self.assertEqual((done.returncode, os.listdir(self.folder)), (0, ["page"]))


class ManyAtOnce(Folder):
    def test_a_merge_of_very_many_takes_little_room(self):
        files = min(800, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 50)
        for i in range(files):
            shutil.copyfile(harness.capture(HEALTHY), self.path(f"{i:04}.pcap"))
        paths = [self.path(f"{i:04}.pcap") for i in range(files)]
        peaks = []
        for given in (paths[:8], paths):
            with subprocess.Popen([GIVEN.analyzer, "--merge", "--statistics", "--no-progress", *given], stdout=subprocess.DEVNULL) as run:
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
            peaks.append(usage.ru_maxrss)
        self.assertLess(peaks[1] - peaks[0], files * 64, f"KiB {peaks}")

    def test_the_order_is_the_same(self):
        """Frames of one capture dealt out to many come back in their order; of equal times the file named first comes first."""
        header, records = pcapfile.read(harness.capture(FAULTY))
        whole = harness.run(GIVEN.analyzer, harness.capture(FAULTY)).document
        paths = []
        for i in range(7):
            paths.append(self.path(f"{i}.pcap"))
            pcapfile.write(paths[-1], header, records[i::7])
        paths.append(self.write("gz", gzip.compress(header)))
        got = harness.run(GIVEN.analyzer, "--merge", *paths).document
        for part in ("connections", "findings", "totals"):
            self.assertEqual(got[part], whole[part])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--no-tmpfile")
    GIVEN, rest = parser.parse_known_args()
    GIVEN.analyzer = os.path.abspath(GIVEN.analyzer)
    alone.main(rest)
