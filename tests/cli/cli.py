#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cli.py --analyzer PATH: options and exit status of the contract, through the program itself."""
import json
import os
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
FAULTY = "rxe-kpeer-read-too-big-inline"


def json_run(*arguments, **more):
    return harness.run(ANALYZER, *arguments, **more)


def text_run(*arguments, **more):
    return harness.run(ANALYZER, *arguments, as_json=False, **more)


class ExitStatus(unittest.TestCase):
    def test_healthy_is_0(self):
        self.assertEqual(json_run(harness.capture(HEALTHY)).status, 0)

    def test_findings_are_1(self):
        self.assertEqual(json_run(harness.capture(FAULTY)).status, 1)

    def test_fail_on_decides(self):
        faulty, healthy = harness.capture(FAULTY), harness.capture(HEALTHY)
        self.assertEqual(json_run("--fail-on", "never", faulty).status, 0)
        self.assertEqual(json_run("--fail-on", "error", faulty).status, 1)
        self.assertTrue(json_run(healthy).findings("note"))
        self.assertEqual(json_run("--fail-on", "note", healthy).status, 1)

    def test_usage_is_2_with_a_line_on_standard_error(self):
        for arguments in (["--no-such-option"], [], ["--format", "xml", harness.capture(HEALTHY)], ["--fail-on", "sometimes", harness.capture(HEALTHY)],
                          ["--explain", "no-such-rule"], ["--profile", "rfc1", harness.capture(HEALTHY)]):
            run = text_run(*arguments)
            self.assertEqual(run.status, 2, arguments)
            self.assertTrue(run.errors.strip(), arguments)
            self.assertFalse(run.output.strip(), arguments)

    def test_a_misspelt_option_is_told_the_nearest(self):
        for given, near in (("--jsn", "--json"), ("--statistic", "--statistics"), ("--no-rules=x", "--no-rule"), ("--wiat=3", "--wait")):
            got = text_run(given, harness.capture(HEALTHY))
            self.assertEqual((got.status, got.output), (2, ""))
            self.assertIn(f"the nearest is {near};", got.errors)
        for given in ("--qqqqqqqqqq", "-Z"):
            self.assertNotIn("nearest", text_run(given, harness.capture(HEALTHY)).errors)

    def test_a_file_that_is_not_there_is_2_and_named(self):
        run = text_run("no-such-file.pcap")
        self.assertEqual(run.status, 2)
        self.assertIn("no-such-file.pcap", run.errors)

    def test_a_file_that_is_no_capture_is_2_and_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for content in (b"", b"x", b"this is no capture\n" * 20, bytes(100)):
                path = os.path.join(folder, "strange.bin")
                with open(path, "wb") as handle:
                    handle.write(content)
                run = text_run(path)
                self.assertEqual(run.status, 2, content[:10])
                self.assertIn("strange.bin", run.errors)

    def test_nothing_of_rpcrdma_is_3(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "empty.pcap")
            header, _ = pcapfile.read(harness.capture(HEALTHY))
            pcapfile.write(path, header, [])
            run = json_run(path)
            self.assertEqual(run.status, 3)
            self.assertEqual(run.document["connections"], [])

    def test_a_folder_is_2(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(text_run(folder).status, 2)


class Inputs(unittest.TestCase):
    def test_r_is_the_same_as_naming(self):
        path = harness.capture(HEALTHY)
        self.assertEqual(json_run("-r", path).document, json_run(path).document)

    def test_two_halves_are_one_trace(self):
        path = harness.capture("rxe-nfs41-basic")
        header, records = pcapfile.read(path)
        whole = json_run(path).document
        with tempfile.TemporaryDirectory() as folder:
            halves = [os.path.join(folder, "1.pcap"), os.path.join(folder, "2.pcap")]
            middle = len(records) // 2
            pcapfile.write(halves[0], header, records[:middle])
            pcapfile.write(halves[1], header, records[middle:])
            both = json_run(*halves).document
        self.assertEqual([i["frames"] for i in both["inputs"]], [middle, len(records) - middle])
        for part in ("connections", "findings", "totals", "unchecked"):
            self.assertEqual(both[part], whole[part], part)

    def test_counts_agree_with_the_file(self):
        path = harness.capture(HEALTHY)
        _, records = pcapfile.read(path)
        first = json_run(path).document["inputs"][0]
        self.assertEqual(first["frames"], len(records))
        self.assertEqual(first["bytes"], sum(len(r) - 16 for r in records))
        self.assertEqual(first["path"], path)

    def test_merge_interleaves_by_time(self):
        path = harness.capture("rxe-nfs41-basic")
        header, records = pcapfile.read(path)
        whole = json_run(path).document
        with tempfile.TemporaryDirectory() as folder:
            taps = [os.path.join(folder, "odd.pcap"), os.path.join(folder, "even.pcap")]
            for i, tap in enumerate(taps):
                pcapfile.write(tap, header, records[i::2])
            merged = json_run("--merge", *taps).document
        self.assertEqual(merged["connections"], whole["connections"])
        self.assertEqual(merged["findings"], whole["findings"])


class Output(unittest.TestCase):
    def test_json_is_short_for_format_json(self):
        path = harness.capture(FAULTY)
        self.assertEqual(json.loads(text_run("--format", "json", path).output), json_run(path).document)

    def test_json_goes_alone_to_standard_output(self):
        run = json_run(harness.capture(HEALTHY))
        self.assertEqual(run.document["schema"], "rpcrdma-analyzer/1")
        self.assertEqual(run.errors, "")

    def test_colour_only_when_asked(self):
        path = harness.capture(FAULTY)
        self.assertNotIn("\x1b[", text_run(path).output)
        self.assertIn("\x1b[", text_run("--color", "always", path).output)
        self.assertNotIn("\x1b[", text_run("--color", "never", path).output)
        self.assertNotIn("\x1b[", text_run("--color", "auto", path, environment={**os.environ, "NO_COLOR": "1"}).output)

    def test_quiet_and_verbose(self):
        path = harness.capture(FAULTY)
        quiet, plain, verbose = (text_run(*o, path).output for o in (["-q"], [], ["-v"]))
        self.assertLess(len(quiet), len(plain))
        self.assertGreaterEqual(len(verbose), len(plain))

    def test_ladder(self):
        path = harness.capture(FAULTY)
        unicode, plain = ({k: v for k, v in os.environ.items() if k not in ("LC_CTYPE", "LANG")} | {"LC_ALL": n} for n in ("C.UTF-8", "C"))
        drawn = text_run("--ladder", path, environment=unicode).output
        self.assertIn("Ladder of connection 1", drawn)
        self.assertIn("✖ ERROR inline-threshold-exceeded (server)", drawn)
        self.assertTrue(all(len(line) <= 100 for line in drawn.splitlines()))
        self.assertTrue(drawn.endswith(text_run(path).output.splitlines()[-1] + "\n"), "the verdict stays the last line")
        self.assertTrue(text_run("--ladder", path, environment=plain).output.isascii())
        self.assertNotIn("Ladder", text_run(path).output)
        self.assertIn("Ladder", text_run("-q", "--ladder", path).output)
        self.assertNotIn("ERROR inline", "".join(text_run("-q", "--ladder", "--severity", "note", "--rule", "rnr-retry-zero", path).output))
        self.assertEqual(text_run("--ladder", "--json", path).status, 2)
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            self.assertEqual(text_run("--ladder", "--html", page, path, environment=unicode).output, drawn, "the page shares its ladder")
            self.assertTrue(os.path.exists(page))

    def test_ladder_of_a_long_connection_is_bounded(self):
        path = harness.capture("rxe-nfs41-basic")
        size = {n: len(text_run("-q", "--ladder-rows", str(n), path).output.splitlines()) for n in (0, 10, 40, 1000)}
        self.assertLess(size[0], size[10])
        self.assertLess(size[10], size[40])
        self.assertLess(size[40], size[1000])
        self.assertIn("steps left out", text_run("--ladder-rows", "10", path).output)

    def test_text_names_each_error(self):
        path = harness.capture(FAULTY)
        text = text_run(path).output
        for finding in json_run(path).findings("error"):
            self.assertIn(finding["rule"], text)

    def test_a_closed_pipe_is_no_crash(self):
        done = subprocess.run(["bash", "-c", '"$0" "$1" | head -n 1; exit ${PIPESTATUS[0]}', ANALYZER, harness.capture(FAULTY)],
                              capture_output=True, check=False, timeout=600)
        self.assertIn(done.returncode, (0, 1, 2, 141))

    def test_a_full_disk_is_2(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([ANALYZER, harness.capture(HEALTHY)], stdout=full, stderr=subprocess.PIPE, check=False, timeout=600)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.strip())


class Filters(unittest.TestCase):
    def test_severity(self):
        path = harness.capture(FAULTY)
        whole = json_run(path)
        self.assertTrue(whole.findings("note"))
        for least in ("note", "warning", "error"):
            shown = json_run("--severity", least, path).document["findings"]
            self.assertEqual(shown, whole.findings(least), least)

    def test_rule_and_no_rule(self):
        path = harness.capture(FAULTY)
        whole = json_run(path).document["findings"]
        name = whole[0]["rule"]
        self.assertEqual(json_run("--rule", name, path).document["findings"], [f for f in whole if f["rule"] == name])
        self.assertEqual(json_run("--no-rule", name, path).document["findings"], [f for f in whole if f["rule"] != name])

    def test_a_rule_that_is_none_is_refused(self):
        self.assertEqual(text_run("--rule", "no-such-rule", harness.capture(HEALTHY)).status, 2)

    def test_connection(self):
        path = harness.capture("rxe-nfs3-two-mounts")
        whole = json_run(path).connections()
        self.assertEqual(len(whole), 2)
        chosen = whole[1]["id"]
        run = json_run("--connection", str(chosen), path)
        self.assertEqual(run.connections(), [whole[1]])
        self.assertTrue(all(f["connection"] in (chosen, 0, None) for f in run.findings()))


class Rules(unittest.TestCase):
    def test_each_listed_rule_can_be_explained(self):
        listed = json.loads(text_run("--list-rules", "--json").output)
        rules = listed["rules"] if isinstance(listed, dict) else listed
        self.assertGreater(len(rules), 60)
        for rule in rules:
            for key in ("name", "severity", "versions", "source", "title"):
                self.assertIn(key, rule)
            run = text_run("--explain", rule["name"])
            self.assertEqual(run.status, 0, rule["name"])
            self.assertIn(rule["name"], run.output)
            self.assertGreater(len(run.output), 100, rule["name"])
            self.assertIn(rule["page"], run.output)
            self.assertIn(rule["lesson"], run.output)

    def test_the_list_for_people_names_the_same_rules(self):
        listed = json.loads(text_run("--list-rules", "--json").output)
        rules = listed["rules"] if isinstance(listed, dict) else listed
        text = text_run("--list-rules").output
        for rule in rules:
            self.assertIn(rule["name"], text)

    def test_help_and_version(self):
        for option, word in (("--help", "--format"), ("-h", "--fail-on"), ("--version", "0."), ("-V", "0.")):
            run = text_run(option)
            self.assertEqual(run.status, 0, option)
            self.assertIn(word, run.output, option)


class Live(unittest.TestCase):
    def test_ndjson_ends_when_nobody_reads_any_more(self):
        """Standard input goes on: what ends the program is that its reader has gone."""
        with open(harness.capture(FAULTY), "rb") as file:
            capture = file.read()
        header, packets = capture[:24], capture[24:]
        command = [ANALYZER, "--format", "ndjson", "--no-progress", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.close()
            process.stdin.write(header)
            ended = False
            for _ in range(2000):  # each time the same connection is set up anew, which concludes the one before
                try:
                    process.stdin.write(packets)
                    process.stdin.flush()
                except BrokenPipeError:
                    ended = True
                    break
            self.assertTrue(ended)
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
            process.wait(timeout=600)


class Profiles(unittest.TestCase):
    def test_pull_completion_is_an_error_under_rfc8166(self):
        path = harness.capture("siw-upeer-done-good")
        self.assertIn("rdma-done-sent", {f["rule"] for f in json_run("--profile", "rfc8166", path).findings("error")})
        self.assertNotIn("rdma-done-sent", {f["rule"] for f in json_run("--profile", "reliable-reply", path).findings("error")})


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
