#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Forges scenarios and holds the analyzer (and stock tshark) against what they expect. See README.md."""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import zlib

import yaml

sys.dont_write_bytecode = True  # the source tree stays clean
import icrc  # noqa: E402
import mutate  # noqa: E402

SEVERITY = {"note": 0, "warning": 1, "error": 2}
HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.normpath(os.path.join(HERE, "..", "..", "captures", "scenarios"))
WRAPPED = ("rocev2", "iwarp")  # these are also played with sequence numbers just below their wrap
EXPECT_WORDS = {"rule", "violator", "step", "severity", "at_least", "at_most", "times", "says", "fabric"}
SCENARIO_WORDS = {"title", "why", "transports", "settings", "peers", "steps", "expect", "near", "never", "allow", "causes", "tshark"}
CAUSE_WORDS = {"connection", "rule", "confidence", "how", "by", "step", "fabric"}
TSHARK_TRANSPORTS = ("rocev2", "rocev1", "infiniband", "iwarp")


class Wrong(Exception):
    """The scenario file itself makes no sense."""


def family(transport):
    return "iwarp" if transport.startswith("iwarp") else "ib"


def load(path):
    with open(path, encoding="utf-8") as file:
        try:
            scenario = yaml.safe_load(file)
        except yaml.YAMLError as error:
            raise Wrong(f"{path}: {error}") from None
    strange = set(scenario) - SCENARIO_WORDS
    for entry in scenario.get("expect") or []:
        strange |= set(entry) - EXPECT_WORDS
    for entry in scenario.get("causes") or []:
        strange |= set(entry) - CAUSE_WORDS
    if strange:
        raise Wrong(f"{path}: words without a meaning: {', '.join(sorted(strange))}")
    return scenario


def transports(forge, scenario):
    every = subprocess.run([forge, "--list-transports"], capture_output=True, text=True, check=True).stdout.split()
    wanted = scenario.get("transports")
    return [t for t in every if wanted is None or t in wanted or family(t) in wanted]


def variants(transport):
    """How a transport is played in the check: the options of the forge beside --transport, and the file's ending."""
    if transport == "rocev2-vlan":
        return [(["--pcapng"], "pcapng")]
    if transport == "infiniband":
        return [([], "pcap"), (["--erf"], "erf")]
    return [([], "pcap")] + ([(["--wrap"], "pcap")] if transport in WRAPPED else [])


def play(forge, path, transport, folder, extra=(), ending="pcap"):
    """-> (capture file, map of its frames)"""
    name = os.path.splitext(os.path.basename(path))[0]
    base = os.path.join(folder, f"{name}-{transport}" + "".join(extra).replace("--", "-"))
    capture = f"{base}.{ending}"
    command = [forge, path, "--transport", transport, "--out", capture, "--map", base + ".map.json", *extra]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Wrong(done.stderr.strip())
    with open(base + ".map.json", encoding="utf-8") as file:
        return capture, json.load(file)


def frames_of(frames, label):
    if label not in frames["steps"]:
        raise Wrong(f"no captured frame belongs to the step '{label}'")
    return frames["steps"][label]


def as_list(value):
    return value if isinstance(value, list) else [value]


def fits(want, finding, frames):
    """None, or why this finding is not the wanted one."""
    if finding["rule"] != want["rule"]:
        return "other rule"
    if "violator" in want and finding["violator"] != (None if want["violator"] == "nobody" else want["violator"]):
        return f"violator {finding['violator']}, not {want['violator']}"
    level = SEVERITY[finding["severity"]]
    if "severity" in want and level != SEVERITY[want["severity"]]:
        return f"severity {finding['severity']}, not {want['severity']}"
    if "at_least" in want and level < SEVERITY[want["at_least"]]:
        return f"severity {finding['severity']}, below {want['at_least']}"
    if "at_most" in want and level > SEVERITY[want["at_most"]]:
        return f"severity {finding['severity']}, above {want['at_most']}"
    if "says" in want and want["says"] not in finding["message"]:
        return f"says '{finding['message']}'"
    if "step" in want:
        steps = as_list(want["step"])
        allowed = [f for s in steps if s in frames["steps"] for f in frames["steps"][s]]
        if not allowed:
            frames_of(frames, steps[0])
        if not finding["frames"] or finding["frames"][0] not in allowed:
            return f"frame {finding['frames'][:1]}, not one of {allowed} ({' or '.join(steps)})"
    return None


