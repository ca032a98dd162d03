#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sample.py --analyzer PATH --forge PATH: the whole program on files: every option, format, kind of link, reader and fabric.

Scenarios and captures are judged in process elsewhere; here is what only the program itself can get wrong. What was covered is counted:
an option of --help, one of its words, a link type of trace/frame.hpp or a fabric of the forge without a test here fails.
"""
import argparse
import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import companions  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile  # noqa: E402
from folder import Folder  # noqa: E402

GIVEN = None
FAULTY = "rxe-kpeer-read-too-big-inline"
HEALTHY = "rxe-nfs3-basic"
PULL = "siw-upeer-done-good"
MOUNTS = "rxe-nfs3-two-mounts"
SCENARIOS = os.path.join(harness.ROOT, "captures", "scenarios")
USED = collections.defaultdict(set)  # option: the values that it was given


def scenario(name):
    return os.path.join(SCENARIOS, name + ".yaml")


def note(arguments):
    """What is used of the options, long names throughout."""
    known = companions.options()
    long = {short: name for name, (short, _) in known.items() if short} | {name: name for name in known}
    words = list(arguments)
    for i, word in enumerate(words):
        if word in long:
            name = long[word]
            USED[name].add(words[i + 1] if known[name][1] and i + 1 < len(words) else None)


def printed(*arguments, status=0, **more):
    note(arguments)
    done = harness.run(GIVEN.analyzer, *arguments, as_json=False, **more)
    if status is not None and done.status != status:
        raise AssertionError(f"exit status {done.status}, not {status}: {GIVEN.analyzer} {' '.join(arguments)}\n{done.errors}")
    return done.output


def document(*arguments, status=0, **more):
    return json.loads(printed("--json", *arguments, status=status, **more))


def rules(report):
    return {f["rule"] for f in report["findings"]}


class Captures(Folder):
    def forged(self, scenarios, transport, name, *options):
        """-> (path of the capture, its map)"""
        path = self.path(name)
        subprocess.run([GIVEN.forge, *scenarios, "--transport", transport, "--out", path, "--map", path + ".json", *options], check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        with open(path + ".json", encoding="utf-8") as file:
            return path, json.load(file)


class Options(Captures):
    """One test for each option; its name is the option's. Each sees that the option does something to a capture."""

    def setUp(self):
        super().setUp()
        self.faulty, self.healthy = harness.capture(FAULTY), harness.capture(HEALTHY)

    def test_help(self):
        self.assertIn("Exit status", printed("--help"))
        self.assertIn("Exit status", printed("-h"))

    def test_version(self):
        self.assertRegex(printed("--version"), r"^rpcrdma-analyzer \d+\.\d+")

    def test_read(self):
        self.assertEqual(document("--read", self.healthy), document(self.healthy))

    def test_merge(self):
        header, records = pcapfile.read(self.healthy)
        taps = [self.path("odd.pcap"), self.path("even.pcap")]
        for i, tap in enumerate(taps):
            pcapfile.write(tap, header, records[i::2])
        self.assertEqual(document("--merge", *taps)["connections"], document(self.healthy)["connections"])
        self.assertNotEqual(document(*taps, status=None)["connections"], document(self.healthy)["connections"])

    def test_format(self):
        wanted = [f["rule"] for f in document(self.faulty, status=1)["findings"]]
        of = {"text": lambda text: [r for r in wanted if r in text],
              "json": lambda text: [f["rule"] for f in json.loads(text)["findings"]],
              "ndjson": lambda text: [o["rule"] for o in map(json.loads, text.splitlines()) if o["type"] == "finding"],
              "csv": lambda text: [row["rule"] for row in csv.DictReader(io.StringIO(text, newline=""))],
              "junit": lambda text: [c.get("name") for c in tree.fromstring(text).iter("testcase")]}
        self.assertEqual(sorted(of), sorted(companions.choices(companions.options()["--format"][1])))
        for name, found in of.items():
            self.assertLessEqual(set(wanted), set(found(printed("--format", name, self.faulty, status=1))), name)

    def test_json(self):
        self.assertEqual(printed("--json", self.faulty, status=1), printed("--format", "json", self.faulty, status=1))

    def test_ladder(self):
        self.assertIn("Ladder of connection 1", printed("--ladder", self.faulty, status=1))

    def test_ladder_rows(self):
        few, many = (printed("--ladder-rows", n, self.faulty, status=1) for n in ("3", "30"))
        self.assertLess(len(few), len(many))

    def test_html(self):
        printed("--html", self.path("page.html"), self.faulty, status=1)
        with open(self.path("page.html"), encoding="utf-8") as file:
            self.assertTrue(file.read().rstrip().endswith("</html>"))

    def test_annotate(self):
        report = json.loads(printed("--annotate", self.path("out.pcapng"), "--json", self.faulty, status=1))
        with open(self.path("out.pcapng"), "rb") as file:
            said = {n for n, p in enumerate(pcapngfile.packets(file.read()), 1) if p["comments"]}
        self.assertEqual(said, {f["frames"][0] for f in report["findings"]})

    def test_sanitize(self):
        printed("--sanitize", self.path("copy.pcapng"), self.faulty, status=1)
        self.assertEqual(rules(document(self.path("copy.pcapng"), status=1)), rules(document(self.faulty, status=1)))

    def test_sanitize_key(self):
        key = self.write("key", b"a key")
        for name in ("one.pcapng", "two.pcapng"):
            printed("--sanitize", self.path(name), "--sanitize-key", key, self.faulty, status=1)
        with open(self.path("one.pcapng"), "rb") as one, open(self.path("two.pcapng"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_each(self):
        lines = printed("--each", self.healthy, self.faulty, status=1).splitlines()
        self.assertEqual([path in line for path, line in zip((self.healthy, self.faulty), lines)], [True, True])
        # No rule is broken, and still the mount is none.
        path, _ = self.forged([scenario("call-lost-by-close")], "rocev2", "lost.pcap")
        self.assertTrue(printed("--each", path).startswith("down "))

    def test_resume(self):
        arguments = ("--each", "--format", "ndjson", self.healthy)
        self.assertEqual(printed(*arguments, "--resume", self.write("held.ndjson", printed(*arguments).encode())), "")

    def test_jobs(self):
        self.assertEqual(printed("--each", "--jobs", "2", self.healthy, self.healthy), printed("--each", "-j", "1", self.healthy, self.healthy))

    def test_color(self):
        self.assertIn("\x1b[", printed("--color", "always", self.faulty, status=1))
        for word in ("auto", "never"):
            self.assertNotIn("\x1b[", printed("--color", word, self.faulty, status=1))

    def test_no_progress(self):
        self.assertEqual(printed("--no-progress", self.healthy), printed(self.healthy))

    def test_quiet(self):
        self.assertNotIn("Connection 1", printed("--quiet", self.faulty, status=1))
        self.assertIn("Connection 1", printed(self.faulty, status=1))

    def test_verbose(self):
        self.assertGreater(len(printed("--verbose", self.healthy)), len(printed(self.healthy)))

    def test_profile(self):
        found = {word: rules(document("--profile", word, harness.capture(PULL), status=1))
                 for word in companions.choices(companions.options()["--profile"][1])}
        self.assertIn("rdma-done-sent", found["rfc8166"])
        self.assertNotIn("rdma-done-sent", found["reliable-reply"])
        self.assertIn("pull-offer-form", found["auto"])
        self.assertNotIn("pull-offer-form", found["reliable-reply"])

    def test_pull_timeout(self):
        path, _ = self.forged([scenario("pull-completion-overdue")], "rocev2", "overdue.pcap")
        self.assertIn("pull-completion-missing", rules(document("--pull-timeout", "60", path, status=1)))
        self.assertNotIn("pull-completion-missing", rules(document("--pull-timeout", "64", path)))

    def test_statistics(self):
        found = document(self.faulty, status=1)
        of_rules, of_inputs = printed("--statistics", self.faulty, status=1).split("\n\n")
        times = collections.Counter()
        for finding in found["findings"]:
            times[finding["rule"]] += finding["times"]
        lines = [line.split() for line in of_rules.splitlines()]
        self.assertEqual({rule: int(count.replace(",", "")) for _, rule, count in lines}, times)
        self.assertEqual([harness.SEVERITY[worst] for worst, *_ in lines], sorted((harness.SEVERITY[w] for w, *_ in lines), reverse=True))
        # The worst input first, whatever the order of reading.
        lines = printed("--statistics", self.healthy, self.faulty, status=1).split("\n\n")[1].splitlines()
        self.assertEqual([self.faulty in line for line in lines], [True, False])
        self.assertRegex(lines[0], r"^error .* \d+ errors?, ")

    def test_wait(self):
        path, _ = self.forged([scenario("symptom-call-hangs")], "rocev2", "wait.pcap")
        self.assertIn("call-hangs", rules(document("--wait", "5", path, status=None)))
        self.assertNotIn("call-hangs", rules(document("--wait", "100000", path, status=None)))

    def test_port(self):
        # The service port does not name a connection; whether it is the usual one is a note.
        path, _ = self.forged([scenario("service-port-unusual")], "rocev2", "port.pcap")
        self.assertIn("service-port-unusual", rules(document(path)))
        with open(scenario("service-port-unusual"), encoding="utf-8") as file:
            found = re.search(r"port: *(\d+)", file.read()).group(1)
        self.assertNotIn("service-port-unusual", rules(document("--port", found, path)))

    def test_check_crc(self):
        # Of a long conversation only the beginning is verified without it.
        header, records = pcapfile.read(harness.capture("rxe-nfs3-big-rw"))
        late = next(i for i in range(len(records) - 1, 0, -1) if len(records[i]) > 1000)
        records[late] = records[late][:-1] + bytes([records[late][-1] ^ 1])
        pcapfile.write(self.path("spoiled.pcap"), header, records)
        self.assertIn("icrc-bad", rules(document("--check-crc", self.path("spoiled.pcap"))))
        self.assertNotIn("icrc-bad", rules(document(self.path("spoiled.pcap"))))

    def test_rule(self):
        self.assertEqual(rules(document("--rule", "inline-overrun-fatal", self.faulty, status=1)), {"inline-overrun-fatal"})

    def test_no_rule(self):
        whole = rules(document(self.faulty, status=1))
        self.assertEqual(rules(document("--no-rule", "inline-overrun-fatal", self.faulty, status=1)), whole - {"inline-overrun-fatal"})

    def test_severity(self):
        whole = document(self.faulty, status=1)["findings"]
        for word, rank in harness.SEVERITY.items():
            self.assertEqual(document("--severity", word, self.faulty, status=1)["findings"],
                             [f for f in whole if harness.SEVERITY[f["severity"]] >= rank])

    def test_connection(self):
        self.assertEqual([c["id"] for c in document("--connection", "2", harness.capture(MOUNTS))["connections"]], [2])
        # What several connections show together is a finding of each.
        path, _ = self.forged([scenario("symptom-reconnect-loop-after-work")], "rocev2", "loop.pcap")
        for connection, found in (("1", False), ("2", True), ("3", True), ("4", True)):
            report = document("--connection", connection, path, status=1 if found else 0)
            self.assertEqual("reconnect-loop" in rules(report), found, connection)
            suites = tree.fromstring(printed("--format", "junit", path, status=1).encode())
            failed = [case.find("failure") is not None for suite in suites if suite.get("name") == "connection " + connection
                      for case in suite if case.get("name") == "reconnect-loop"]
            self.assertEqual(any(failed), found, connection)

    def test_fail_on(self):
        for word, healthy, faulty in (("note", 1, 1), ("warning", 0, 1), ("error", 0, 1), ("never", 0, 0)):
            printed("--fail-on", word, self.healthy, status=healthy)
            printed("--fail-on", word, self.faulty, status=faulty)

    def test_list_rules(self):
        listed = {rule["name"] for rule in json.loads(printed("--list-rules", "--json"))}
        self.assertEqual(listed, {line.split()[0] for line in printed("--list-rules").splitlines()[1:]})

    def test_explain(self):
        self.assertIn("rnr-retry-zero", printed("--explain", "rnr-retry-zero"))

    def test_zz_every_option_has_a_test_and_each_of_its_words(self):
        known = companions.options()
        tests = {"--" + name[5:].replace("_", "-") for name in dir(self) if name.startswith("test_") and not name.startswith("test_zz")}
        self.assertEqual(tests, set(known))
        self.assertEqual(set(USED), set(known), "named by a test, but not given to the program")
        for name, (_, takes) in known.items():
            if companions.choices(takes):
                self.assertEqual(set(companions.choices(takes)) - USED[name], set(), f"words that no test gives to {name}")


class Fabrics(Captures):
    """Every scenario on every fabric, in as few files as there are fabrics and kinds of file: their frames are counted."""
    KINDS = {"rocev2": [[], ["--wrap"]], "rocev2-vlan": [["--pcapng"]], "infiniband": [[], ["--erf"], ["--pcapng"]], "iwarp": [[], ["--wrap"]],
             "iwarp-split": [["--pcapng"]]}
    ENDINGS = {"--erf": "erf", "--pcapng": "pcapng"}

    def test_frames_and_exit_status(self):
        fabrics = subprocess.run([GIVEN.forge, "--list-transports"], capture_output=True, text=True, check=True).stdout.split()
        self.assertLessEqual(set(self.KINDS), set(fabrics))
        every, played, formats = sorted(glob.glob(os.path.join(SCENARIOS, "*.yaml"))), set(), set()
        for fabric in fabrics:
            for kind in self.KINDS.get(fabric, [[]]):
                name = f"{fabric}{''.join(kind)}." + next((self.ENDINGS[k] for k in kind if k in self.ENDINGS), "pcap")
                with self.subTest(name, alone=f"{GIVEN.forge} captures/scenarios/*.yaml --transport {fabric} --out {name} {' '.join(kind)}"):
                    path, frames = self.forged(every, fabric, name, *kind)
                    report = document(path, status=1)
                    self.assertEqual(report["inputs"][0]["frames"], frames["frames"])
                    self.assertIsNone(report["inputs"][0]["damaged"])
                    played.update(s["scenario"] for s in frames["stories"])
                    formats.add(report["inputs"][0]["format"].split(" ")[0])
                    for story, status in (("healthy-nfs3", 0), ("bad-version", 1)):
                        path, frames = self.forged([scenario(story)], fabric, name, *kind)
                        self.assertEqual(document(path, status=status)["inputs"][0]["frames"], frames["frames"])
                    with open(path, "rb") as file:
                        cut = self.write("cut", file.read()[:-3])
                    report = document(cut, status=2)
                    self.assertEqual((report["inputs"][0]["frames"], report["inputs"][0]["damaged"] is None), (frames["frames"] - 1, False))
        self.assertEqual(played, set(every))
        self.assertEqual(formats, {"pcap", "pcapng", "erf"})

    def test_nothing_to_judge(self):
        for ending, more in (("pcap", []), ("pcapng", ["--pcapng"])):
            path, frames = self.forged([scenario("not-rpcrdma")], "rocev2", f"nothing.{ending}", *more)
            self.assertEqual(document(path, status=3)["inputs"][0]["frames"], frames["frames"])


class Links(Captures):
    """The same conversation behind each link type, in each kind of file: the same is said of it."""

    def packets(self, fabric):
        path, _ = self.forged([scenario("inline-call-one-over")], fabric, fabric + ".pcap")
        return [(*struct.unpack("<II", r[:8]), r[16:]) for r in pcapfile.read(path)[1]]

    @staticmethod
    def behind():
        """{link type: (fabric, what becomes of its frame)}"""
        ip4, ip6 = struct.pack(">H", 0x0800), struct.pack(">H", 0x86DD)
        cooked = struct.pack(">HHH8s", 0, 1, 6, bytes(8))
        return {0: ("rocev2", lambda f: struct.pack("<I", 2) + f[14:]), 1: ("rocev2", lambda f: f), 101: ("iwarp", lambda f: f[14:]),
                108: ("rocev2", lambda f: struct.pack(">I", 2) + f[14:]), 113: ("iwarp", lambda f: cooked + ip4 + f[14:]),
                197: ("infiniband", lambda f: f), 228: ("rocev2", lambda f: f[14:]), 229: ("rocev2-ipv6", lambda f: f[14:]),
                247: ("infiniband", lambda f: f[16:16 + struct.unpack(">H", f[14:16])[0]]),
                # A host's port to a switch inside it.
                281: ("rocev2", lambda f: f[:12] + bytes.fromhex("20000003") + f[12:]), 282: ("iwarp", lambda f: bytes.fromhex("20000003") + f),
                284: ("rocev2", lambda f: f[:12] + bytes.fromhex("c0080001") + f[12:]),
                285: ("rocev2", lambda f: f[:12] + bytes.fromhex("dada000040080001") + f[12:]),
                276: ("rocev2-ipv6", lambda f: ip6 + struct.pack(">HIHBB8s", 0, 1, 1, 0, 6, bytes(8)) + f[14:])}

    @staticmethod
    def files(link, packets):
        """(format as the report names it, octets)"""
        for order in "<>":
            for magic, scale, form in ((0xA1B2C3D4, 1000, "pcap"), (0xA1B23C4D, 1, "pcap (ns)")):
                data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link)
                for seconds, fraction, octets in packets:
                    data += struct.pack(order + "IIII", seconds, fraction // scale, len(octets), len(octets)) + octets
                yield form, data
            block = pcapngfile.section(order) + pcapngfile.interface(link, order)
            for seconds, fraction, octets in packets:
                block += pcapngfile.packet(octets, seconds * 10 ** 6 + fraction // 1000, order=order)
            yield "pcapng", block
        yield "pcapng, gzip", gzip.compress(block)
        yield "pcap (ns), gzip", gzip.compress(data)

    def test_each_link_type_in_each_kind_of_file(self):
        with open(os.path.join(harness.ROOT, "analyzer", "trace", "frame.hpp"), encoding="utf-8") as file:
            listed = re.search(r"enum class LinkType.*?\{(.*?)\}", file.read(), re.S).group(1)
        self.assertEqual({int(n) for n in re.findall(r"= (\d+)", listed)}, set(self.behind()), "link types that can be opened")
        for link, (fabric, change) in self.behind().items():
            packets = [(s, f, change(octets)) for s, f, octets in self.packets(fabric)]
            plain = document(self.path(fabric + ".pcap"), status=1)
            for form, data in self.files(link, packets):
                if link == 247 and "gzip" in form:
                    continue  # compressed files are libwiretap's, which does not know this type
                with self.subTest(link=link, form=form):
                    report = document(self.write("x", data), status=1)
                    self.assertEqual((report["inputs"][0]["format"], report["inputs"][0]["frames"]), (form, len(packets)))
                    self.assertIn("inline-threshold-exceeded", rules(report))
                    for part in ("rule", "severity", "violator", "frames", "message", "xid"):
                        self.assertEqual([f[part] for f in report["findings"]], [f[part] for f in plain["findings"]], part)
                    self.assertEqual([c["messages"] for c in report["connections"]], [c["messages"] for c in plain["connections"]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--forge", required=True)
    GIVEN, rest = parser.parse_known_args()
    GIVEN.analyzer, GIVEN.forge = os.path.abspath(GIVEN.analyzer), os.path.abspath(GIVEN.forge)
    companions.ANALYZER = GIVEN.analyzer
    alone.main(rest)
