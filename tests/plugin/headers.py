#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""headers.py --plugin SO --forge PATH: every octet of a header belongs to a field, and every octet of a Send is shown.

By the positions in PDML: the leaves below a message cover its header without a hole, and what comes behind it, or is said to be not
decoded, covers the rest of the packet. Recorded captures of both versions, every scenario of version 2, and those of version 1 whose
headers cannot be decoded. Where stock tshark shows RPC behind a header of either kind, or of a version that is not the connection's, so
does tshark with the plugin.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402
import tshark  # noqa: E402

HEADERS = ["rxe-nfs3-basic", "siw-nfs41-basic", "rxe-upeer-msgp", "rxe-upeer-err-vers", "siw-upeer-err-chunk", "rxe-upeer-done-good",
           "rxe-kpeer-two-write-chunks", "siw-upeer-reply-chunk-3segs", "siw-kpeer-write-read-chunk-two", "siw-kpeer-short-header"]
SCENARIOS = os.path.join(harness.ROOT, "captures", "scenarios")
VERSION_2 = os.path.join(harness.ROOT, "captures", "v2")
FABRICS = ["rocev2", "iwarp"]  # by turns
BROKEN = ["unknown-proc", "header-too-short", "header-as-short-as-allowed", "bad-version", "field-header-misread",
          "version-3-refused-otherwise", "error-fields-version", "reply-resource-shortage-cut"]
SEND_IN_ONE = ("4", "5", "23")  # opcodes


def forged(forge, folder):
    version_2 = sorted(n[:-5] for n in os.listdir(SCENARIOS) if n.startswith("v2-") and n.endswith(".yaml"))
    scenarios = {forging.name_of(path): scenario for path, scenario in forging.scenarios().items()}
    for name, fabric in [*((n, FABRICS[at % 2]) for at, n in enumerate(version_2)), *((n, "rocev2") for n in BROKEN)]:
        fabric = next(f for f in [fabric, *FABRICS, "iwarp-split"] if forging.plays_on(scenarios[name], f))
        path = os.path.join(folder, name + ".pcap")
        subprocess.run([forge, os.path.join(SCENARIOS, name + ".yaml"), "--transport", fabric, "--out", path], check=True, capture_output=True)
        yield path


def octets_of_list(field, inner, at, length):
    """A list's own octets: the words that say whether another item follows, or how many there are. A segment has none."""
    taken = set()
    for f in inner:
        taken.update(range(int(f.get("pos")), int(f.get("pos")) + int(f.get("size"))))
    own = [i for i in range(at, at + length) if i not in taken]
    items = sum(1 for f in inner if len(f))
    return own if field.get("name", "").startswith("rpcordma.") and items and len(own) <= 4 * (items + 1) else []


def holes(message):
    """-> (octets of the header, those that no field has)"""
    start, size = int(message.get("pos")), int(message.get("size"))
    covered, leaves = set(), [message]
    while leaves:
        field = leaves.pop()
        inner = [f for f in field.findall("field") if int(f.get("size") or 0) and f.get("hide") != "yes"]
        if field is not message:
            at, length = int(field.get("pos")), int(field.get("size"))
            covered.update(range(at, at + length))
            if inner and length > 4:  # a list's own word is what is not its segments'
                covered.difference_update(range(at, at + length))
                covered.update(octets_of_list(field, inner, at, length))
        leaves += inner
    return size, [i - start for i in range(start, start + size) if i not in covered]


def places(elements):
    """The octets of a frame that these say they are."""
    return {i for e in elements for i in range(int(e.get("pos") or 0), int(e.get("pos") or 0) + int(e.get("size") or 0))}


def not_shown(packet, message):
    """Octets of the Send that neither the message nor anything behind it shows. None: the Send is not one packet of RoCE, or RPC is
    shown elsewhere, with its chunks or its other parts."""
    infiniband = packet.find("./proto[@name='infiniband']")
    fields = {f.get("name"): f for f in infiniband.iter("field")} if infiniband is not None else {}
    elsewhere = packet.find("./proto[@name='rpcordma']/field[@name='rpcordma.rpc_in']") is not None
    if elsewhere or "infiniband.invariant.crc" not in fields or fields["infiniband.bth.opcode"].get("show") not in SEND_IN_ONE:
        return None
    end = int(fields["infiniband.invariant.crc"].get("pos")) - int(fields["infiniband.bth.padcnt"].get("show"))
    behind = [e for proto in list(packet)[list(packet).index(message) + 1:] for e in proto.iter() if e.get("pos") is not None]
    return sorted(set(range(int(message.get("pos")), end)) - places(message.iter("field")) - places(behind))


def with_rpc(tshark_of, path, passes):
    """Frames in which RPC is shown."""
    rows, _ = tshark_of.rows(path, ["frame.number", "frame.protocols"], passes=passes)
    return {int(row["frame.number"][0]) for row in rows if "rpc" in row["frame.protocols"][0].split(":")}


