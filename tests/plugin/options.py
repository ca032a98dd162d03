#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""options.py --plugin SO --analyzer PATH: the ways to switch things off, and the statistics.

engine          -o rpcrdma.engine:builtin gives stock tshark's output
disable         --disable-protocol rpcordma, --disable-heuristic rpcrdma_infiniband and rpcrdma_iwarp
statistics      -z rpcrdma,tree and -z rpcrdma,connections say what the analyzer's JSON says
header          every octet of a version 1 header belongs to a field
"""
import argparse
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import tshark  # noqa: E402

BUILTIN = ["rxe-nfs3-basic", "siw-nfs41-basic", "rxe-upeer-done-good", "siw-kpeer-read-write-chunk"]
COUNTED = ["rxe-nfs41-basic", "siw-nfs41-basic", "rxe-nfs41-reconnect", "siw-upeer-done-good", "rxe-upeer-done-twice", "rxe-upeer-msgp",
           "rxe-kpeer-reply-chunk-too-small", "siw-upeer-priv-variants"]


def engine(ours, stock, _):
    for name in BUILTIN:
        for passes in ([], ["-2"]):
            arguments = [*passes, "-V", "-r", harness.capture(name)]
            mine, theirs = ours.run(*arguments, "-o", "rpcrdma.engine:builtin").output, stock.run(*arguments).output
            if mine != theirs:
                line = next((a for a, b in zip(mine.splitlines(), theirs.splitlines()) if a != b), "its length")
                yield f"{name} {passes}: not what stock tshark prints: {line}"


def disable(ours, stock, _):
    for transport, other, path in (("infiniband", "iwarp", harness.capture("rxe-nfs3-basic")), ("iwarp", "infiniband", harness.capture("siw-nfs41-basic"))):
        def messages(shark, *options, path=path):
            rows, _ = shark.rows(path, ["frame.number", "rpcordma.xid"], *options, display_filter="rpcordma.xid")
            return [(r["frame.number"], r["rpcordma.xid"]) for r in rows]
        whole = messages(ours)
        if not whole:
            yield f"{transport}: nothing is shown at all"
        for options in (["--disable-protocol", "rpcordma"], ["--disable-heuristic", f"rpcrdma_{transport}"]):
            if messages(ours, *options):
                yield f"{transport}: messages are shown in spite of {' '.join(options)}"
            if messages(stock, *options):
                yield f"{transport}: stock tshark shows messages in spite of {' '.join(options)}: the test is wrong"
        if messages(ours, "--disable-heuristic", f"rpcrdma_{other}") != whole:
            yield f"{transport}: --disable-heuristic rpcrdma_{other} changes what is shown"
        protocols, _ = ours.rows(path, ["frame.protocols"], display_filter="rpcordma.xid")
        if not any("rpcordma" in v for r in protocols for v in r["frame.protocols"]):
            yield f"{transport}: rpcordma is not among frame.protocols"


def tree_counts(output):
    """Node -> count, of a statistics tree."""
    found = {}
    for line in output.splitlines():
        row = re.match(r"^\s*(\S.*?)\s{2,}(\d+)(?:\s|$)", line)
        if row:
            found.setdefault(row[1], int(row[2]))
    return found


def statistics(ours, _, analyzer):
    for name in COUNTED:
        path = harness.capture(name)
        run = harness.run(analyzer, path)
        said = collections.Counter()
        for connection in run.connections():
            m = connection["messages"]
            said.update({"Call": m["calls"] + m["reverse_calls"], "Reply": m["replies"] + m["reverse_replies"]})
            said.update({k.upper(): m[k] for k in ("rdma_msg", "rdma_nomsg", "rdma_msgp")})
        findings = collections.Counter(f["rule"] for f in run.findings() if f["frames"])
        tree = tree_counts(ours.run("-2", "-q", "-r", path, "-z", "rpcrdma,tree").output)
        for key, count in [*said.items(), *findings.items()]:
            if tree.get(key, 0) != count:
                yield f"{name}: -z rpcrdma,tree counts {tree.get(key, 0)} of {key}, the analyzer {count}"
        table = ours.run("-2", "-q", "-r", path, "-z", "rpcrdma,connections").output
        rows = {}
        for line in table.splitlines():
            words = line.replace("|", " ").split()
            if len(words) >= 12 and words[0].isdigit():
                rows[int(words[0])] = words
        spoken = [c for c in run.connections() if c["messages"]["calls"]]
        if len(rows) < len(spoken) or not rows:
            yield f"{name}: -z rpcrdma,connections has {len(rows)} rows, the analyzer {len(spoken)} connections with Calls"
        names = {"rocev2": "RoCEv2", "rocev1": "RoCEv1", "infiniband": "InfiniBand", "iwarp": "iWARP"}
        for connection in spoken:
            row, m, t = rows.get(connection["id"]), connection["messages"], connection["thresholds"]
            want = [names[connection["transport"]], str(t["client_to_server"] or "?"), str(t["server_to_client"] or "?"), None,
                    str(m["calls"] + m["reverse_calls"]), str(m["replies"] + m["reverse_replies"]), str(m["rdma_error"])]
            for want_word, word in zip(want, (row or [""] * 12)[1:]):
                if want_word is not None and want_word != word:
                    yield f"{name}: connection {connection['id']}: -z rpcrdma,connections says {row}, the analyzer {want}"
                    break
            longest = connection["latency_us"]["max"]
            if row and longest is not None and abs(float(row[11]) * 1000 - longest) > 1.5:
                yield f"{name}: connection {connection['id']}: longest {row[11]} ms, the analyzer {longest} us"


TESTS = {f.__name__: f for f in (engine, disable, statistics)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--analyzer", required=True)
    options.add_argument("tests", nargs="*", default=list(TESTS))
    given = options.parse_args()
    failed = 0
    with tshark.Tshark(given.plugin, one_start=given.one_start) as ours, tshark.Tshark(one_start=given.one_start) as stock:
        for name in given.tests:
            wrong = list(TESTS[name](ours, stock, given.analyzer))
            print(f"{name}: {'wrong' if wrong else 'good'}")
            for line in wrong[:20]:
                print(f"    WRONG {line}")
            if wrong:
                print("    " + alone.command("--plugin", given.plugin, "--analyzer", given.analyzer, name))
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
