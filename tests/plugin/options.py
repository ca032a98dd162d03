#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""options.py --plugin SO --analyzer PATH: the ways to switch things off, and the statistics.

engine          -o rpcrdma.engine:builtin gives stock tshark's output, and so does --disable-protocol rpcrdma
disable         --disable-protocol rpcordma, --disable-heuristic rpcrdma_infiniband and rpcrdma_iwarp
statistics      -z rpcrdma,tree, -z rpcrdma,connections and -z rpcrdma,mounts say what the analyzer's JSON says
listings        -z conv, endpoints, follow and flow of rpcrdma: every connection, each message once and the right way round
packet_list     a frame of the connection manager is called what stock tshark calls it, whatever message stayed incomplete by then; a whole
                frame is not said to be cut
preferences     -o rpcrdma.wait and the others do what the analyzer's options of these names do
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
           "rxe-kpeer-reply-chunk-too-small", "siw-upeer-priv-variants", "rxe-upeer-credit-zero-grant", "rxe-upeer-no-reply",
           "siw-kpeer-read-chunk-beyond", "siw-nfs3-client-dies", "rxe-v2-cont-both", "rxe-v2-cont-reply-write-chunk"]


def counted(name):
    return os.path.join(harness.ROOT, "captures", "v2", name + ".pcap") if "-v2-" in name else harness.capture(name)


def engine(ours, stock, _):
    for name in BUILTIN:
        for passes in ([], ["-2"]):
            arguments = [*passes, "-V", "-r", harness.capture(name)]
            theirs = stock.run(*arguments).output
            for switch in (["-o", "rpcrdma.engine:builtin"], ["--disable-protocol", "rpcrdma"]):
                mine = ours.run(*arguments, *switch).output
                if mine != theirs:
                    line = next((a for a, b in zip(mine.splitlines(), theirs.splitlines()) if a != b), "its length")
                    yield f"{name} {passes} {switch}: not what stock tshark prints: {line}"


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
            of_connections, _ = ours.rows(path, ["rpcordma.finding"], *options, display_filter="rpcordma.finding", passes=2)
            if of_connections:
                yield f"{transport}: findings are shown in spite of {' '.join(options)}: {of_connections}"
            if messages(stock, *options):
                yield f"{transport}: stock tshark shows messages in spite of {' '.join(options)}: the test is wrong"
        if messages(ours, "--disable-heuristic", f"rpcrdma_{other}") != whole:
            yield f"{transport}: --disable-heuristic rpcrdma_{other} changes what is shown"
        private = [ours.rows(path, ["frame.number"], *options, display_filter="rpcordma.cm.version", passes=2)[0]
                   for options in ([], ["--disable-heuristic", "rpcrdma_cm"])]
        if not private[0] or private[1] != (private[0] if transport == "iwarp" else []):
            yield f"{transport}: of private data in {private[0]} --disable-heuristic rpcrdma_cm leaves {private[1]}"
        protocols, _ = ours.rows(path, ["frame.protocols"], display_filter="rpcordma.xid")
        if not any("rpcordma" in v for r in protocols for v in r["frame.protocols"]):
            yield f"{transport}: rpcordma is not among frame.protocols"


def experts(ours, *_):
    said = ours.run("-2", "-q", "-r", harness.capture("rxe-upeer-done-late"), "-z", "expert").output
    if " RPCoRDMA " not in said or " RPCRDMA " in said:
        yield f"-z expert: findings are not of the protocol RPCoRDMA: {said}"


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
        path = counted(name)
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
        yield from connections_table(ours, name, path, run)
        tables = [ours.run("-2", "-q", "-r", path, "-z", "rpcrdma,table-of-mounts" + of).output.splitlines()[4:] for of in ("", ",rpcordma.xid")]
        if tables[0] != tables[1] or not any(mount["sentence"] in line for mount in run.document["mounts"] for line in tables[1]):
            yield f"{name}: -z rpcrdma,table-of-mounts,rpcordma.xid shows {tables[1]}, and without a filter {tables[0]}"
        mounts = ours.run("-q", "-r", path, "-z", "rpcrdma,mounts").output  # one pass will do
        for mount in run.document["mounts"]:
            attempts = ", ".join(f"{mount['attempts'][k]} {w}" for k, w in ATTEMPTS)
            if mount["attempts"]["made"] == 1:
                attempts = attempts.replace("attempts", "attempt", 1)
            want = f"{mount['id']}  client {mount['client']}, server {mount['server']}: {mount['state']}; {attempts}\n   {mount['sentence']}\n"
            if want not in mounts:
                yield f"{name}: -z rpcrdma,mounts does not say {want!r} but {mounts!r}"


