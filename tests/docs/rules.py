#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rules.py [--analyzer PATH] [--forge PATH] [--update]: docs/rules is what the rule table and the scenarios make of it.

One page a rule and an index. Words come from the table (--list-rules --json), the drawing from the scenario that triggers
the rule, forged and read again by --ladder. Without --update it only compares. The drawings get into --explain when the
program is built the next time.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(ROOT, "docs", "rules")
SCENARIOS = os.path.join(ROOT, "captures", "scenarios")
AGAIN = "tests/docs/rules.py --update"
ROWS = "18"  # of a drawing
UNICODE = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
GROUPS = {"A": "Private data", "B": "Inline thresholds and message size", "C": "Credits", "D": "Header and XDR", "E": "Chunk lists",
          "F": "RDMA operations against advertised memory", "G": "Lifetime and remote invalidation", "H": "Pull completion",
          "I": "Transactions", "J": "Reverse direction", "K": "Errors and versions", "L": "Connection management", "M": "Capture quality",
          "N": "What happened to the mount"}


def family(transport):
    return "iwarp" if transport.startswith("iwarp") else "ib"


def stories():
    """rule: [(how well it tells the rule, name, scenario, transport)]"""
    found = {}
    for path in sorted(glob.glob(os.path.join(SCENARIOS, "*.yaml"))):
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as handle:
            scenario = yaml.load(handle, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        fabrics = scenario.get("transports") or ["ib", "iwarp"]
        for want in scenario.get("expect") or []:
            can = [t for t in ("rocev2", "iwarp", "rocev1", "infiniband", "iwarp-markers", "iwarp-rev1-crc")
                   if (t in fabrics or family(t) in fabrics) and want.get("fabric", family(t)) in (t, family(t))]
            if can:
                filler = "nfs3" not in str(scenario["steps"]) and "nfs4" not in str(scenario["steps"])
                lost = "'lose'" in str(scenario["steps"])  # about what is missing, more than about the rule
                rank = (name != want["rule"], filler, lost, name.startswith("field-"), len(scenario["steps"]), len(name))
                found.setdefault(want["rule"], []).append((rank, name, scenario, can[0]))
    return {rule: min(each, key=lambda s: s[:2]) for rule, each in found.items()}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=UNICODE, cwd=ROOT)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def drawn(options, folder, rule, name, transport):
    """-> (the ladder, the sentence of the first finding)"""
    capture = os.path.join(folder, f"{rule}.pcap")
    run(options.forge, os.path.join(SCENARIOS, name + ".yaml"), "--transport", transport, "--out", capture)
    shared = [options.analyzer, "--no-progress", "--rule", rule, capture]
    document = json.loads(run(*shared, "--json"))
    finding = next((f for f in document["findings"] if f["rule"] == rule), None)
    if finding is None:
        sys.exit(f"{name} on {transport} does not trigger {rule}")
    number = finding["connection"]
    text = run(*shared, "-q", "--ladder-rows", ROWS, *(["--connection", str(number)] if number else []))
    ladders = re.split(r"^Ladder of connection \d+\n", text, flags=re.M)[1:]
    os.unlink(capture)
    return next((ladder.rstrip("\n") for ladder in ladders if f" {rule}" in ladder), ""), finding


def wrapped(text):
    return textwrap.fill(text, 130, break_long_words=False, break_on_hyphens=False)


def page(options, folder, rule, story):
    name = rule["name"]
    out = [f"# {name}", "", wrapped(f"{rule['title']}. At most a finding of severity **{rule['severity']}**; protocol version "
                                    f"{rule['versions'].replace(', ', ' and ')}; group {rule['group']}, {GROUPS[rule['group']].lower()}."), "",
           "## What it means", "", wrapped(rule["explanation"]), "",
           "Held to it: " + {"nobody": "nobody; it is an observation.", "by evidence": "whom the evidence shows."}.get(rule["who"], f"the {rule['who']}."), "",
           "## Where it is written", "", rule["source"], "", "## What proves it", "", wrapped(rule["evidence"]), ""]
    if story:
        _, scenario, text, transport = story
        ladder, finding = drawn(options, folder, name, scenario, transport)
        out += ["## What it looks like", "", wrapped(f"*{text['title']}.* {' '.join((text.get('why') or '').split())}"), ""]
        if ladder:
            out += ["```text", ladder, "```", ""]
        else:
            out += [wrapped(f"The report says: {finding['message']}"), ""]
        out += [f"From the scenario [{scenario}](../../captures/scenarios/{scenario}.yaml), played on {transport}:", "", "```",
                f"build/forge captures/scenarios/{scenario}.yaml --transport {transport} --out {name}.pcap",
                f"build/rpcrdma-analyzer --ladder {name}.pcap", "```", ""]
    # The plugin says nothing of what is not RPC-over-RDMA.
    shown = "nothing." if name == "not-rpcrdma" else f"`rpcordma.finding == \"{name}\"`."
    out += ["## What to look at next", "", wrapped(rule["next"]), "", f"In Wireshark with the plugin: {shown}", "", "## Where to read on", "",
            f"* [{os.path.basename(rule['lesson'])[:-3]}](../../{rule['lesson']})", "* [all rules](README.md)", ""]
    return "\n".join(line.rstrip() for line in out)


def index(rules):
    out = ["# The rules", "", f"All {len(rules)} rules, by subject. Made by `{AGAIN}` from the rule table and the",
           "[scenarios](../../captures/scenarios/README.md) that trigger them; `rpcrdma-analyzer --explain RULE` prints the same.", ""]
    for group, title in GROUPS.items():
        for versions, beside in (("1", ""), ("2", ", version 2 only")):
            members = [r for r in rules if r["group"] == group and (r["versions"] == "2") == (versions == "2")]
            if members:
                out += [f"## {group}. {title}{beside}", "", "| rule | at most | what is wrong |", "|---|---|---|"]
                out += [f"| [{r['name']}]({r['name']}.md) | {r['severity']} | {r['title']} |" for r in members] + [""]
    return "\n".join(out)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", default=os.path.join(ROOT, "build", "rpcrdma-analyzer"))
    options.add_argument("--forge", default=os.path.join(ROOT, "build", "forge"))
    options.add_argument("--update", action="store_true")
    given = options.parse_args()
    given.analyzer, given.forge = os.path.abspath(given.analyzer), os.path.abspath(given.forge)
    rules = json.loads(run(given.analyzer, "--list-rules", "--json"))
    told = stories()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda rule: page(given, folder, rule, told.get(rule["name"])), rules)
        wanted = {rule["name"] + ".md": text for rule, text in zip(rules, texts)}
    wanted["README.md"] = index(rules)
    there = {}
    for path in glob.glob(os.path.join(PAGES, "*.md")):
        with open(path, encoding="utf-8") as handle:
            there[os.path.basename(path)] = handle.read()
    stale = sorted(n for n in wanted.keys() | there.keys() if wanted.get(n) != there.get(n))
    if given.update:
        for name in stale:
            if name in wanted:
                with open(os.path.join(PAGES, name), "w", encoding="utf-8") as handle:
                    handle.write(wanted[name])
            else:
                os.unlink(os.path.join(PAGES, name))
    print(f"{len(wanted)} pages, {len(stale)} {'renewed' if given.update else 'stale'}")
    if stale and not given.update:
        print(f"docs/rules does not follow the rule table or the scenarios: {', '.join(stale[:12])}\nRun {AGAIN} and build again.")
    return 1 if stale and not given.update else 0


if __name__ == "__main__":
    sys.exit(main())
