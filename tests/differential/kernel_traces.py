#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel_traces.py --analyzer PATH [NAME...]: the analyzer's facts against what both kernels logged while it happened.

truth/NAME.client.trace.txt and .server.trace.txt hold the tracepoints of the rpcrdma modules, truth/NAME.mountstats.txt the
client's transport counters. Compared: Calls and Replies in both directions, procedures of the header, credits, inline
thresholds, Read and Write operations and their octets, remote invalidations.
"""
import argparse
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

EVENT = re.compile(r"\s(\d+\.\d+): ([a-z_0-9]+): (.*)$")
THRESHOLD = re.compile(r"(\S+?):(\d+) -> \S+ neg send/recv=(\d+)/(\d+)")
SEGMENT = re.compile(r"\b(\d+)@0x")
PROGRAMS = {"nfs": 100003, "nfsd": 100003, "nfs_acl": 100227, "nfsacl": 100227}


class Trace:
    """The events of one side, in order."""

    def __init__(self, lines):
        self.events = [m.groups() for m in map(EVENT.search, lines) if m]

    def of(self, *names):
        return [text for _, name, text in self.events if name in names]

    def xids(self, *names):
        return [m.group(1) for m in (re.search(r"xid=0x([0-9a-f]+)", t) for t in self.of(*names)) if m]

    def sum(self, pattern, *names):
        return sum(int(m.group(1)) for m in (re.search(pattern, t) for t in self.of(*names)) if m)


class Comparison:
    def __init__(self, name):
        self.name, self.wrong, self.made = name, [], 0

    def equal(self, what, kernel, ours):
        self.made += 1
        if kernel != ours:
            self.wrong.append(f"{self.name}: {what}: kernel {kernel}, analyzer {ours}")


def total(connections, part, key):
    return sum(c[part][key] for c in connections)


def check_client(comparison, trace, connections):
    c = comparison
    marshalled = trace.of("xprtrdma_marshal")
    c.equal("messages.calls", len(trace.xids("xprtrdma_marshal")), total(connections, "messages", "calls"))
    c.equal("messages.replies", len(trace.xids("xprtrdma_reply")), total(connections, "messages", "replies"))
    c.equal("messages.reverse_calls", len(trace.xids("xprtrdma_cb_call")), total(connections, "messages", "reverse_calls"))
    c.equal("messages.reverse_replies", len(trace.xids("xprtrdma_cb_reply")), total(connections, "messages", "reverse_replies"))
    c.equal("operations.sends_with_invalidate", len(trace.of("xprtrdma_mr_reminv")), total(connections, "operations", "sends_with_invalidate"))
    thresholds = [m.groups() for m in map(THRESHOLD.search, trace.of("xprtrdma_inline_thresh")) if m]
    by_port = {(k["client"]["address"], k["client"]["port"]): k["thresholds"] for k in connections}
    for address, port, send, receive in thresholds:
        ours = by_port.get((address, int(port)), {})
        c.equal(f"thresholds of {address}:{port}", (int(send), int(receive)),
                (ours.get("client_to_server"), ours.get("server_to_client")))
    c.equal("connections", len(thresholds), len(connections))
    granted = [int(m.group(1)) for m in (re.search(r"credits=(\d+)", t) for t in trace.of("xprtrdma_reply")) if m]
    if len(connections) == 1:
        c.equal("credits.granted", granted[-1], connections[0]["credits"]["granted"])
    return sum(1 for t in marshalled if "*read list" in t)


def check_server(comparison, trace, connections, long_calls):
    c = comparison
    requests = trace.of("svcrdma_decode_rqst")
    by_procedure = collections.Counter(re.search(r"proc=(\w+)", t).group(1) for t in requests)
    c.equal("received messages", len(requests), total(connections, "messages", "calls") + total(connections, "messages", "reverse_replies"))
    c.equal("Long Calls", long_calls, by_procedure.get("RDMA_NOMSG", 0))
    c.equal("messages.rdma_nomsg", long_calls + len(trace.of("svcrdma_post_reply_chunk")), total(connections, "messages", "rdma_nomsg"))
    c.equal("messages.rdma_msg", by_procedure.get("RDMA_MSG", 0) + len(trace.of("svcrdma_post_send")) - len(trace.of("svcrdma_post_reply_chunk")),
            total(connections, "messages", "rdma_msg"))
    c.equal("operations.sends", len(trace.of("svcrdma_wc_recv")) + len(trace.of("svcrdma_post_send")), total(connections, "operations", "sends"))
    c.equal("operations.read_bytes", trace.sum(r"totalbytes=(\d+)", "svcrdma_wc_read"), total(connections, "operations", "read_bytes"))
    c.equal("operations.write_bytes", sum(int(SEGMENT.search(t).group(1)) for t in trace.of("svcrdma_encode_wseg")),
            total(connections, "operations", "write_bytes"))
    asked = {int(m.group(1)) for m in (re.search(r"credits=(\d+) proc", t) for t in requests) if m}
    if len(connections) == 1 and len(asked) == 1:
        c.equal("credits.requested", asked.pop(), connections[0]["credits"]["requested"])


def check_mountstats(comparison, lines, connections):
    """Per-operation counts of the client; the first block is read before the unmount, so that the last calls may be missing."""
    operations, program = collections.Counter(), None
    for line in lines:
        version = re.search(r"p/v: (\d+)/(\d+) \((\w+)\)", line)
        if version:
            program = int(version.group(1))
        counted = re.match(r"\s*([A-Z_0-9]+): (\d+) (\d+)(?: \d+)+$", line)
        if program and counted and int(counted.group(2)):
            operations[counted.group(1)] += int(counted.group(2))
    ours = sum(p["calls"] for c in connections for p in c["procedures"] if p["program"] == 100003)
    comparison.made += 1
    if sum(operations.values()) > ours:
        comparison.wrong.append(f"{comparison.name}: NFS calls: mountstats at least {sum(operations.values())}, analyzer {ours}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("names", nargs="*", help="bundled captures; all that have traces when none is named")
    given = options.parse_args()
    wrong, made = [], 0
    for path in map(harness.capture, given.names) if given.names else harness.captures():
        client, server = harness.truth(path, "client.trace.txt"), harness.truth(path, "server.trace.txt")
        stats = harness.truth(path, "mountstats.txt")
        if not client and not (stats and harness.is_healthy_kernel(path)):
            continue
        run = harness.run(given.analyzer, path)
        comparison = Comparison(harness.stem(path))
        if client:
            long_calls = check_client(comparison, Trace(client), run.connections())
            check_server(comparison, Trace(server), run.connections(), long_calls)
        if stats and run.connections() and run.document["inputs"][0]["truncated_frames"] == 0:
            check_mountstats(comparison, stats, run.connections())
        wrong += comparison.wrong + ([alone.command("--analyzer", given.analyzer, harness.stem(path))] if comparison.wrong else [])
        made += comparison.made
    print("\n".join(wrong))
    print(f"{made} comparisons, {len(wrong)} wrong")
    return 1 if wrong or not made else 0


if __name__ == "__main__":
    sys.exit(main())
