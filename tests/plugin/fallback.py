#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fallback.py --plugin P --renamed-entries P --renamed P [CAPTURE...]: the plugin works where Wireshark does not have what it expects.

Two test builds look for other names than Wireshark has. One misses the entries' names, and finds the entries by their protocol.
The other misses the protocol too: it registers all itself and says so, once. Both show the same as the plugin proper.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

CAPTURES = ["rxe-upeer-inv-R00", "rxe-nfs41-reconnect", "siw-nfs41-basic", "siw-upeer-done-good"]
FIELDS = ["frame.number", "rpcordma.xid", "rpcordma.msg_type", "rpcordma.flow_control", "rpcordma.rdma_handle", "rpcordma.direction",
          "rpcordma.connection", "rpcordma.call_in", "rpcordma.reply_in", "rpcordma.finding", "rpcordma.severity",
          "rpcordma.cm.send_size", "rpcordma.cm.receive_size", "rpcordma.cm.remote_invalidation", "rpcordma.operation",
          "rpc.xid", "nfs.opcode", "nfs.procedure_v3"]
# Frame by frame, whoever draws a message: without those that the built-in draws as well.
SURE = ["frame.number", "rpcordma.direction", "rpcordma.connection", "rpcordma.finding", "rpcordma.cm.send_size"]


def shown(plugin, path, fields, *options):
    command = [os.path.join(harness.ROOT, "cmake", "tshark-with-plugin"), *options, "-2", "-r", path, "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "RPCRDMA_PLUGIN": plugin})
    return done.stdout, [line for line in done.stderr.splitlines() if line.strip()]


def complaints(given, path):
    usual, said = shown(given.plugin, path, FIELDS)
    if said or "\tCall" not in usual:
        yield f"the plugin proper: {said or 'shows no Call'}"
    found, said = shown(given.renamed_entries, path, FIELDS)
    if said:
        yield f"renamed entries: says {said}"
    if found != usual:
        yield "renamed entries: shows something else"
    # A Wireshark without RPC-over-RDMA: as if the built-in protocol were not there.
    found, said = shown(given.renamed, path, FIELDS, "--disable-protocol", "rpcordma")
    if len(said) != 1 or "the plugin registers what it needs itself" not in said[0]:
        yield f"renamed protocol: says {said}"
    if found != usual:
        yield "renamed protocol: shows something else"
    # With the built-in beside it.
    found, said = shown(given.renamed, path, SURE)
    if len(said) != 1 or found != shown(given.plugin, path, SURE)[0]:
        yield f"renamed protocol, beside the built-in: shows something else, says {said}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--renamed-entries", required=True)
    options.add_argument("--renamed", required=True)
    options.add_argument("captures", nargs="*", default=CAPTURES)
    given = options.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        # One behind the other: each start of tshark takes longer than what it shows.
        together = os.path.join(folder, "together.pcap")
        subprocess.run(["mergecap", "-a", "-w", together, *map(harness.capture, given.captures)], check=True)
        for complaint in complaints(given, together):
            wrong += 1
            print(f"{' '.join(given.captures)}: {complaint}", flush=True)
    if wrong and len(given.captures) > 1:
        for name in given.captures:
            print(alone.command("--plugin", given.plugin, "--renamed-entries", given.renamed_entries, "--renamed", given.renamed, name))
    print(f"{len(given.captures)} captures, {wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