ATTEMPTS = (("made", "attempts"), ("established", "established"), ("refused", "refused"), ("unanswered", "unanswered"))
TRANSPORTS = {"rocev2": "RoCEv2", "rocev1": "RoCEv1", "infiniband": "InfiniBand", "iwarp": "iWARP"}


def connections_table(ours, name, path, run):
    rows = {}
    for line in ours.run("-2", "-q", "-r", path, "-z", "rpcrdma,connections").output.splitlines():
        words = line.replace("|", " ").split()
        if len(words) == 14 and words[0].isdigit():
            rows[int(words[0])] = words[1:]
    spoken = [c for c in run.connections() if c["messages"]["calls"]]
    if len(rows) < len(spoken) or not rows:
        yield f"{name}: -z rpcrdma,connections has {len(rows)} rows, the analyzer {len(spoken)} connections with Calls"
    for connection in spoken:
        row, m, t, o = rows.get(connection["id"]), connection["messages"], connection["thresholds"], connection["operations"]
        want = [connection["client"]["address"], connection["server"]["address"], TRANSPORTS[connection["transport"]],
                str(t["client_to_server"] or "?"), str(t["server_to_client"] or "?"), "?" if connection["credits"]["granted"] is None else str(connection["credits"]["granted"]),
                str(m["calls"] + m["reverse_calls"]), str(m["replies"] + m["reverse_replies"]), str(m["rdma_error"]),
                str(o["read_bytes"]), str(o["write_bytes"])]
        if row is None or row[:len(want)] != want:
            yield f"{name}: connection {connection['id']}: -z rpcrdma,connections says {row}, the analyzer {want}"
            continue
        longest = connection["latency_us"]["max"]
        if longest is not None and abs(float(row[12]) * 1000 - longest) > 1.5:
            yield f"{name}: connection {connection['id']}: longest {row[12]} ms, the analyzer {longest} us"