def unnoticed(message):
    """-> (leaves tried, names of those whose loss holes() does not notice): the test has to be able to fail."""
    parents = {inner: field for field in message.iter() for inner in field}
    end = int(message.get("pos")) + int(message.get("size"))  # what stands behind is no header's
    leaves = [f for f in parents if int(f.get("size") or 0) and int(f.get("pos")) < end and f.get("hide") != "yes" and not len(f)]
    owners = collections.Counter(i for f in leaves for i in range(int(f.get("pos")), int(f.get("pos")) + int(f.get("size"))))
    tried, out = 0, []
    for leaf in leaves:
        parent = parents[leaf]
        alone = (parent.get("pos"), parent.get("size")) == (leaf.get("pos"), leaf.get("size"))
        if alone or any(owners[i] > 1 for i in range(int(leaf.get("pos")), int(leaf.get("pos")) + int(leaf.get("size")))):
            continue  # what remains has its octets: a list cut off behind its first word, flags of one octet
        at = list(parent).index(leaf)
        parent.remove(leaf)
        tried += 1
        if not holes(message)[1]:
            out.append(leaf.get("name"))
        parent.insert(at, leaf)
    return tried, out


def look(ours, path, complete):
    """-> (headers by version, complaints). `complete`: Sends are to be shown to their last octet."""
    seen, wrong = {"1": 0, "2": 0, "taken": 0, "sends": 0, "rpc": 0}, []
    done = ours.run("-2", "-r", path, "-T", "pdml", "-Y", "rpcordma.direction")
    for packet in ElementTree.fromstring(done.output).iter("packet"):
        for message in packet.iter("proto"):
            if message.get("name") != "rpcordma" or message.find("./field[@name='rpcordma.direction']") is None:
                continue
            frame = packet.find("./proto[@name='geninfo']/field[@name='num']").get("show")
            lacking = not_shown(packet, message) if complete else None
            seen["sends"] += lacking is not None
            if lacking:
                wrong.append(f"{os.path.basename(path)}: frame {frame}: octets {lacking[:8]} of the Send are not shown")
            version = message.find("./field[@name='rpcordma.version']")
            if version is None:
                continue
            size, hole = holes(message)
            if size < 4 or hole:
                wrong.append(f"{os.path.basename(path)}: frame {frame}: octets {hole[:8]} of {size} belong to no field")
            tried, missed = unnoticed(message)
            seen["taken"] += tried
            wrong += [f"{os.path.basename(path)}: the test would not miss {name}" for name in missed]
            if version.get("show") in seen:
                seen[version.get("show")] += 1
    return seen, wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--forge", required=True)
    options.add_argument("--only", default="", help="regular expression for names")
    given = options.parse_args()
    with (tshark.Tshark(given.plugin, one_start=given.one_start) as ours, tshark.Tshark(one_start=given.one_start) as stock,
          tempfile.TemporaryDirectory() as folder):
        os.chmod(folder, 0o755)
        recorded = [os.path.join(VERSION_2, n) for n in sorted(os.listdir(VERSION_2)) if n.endswith(".pcap")]
        paths = [harness.capture(n) for n in HEADERS] + recorded + list(forged(given.forge, folder))
        paths = [p for p in paths if re.search(given.only, os.path.basename(p))]
        results = [look(ours, path, os.path.basename(path)[:-5] in BROKEN) for path in paths]
        for path, (seen, wrong) in zip(paths, results):
            if path in recorded or os.path.basename(path)[:-5] in BROKEN:
                theirs = with_rpc(stock, path, 1)
                seen["rpc"] = len(theirs)
                wrong += [f"{os.path.basename(path)}: frame {frame}: stock tshark shows RPC there"
                          for frame in sorted(theirs - with_rpc(ours, path, 2))]
    wrong = [line for _, lines in results for line in lines]
    for line in wrong[:40]:
        print(f"WRONG {line}")
    for path, (_, lines) in zip(paths, results):
        if lines:
            print("    " + alone.command("--plugin", given.plugin, "--forge", given.forge, "--only", f"^{re.escape(os.path.basename(path))}$"))
    seen = {v: sum(counts[v] for counts, _ in results) for v in ("1", "2", "taken", "sends", "rpc")}
    print(f"{len(paths)} captures, {seen['1']} headers of version 1 and {seen['2']} of version 2, {seen['taken']} fields taken away for a try, "
          f"{seen['sends']} Sends to their end, {seen['rpc']} with RPC in stock tshark, {len(wrong)} complaints")
    if given.only:
        return 1 if wrong or not paths else 0
    return 1 if wrong or seen["1"] < 50 or seen["2"] < 400 or seen["taken"] < 5000 or seen["sends"] < 20 or seen["rpc"] < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
