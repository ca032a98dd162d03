#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scenarios.py --plugin SO --analyzer PATH --forge PATH [--transport NAME]... [SCENARIO...]: the plugin's findings are the analyzer's.

All scenarios on one fabric stand in one capture; on every fabric the set of (rule, primary frame) that `tshark -2` shows is the
analyzer's, and what one pass shows is part of it: on its frame, or on a later one that points there. Every rule that a scenario is
written for has to be among them.
"""
import argparse
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402
import tshark  # noqa: E402

# On what is not RPC-over-RDMA tshark prints the same with the plugin as without it.
LEFT_ALONE = "not-rpcrdma"


def shown(shark, reel, passes, said):
    rows, done = shark.rows(reel.capture, ["frame.number", "rpcordma.finding", "rpcordma.finding_of"], display_filter="rpcordma.finding",
                            passes=passes)
    if done.status != 0:
        raise SystemExit(f"{reel.transport}: tshark ends with {done.status}: {done.errors[-400:]}")
    return set().union(*(tshark.findings_of_row(row, said, passes) for row in rows))


def meant(scenario, transport):
    """The rules that the scenario is written for."""
    return {w["rule"] for w in scenario.get("expect") or [] if w.get("fabric", transport) in (transport, forging.family(transport))}


class Fabric:
    def __init__(self, given, shark, every, transport, folder):
        self.transport, self.complaints, self.rules, self.count = transport, {}, set(), 0
        paths = [path for path, scenario in every.items() if forging.plays_on(scenario, transport)]
        if not paths:
            return
        # Wireshark reads native InfiniBand from ERF files.
        options, ending = (["--erf"], "erf") if transport == "infiniband" else ([], "pcap")
        reel = forging.Reel(given.forge, paths, transport, os.path.join(folder, f"{transport}.{ending}"), *options)
        run = harness.run(given.analyzer, reel.capture)
        if run.document is None:
            raise SystemExit(f"{transport}: no report by the analyzer: {run.errors[-400:]}")
        said = {(f["rule"], f["frames"][0]) for f in run.findings() if f["frames"]}
        said = {(rule, frame) for rule, frame in said if rule != LEFT_ALONE}
        self.count, self.rules = len(reel.stories), {rule for rule, _ in said}
        for path, why in reel.left_out.items():
            self.complain(path, f"was not played: {why}")
        every_one = collections.Counter((f["rule"], f["frames"][0]) for f in run.findings() if f["frames"])
        one, two = shown(shark, reel, 1, every_one), shown(shark, reel, 2, every_one)
        loops = {reel.story(frame)["scenario"] for rule, frame in two if rule == "reconnect-loop"}
        for what, differing in (("only the analyzer says", said - two), ("only the plugin says", two - said),
                                ("only the plugin says, in one pass,", one - said)):
            for rule, frame in sorted(differing):
                story = reel.story(frame)
                # Told before it turns out that it is one of a series, which the second pass tells instead.
                if "in one pass" in what and rule in ("cm-rejected", "cm-unanswered") and story["scenario"] in loops:
                    continue
                # Told at the close, and taken back by what crosses with it.
                if "in one pass" in what and rule in (every[story["scenario"]].get("tshark") or {}).get("one_pass", []):
                    continue
                # Told as long as what the scenario shows later is not known.
                if "in one pass" in what and rule in (every[story["scenario"]].get("allow") or []):
                    continue
                self.complain(story["scenario"], f"{what} {rule} at frame {frame - story['first'] + 1}")
        for path in paths if len(paths) > 1 else []:
            for rule in sorted(meant(every[path], transport) - {LEFT_ALONE} - {rule for rule, _ in two}):
                self.complain(path, f"nobody says {rule}")

    def complain(self, path, line):
        self.complaints.setdefault(path, []).append(line)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--analyzer", required=True)
    options.add_argument("--forge", required=True)
    options.add_argument("--transport", action="append")
    options.add_argument("scenarios", nargs="*")
    given = options.parse_args()
    every = {path: forging.load(path) for path in given.scenarios} or forging.scenarios()
    count = wrong = 0
    rules = set()
    with tshark.Tshark(given.plugin) as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for transport in given.transport or forging.transports(given.forge):
            fabric = Fabric(given, shark, every, transport, folder)
            count += fabric.count
            rules |= fabric.rules
            for path, lines in fabric.complaints.items():
                wrong += 1
                for line in lines:
                    print(f"WRONG {forging.name_of(path)} on {transport}: {line}")
                print("    " + alone.command("--plugin", given.plugin, "--analyzer", given.analyzer, "--forge", given.forge,
                                             "--transport", transport, path))
    print(f"{len(every)} scenarios, {count} with their fabrics, {len(rules)} rules, {wrong} differences")
    return 1 if wrong or not count or not rules and not given.scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
