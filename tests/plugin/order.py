#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""order.py [CAPTURE...]: a frame shows the same fields in whatever order frames are looked at.

sharkd loads a capture and dissects single frames on request, as the window does when a row is clicked. The frames are asked
for in order, backwards, and in random order; each time the whole tree and the columns have to be the same, and they hold
what the plugin draws. RPCRDMA_PLUGIN names the plugin, as for cmake/tshark-with-plugin.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402

CAPTURES = ["rxe-kpeer-read-too-big-inline", "rxe-nfs41-basic", "siw-nfs41-basic", "siw-upeer-done-good", "rxe-nfs3-dup-reorder"]
MOST = 250  # frames of a capture


class Sharkd:
    """One session with a capture open."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [os.path.join(harness.ROOT, "cmake", "tshark-with-plugin"), "-"], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "RPCRDMA_PROGRAM": "sharkd"})
        self.requests = 0
        self.ask("load", file=path)
        self.frames = self.ask("status")["frames"]

    def ask(self, method, **params):
        self.requests += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}), file=self.process.stdin,
              flush=True)
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"sharkd ends at {method} {params}")
            answer = json.loads(line)
            if answer.get("id") != self.requests:
                continue
            if "error" in answer:
                raise SystemExit(f"sharkd: {method} {params}: {answer['error']}")
            return answer["result"]

    def frame(self, number):
        answer = self.ask("frame", frame=number, proto=True, columns=True)
        return {"tree": answer["tree"], "columns": answer.get("col")}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def filters_of(tree):
    """The filter expressions of all items: a field and its value."""
    for item in tree:
        if "f" in item:
            yield item["f"]
        yield from filters_of(item.get("n", []))


def complaints(path):
    session = Sharkd(path)
    numbers = list(range(1, min(session.frames, MOST) + 1))
    dice = random.Random(8166)
    shuffled = numbers * 2
    dice.shuffle(shuffled)
    in_order = {n: session.frame(n) for n in numbers}
    session.end()
    session = Sharkd(path)  # one in which nobody has gone through in order
    for n in shuffled + numbers[::-1]:
        if session.frame(n) != in_order[n]:
            yield f"frame {n} differs"
            break
    session.end()
    drawn = [f for tree in in_order.values() for f in filters_of(tree["tree"]) if f.startswith("rpcordma.")]
    for field in ("rpcordma.direction", "rpcordma.connection", "rpcordma.xid"):
        if not any(f.startswith(field + " ") for f in drawn):
            yield f"nowhere {field}: is the plugin loaded?"


def main():
    wrong = 0
    paths = sys.argv[1:] or [harness.capture(name) for name in CAPTURES]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # for root, sharkd runs as nobody
        for path in paths:
            for complaint in complaints(shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))):
                wrong += 1
                print(f"{os.path.basename(path)}: {complaint}\n    {alone.command(path)}", flush=True)
    print(f"{len(paths)} captures, {wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
