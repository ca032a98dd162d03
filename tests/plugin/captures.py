#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""captures.py --plugin SO --analyzer PATH [--folder FOLDER] [--only REGEX] [--stock nfs|all]: recorded captures through tshark, in one pass and two.

Decode, with --stock with stock tshark's figures beside:
  malformed   frames with _ws.malformed; may be only where known.py says that octets are wrong on the wire
  bugs        frames with a "Dissector bug"
  unknown     RPC messages whose operation is not shown although it could be: a Reply without program (its Call's octets, XID,
              CALL, RPC version 2, stand in the file), or an NFS message without procedure, or a COMPOUND that shows fewer
              operations than its own count says. Frames that the capture cut are not asked
  twice       RPC Calls and Replies that are shown more than once, by frame and XID of the Call
Agreement with the analyzer:
  private data (frame, sizes, R, offset), numbers of Calls and Replies, RPC messages given to the RPC dissector,
  and with -2 the set of (rule, primary frame)
"""
import argparse
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import known  # noqa: E402
import tshark  # noqa: E402

DECODE = ["frame.number", "frame.len", "frame.cap_len", "_ws.malformed", "_ws.expert.message", "rpc.msgtyp", "rpc.xid",
          "rpc.program", "rpc.programversion", "rpc.procedure", "rpc.state_accept", "rpc.replystat", "nfs.procedure_v3", "nfs.opcode",
          "nfs.ops.count", "nfs.cb.operation"]
OURS = ["rpcordma.finding", "rpcordma.cm.send_size", "rpcordma.cm.receive_size", "rpcordma.cm.remote_invalidation", "rpcordma.cm.offset",
        "rpcordma.direction", "rpcordma.payload", "rpcordma.connection", "rpcordma.xid"]
NFS, NFS_CB = 100003, 0x40000000
CALL, REPLY = "0", "1"
WANTED = "rpc or _ws.malformed or rpcordma or _ws.expert.message contains \"Dissector bug\""


class Figures:
    """What one run of tshark made of one capture."""

    def __init__(self):
        self.malformed, self.bugs, self.unknown, self.rpc = [], [], [], collections.Counter()
        self.seen = collections.Counter()
        self.findings, self.private_data, self.directions = collections.Counter(), [], collections.Counter()
        self.incomplete, self.shown = 0, 0

    def line(self):
        twice = sum(n - 1 for n in self.seen.values())
        return f"{len(self.malformed)}/{len(self.bugs)}/{len(self.unknown)}/{twice}"


def call_is_here(octets, xid):
    return bytes.fromhex(xid[2:].rjust(8, "0")) + b"\0\0\0\0\0\0\0\2" in octets


def unknown_operations(row, octets, whole):
    """Of the RPC messages of a frame, those whose operation is not shown."""
    kinds, xids, programs = row["rpc.msgtyp"], row["rpc.xid"], row["rpc.program"]
    if row["frame.len"] != row["frame.cap_len"] or not whole:
        return 0
    # A Reply's program is generated from its Call; without one there is none, or 0.
    known_programs = [int(p) for p in programs if int(p) != 0]
    missing = 0
    if len(known_programs) < len(kinds):
        missing = sum(1 for k, x in zip(kinds, xids) if k == CALL or call_is_here(octets, x))
        missing = min(missing, len(kinds) - len(known_programs))
    if len(kinds) == 1 and len(known_programs) == 1 and known_programs[0] == NFS:
        accepted = kinds[0] == CALL or (row["rpc.state_accept"] or ["0"])[0] == "0" and (row["rpc.replystat"] or ["0"])[0] == "0"
        compound = row["rpc.programversion"] == ["4"] and row["rpc.procedure"] == ["1"]
        if compound and accepted:
            if not row["nfs.opcode"]:
                missing += 1
            elif row["nfs.ops.count"] and sum(map(int, row["nfs.ops.count"])) > len(row["nfs.opcode"]):
                missing += 1
    return missing


def look(shark, path, passes, plugin, octets, whole):
    figures = Figures()
    rows, done = shark.rows(path, DECODE + (OURS if plugin else []), display_filter=WANTED, passes=passes)
    if done.status not in (0, 2):
        raise SystemExit(f"{path}: tshark ends with {done.status}: {done.errors[-500:]}")
    for row in rows:
        frame = int(row["frame.number"][0])
        bug = any("issector bug" in m for m in row["_ws.expert.message"] + row["_ws.malformed"])
        if bug:
            figures.bugs.append(frame)
        elif row["_ws.malformed"]:
            figures.malformed.append(frame)
        if plugin and passes == 1 and row["rpcordma.xid"] and not row["rpcordma.connection"]:
            continue  # in advance: it is shown once more where its connection becomes known
        figures.rpc.update(row["rpc.msgtyp"])
        figures.seen.update((frame, x, k) for x, k in zip(row["rpc.xid"], row["rpc.msgtyp"]))
        if not known.wrong_on_the_wire(os.path.basename(path), frame):
            figures.unknown += [frame] * unknown_operations(row, octets, whole)
        if not plugin:
            continue
        figures.findings.update((r, frame) for r in row["rpcordma.finding"])
        for values in zip(*(row[n] for n in OURS[1:5])):
            figures.private_data.append((frame, *(int({"True": "1", "False": "0"}.get(v, v)) for v in values)))
        figures.directions.update(row["rpcordma.direction"])
        figures.incomplete += len(row["rpcordma.payload"])
        figures.shown += len(row["rpc.msgtyp"]) if row["rpcordma.connection"] else 0
    if "issector bug" in done.errors:
        figures.bugs.append(0)
    return figures


def disagreement(run, figures, passes, whole):
    """Lines about what the analyzer says otherwise."""
    wrong, announced, unanswered, calls, replies = [], [], set(), 0, 0
    for connection in run.connections():
        for side in ("client", "server"):
            said = connection["private_data"][side]
            if said:
                announced.append((said["frame"], said["send_size"], said["receive_size"], int(said["remote_invalidation"]),
                                  said["offset"]))
                if side == "client" and not connection["private_data"]["server"]:
                    unanswered.add(announced[-1][1:])
        messages = connection["messages"]
        calls += messages["calls"] + messages["reverse_calls"]
        replies += messages["replies"] + messages["reverse_replies"]
    shown = figures.private_data
    if passes == 1:
        # That a request is a repetition is known when it is answered or given up: one pass has shown its frame by then.
        shown = [s for s in shown if s in announced or s[1:] not in unanswered]
    if sorted(announced) != sorted(shown):
        wrong.append(f"private data: only the analyzer {sorted(set(announced) - set(shown))[:3]}, only the plugin {sorted(set(shown) - set(announced))[:3]}")
    counted = (figures.directions["Call"], figures.directions["Reply"])
    if (calls, replies) != counted:
        wrong.append(f"Calls and Replies: analyzer {(calls, replies)}, plugin {counted}")
    # Without the Call a Reply of several messages cannot be put together, and version 2 is not shown below its header.
    if passes == 2 and whole and {c["version"] for c in run.connections()} == {1} and calls + replies != figures.shown:
        wrong.append(f"RPC messages: {calls + replies} were sent, {figures.shown} are shown")
    if passes == 2:
        said = collections.Counter((f["rule"], f["frames"][0]) for f in run.findings() if f["frames"])
        if said != figures.findings:
            wrong.append(f"findings: only the analyzer {list((said - figures.findings).items())[:4]}, "
                         f"only the plugin {list((figures.findings - said).items())[:4]}")
    return wrong


class Comparison:
    def __init__(self, given, shark, stock):
        self.given, self.shark, self.stock = given, shark, stock

    def capture(self, path):
        name = os.path.basename(path)
        with open(path, "rb") as handle:
            octets = handle.read()
        run = harness.run(self.given.analyzer, path)
        if run.document is None:
            return name, [f"the analyzer gives no document: {run.errors[-200:]}"], "", None
        whole = not run.document["inputs"][0]["truncated_frames"]
        lacking = known.incomplete(name) or bool(known.NO_CALLS.search(known.stem(name)))
        wrong, columns, ours = [], [], {}
        for passes in (1, 2):
            figures = ours[passes] = look(self.shark, path, passes, True, octets, whole)
            twice = [k for k, n in figures.seen.items() if n > 1]
            for what, frames in (("malformed", [f for f in figures.malformed if not known.wrong_on_the_wire(name, f)]),
                                 ("dissector bug", figures.bugs), ("operation unknown", [] if known.incomplete(name) else figures.unknown), ("shown twice", twice)):
                if frames:
                    wrong.append(f"{passes} pass: {what}: {frames[:6]}")
            if run.connections():
                wrong += [f"{passes} pass: {line}" for line in disagreement(run, figures, passes, whole and not lacking)]
            columns.append(figures.line())
        # What a Call lacks may be known only at the end: then one pass has shown its frame already.
        if not lacking and ours[1].rpc != ours[2].rpc:
            wrong.append(f"RPC messages shown: {dict(ours[1].rpc)} in one pass, {dict(ours[2].rpc)} in two")
        stock = {}
        if self.given.stock == "all" or self.given.stock == "nfs" and "-nfs" in name:
            for passes in (1, 2):
                stock[passes] = look(self.stock, path, passes, False, octets, whole)
                columns.append(stock[passes].line())
        return name, wrong, "  ".join(c.rjust(11) for c in columns), (ours, stock)


def total(results, what):
    """Sums of a list of figures: plugin 1 and 2 passes, stock 1 and 2 passes."""
    return [sum(len(getattr(r[side][p], what)) for r in results if p in r[side]) for side in (0, 1) for p in (1, 2)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--analyzer", required=True)
    options.add_argument("--folder", action="append", default=[], help="other captures than the bundled ones")
    options.add_argument("--only", default="", help="regular expression for names")
    options.add_argument("--stock", choices=["none", "nfs", "all"], default="none", help="of which captures stock's figures are shown")
    given = options.parse_args()
    paths = harness.captures()
    if given.folder:
        paths = sorted(os.path.join(f, n) for f in given.folder for n in os.listdir(f) if n.endswith((".pcap", ".pcapng", ".erf")))
    paths = [p for p in paths if re.search(given.only, os.path.basename(p))]
    if not paths:
        raise SystemExit("no capture")
    failed = 0
    with tshark.Tshark(given.plugin, one_start=given.one_start) as shark, tshark.Tshark(one_start=given.one_start) as stock:
        comparison = Comparison(given, shark, stock)
        results = [comparison.capture(path) for path in paths]
    print("malformed/bugs/unknown/twice: plugin in 1 pass, in 2" + ("; stock in 1 pass, in 2" if given.stock != "none" else ""))
    for name, wrong, line, _ in results:
        print(f"{name:45} {line}")
        failed += bool(wrong)
        for problem in wrong:
            print(f"    WRONG {problem}")
        if wrong:
            folders = [word for f in given.folder for word in ("--folder", f)]
            print("    " + alone.command("--plugin", given.plugin, "--analyzer", given.analyzer, *folders, "--only", f"^{re.escape(name)}$"))
    compared = [r for *_, r in results if r and r[1]]
    if compared:
        print(f"{len(compared)} captures with stock's figures; plugin 1 pass, 2 passes, stock 1 pass, 2 passes:")
        for what in ("malformed", "bugs", "unknown"):
            print(f"    frames {what}: {total(compared, what)}")
    print(f"{len(results)} captures, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