def wrong_cause(want, transport, frames, connections):
    """None, or what is wrong with how and why a connection ended."""
    number = want.get("connection", 1)
    found = next((c for c in connections if c["id"] == number), None)
    closed = found and found["closed"]
    if not closed:
        return f"connection {number} did not end"
    cause = closed["cause"] or {"rule": "none", "confidence": None, "frames": []}
    for key, got in (("rule", cause["rule"]), ("confidence", cause["confidence"]), ("how", closed["how"]), ("by", closed["by"])):
        if key in want and got not in as_list(want[key]):
            return f"connection {number} ended with {key} {got}, not {want[key]}"
    if "step" in want and not set(cause["frames"]) & set(frames_of(frames, want["step"])):
        return f"the cause names frames {cause['frames']}, none of step '{want['step']}'"
    return None


def judge(scenario, transport, frames, document, status):
    """-> list of complaints"""
    complaints = []
    findings = document["findings"]
    wanted = [w for w in scenario.get("expect") or [] if w.get("fabric", family(transport)) in (family(transport), transport)]
    explained = set()
    for want in wanted:
        reasons = []
        hits = [i for i, f in enumerate(findings) if fits(want, f, frames) is None]
        explained.update(hits)
        if not hits:
            reasons = [fits(want, f, frames) for f in findings if f["rule"] == want["rule"]]
            complaints.append(f"missing {want}" + (f": {'; '.join(reasons)}" if reasons else ""))
        elif "times" in want and len(hits) != want["times"]:
            complaints.append(f"{want['rule']} {len(hits)} times, not {want['times']}")
    silent = set(scenario.get("near") or []) | set(scenario.get("never") or [])
    for i, finding in enumerate(findings):
        text = f"{finding['severity']} {finding['rule']} by {finding['violator']} at frame {finding['frames']}: {finding['message']}"
        if finding["rule"] in silent and i not in explained:
            complaints.append("must not be said: " + text)
        elif SEVERITY[finding["severity"]] >= 1 and i not in explained and finding["rule"] not in (scenario.get("allow") or []):
            complaints.append("accusation without ground: " + text)
    for want in scenario.get("causes") or []:
        if want.get("fabric", family(transport)) in (family(transport), transport):
            complaint = wrong_cause(want, transport, frames, document["connections"])
            complaints += [complaint] if complaint else []
    worst = max((SEVERITY[f["severity"]] for f in findings), default=0)
    if worst >= 1 and status != 1 or worst < 1 and status not in (0, 3):
        complaints.append(f"exit status {status}")
    if document["inputs"][0]["frames"] != frames["frames"]:
        complaints.append(f"{document['inputs'][0]['frames']} frames read of {frames['frames']}")
    return complaints


def analyze(analyzer, capture, *more):
    done = subprocess.run([analyzer, "--json", "--no-progress", *more, capture], capture_output=True, text=True, timeout=60)
    try:
        return json.loads(done.stdout), done.returncode
    except ValueError:
        raise Wrong(f"{capture}: no JSON from the analyzer (status {done.returncode}): {done.stderr.strip()[:400]}") from None


def check(options):
    scenario = load(options.scenario)
    bad = 0
    for transport in transports(options.forge, scenario):
        for extra, ending in variants(transport):
            try:
                capture, frames = play(options.forge, options.scenario, transport, options.folder, extra, ending)
                document, status = analyze(options.analyzer, capture)
                complaints = judge(scenario, transport, frames, document, status)
            except Wrong as wrong:
                complaints = [str(wrong)]
            for complaint in complaints:
                print(f"{' '.join([transport, *extra])}: {complaint}")
            bad += len(complaints)
    return 1 if bad else 0


