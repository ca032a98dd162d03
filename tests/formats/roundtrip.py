#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""roundtrip.py --analyzer PATH --forge PATH --folder DIR [--only WORD]: ndjson, csv and junit say what --json says.

The findings that come back out of each format are those of the JSON document, and the exit status is the same. Scenarios are forged
together, those of a fabric in one capture; of the bundled captures as few are taken as show all that any of them shows. Each capture is
read under some of the selections below. What was compared is counted: each rule in each format, each selection where it changes what is
said, each kind of file.
"""
import argparse
import collections
import concurrent.futures
import csv
import glob
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402

SELECTIONS = [[], ["--severity", "warning"], ["--connection", "1"], ["--connection", "2"], ["--fail-on", "note"], ["--fail-on", "never"],
              ["--fail-on", "error"], ["--no-rule", "inline-threshold-exceeded", "--no-rule", "service-port-unusual"],
              ["--rule", "credit-limit-exceeded", "--rule", "inline-threshold-exceeded", "--rule", "capture-gap"],
              ["--severity", "error", "--connection", "1"]]
COLUMNS = ("rule", "severity", "connection", "transport", "client", "server", "frame", "frames", "time", "date", "xid", "violator",
           "role", "message", "occurrences", "title", "source", "filter", "next", "kind", "owes", "connections")
OUTCOMES = {"failure", "error", "skipped"}


def printed(analyzer, how, options, path):
    done = subprocess.run([analyzer, "--no-progress", "--format", how, *options, path], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def frozen(value):
    return json.dumps(value, sort_keys=True)


def difference(kind, wanted, got):
    wanted, got = collections.Counter(map(frozen, wanted)), collections.Counter(map(frozen, got))
    for text in list((wanted - got))[:2]:
        yield f"{kind}: missing or different: {text[:400]}"
    for text in list((got - wanted))[:2]:
        yield f"{kind}: not in the JSON document: {text[:400]}"


def ndjson(text, document):
    lines = text.decode().splitlines()
    objects = [json.loads(line) for line in lines]
    kinds = [o.pop("type") for o in objects]
    if [next(iter(json.loads(line))) for line in lines[:1]] != ["type"]:
        yield "the first key is not type"
    if kinds[:1] != ["report"] or kinds[-1:] != ["totals"] or kinds.count("report") != 1 or kinds.count("totals") != 1:
        yield f"begins and ends with {kinds[:1]} {kinds[-1:]}"
        return
    if objects[0] != {"schema": document["schema"], "tool": document["tool"]}:
        yield "the first line is not schema and tool"
    if objects[-1] != document["totals"]:
        yield f"totals {objects[-1]} for {document['totals']}"
    for kind, key in (("finding", "findings"), ("connection", "connections"), ("unchecked", "unchecked"), ("input", "inputs"),
                      ("mount", "mounts"), ("verdict", "verdict")):
        wanted = document[key] if isinstance(document[key], list) else [document[key]]
        yield from difference(kind, wanted, [o for k, o in zip(kinds, objects) if k == kind])


def peer(end):
    address = end["address"] or ""
    if end["port"] is None:
        return address
    return f"[{address}]:{end['port']}" if ":" in address else f"{address}:{end['port']}"


def uncell(cell):
    return cell[1:] if cell.startswith("'") else cell


def table(text, document):
    decoded = text.decode()
    if decoded.count("\n") != decoded.count("\r\n") and '"' not in decoded:
        yield "lines do not end with CR LF"
    rows = list(csv.reader(io.StringIO(decoded, newline=""), strict=True))
    if tuple(rows[0]) != COLUMNS:
        yield f"header {rows[0]}"
        return
    for row in rows[1:]:
        for cell in row:
            if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not cell[1:].replace(".", "").isdigit()):
                yield f"a spreadsheet would compute {cell[:80]!r}"
    connections = {c["id"]: c for c in document["connections"]}
    wanted = []
    for f in document["findings"]:
        connection = connections.get(f["connection"])
        wanted.append([f["rule"], f["severity"], "" if f["connection"] is None else str(f["connection"]),
                       connection["transport"] if connection else "", peer(connection["client"]) if connection else "",
                       peer(connection["server"]) if connection else "", str(f["frames"][0]) if f["frames"] else "",
                       " ".join(map(str, f["frames"])), f["time"] or "", f["xid"] or "", f["violator"] or "", f["role"] or "",
                       f["message"], str(f["occurrences"]), f["title"], f["source"], f["filter"], f["next"],
                       f["kind"], f["owes"] or "", " ".join(map(str, f["connections"]))])
    got = [[uncell(c) for name, c in zip(COLUMNS, row) if name != "date"] for row in rows[1:]]
    if wanted != got:
        yield from difference("row", wanted, got)
        yield "the rows are not in the order of the document"


def failing(finding, options):
    least = options[options.index("--fail-on") + 1] if "--fail-on" in options else "warning"
    return least != "never" and harness.SEVERITY[finding["severity"]] >= harness.SEVERITY[least]


def junit(text, document, options):
    root = tree.fromstring(text)
    mounts = document["mounts"]
    if root.tag != "testsuites" or [s.tag for s in root] != ["testsuite"] * (1 + bool(mounts) + len(document["connections"])):
        yield "not one testsuite for the capture, one for its mounts and one for each connection"
        return
    others = root[:2] if mounts else root[:1]
    for count in ("tests", "failures", "errors"):
        if int(root.get(count)) != sum(int(s.get(count)) for s in root):
            yield f"testsuites: {count} is not the sum"
    said = {}
    for suite in root:
        cases = suite.findall("testcase")
        if [c.tag for c in suite] != ["properties"] * (suite not in others) + ["testcase"] * len(cases):
            yield f"{suite.get('name')}: properties and testcases only, in this order"
        of = {kind: sum(c.find(kind) is not None for c in cases) for kind in OUTCOMES}
        if [int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped")] != [len(cases), of["failure"], of["error"],
                                                                                       of["skipped"]]:
            yield f"{suite.get('name')}: wrong counts"
        if len({c.get("name") for c in cases}) != len(cases):
            yield f"{suite.get('name')}: two testcases of one name"
        for case in cases:
            tags = [child.tag for child in case]
            if len(tags) > 1 or not set(tags) <= OUTCOMES | {"system-out"} or not case.get("classname") or case.get("time") is None:
                yield f"testcase {case.get('name')}: {tags}"
            connection = int(suite.get("name").split()[1]) if suite not in others else None
            if suite is root[0] or suite not in others:
                said[connection, case.get("name")] = case
    if mounts:
        red = any(failing(f, options) for f in document["findings"])
        for mount, case in zip(mounts, root[1].findall("testcase"), strict=True):
            ill = mount["state"] in ("down", "never-up", "waiting")
            wanted = "failure" if ill and red else "skipped" if mount["state"] == "unknown" else "system-out"
            if [child.tag for child in case] != [wanted] or mount["sentence"] not in (case[0].get("message") or case[0].text):
                yield f"mount {mount['id']} is {mount['state']}: not a {wanted} with its sentence"
    ids = {c["id"] for c in document["connections"]}
    judged = collections.defaultdict(list)
    for finding in document["findings"]:
        for connection in ids.intersection(finding["connections"]) or {None}:
            judged[connection, finding["rule"]].append(finding)
    for key, findings in judged.items():
        case = said.get(key)
        outcome = "failure" if any(failing(f, options) for f in findings) else "system-out"
        told = case.find(outcome) if case is not None else None
        if told is None:
            yield f"{key}: no {outcome}"
            continue
        for finding in findings:
            if f"{finding['severity']}: {finding['message']}" not in told.text:
                yield f"{key}: does not say {finding['message']!r}"
    skipped = {(u["connection"] if u["connection"] in ids else None, u["rule"]) for u in document["unchecked"]} - set(judged)
    for key in skipped:
        if key not in said or said[key].find("skipped") is None:
            yield f"{key}: was not checked, and is not skipped"
    for key, case in said.items():
        if case.find("failure") is not None and key not in judged or (case.find("skipped") is not None and key not in skipped
                                                                      and key[1] != "judged"):
            yield f"{key}: nothing of the kind in the JSON document"
    damaged = sum(i["damaged"] is not None for i in document["inputs"])
    if int(root[0].get("errors")) != damaged:
        yield f"{damaged} damaged inputs, {root[0].get('errors')} errors"


def compared(analyzer, path, options, names):
    """-> (what is wrong, the JSON document or None, the exit status)"""
    wrong = []
    status, text, errors = printed(analyzer, "json", options, path)
    document = json.loads(text) if text else None
    for how, check in (("ndjson", ndjson), ("csv", table), ("junit", junit)):
        other_status, other, other_errors = printed(analyzer, how, options, path)
        if (other_status, other_errors) != (status, errors):
            wrong.append(f"{how}: exit status {other_status} for {status}; says {other_errors!r} for {errors!r}")
        if not text:
            wrong += [f"{how}: prints something where --json prints nothing"] if other else []
            continue
        wrong += [f"{how}: {w}" for w in (check(other, document, options) if how == "junit" else check(other, document))]
    name = os.path.basename(path)
    return [f"{name} {' '.join(options)}: {w}{names(document)}" for w in wrong], document, status


def gathered(forge, folder):
    """Every scenario, on a fabric that changes from one to the next -> {path: which scenarios it holds, for the complaint}"""
    os.makedirs(folder, exist_ok=True)
    fabrics, members = forging.transports(forge), collections.defaultdict(list)
    for i, (path, scenario) in enumerate(forging.scenarios().items()):
        can = [t for t in fabrics if forging.plays_on(scenario, t)]
        members[can[i % len(can)]].append(path)
    for i, (fabric, paths) in enumerate(sorted(members.items())):
        kind = ["--erf"] if fabric == "infiniband" else ["--pcapng"] if i % 2 else []
        reel = forging.Reel(forge, paths, fabric, os.path.join(folder, f"{fabric}.{kind[0][2:] if kind else 'pcap'}"), *kind)
        if reel.left_out:
            raise SystemExit(f"{fabric} leaves out {reel.left_out}")

        def names(document, reel=reel):
            told = sorted({forging.name_of(reel.story(f["frames"][0])["scenario"]) for f in document["findings"] if f["frames"]})
            return f"\n    its scenarios with findings: {' '.join(told)}" if len(told) < 10 else ""
        yield reel.capture, names


def traits(document, path):
    """What a document shows, as words."""
    yield os.path.splitext(path)[1]
    for one in document["inputs"]:
        yield from (one["format"], *one["link_types"], f"damaged {one['damaged'] is not None}", f"cut {one['truncated_frames'] > 0}")
    yield f"{min(2, len(document['connections']))} connections"
    for c in document["connections"]:
        yield f"version {c['version']} on {c['transport']}"
        for key, value in c.items():
            yield f"{key} {value is None or value == [] or value == {}}"
        for who in ("client", "server"):
            yield from (f"{who} {key} {value is None}" for key, value in c[who].items())
            yield f"IPv6 {':' in (c[who]['address'] or '')}"
    for f in document["findings"]:
        yield f"finding {f['rule']}, {f['severity']}, by {f['violator']} as {f['role']}"
        yield from (f"finding without {key}" for key, value in f.items() if value in (None, []))
    for u in document["unchecked"]:
        yield f"unchecked {u['rule']} {u['connection'] is None}"


def chosen(shown):
    """{thing: its words} -> as few things as have all words, always the one that adds most"""
    left, out = set().union(*shown.values()), []
    while left:
        out.append(max(shown, key=lambda thing: len(shown[thing] & left)))
        left -= shown[out[-1]]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--forge", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--only", help="captures whose name holds it, each under every selection")
    given = parser.parse_args()
    bundled = harness.captures() + sorted(glob.glob(os.path.join(harness.ROOT, "captures", "v2", "*.pcap*")))
    captures = dict(gathered(given.forge, given.folder))
    if given.only:
        captures.update((path, lambda _: "") for path in bundled)
        jobs = [(path, options) for path in captures if given.only in os.path.basename(path) for options in SELECTIONS]
    else:
        shown = {path: set(traits(json.loads(printed(given.analyzer, "json", [], path)[1]), path)) for path in bundled}
        few = chosen(shown)
        captures.update((path, lambda _: "") for path in few)
        some = [options for options in SELECTIONS if options]
        jobs = [(path, options) for i, path in enumerate(captures)
                for options in [[], *(some[(i + turn) % len(some)] for turn in range(2 if path in few else 3))]]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda job: compared(given.analyzer, *job, captures[job[0]]), jobs))
    wrong = [line for lines, _, _ in results for line in lines]
    if not given.only:
        wrong += uncounted(given, jobs, results)
    for (path, _), (lines, _, _) in zip(jobs, results):
        if lines:
            print(alone.command("--analyzer", given.analyzer, "--forge", given.forge, "--folder", given.folder, "--only", os.path.basename(path)))
    print("\n".join(wrong))
    print(f"{len(jobs)} runs in each format over {len(captures)} captures, {len(wrong)} differences")
    return 1 if wrong or not jobs else 0


def uncounted(given, jobs, results):
    """What should have been among what was compared, and was not."""
    documents = [(options, path, document, status) for (path, options), (_, document, status) in zip(jobs, results)]
    rules = {rule["name"] for rule in json.loads(subprocess.run([given.analyzer, "--list-rules", "--json"], capture_output=True, check=True).stdout)}
    told = {f["rule"] for options, _, document, _ in documents if document and not options for f in document["findings"]}
    yield from (f"{rule}: no capture shows it in every format" for rule in sorted(rules - told))
    plain = {path: (document["findings"], document["connections"], status) for options, path, document, status in documents if not options}
    for selection in map(list, {tuple(s): None for s in SELECTIONS if s}):
        changed = [path for options, path, document, status in documents if options == selection and path in plain
                   and (document is None or (document["findings"], document["connections"], status) != plain[path])]
        if not changed:
            yield f"{' '.join(selection)}: changes nothing on any capture"
    formats = {i["format"].split(" ")[0] for _, _, document, _ in documents if document for i in document["inputs"]}
    yield from (f"{form}: no such file was read" for form in sorted({"pcap", "pcapng", "erf"} - formats))


if __name__ == "__main__":
    sys.exit(main())