def listings(ours, _, analyzer):
    for name in COUNTED:
        path = counted(name)
        spoken = [c for c in harness.run(analyzer, path).connections() if c["messages"]["calls"]]
        peers = sorted((c["client"]["address"], c["server"]["address"]) for c in spoken)
        conversations = re.findall(r"^(\S+) +<-> (\S+) +(\d+) (\d+ \S+) +(\d+) (\d+ \S+) +(\d+) ",
                                   ours.run("-2", "-q", "-r", path, "-z", "conv,rpcrdma").output, re.M)
        if sorted(tuple(sorted(c[:2], reverse=True)) for c in conversations) != sorted(tuple(sorted(p, reverse=True)) for p in peers):
            yield f"{name}: -z conv,rpcrdma lists {conversations}, the analyzer has {peers}"
        ends = collections.Counter(re.findall(r"^(\d\S+) +\d+ ", ours.run("-2", "-q", "-r", path, "-z", "endpoints,rpcrdma").output, re.M))
        if ends != collections.Counter(a for p in peers for a in p):
            yield f"{name}: -z endpoints,rpcrdma lists {ends}"
        flow = ours.run("-2", "-q", "-r", path, "-z", "flow,rpcrdma,network").output
        for connection in spoken:
            m, number = connection["messages"], connection["id"]
            said = ours.run("-2", "-q", "-r", path, "-z", f"follow,rpcrdma,ascii,{number}").output
            if f"Node 0: {connection['client']['address']}:{number}\nNode 1: {connection['server']['address']}:{number}\n" not in said:
                yield f"{name}: follow of connection {number} does not begin with its client and server"
            # tshark puts a tabulator in front of the count of octets of what the server says.
            said_by = {"": collections.Counter(), "\t": collections.Counter()}
            for side, what in re.findall(r"^(\t?)\d+\nframe \d+  (Call|Reply) 0x", said, re.M):
                said_by[side][what] += 1
            want = [(m["calls"], m["reverse_replies"]), (m["reverse_calls"], m["replies"])]
            if [(said_by[side]["Call"], said_by[side]["Reply"]) for side in ("", "\t")] != want:
                yield f"{name}: follow of connection {number}: {said_by}, the analyzer {want}"
        arrows = collections.Counter(re.findall(r"\|(Call|Reply) 0x", flow))
        want = {"Call": sum(c["messages"]["calls"] + c["messages"]["reverse_calls"] for c in spoken),
                "Reply": sum(c["messages"]["replies"] + c["messages"]["reverse_replies"] for c in spoken)}
        if dict(arrows) != {k: n for k, n in want.items() if n}:
            yield f"{name}: -z flow,rpcrdma draws {dict(arrows)}, the analyzer counts {want}"


def packet_list(ours, stock, _):
    columns = ["frame.number", "_ws.col.Protocol", "_ws.col.Info"]
    for name in ("rxe-kpeer-read-chunk-bad-handle", "rxe-nfs41-lab-server-killed", "rxe-nfs41-basic"):
        handshakes = [r for r in stock.rows(harness.capture(name), columns)[0] if r["_ws.col.Info"][0].startswith("CM: ")]
        if not handshakes:
            yield f"{name}: stock tshark shows no CM message: the test is wrong"
        for passes in (1, 2):
            shown = ours.rows(harness.capture(name), columns, passes=passes)[0]
            yield from (f"{name}, {passes}: not {row} is shown" for row in handshakes if row not in shown)
    for passes in (1, 2):
        for row in ours.rows(harness.capture("siw-nfs3-client-dies"), [*columns, "frame.len", "frame.cap_len"], passes=passes)[0]:
            if row["frame.len"] == row["frame.cap_len"] and "limited during capture" in row["_ws.col.Info"][0]:
                yield f"{passes}: frame {row['frame.number'][0]} is whole, and said to be cut: {row['_ws.col.Info'][0]}"


def preferences(ours, _, analyzer):
    path = harness.capture("rxe-upeer-done-late")
    default = collections.Counter(f["rule"] for f in harness.run(analyzer, path).findings() if f["frames"])
    for option, preference in ((["--pull-timeout", "0"], ["-o", "rpcrdma.pull_timeout:0"]), (["--profile", "rfc8166"], ["-o", "rpcrdma.profile:rfc8166"]),
                               (["--wait", "0.5"], ["-o", "rpcrdma.wait:0.5"]), (["--check-crc"], ["-o", "rpcrdma.check_crc:TRUE"]),
                               (["--port", "20050"], ["-o", "rpcrdma.port:20050"])):
        said = collections.Counter(f["rule"] for f in harness.run(analyzer, path, *option).findings() if f["frames"])
        rows, done = ours.rows(path, ["rpcordma.finding"], *preference, passes=2)
        shown = collections.Counter(rule for row in rows for rule in row["rpcordma.finding"])
        if option[0] in ("--pull-timeout", "--profile") and said == default:
            yield f"{' '.join(option)} changes nothing in this capture: the test is wrong"
        if done.status != 0 or shown != said:
            yield f"{' '.join(preference)}: {dict(shown)}, the analyzer with {' '.join(option)} {dict(said)}; {done.errors[-200:]}"


TESTS = {f.__name__: f for f in (engine, disable, experts, statistics, listings, packet_list, preferences)}


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