def tshark_fields(capture, two_passes, display, *fields):
    command = ["tshark", "-n", "-r", capture, "-T", "fields", "-Y", display] + ["-2"] * two_passes
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise Wrong(f"tshark: {done.stderr.strip()}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def check_tshark(options):
    """Stock Wireshark reads what was forged. Its own bugs are known: an NFS READ reply with a Write chunk is dissected
    twice, odd TCP segments are lost; so only the layers below RPC are judged."""
    scenario = load(options.scenario)
    word = scenario.get("tshark") or {}
    if "skip" in word:
        print("skipped:", word["skip"])
        return 77
    bad = 0
    for transport in transports(options.forge, scenario):
        if transport not in TSHARK_TRANSPORTS or family(transport) in word.get("blind_on", []):
            continue
        capture, frames = play(options.forge, options.scenario, transport, options.folder)
        rows = tshark_fields(capture, False, "rpcordma or _ws.malformed or infiniband or iwarp_mpa", "frame.number", "frame.protocols", "_ws.malformed", "rpcordma.xid")
        seen = sorted(int(number) for number, _, _, xid in rows if xid)
        if seen != frames["rpcrdma_frames"]:
            print(f"{transport}: rpcordma in frames {seen}, not {frames['rpcrdma_frames']}")
            bad += 1
        for number, protocols, malformed, _ in rows:
            layers = protocols.split(":")
            if malformed and not {"rpc", "nfs"} & set(layers):
                print(f"{transport}: frame {number} malformed: {protocols}")
                bad += 1
    return 1 if bad else 0


def rules_of(analyzer):
    done = subprocess.run([analyzer, "--list-rules", "--json"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    return {r["name"] for r in (document if isinstance(document, list) else document["rules"])}


def recorded_triggers():
    """Rules that recorded captures must show (their expectations name rules under findings.must)."""
    found = set()
    captures = os.path.normpath(os.path.join(SCENARIOS, ".."))
    for path in glob.glob(os.path.join(captures, "*", "expect", "*.json")):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for must in document.get("findings", {}).get("must", []):
            found.update(as_list(must["rule"]) if len(as_list(must["rule"])) == 1 else [])
    return found


def check_coverage(options):
    rules = rules_of(options.analyzer)
    triggered, near, named = set(), set(), set()
    for path in sorted(glob.glob(os.path.join(SCENARIOS, "*.yaml"))):
        scenario = load(path)
        triggered |= {w["rule"] for w in scenario.get("expect") or []}
        near |= set(scenario.get("near") or [])
        named |= triggered | near | set(scenario.get("never") or []) | set(scenario.get("allow") or [])
    lacking = sorted(rules - triggered - recorded_triggers())
    for rule in lacking:
        print(f"{rule}: no scenario triggers it")
    far = sorted(rules - near)
    for rule in far:
        print(f"{rule}: no scenario nearly triggers it")
    unknown = sorted(named - rules)
    for rule in unknown:
        print(f"{rule}: named by a scenario, but no such rule")
    print(f"{len(rules)} rules, {len(rules & triggered)} triggered by scenarios, {len(rules & near)} with a near miss")
    return 1 if lacking or far or unknown else 0


def check_removal(options):
    """Each rule is taken out of the referee in turn: one of its own scenarios, on one fabric, has to notice."""
    stories = {}
    for path in sorted(glob.glob(os.path.join(SCENARIOS, "*.yaml"))):
        scenario = load(path)
        for want in scenario.get("expect") or []:
            stories.setdefault(want["rule"], []).append((path, scenario, want))

    def noticed(rule):
        for path, scenario, want in stories.get(rule, []):
            fabrics = transports(options.forge, scenario)
            fabric = next((t for t in fabrics if want.get("fabric", t) in (family(t), t)), None)
            if fabric is None:
                continue
            folder = os.path.join(options.folder, rule)
            os.makedirs(folder, exist_ok=True)
            capture, frames = play(options.forge, path, fabric, folder)
            document, status = analyze(options.analyzer, capture, "--without-rule", rule)
            if any(c.startswith("missing") and f"'{rule}'" in c for c in judge(scenario, fabric, frames, document, status)):
                return True
        return False

    rules = sorted(rules_of(options.analyzer))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        silent = [rule for rule, seen in zip(rules, pool.map(noticed, rules)) if not seen]
    for rule in silent:
        print(f"{rule}: without it no scenario fails")
    print(f"{len(rules) - len(silent)} of {len(rules)} rules are missed when they are gone")
    return 1 if silent else 0


def check_checksums(options):
    """The forge's ICRCs against an independent reading; twice the same file; recorded captures prove the reading."""
    scenario = os.path.join(SCENARIOS, "healthy-nfs3.yaml")
    captures = []
    for transport in transports(options.forge, {}):
        for extra in ([], ["--wrap"]):
            capture, _ = play(options.forge, scenario, transport, options.folder, extra)
            with open(capture, "rb") as file:
                first = file.read()
            play(options.forge, scenario, transport, options.folder, extra)
            with open(capture, "rb") as file:
                if file.read() != first:
                    print(f"{capture}: another file the second time")
                    return 1
            if family(transport) == "ib":
                captures.append(capture)
    recorded = sorted(glob.glob(os.path.join(SCENARIOS, "..", "kernel", "rxe-*.pcap")))[:3]
    return 1 if icrc.main(captures + recorded) else 0


def check_mutations(options):
    scenario = load(options.scenario)
    tolerated = {(rule, party) for rule in scenario.get("allow") or [] for party in ("client", "server")}
    bad = 0
    for transport in transports(options.forge, scenario):
        if transport not in WRAPPED:
            continue
        capture, frames = play(options.forge, options.scenario, transport, options.folder)
        known = mutate.accusations(analyze(options.analyzer, capture)[0]) | tolerated
        head, records = mutate.read(capture)
        mutant = capture.replace(".pcap", "-mutant.pcap")
        # Which ones depends on the scenario's name: over all scenarios each kind and place has its turn.
        turn = zlib.crc32(os.path.basename(options.scenario).encode()) % options.every
        for at, (name, changed) in enumerate(mutate.mutations(records, frames["shots"])):
            if at % options.every != turn:
                continue
            mutate.write(mutant, head, changed)
            for text in mutate.new_accusations(analyze(options.analyzer, mutant)[0], known):
                print(f"{transport}, {name}: {text}")
                bad += 1
    return 1 if bad else 0


MISTAKES = {
    "a word without a meaning": "title: x\nsteps:\n  - connect\n  - call: {sise: 3}\n",
    "an unknown step": "title: x\nsteps:\n  - connect\n  - sing\n",
    "a reply to nothing": "title: x\nsteps:\n  - connect\n  - reply\n",
    "two steps of one name": "title: x\nsteps:\n  - connect\n  - call: {}\n    as: a\n  - call: {}\n    as: a\n",
    "a message too small for its header": "title: x\nsteps:\n  - connect\n  - call: {size: 20}\n",
    "data before a connection": "title: x\nsteps:\n  - call\n",
    "no title": "steps:\n  - connect\n",
    "not YAML": "title: [x\n",
}


def check_mistakes(options):
    """A scenario that makes no sense is refused with one line and no file."""
    bad = 0
    for what, text in MISTAKES.items():
        path = os.path.join(options.folder, "mistake.yaml")
        out = os.path.join(options.folder, "mistake.pcap")
        if os.path.exists(out):
            os.remove(out)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([options.forge, path, "--out", out], capture_output=True, text=True, timeout=60)
        if done.returncode != 2 or not done.stderr.startswith("forge: ") or os.path.exists(out):
            print(f"{what}: status {done.returncode}, said {done.stderr.strip()!r}")
            bad += 1
    return 1 if bad else 0


def check_all(options):
    """By hand: every scenario, one line each."""
    paths = sorted(glob.glob(os.path.join(SCENARIOS, "*.yaml")))

    def one(path):
        command = [sys.executable, __file__, options.what, "--scenario", path, "--forge", options.forge, "--folder", options.folder]
        command += ["--analyzer", options.analyzer] if options.analyzer else []
        done = subprocess.run(command, capture_output=True, text=True)
        return os.path.basename(path), done.returncode, done.stdout + done.stderr

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, status, text in pool.map(one, paths):
            if status not in (0, 77):
                bad += 1
                print(f"--- {name}\n{text.rstrip()}")
    print(f"{len(paths) - bad} of {len(paths)} scenarios are right")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="mutations: only one in so many")
    parser.add_argument("what", choices=["check", "tshark", "mutations", "coverage", "removal", "checksums", "mistakes"])
    parser.add_argument("--scenario", help="one scenario; without it, all")
    parser.add_argument("--forge")
    parser.add_argument("--analyzer")
    parser.add_argument("--folder", default=".")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    try:
        whole = {"coverage": check_coverage, "removal": check_removal, "checksums": check_checksums, "mistakes": check_mistakes}
        if options.what in whole:
            return whole[options.what](options)
        if not options.scenario:
            return check_all(options)
        one = {"check": check, "tshark": check_tshark, "mutations": check_mutations}
        return one[options.what](options)
    except Wrong as wrong:
        print(wrong)
        return 1


if __name__ == "__main__":
    sys.exit(main())
