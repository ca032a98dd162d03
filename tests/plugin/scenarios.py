#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scenarios.py --plugin SO --analyzer PATH --forge PATH [--all]: the plugin's findings on scenarios are the analyzer's.

The set of (rule, primary frame) that `tshark -2` shows, on as few scenarios as bring every rule's finding, or on --all of them. The
fabrics take turns.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

SCENARIOS = os.path.join(harness.ROOT, "captures", "scenarios")
# Wireshark reads native InfiniBand from ERF files only.
FABRICS = [("rocev2", [], "pcap"), ("iwarp", [], "pcap"), ("rocev1", [], "pcap"), ("infiniband", ["--erf"], "erf")]


# Where nothing is RPC-over-RDMA, tshark prints the same with the plugin as without it.
LEFT_ALONE = {"not-rpcrdma"}


def said_by_analyzer(given, path):
    """{(rule, primary frame)}, or None where there is no report."""
    run = harness.run(given.analyzer, path)
    if run.document is None:
        return None
    return {(f["rule"], f["frames"][0]) for f in run.findings() if f["frames"] and f["rule"] not in LEFT_ALONE}


def play(given, name, turn, folder):
    """-> (capture, what the analyzer says of it), on the first fabric from `turn` on that the scenario can be played on."""
    for step in range(len(FABRICS)):
        transport, options, ending = FABRICS[(turn + step) % len(FABRICS)]
        path = os.path.join(folder, f"{name[:-5]}-{transport}.{ending}")
        done = subprocess.run([given.forge, os.path.join(SCENARIOS, name), "--transport", transport, "--out", path, *options],
                              capture_output=True, check=False)
        if done.returncode == 0 and os.path.exists(path):
            said = said_by_analyzer(given, path)
            if said is not None:
                return path, said
    return None


def fewest(plays):
    """As few as together bring every rule that any of them brings; one by one those that bring most."""
    left, chosen = {rule for _, said in plays for rule, _ in said}, []
    while left:
        best = max(plays, key=lambda p: len({rule for rule, _ in p[1]} & left))
        chosen.append(best)
        left -= {rule for rule, _ in best[1]}
    return chosen


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--analyzer", required=True)
    options.add_argument("--forge", required=True)
    options.add_argument("--all", action="store_true")
    given = options.parse_args()
    with tshark.Tshark(given.plugin) as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        names = sorted(n for n in os.listdir(SCENARIOS) if n.endswith(".yaml"))
        plays = [p for p in tshark.in_parallel(lambda n: play(given, n[1], n[0], folder), list(enumerate(names))) if p]
        rules = {rule for _, said in plays for rule, _ in said}
        chosen = plays if given.all else fewest(plays)

        def compare(one):
            path, want = one
            rows, _ = shark.rows(path, ["frame.number", "rpcordma.finding"], display_filter="rpcordma.finding", passes=2)
            got = {(rule, int(row["frame.number"][0])) for row in rows for rule in row["rpcordma.finding"]}
            return [] if got == want else [f"{os.path.basename(path)}: only the analyzer: {sorted(want - got)}, only the plugin: {sorted(got - want)}"]

        wrong = sum(tshark.in_parallel(compare, chosen), [])
    for line in wrong[:40]:
        print(f"WRONG {line}")
    print(f"{len(chosen)} of {len(plays)} scenarios, {len(rules)} rules, {len(wrong)} differences")
    return 1 if wrong or len(rules) < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
