#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""expectation.py FOLDER CAPTURE [RULE:VIOLATOR:FRAME[,FRAME]...]... [--allow RULE]...: drafts expect/NAME.json for a capture of the lab.

All facts come from what the kernels or the peers said while it ran (FOLDER/truth) and from tshark; the analyzer is not asked. What has
to be found is what the author of the story knows: it is named on the command line. "-" as a violator: nobody.
"""
import argparse
import json
import os
import re
import subprocess
import sys

RDMA_SERVICE_NFS = 20049


def fields(path, expression, *names):
    command = ["tshark", "-r", path, "-Y", expression, "-T", "fields"]
    for name in names:
        command += ["-e", name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def frames(path):
    return len(fields(path, "frame", "frame.number"))


def ends(path, siw):
    """Client and server of each connection, in the order of the file."""
    if siw:
        rows = fields(path, "tcp.flags.syn == 1 && tcp.flags.ack == 0", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport")
    else:
        rows = fields(path, "infiniband.mad.attributeid == 0x10", "ip.src", "infiniband.cm.req.ip_cm.sport", "ip.dst",
                      "infiniband.cm.req.serviceid.dport")
    for source, port, target, service in rows:
        yield ({"address": source, "port": int(port, 0)}, {"address": target, "port": int(service, 0)})


def sizes(words):
    """The sizes of an RFC 8797 message that ends these words."""
    word = int(words[-1], 16)
    return {"version": 1, "remote_invalidation": bool(word >> 16 & 1), "send_size": ((word >> 8 & 255) + 1) * 1024,
            "receive_size": ((word & 255) + 1) * 1024, "offset": 4 * (len(words) - 2)}


def of_peers(folder, stem, link):
    with open(os.path.join(folder, "truth", stem + ".txt"), encoding="utf-8") as handle:
        lines = handle.read().splitlines()
    client, server = [], []
    into = client
    for line in lines:
        into = server if "server$" in line else client if "client$" in line else into
        into.append(line)

    def told(log, event):
        words = next(re.search(r"private data ([0-9a-fx ]+),", line).group(1).split() for line in log if f"] {event}," in line)
        return sizes(words)

    def numbers(log, pattern):
        return [int(re.search(pattern, line).group(1)) for line in log if re.search(pattern, line) and "refused" not in line]

    private = {"client": told(client, "connected"), "server": told(server, "accepted")}
    reads = numbers(client + server, r"RDMA Read of (\d+)")
    writes = numbers(server, r"RDMA Write of (\d+)")
    calls = len(numbers(client, r"calling procedure (\d+)")) + sum(numbers(client, r"sending (\d+) calls at once"))
    broken = any("a completion says" in line or "no answer" in line for line in client + server)
    connection = {
        "private_data": private,
        "thresholds": {"client_to_server": min(private["client"]["send_size"], private["server"]["receive_size"]),
                       "server_to_client": min(private["server"]["send_size"], private["client"]["receive_size"]),
                       "basis": "negotiated"},
        "version": 1,
    }
    if not broken:
        connection["operations"] = {"reads": len(reads), "read_bytes": sum(reads), "write_bytes": sum(writes), "naks": 0,
                                    "sends_with_invalidate": sum(", invalidating " in line for line in server)}
        if link == "rxe":
            connection["operations"]["writes"] = len(writes)
        connection["messages"] = {"calls": calls, "replies": sum("] answering " in line for line in server),
                                  "rdma_done": sum("] RDMA_DONE " in line for line in client), "rdma_error": 0}
        connection["latency_us"] = {"count": calls}
        connection["procedure_calls"] = {"100003/3": calls}
        connection["closed"] = {"how": "disconnect" if link == "rxe" else {"any": ["disconnect", "fin"]}}
    return [connection]


def of_kernels(folder, stem):
    with open(os.path.join(folder, "truth", stem + ".client.trace.txt"), encoding="utf-8") as handle:
        lines = handle.read().splitlines()
    parts = []
    for line in lines:
        if "xprtrdma_inline_thresh" in line:
            parts.append([])
        if parts:
            parts[-1].append(line)
    for part in parts:
        send, receive = map(int, re.search(r"neg send/recv=(\d+)/(\d+)", part[0]).groups())
        calls = sum("xprtrdma_marshal:" in line for line in part)
        replies = sum("xprtrdma_reply:" in line for line in part)
        yield {"thresholds": {"client_to_server": send, "server_to_client": receive, "basis": "negotiated"}, "version": 1,
               "credits": {"granted": int(re.findall(r"credits=(\d+)", "\n".join(part))[-1])} if replies else {},
               "messages": {"calls": calls, "replies": replies, "rdma_done": 0, "rdma_error": 0, "rdma_msgp": 0},
               "operations": {"naks": 0, "rnr_naks": 0}}


def must(text):
    rule, violator, numbers = text.split(":")
    return {"rule": rule, "frames": [int(n) for n in numbers.split(",")], "violator": None if violator == "-" else violator,
            "connection": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("capture", help="its name, without folder and ending")
    parser.add_argument("must", nargs="*")
    parser.add_argument("--allow", action="append", default=[])
    options = parser.parse_args()
    path = os.path.join(options.folder, options.capture + ".pcap")
    link = options.capture.split("-", 1)[0]
    if "-nfs" in options.capture:
        connections = list(of_kernels(options.folder, options.capture))
    else:
        connections = of_peers(options.folder, options.capture, link)
    for connection, (client, server) in zip(connections, ends(path, link == "siw"), strict=True):
        connection["transport"] = "rocev2" if link == "rxe" else "iwarp"
        connection["client"], connection["server"] = client, server
    wanted = [must(text) for text in options.must]
    document = {
        "capture": options.capture + ".pcap",
        "inputs": {"frames": frames(path), "truncated_frames": 0, "damaged": None},
        "kind": "faulty" if wanted else "healthy",
        "exit": [1] if wanted else [0],
        "connections": connections,
        "findings": {"must": wanted, "must_not": [], "allow": options.allow},
        "totals": {"frames": frames(path)},
    }
    json.dump(document, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
