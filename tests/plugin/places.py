#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""places.py --plugin SO --forge PATH: each thing stands in the frame where Wireshark has it, and the list says so.

An RDMA operation whose FPDU TCP cut in pieces is shown where it ends, so that one pass shows as many as two do, and the RPC message
that it makes whole has the Info column. Each piece of a version 2 message names the frame that shows its RPC message, and each message
has the thresholds of its time. Pieces of a message that was given up, or that is not there as a whole, are no part of another. A message
that had to wait for another is shown in its own frame by the second pass, and behind a hole as if nothing was missing. One of which nobody
knows whose it is shows by then what stock tshark shows. What is there a second time has its header, and its RPC
message once. Private data of another version, or cut short, are not said to be absent. A Call is counted once where its Reply stands in the same frame. A Reply behind the close is shown. One that is shown without
what was written is not said to be cut by the capture, and one that lacks packets not to be malformed. Of
the messages of a frame none is one too many. Two messages of
one frame are told apart in the list. The table of
connections has what the server grants, whatever callbacks are granted. Of several messages of one TCP segment the list
names each, and a finding stands at its own. Who saves the frame of an RPC message has saved those that it is
put together of. Of the frames that a read filter leaves, each shows the same as without it.
"""
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402
import pcapfile  # noqa: E402
import tshark  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
INFO = ("-o", 'gui.column.format:"Number","%m","Info","%i"')


class Places:
    def __init__(self, given, shark, folder):
        self.forge, self.shark, self.folder = given.forge, shark, folder
        self.wrong, self.asked = [], 0

    def forged(self, story, fabric):
        path = os.path.join(self.folder, f"{story}-{fabric}.pcap")
        subprocess.run([self.forge, os.path.join(HERE, "stories", story + ".yaml"), "--transport", fabric, "--out", path], check=True)
        return path

    def wants(self, what, yes):
        self.asked += 1
        if not yes:
            self.wrong.append(what)

    def info(self, path, wanted, passes=2):
        """{frame: Info}"""
        lines = self.shark.run(*["-2"] * (passes - 1), "-r", path, "-Y", wanted, *INFO).output.splitlines()
        return {int(number): text for number, _, text in (line.strip().partition(" ") for line in lines) if number}

    def segments(self):
        path = self.forged("long-messages", "iwarp-split")
        shown = []
        for passes in (1, 2):
            rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.operation", "rpcordma.rdma_offset"],
                                      display_filter="rpcordma.operation", passes=passes)
            shown.append([(row["frame.number"][0], row["rpcordma.operation"]) for row in rows])
        operations = [sum(len(kinds) for _, kinds in one) for one in shown]
        self.wants(f"{path}: {operations[0]} operations in one pass, {operations[1]} in two", shown[0] == shown[1] and operations[0] > 20)
        silent = {frame: text for frame, text in self.info(path, "rpc").items() if " Call" not in text and " Reply" not in text}
        self.wants(f"{path}: RPC is shown, and the list does not say so: {silent}", not silent)

    def pieces(self, fabric):
        path = self.forged("in-pieces", fabric)
        rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.v2.htype", "rpcordma.rpc_in", "rpcordma.xid", "rpc.xid"],
                                  display_filter="rpcordma.v2.htype", passes=2)
        rpc = {(row["rpc.xid"][0], row["rpcordma.v2.htype"][0] in ("8", "9", "10")): row["frame.number"][0] for row in rows if row["rpc.xid"]}
        middles = 0
        for row in rows:
            for htype, xid in zip(row["rpcordma.v2.htype"], row["rpcordma.xid"]):
                if htype not in ("9", "12"):  # RDMA2_CALL_MIDDLE, RDMA2_REPLY_MIDDLE
                    continue
                middles += 1
                there = rpc.get((xid, htype == "9"))
                self.wants(f"{path}: frame {row['frame.number'][0]}: the message is in {there}, and not in {row['rpcordma.rpc_in']}",
                           row["rpcordma.rpc_in"] == [there])
        self.wants(f"{path}: {middles} middle pieces", middles == 5)

    def thresholds(self, fabric):
        path = self.forged("in-pieces", fabric)
        names = ["rpcordma.threshold.client_to_server", "rpcordma.threshold.server_to_client"]
        rows, _ = self.shark.rows(path, ["frame.number", *names], display_filter="rpcordma.direction", passes=2)
        told = [(row[names[0]], row[names[1]]) for row in rows]
        # The client's properties come first; both sides' are what a threshold is made of.
        self.wants(f"{path}: thresholds {told}", told[0] == (["4096"], ["4096"]) and told[-1] == (["8192"], ["8192"]))

    def own_pieces(self, fabric):
        names = ["rpc.xid", "rpc.msgtyp", "nfs.data", "rpcordma.payload", "_ws.malformed"]
        told = {}
        for story in ("begun-again", "piece-lost"):
            rows, _ = self.shark.rows(self.forged(story, fabric), names, display_filter="rpc or _ws.malformed", passes=2)
            self.wants(f"{story} on {fabric}: malformed", rows and not any(row["_ws.malformed"] for row in rows))
            told[story] = [[v for row in rows for v in row[name]] for name in names[2:4]]
        # The forge fills data of one length with the same octets.
        octets = {story: [len(data) // 2 for data in values[0]] for story, values in told.items()}
        self.wants(f"begun-again on {fabric}: {octets}", octets["begun-again"] == [3000] * 4 and not told["begun-again"][1]
                   and len(set(told["begun-again"][0])) == 1)
        torn = told["piece-lost"][1]
        self.wants(f"piece-lost on {fabric}: {octets}, {torn}", octets["piece-lost"][:1] == [876] and octets["piece-lost"][-2:] == [2000, 400]
                   and torn and all("A part" in text for text in torn))

    def part(self, name, keep):
        """The frames of a bundled capture that `keep(number, octets)` keeps."""
        path = os.path.join(self.folder, f"part-of-{name}.pcap")
        header, records = pcapfile.read(harness.capture(name))
        pcapfile.write(path, header, [record for number, record in enumerate(records, 1) if keep(number, record[16:])])
        return path

    def whose_is_not_known(self, name, keep, stock):
        """As long as one direction is all that there is, nobody knows the connection: one pass shows no less than stock tshark."""
        path = self.part(name, keep)
        for field in ("rpcordma.xid", "rpc.xid"):
            shown = []
            for shark in (stock, self.shark):
                rows, _ = shark.rows(path, ["frame.number", field], display_filter=field)
                shown.append({(row["frame.number"][0], xid) for row in rows for xid in row[field]})
            self.wants(f"{path}: {field}: only in stock tshark {sorted(shown[0] - shown[1])[:5]}", len(shown[0]) > 1 and shown[0] <= shown[1])
        rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.xid", "rpc.xid"], display_filter="rpcordma.xid", passes=2)
        twice = [row["frame.number"][0] for row in rows if len(row["rpcordma.xid"]) > 1 or len(row["rpc.xid"]) > 1]
        self.wants(f"{path}: frames {twice} of {len(rows)} show a message twice", rows and not twice)

    def own_frames(self):
        for name, steps in (("capture-gap-and-the-calls-behind-it", ("behind it", "broken", "later")),
                            ("two-offers-and-one-done", ("one", "first offer", "second offer"))):
            path = os.path.join(self.folder, name + ".pcap")
            subprocess.run([self.forge, os.path.join(forging.SCENARIOS, name + ".yaml"), "--transport", "rocev2", "--out", path, "--map", path + ".map"], check=True)
            with open(path + ".map", encoding="utf-8") as file:
                frames = {step: frames[0] for step, frames in json.load(file)["steps"].items()}
            rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.direction"],
                                      display_filter="rpcordma.direction", passes=2)
            shown = {int(row["frame.number"][0]): len(row["rpcordma.direction"]) for row in rows}
            self.wants(f"{name}: messages in frames {shown}, the steps are {frames}", all(shown.get(frames[step]) == 1 for step in steps)
                       and set(shown.values()) == {1})

    def behind_a_hole(self, fabric):
        """What had to wait behind frames that the capture lacks is shown as if they were there."""
        links, same = ["rpc.reqframe", "rpc.repframe"], ["rpc.xid", "rpc.msgtyp", "nfs.procedure_v3", "nfs.data", "nfs.name", "rpcordma.direction"]
        part = self.forged("exchange-lost", fabric)
        with open(os.path.join(HERE, "stories", "exchange-lost.yaml"), encoding="utf-8") as file:
            story = file.read().replace("    lose: all\n", "")
        there = os.path.join(self.folder, f"exchange-there-{fabric}.pcap")
        with open(there + ".yaml", "w", encoding="utf-8") as file:
            file.write(story)
        subprocess.run([self.forge, there + ".yaml", "--transport", fabric, "--out", there], check=True)
        shown = []
        for path in (there, part):
            rows, _ = self.shark.rows(path, ["frame.number", *links, *same], passes=2)
            shown.append(rows)
        lost = len(shown[0]) - len(shown[1])
        calls = [int(row["frame.number"][0]) for row in shown[0] if row["rpcordma.direction"] == ["Call"]]
        hole = calls[1]  # the second exchange is not there
        mapped = lambda number: str(int(number) - (lost if int(number) > hole else 0))  # noqa: E731
        whole = [row for row in shown[0] if not hole <= int(row["frame.number"][0]) < hole + lost]
        other = [row["frame.number"][0] for row, wanted in zip(shown[1], whole)
                 if any(row[name] != wanted[name] for name in same) or any(row[name] != [mapped(n) for n in wanted[name]] for name in links)]
        self.wants(f"{part}: frames {other} show something else than in {there}", lost == 4 and len(calls) == 7 and not other)

    def many_in_a_frame(self, passes):
        """Wireshark counts the dissectors of a frame, which may be many; with a low limit a few messages do for thousands."""
        path = self.forged("many-behind-a-hole", "iwarp")
        told = self.shark.run(*["-2"] * (passes - 1), "-r", path, "-o", "gui.max_tree_depth:50", "-Y", "rpc", "-T", "fields", "-e", "frame.number",
                              "-e", "nfs.procedure_v3", "-E", "occurrence=a")
        rows = [line.split("\t") for line in told.output.splitlines() if line]
        most, all_told = max(row[1].count(",") + 1 for row in rows), sum(row[1].split(",").count("1") for row in rows)
        self.wants(f"{path}, {passes}: {rows}", all_told == 64 and (most > 50) == (passes == 1))

    def counted_once(self):
        """A Call that is shown in the frame of its Reply is one for Wireshark's own statistics."""
        path = self.forged("two-in-a-frame", "rocev2")
        for passes in (1, 2):
            table = self.shark.run(*["-2"] * (passes - 1), "-q", "-r", path, "-z", "rpc,srt,100003,3").output
            rows = [line.split()[2] for line in table.splitlines() if " WRITE " in line]
            self.wants(f"{path}, pass {passes}: {rows}", rows == ["1"])

    def why_not_shown(self, path, lacking):
        """Each Call and Reply is shown as an RPC message, here or where its link leads, or something says why it is not."""
        rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.direction", "rpc.xid", "rpcordma.rpc_in", "rpcordma.payload"], passes=2)
        rpc = {row["frame.number"][0] for row in rows if row["rpc.xid"]}
        messages = [row for row in rows if set(row["rpcordma.direction"]) & {"Call", "Reply"}]
        astray = [row["frame.number"][0] for row in messages if not set(row["rpcordma.rpc_in"]) <= rpc]
        silent = [row["frame.number"][0] for row in messages if not row["rpc.xid"] and not row["rpcordma.rpc_in"] and not row["rpcordma.payload"]]
        told = [row["frame.number"][0] for row in rows if row["rpcordma.payload"]]
        self.wants(f"{path}: links of {astray} lead to no RPC message, nothing is said of {silent}, something of {told}",
                   messages and not astray and not silent and len(told) == lacking)

    def times(self, name):
        """Each answer is as late as it stands behind its Call, the second one of a Call too."""
        path = harness.capture(name)
        rows, _ = self.shark.rows(path, ["frame.number", "frame.time_relative", "rpcordma.direction", "rpcordma.call_in", "rpcordma.time"], passes=2)
        at = {row["frame.number"][0]: float(row["frame.time_relative"][0]) for row in rows}
        answers = [row for row in rows if row["rpcordma.time"]]
        other = [row["frame.number"][0] for row in answers
                 if abs(float(row["rpcordma.time"][0]) - at[row["frame.number"][0]] + at[row["rpcordma.call_in"][0]]) > 1e-7]
        self.wants(f"{path}: the time of frames {other}", len(answers) > 2 and not other)

    def sent_again(self):
        """A message that was sent, or captured, before has its header all the same, and its RPC message once."""
        path = harness.capture("rxe-nfs3-lab-call-lost")
        rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.xid", "rpcordma.msg_type", "rpc.xid"], passes=2,
                                  display_filter="rpcordma.repeated and infiniband.bth.opcode == 4")
        self.wants(f"{path}: {rows}", len(rows) > 5 and all(row["rpcordma.xid"] and row["rpcordma.msg_type"] and not row["rpc.xid"] for row in rows))

    def private_data(self, fabric):
        """What says nothing is not shown as if it was not there."""
        for name, words, version in (("private-data-unknown-version", "not known", True), ("private-data-truncated", "end is missing", False),
                                     ("private-data-absent", "None of", None)):
            path = os.path.join(self.folder, f"{name}-{fabric}.pcap")
            subprocess.run([self.forge, os.path.join(forging.SCENARIOS, name + ".yaml"), "--transport", fabric, "--out", path], check=True)
            rows, _ = self.shark.rows(path, ["rpcordma.cm.absent", "rpcordma.cm.format_id", "rpcordma.cm.version"], display_filter="rpcordma.cm.absent", passes=2)
            told = [row for row in rows if words in row["rpcordma.cm.absent"][0]]
            self.wants(f"{path}: {rows}", told and all(bool(row["rpcordma.cm.format_id"]) == (version is not None) for row in told)
                       and (not version or all(row["rpcordma.cm.version"] for row in told)))

    def torn(self, story, fabric, passes):
        path = self.forged(story, fabric)
        told = self.info(path, "rpcordma.payload", passes)
        self.wants(f"{path}: {told}", len(told) == 2 and all("[a part of the message is missing]" in text and "limited" not in text
                                                             and "Malformed" not in text for text in told.values()))

    def data_twice(self, fabric, passes):
        """A WRITE that is sent again with its data in other memory: both are read, and both have them."""
        name = "call-retransmitted-in-other-segments"
        path = os.path.join(self.folder, f"{name}-{fabric}.pcap")
        subprocess.run([self.forge, os.path.join(forging.SCENARIOS, name + ".yaml"), "--transport", fabric, "--out", path], check=True)
        rows, _ = self.shark.rows(path, ["nfs.data", "rpcordma.payload"], display_filter="nfs.data or rpcordma.payload", passes=passes)
        told = [([len(data) // 2 for data in row["nfs.data"]], row["rpcordma.payload"]) for row in rows]
        self.wants(f"{path}, {passes}: {told}", told == [([2000], [])] * 2)

    def late(self):
        path = self.forged("late-reply", "rocev2")
        rows, _ = self.shark.rows(path, ["frame.number", "rpcordma.v2.htype", "rpc.msgtyp"], display_filter="rpcordma.v2.htype", passes=2)
        told = [(row["rpcordma.v2.htype"], row["rpc.msgtyp"]) for row in rows]
        self.wants(f"{path}: {told}", told == [(["10"], ["0"]), (["13"], ["1"])] * 2)

    def reduced(self):
        path = self.forged("place-not-known", "rocev2")
        told = self.info(path, "rpcordma.payload")
        self.wants(f"{path}: {told}", len(told) == 1 and all("[without the written octets]" in text and "limited" not in text
                                                             for text in told.values()))

    def lists(self, fabric):
        names = ["rpcordma.reads_count", "rpcordma.writes_count", "rpcordma.reply_count"]
        path = self.forged("lists-of-version-2", fabric)
        rows, _ = self.shark.rows(path, ["rpcordma.v2.htype", *names], display_filter="rpcordma.v2.htype", passes=2)
        told = [(row["rpcordma.v2.htype"], *(row[name] for name in names)) for row in rows]
        # RDMA2_CALL_INLINE (10) has three lists, RDMA2_REPLY_INLINE (13) has one, RDMA2_REPLY_EXTERNAL (11) two (draft, section 6.3)
        wanted = [("10", "0", "1", "0"), ("13", "", "1", ""), ("10", "3", "0", "0"), ("13", "", "0", ""), ("10", "0", "0", "1"), ("11", "", "0", "1")]
        self.wants(f"{path}: {told}", told == [tuple([v] if v else [] for v in values) for values in wanted])

    def credits(self, fabric):
        path = self.forged("callback-at-the-end", fabric)
        table = self.shark.run("-2", "-q", "-r", path, "-z", "rpcrdma,connections").output
        rows = [line.replace("|", " ").split() for line in table.splitlines() if "192.0.2." in line]
        # What the server grants in the story's peers, and two Calls, two Replies
        self.wants(f"{path}: {rows}", len(rows) == 1 and rows[0][6:9] == ["32", "2", "2"])

    def together(self, fabric, passes):
        path = self.forged("two-in-a-frame", fabric)
        told = [text for text in self.info(path, "rpc", passes).values() if " Call" in text and " Reply" in text.replace("(Reply In", "")]
        self.wants(f"{path}: {told}", len(told) == 1 and re.search(r"Call .*; V3 WRITE Reply", told[0]))

    def one_xid(self, name):
        """A message and what its chunks make of it have one XID."""
        rows, _ = self.shark.rows(harness.capture(name), ["frame.number", "rpcordma.xid"], display_filter="nfs.data and rpc.msgtyp == 1", passes=2)
        twice = [row for row in rows if len(row["rpcordma.xid"]) != 1]
        self.wants(f"{name}: {twice} of {len(rows)}", len(rows) > 2 and not twice)

    def saved(self, name, wanted):
        """With the displayed frames go those of which their RPC messages are put together."""
        path, out = harness.capture(name), os.path.join(self.folder, "saved")
        os.makedirs(out, exist_ok=True)
        os.chmod(out, 0o777)  # for root, tshark runs as nobody
        shown, _ = self.shark.rows(path, ["rpc.xid"], display_filter=wanted, passes=2)
        xids = {xid for row in shown for xid in row["rpc.xid"]}
        every, _ = self.shark.rows(path, ["frame.number", "frame.time_epoch", "rpcordma.xid", "rpcordma.operation", "rpcordma.message_in"], passes=2)
        parts = {row["frame.time_epoch"][0]: row["frame.number"][0] for row in every if row["rpcordma.operation"] and xids & set(row["rpcordma.xid"])}
        self.shark.run("-2", "-r", path, "-Y", wanted, "-w", os.path.join(out, name))
        rows, _ = self.shark.rows(os.path.join(out, name), ["frame.time_epoch"])
        there = {row["frame.time_epoch"][0] for row in rows}
        lacks = [frame for time, frame in parts.items() if time not in there]
        self.wants(f"{name} -Y '{wanted}': {len(rows)} frames are saved, and not {lacks[:9]}", not lacks and len(parts) > 10 and len(rows) < len(every))

    def saved_alone(self, name, frame):
        """Of one message what was saved with it is enough to show it: its Call, and the Writes between them."""
        names = ["rpc.msgtyp", "nfs.opcode", "nfs.data", "rpcordma.payload"]
        path, out = harness.capture(name), os.path.join(self.folder, "saved", f"{name}-{frame}")
        os.makedirs(os.path.dirname(out), exist_ok=True)
        os.chmod(os.path.dirname(out), 0o777)
        wanted = f"frame.number == {frame}"
        there, _ = self.shark.rows(path, names, display_filter=wanted, passes=2)
        self.shark.run("-2", "-r", path, "-Y", wanted, "-w", out)
        saved, _ = self.shark.rows(out, names, passes=2)
        self.wants(f"{name}, frame {frame}: {there}, and saved: {saved[-1:]}", len(saved) > 2 and there[0]["nfs.data"] and saved[-1] == there[0])

    def shared(self, passes):
        """Messages that share a TCP segment: each finding stands at its own, and the list names them all."""
        path = self.joined(self.forged("several-in-a-segment", "iwarp"), (12, 14, 16), (18, 20, 21, 23))
        texts = list(self.info(path, "rpcordma.xid == 0x20000003", passes).values())
        self.wants(f"{path}, {passes}: {texts}", len(texts) == 2 and re.search(r"READ Call.*; RDMA_MSG XID 0x20000003; .*GETATTR Call", texts[0])
                   and re.match(r"RDMA_ERROR XID 0x20000003; .*READ Reply.*; .*GETATTR Reply", texts[1]))
        tree = self.shark.run(*["-2"] * (passes - 1), "-r", path, "-Y", "rpcordma.xid == 0x20000003", "-V").output
        at_fault = [part.split("\n")[0] for part in tree.split("\nRPC over RDMA: ") if "[Finding: xdr-malformed]" in part]
        self.wants(f"{path}, {passes}: xdr-malformed stands at {at_fault}", len(at_fault) == 1 and "0x20000003" in at_fault[0])

    def joined(self, path, *groups):
        """The capture with the TCP segments of each group as one, in the place of its first; the acknowledgements between them are gone."""
        header, records = pcapfile.read(path)
        gone = set()
        for group in groups:
            gone |= set(range(group[0] + 1, group[-1] + 1))
            first = bytearray(records[group[0] - 1][16:])
            for frame in group[1:]:
                octets = records[frame - 1][16:]
                first += octets[self.behind_tcp(octets):14 + int.from_bytes(octets[16:18], "big")]
            first[16:18] = (len(first) - 14).to_bytes(2, "big")
            records[group[0] - 1] = records[group[0] - 1][:8] + struct.pack("<II", len(first), len(first)) + first
        pcapfile.write(path, header, [record for at, record in enumerate(records, 1) if at not in gone])
        return path

    @staticmethod
    def behind_tcp(octets):
        tcp = 14 + 4 * (octets[14] & 15)
        return tcp + 4 * (octets[tcp + 12] >> 4)

    def read_filter(self, name, wanted):
        """Wireshark gives the number of a frame that a read filter leaves out to the next one as well."""
        links = ["rpcordma.call_in", "rpcordma.reply_in", "rpcordma.rpc_in", "rpcordma.finding_of", "rpcordma.evidence_in"]
        same = ["rpcordma.direction", "rpcordma.operation", "rpcordma.xid", "rpcordma.finding", "rpcordma.evidence", "rpc.xid", "nfs.data"]
        path = harness.capture(name)
        there, _ = self.shark.rows(path, ["frame.number", *same, *links], display_filter=wanted, passes=2)
        filtered, _ = self.shark.rows(path, ["frame.number", *same, *links], "-R", wanted, passes=2)
        self.wants(f"{name} -R '{wanted}': {len(filtered)} frames, not {len(there)}", len(there) == len(filtered) > 5)
        number = {row["frame.number"][0]: str(at) for at, row in enumerate(there, 1)}
        for whole, part in zip(there, filtered):
            other = [field for field in same if whole[field] != part[field]]
            other += [field for field in links if [number[n] for n in whole[field] if n in number] != part[field]]
            self.wants(f"{name} -R '{wanted}': frame {whole['frame.number'][0]}: {other}", not other)


def from_host(host, frames=None):
    """For part(): those that 192.168.77.HOST sent, as far as up to this frame."""
    return lambda number, octets: octets[26:30] == bytes([192, 168, 77, host]) and number <= (frames or number)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--forge", required=True)
    given = options.parse_args()
    with (tshark.Tshark(given.plugin, one_start=given.one_start) as shark, tshark.Tshark(one_start=given.one_start) as stock,
          tempfile.TemporaryDirectory() as folder):
        os.chmod(folder, 0o755)
        places = Places(given, shark, folder)
        places.segments()
        places.pieces("rocev2")
        places.pieces("iwarp")
        places.own_pieces("rocev2")
        places.own_pieces("iwarp")
        places.thresholds("rocev2")
        places.thresholds("iwarp")
        places.own_frames()
        for sender in (1, 2):
            places.whose_is_not_known("rxe-nfs41-basic", from_host(sender, 500), stock)
        places.whose_is_not_known("rxe-nfs41-basic", lambda number, _: 120 < number <= 140, stock)
        for fabric in ("rocev2", "iwarp"):
            places.private_data(fabric)
        places.counted_once()
        places.times("rxe-upeer-reply-twice")
        places.why_not_shown(harness.capture("rxe-upeer-done-before-read-dereg"), 1)
        places.why_not_shown(harness.capture("rxe-upeer-long-call-unread"), 1)
        places.why_not_shown(places.part("siw-nfs40-basic", from_host(1)), 22)
        places.why_not_shown(harness.capture("rxe-nfs41-basic"), 0)
        places.sent_again()
        for fabric in ("rocev2", "rocev1", "infiniband", "iwarp"):
            places.behind_a_hole(fabric)
        for fabric in ("rocev2", "rocev1"):
            for passes in (1, 2):
                places.torn("packet-lost", fabric, passes)
                places.torn("last-packet-lost", fabric, passes)
        for passes in (1, 2):
            places.many_in_a_frame(passes)
            places.data_twice("rocev2", passes)
            places.data_twice("iwarp", passes)
        places.late()
        places.reduced()
        places.lists("rocev2")
        places.credits("rocev2")
        places.one_xid("rxe-nfs3-big-rw")
        places.saved("rxe-nfs3-big-rw", "nfs.procedure_v3 == 6")
        places.saved("rxe-nfs3-big-rw", "nfs.procedure_v3 == 7")
        places.saved("siw-nfs41-big-rw", "nfs.opcode == 25 or nfs.opcode == 38")
        places.saved_alone("rxe-nfs41-basic", 124)
        places.shared(1)
        places.shared(2)
        places.together("rocev2", 1)
        places.together("iwarp", 1)
        places.together("iwarp", 2)
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic", "rxe-upeer-credit-overrun-breaks"):
            for wanted in ("rpcordma.direction", "rpcordma.direction or rpcordma.operation", "ip.src == 192.168.77.1"):
                places.read_filter(name, wanted)
    for line in places.wrong:
        print(f"WRONG {line}")
    if places.wrong:
        print("    " + alone.command("--plugin", given.plugin, "--forge", given.forge))
    print(f"{places.asked} questions, {len(places.wrong)} wrong")
    return 1 if places.wrong or not places.asked else 0


if __name__ == "__main__":
    sys.exit(main())
