#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""batch.py --analyzer PATH: folders, --each, -j and --resume: each capture is a trace of its own and has its name in every row."""
import argparse
import csv
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

GIVEN = None
FORMATS = ("text", "json", "ndjson", "csv", "junit")
HEALTHY, FAULTY, IWARP = "rxe-nfs41-basic", "rxe-upeer-no-reply", "siw-nfs41-basic"


class Batch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.captures = os.path.join(self.folder, "captures")
        os.makedirs(os.path.join(self.captures, "b", "c"))
        self.copy(HEALTHY, "z.pcap")
        self.copy(FAULTY, "b/a.pcap")
        self.copy(IWARP, "b/c/ring.pcap12")
        self.order = [os.path.join(self.captures, name) for name in ("b/a.pcap", "b/c/ring.pcap12", "z.pcap")]

    def copy(self, name, to):
        shutil.copy(harness.capture(name), os.path.join(self.captures, to))

    def write(self, name, data):
        path = os.path.join(self.captures, name)
        with open(path, "wb") as handle:
            handle.write(data)
        return path

    def each(self, *arguments, **more):
        return harness.run(GIVEN.analyzer, "--each", "--no-progress", *arguments, as_json=False, **more)

    def rows(self, *arguments):
        run = self.each("--format", "ndjson", *arguments)
        return run, [json.loads(line) for line in run.output.splitlines()]

    def test_folders(self):
        """By path; what is hidden, what is no capture, and links to folders are passed over. A FIFO is not waited for."""
        self.write("readme.txt", b"no capture at all")
        self.write(".unfinished.pcap", b"no capture at all")
        shutil.copy(harness.capture(HEALTHY), os.path.join(self.captures, "without-a-name-of-one"))
        os.mkfifo(os.path.join(self.captures, "fifo.pcap"))
        os.symlink(self.captures, os.path.join(self.captures, "loop"))
        with open(harness.capture(HEALTHY), "rb") as handle:
            self.write("trace_0001", gzip.compress(handle.read()))
        self.write("log_0001", gzip.compress(b"no capture at all"))
        self.write("log.xz", b"\xfd7zXZ\0\0\4")
        _, rows = self.rows(self.captures)
        expected = sorted([*self.order, *(os.path.join(self.captures, name) for name in ("trace_0001", "without-a-name-of-one"))])
        self.assertEqual([r["path"] for r in rows if r["type"] == "capture"], expected)
        whole = harness.run(GIVEN.analyzer, self.captures)
        self.assertEqual([i["path"] for i in whole.document["inputs"]], expected)
        os.mkdir(os.path.join(self.folder, "empty"))
        nothing = harness.run(GIVEN.analyzer, os.path.join(self.folder, "empty"), as_json=False)
        self.assertEqual((nothing.status, nothing.output), (2, ""))
        self.assertIn("empty: there is no capture below it", nothing.errors)

    def test_what_cannot_be_decompressed_is_named(self):
        for name, begin, advice in (("tue.pcap.xz", b"\xfd7zXZ\0\0\4", "decompress it first"), ("wed.pcapng1.bz2", b"BZh91AY", "decompress it first"),
                                    ("thu.pcap.zip", b"PK\3\4\x14\0", "a zip archive, not a capture: unpack it first"),
                                    ("fri.pcap.7z", b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive, not a capture: unpack it first")):
            self.write(name, begin)
            run, rows = self.rows(self.captures)
            self.assertEqual(run.status, 2)
            self.assertIn((os.path.join(self.captures, name), 2), [(r["path"], r["exit"]) for r in rows if r["type"] == "capture"])
            self.assertIn(advice, run.errors)
            os.unlink(os.path.join(self.captures, name))

    def test_a_folder_that_holds_nothing_or_is_closed_does_not_stop_the_others(self):
        closed, empty = os.path.join(self.captures, "b", "closed"), os.path.join(self.folder, "empty")
        os.mkdir(empty)
        os.mkdir(closed)
        wanted = [(closed, 2) if path == "closed" else (path, code) for path, code in
                  ((self.order[0], 1), (self.order[1], 0), ("closed", 2), (self.order[2], 0), (empty, 2), (self.order[2], 0))]
        os.chmod(self.folder, 0o755)
        os.chmod(closed, 0)
        done = subprocess.run([GIVEN.analyzer, "--each", "--format", "ndjson", self.captures, empty, self.order[2]], capture_output=True, text=True,
                              user=65534 if os.geteuid() == 0 else None, check=False)
        os.chmod(closed, 0o700)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(r["path"], r["exit"]) for r in rows if r["type"] == "capture"], wanted)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{closed}: Permission denied\n", done.stderr)
        self.assertIn(f"{empty}: a folder in which there is no capture\n", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 2)

    def test_what_is_said_is_what_is_said_of_each_alone(self):
        run, rows = self.rows(self.captures)
        self.assertEqual(run.status, 1)
        self.assertEqual([r["type"] for r in rows].count("report"), 1)
        for path in self.order:
            alone_run = harness.run(GIVEN.analyzer, path)
            document = alone_run.document
            last = next(r for r in rows if r["type"] == "capture" and r["path"] == path)
            self.assertEqual(last, {"type": "capture", "path": path, "exit": alone_run.status, "verdict": document["verdict"],
                                    "totals": document["totals"]})
            own = [r for r in rows if r.get("capture") == path]
            for kind, name in (("connection", "connections"), ("mount", "mounts"), ("finding", "findings")):
                found = [{k: v for k, v in r.items() if k not in ("type", "capture")} for r in own if r["type"] == kind]
                self.assertCountEqual(found, document[name])
        self.assertTrue(all("capture" in r or r["type"] in ("report", "capture") for r in rows))
        documents = json.loads(self.each("--json", self.captures).output)
        self.assertEqual(documents, [harness.run(GIVEN.analyzer, path).document for path in self.order])

    def test_text(self):
        lines = self.each(self.captures).output.splitlines()
        self.assertEqual(len(lines), 3)
        for line, path, word in zip(lines, self.order, ("error", "clean", "clean")):
            self.assertTrue(line.startswith(word) and path in line, line)
            self.assertIn(harness.run(GIVEN.analyzer, path).document["verdict"]["sentence"], line)

    def test_tables(self):
        table = list(csv.DictReader(io.StringIO(self.each("--format", "csv", self.captures).output)))
        for path in self.order:
            wanted = list(csv.DictReader(io.StringIO(harness.run(GIVEN.analyzer, "--format", "csv", path, as_json=False).output)))
            self.assertEqual([{k: v for k, v in r.items() if k != "capture"} for r in table if r["capture"] == path], wanted)
        root = xml.etree.ElementTree.fromstring(self.each("--format", "junit", self.captures).output.encode())
        names = [suite.get("name") for suite in root]
        self.assertEqual({name.split(": ")[0] for name in names}, set(self.order))
        self.assertEqual(len(names), len(set(names)))
        tests = [(case.get("classname"), case.get("name")) for suite in root for case in suite.findall("testcase")]
        self.assertEqual(len(tests), len(set(tests)))
        statistics = self.each("--statistics", self.captures).output
        self.assertIn(["error", "credit-initial-exceeded", "1"], [line.split() for line in statistics.splitlines()])
        self.assertEqual([path in statistics for path in self.order], [True] * 3)

    def test_names_of_any_octets(self):
        """A name may hold what ends a row, acts on a terminal, or is no text at all."""
        path = os.path.join(os.fsencode(self.folder), b'=\xff\x1b[31m"<&,.pcap')
        shutil.copy(self.order[0], path)
        said = {}
        for form in FORMATS:
            said[form] = subprocess.run([GIVEN.analyzer, "--each", "--format", form, path], stdin=subprocess.DEVNULL,
                                        capture_output=True, check=False).stdout.decode()
        self.assertIn('/=\\xff\\x1b[31m"<&,.pcap: ', said["text"])
        table = list(csv.DictReader(io.StringIO(said["csv"])))
        self.assertEqual({row["capture"] for row in table}, {self.folder + '/=\ufffd\x1b[31m"<&,.pcap'})
        suite = xml.etree.ElementTree.fromstring(said["junit"].encode())[0]
        self.assertTrue(suite.get("name").startswith(self.folder + '/=\ufffd\ufffd[31m"<&,.pcap: '))
        for line in said["ndjson"].splitlines():
            json.loads(line)
        json.loads(said["json"])

    def test_as_many_at_once_as_you_like(self):
        for form in FORMATS:
            out = {self.each("-j", j, "--format", form, self.captures, self.captures).output for j in ("1", "2", "3", "8")}
            self.assertEqual(len(out), 1, form)
            self.assertTrue(out.pop())

    def test_what_cannot_be_read_does_not_stop_the_others(self):
        with open(self.order[-1], "rb") as handle:
            whole = handle.read()
        broken = {"a-cut.pcap": whole[:3000], "b/empty.pcap": b"", "garbage.pcap": b"\xff" * 4000}
        for name, data in broken.items():
            self.write(name, data)
        missing = os.path.join(self.folder, "missing.pcap")
        run, rows = self.rows(self.captures, missing)
        last = {r["path"]: r["exit"] for r in rows if r["type"] == "capture"}
        self.assertEqual(last, {**{path: code for path, code in zip(self.order, (1, 0, 0))}, missing: 2,
                                **{os.path.join(self.captures, name): 2 for name in broken}})
        self.assertEqual(run.status, 2)
        self.assertEqual(len(run.errors.splitlines()), 4)
        for form in FORMATS:
            self.assertEqual(self.each("--format", form, self.captures, missing).status, 2)
        said = self.each("--format", "text", missing).output
        self.assertEqual(said, f"trouble  {missing}: 0 errors, 0 warnings. It could not be read.\n")
        document = json.loads(self.each("--format", "json", missing).output)[0]
        self.assertEqual(document["inputs"][0]["damaged"]["reason"], "No such file or directory")

    def test_the_worst_status(self):
        nothing = self.write("nothing.pcap", open(self.order[-1], "rb").read()[:24])
        for paths, status in (([self.order[2]], 0), ([self.order[2], nothing], 3), ([nothing, self.order[0]], 1),
                              ([self.order[0], os.path.join(self.folder, "missing")], 2)):
            self.assertEqual(self.each(*paths).status, status)

    def test_standard_input(self):
        with open(self.order[0], "rb") as handle:
            run = self.each("--format", "ndjson", "-", self.order[2], stdin=handle)
        last = [json.loads(line) for line in run.output.splitlines()]
        self.assertEqual([(r["path"], r["exit"]) for r in last if r["type"] == "capture"], [("-", 1), (self.order[2], 0)])

    def test_resume(self):
        out = os.path.join(self.folder, "out.ndjson")
        arguments = ["--format", "ndjson", "--resume", out, self.captures]
        def run():
            with open(out, "ab") as handle:
                return subprocess.run([GIVEN.analyzer, "--each", *arguments], stdout=handle, stderr=subprocess.PIPE, check=False).returncode
        self.assertEqual(run(), 1)
        with open(out, "rb") as handle:
            whole = handle.read()
        self.assertEqual(run(), 1)  # what is held counts
        with open(out, "rb") as handle:
            self.assertEqual(handle.read(), whole)
        # Killed in the middle of a row, and of a capture: what is there twice is told, and how to keep it out
        lines = whole.splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if b'"type":"capture"' in line)
        good = sum(map(len, lines[:first + 1]))
        for size, cut in ((good, whole[:good]), (good, b"".join(lines[:first + 3])), (good, b"".join(lines[:first + 3]) + lines[first + 3][:40]),
                          (good, whole[:good + 1]), (0, whole[:60]), (0, lines[0]), (0, lines[first].rstrip())):
            with open(out, "wb") as handle:
                handle.write(cut)
            if len(cut) != size:
                said = self.each(*arguments)
                self.assertEqual(said.status, 1)
                self.assertIn(f"--resume: {out}: a run was broken off; its rows behind octet {size} are said again, and count twice. "
                              f"In front of a run: truncate -s {size}\n", said.errors)
                rows = []
                for line in (cut + said.output.encode()).splitlines():
                    try:
                        rows.append(json.loads(line))
                    except ValueError:
                        self.assertEqual(line, cut.splitlines()[-1])  # the torn one stands alone
                self.assertEqual(sorted({r["path"] for r in rows if r["type"] == "capture"}), self.order)
                os.truncate(out, size)
            self.assertEqual(run(), 1)
            with open(out, "rb") as handle:
                self.assertEqual(handle.read(), whole)
        self.assertEqual(self.each("--format", "ndjson", "--resume", self.captures, self.captures).status, 2)

    def test_a_capture_whose_process_was_killed_is_not_done(self):
        out, pipe = os.path.join(self.folder, "out.ndjson"), os.path.join(self.folder, "pipe.pcap")
        said = {}
        for form in ("text", "ndjson", "json"):
            os.mkfifo(pipe)
            with open(out, "wb") as handle:
                command = [GIVEN.analyzer, "--each", "-j", "1", "--format", form, self.order[0], pipe, self.order[2]]
                process = subprocess.Popen(command, stdout=handle, stderr=subprocess.PIPE)
            writer = os.open(pipe, os.O_WRONLY)  # when somebody reads it
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as handle:
                for child in handle.read().split():
                    os.kill(int(child), signal.SIGKILL)
            errors = process.communicate(timeout=600)[1]
            os.close(writer)
            os.remove(pipe)
            self.assertEqual((process.returncode, errors), (2, f"rpcrdma-analyzer: {pipe}: its analysis was ended by signal 9\n".encode()))
            with open(out, encoding="utf-8") as handle:
                said[form] = handle.read()
            if form == "ndjson":
                shutil.copy(out, out + ".kept")
        self.assertIn(f"trouble  {pipe}: its analysis was broken off\n", said["text"])
        self.assertEqual([d["inputs"][0]["path"] for d in json.loads(said["json"])], [self.order[0], self.order[2]])
        self.assertNotIn(pipe, said["ndjson"])
        shutil.copy(self.order[1], pipe)
        _, rows = self.rows("--resume", out + ".kept", self.order[0], pipe, self.order[2])
        self.assertEqual([(r["path"], r["exit"]) for r in rows if r["type"] == "capture"], [(pipe, 0)])

    def test_resume_knows_a_name_of_any_octets(self):
        out, path = os.path.join(self.folder, "out.ndjson"), os.path.join(os.fsencode(self.folder), b"n\xff\"\n.pcap")
        shutil.copy(self.order[0], path)
        for _ in range(2):
            with open(out, "ab") as handle:
                subprocess.run([GIVEN.analyzer, "--each", "--format", "ndjson", "--resume", out, path], stdout=handle, check=False)
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(sum('"type":"capture"' in line for line in handle), 1)

    def test_resume_takes_no_name_for_another(self):
        """Octets that are no UTF-8 become the same character in the rows, and so may one that a name really has."""
        out, before = os.path.join(self.folder, "out.ndjson"), 0
        for number, name in enumerate((b"n\xff.pcap", b"n\xfe.pcap", "n\ufffd.pcap".encode(), b"n\xff.pcap"), 1):
            path = os.path.join(os.fsencode(self.folder), name)
            shutil.copy(self.order[0], path)
            with open(out, "ab") as handle:
                subprocess.run([GIVEN.analyzer, "--each", "--format", "ndjson", "--resume", out, path], stdout=handle, check=False)
            with open(out, encoding="utf-8") as handle:
                rows = [json.loads(line) for line in handle if '"type":"capture"' in line]
            self.assertEqual(len(rows), min(number, 3))
            if number <= 3:
                self.assertEqual(bytes.fromhex(rows[-1]["path_octets"]), path)

    def test_killed(self):
        """What was written so far is whole captures, and a second run does the rest."""
        out = os.path.join(self.folder, "out.ndjson")
        many = [self.order[0]] + self.order * 40
        names = []
        for i, path in enumerate(many):
            names.append(os.path.join(self.captures, f"k{i:03}.pcap"))
            os.link(path, names[-1])
        with open(out, "ab") as handle:
            process = subprocess.Popen([GIVEN.analyzer, "--each", "-j", "2", "--format", "ndjson", *names], stdout=handle)
        while os.path.getsize(out) < 20000 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open(out, "ab") as handle:
            subprocess.run([GIVEN.analyzer, "--each", "--format", "ndjson", "--resume", out, *names], stdout=handle, check=False)
        with open(out, encoding="utf-8") as handle:
            done = [json.loads(line)["path"] for line in handle if '"type":"capture"' in line]
        self.assertEqual(done, names)

    def test_memory_does_not_grow(self):
        peaks = []
        for count in (50, 600):
            names = []
            for i in range(count):
                names.append(os.path.join(self.folder, f"m{count}-{i:04}.pcap"))
                os.link(self.order[0], names[-1])
            code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            done = subprocess.run([sys.executable, "-c", code, GIVEN.analyzer, "--each", "--format", "ndjson", *names], capture_output=True,
                                  text=True, check=True)
            peaks.append(int(done.stdout))
        self.assertLess(peaks[1], peaks[0] * 1.2 + 1024, peaks)

    def test_options_that_do_not_go_together(self):
        other = os.path.join(self.folder, "other")
        for options, said in ((["--merge"], "--merge"), (["--html", other], "--html"), (["--annotate", other], "--annotate"),
                              (["--sanitize", other], "--sanitize"), (["--ladder"], "--ladder"), (["--connection", "1"], "--connection"),
                              (["--resume", other], "ndjson"), (["-j", "0"], "-j")):
            run = self.each(*options, self.order[0])
            self.assertEqual((run.status, run.output), (2, ""), options)
            self.assertIn(said, run.errors)
            self.assertFalse(os.path.exists(other))
        self.assertEqual(harness.run(GIVEN.analyzer, "--resume", other, self.order[0]).status, 2)
        self.assertEqual(harness.run(GIVEN.analyzer, "-j", "3", self.order[2]).output, harness.run(GIVEN.analyzer, self.order[2]).output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    GIVEN, remaining = parser.parse_known_args()
    GIVEN.analyzer = os.path.abspath(GIVEN.analyzer)
    alone.main(remaining)
