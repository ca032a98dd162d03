#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""networks.py --analyzer PATH --forge PATH: networks that use the same addresses, in VLANs and tunnels of their own.

They are told apart, and every report names the network of each connection: by what stands in the headers that are written here.
"""
import argparse
import itertools
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import tunnels  # noqa: E402


def vlan(number, kind=0x8100):
    """IEEE 802.1Q; a priority says nothing of the network."""
    return lambda f: f[:12] + struct.pack(">HH", kind, 0x6000 | number) + f[12:]


def vxlan(number):
    return lambda f: tunnels.over_udp(4789, struct.pack(">II", 0x08000000, number << 8) + f)


def with_its_port(one, other):
    """The client's port of the one for the other's."""
    def ports(frame):
        return struct.unpack(">HH", frame[34:38])
    new = next(max(ports(f[1])) for f in one.frames if f[1][23] == 6 and 20049 in ports(f[1]))
    old = next(max(ports(f[1])) for f in other.frames if f[1][23] == 6 and 20049 in ports(f[1]))
    for at, (time, frame, length) in enumerate(other.frames):
        if frame[12:14] == b"\x08\0" and frame[23] == 6 and old in ports(frame):
            changed = struct.pack(">HH", *(new if p == old else p for p in ports(frame)))
            other.frames[at] = (time, frame[:34] + changed + frame[38:], length)


class Networks(tunnels.Prepared):
    def test_the_same_addresses_in_two_networks(self):
        """Two mounts at the same time with the same addresses, ports and queue pairs, each in a VLAN or tunnel of its own."""
        def untagged(frame):
            return frame

        def nested(*wrappers):
            """The outermost first."""
            def change(frame):
                for wrap in reversed(wrappers):
                    frame = wrap(frame)
                return frame
            return change
        networks = {"two VLANs": ((vlan(10), ["VLAN 10"]), (vlan(20), ["VLAN 20"])), "one of them untagged": ((untagged, []), (vlan(20), ["VLAN 20"])),
                    "the tagged one first": ((vlan(20), ["VLAN 20"]), (untagged, [])), "VXLAN": ((vxlan(7), ["VXLAN 7"]), (vxlan(8), ["VXLAN 8"])),
                    "a VLAN and a VXLAN of the same number": ((vlan(7), ["VLAN 7"]), (vxlan(7), ["VXLAN 7"])),
                    "VLANs in VXLAN": ((nested(vxlan(7), vlan(10)), ["VXLAN 7, VLAN 10"]), (nested(vxlan(7), vlan(20)), ["VXLAN 7, VLAN 20"])),
                    "VXLAN in a VLAN": ((nested(vlan(10), vxlan(7)), ["VLAN 10, VXLAN 7"]), (nested(vlan(10), vxlan(8)), ["VLAN 10, VXLAN 8"])),
                    "four tags, of which the first differs": ((nested(vlan(1), vlan(2), vlan(3), vlan(4)), ["VLAN 1, VLAN 2, VLAN 3, VLAN 4"]),
                                                              (nested(vlan(257), vlan(2), vlan(3), vlan(4)), ["VLAN 257, VLAN 2, VLAN 3, VLAN 4"])),
                    "NVGRE": ((lambda f: tunnels.gre(0x6558, f, key=0x4D05), ["NVGRE 77"]), (lambda f: tunnels.gre(0x6558, f, key=0x4E05), ["NVGRE 78"])),
                    "GRE": ((tunnels.within_ip(lambda kind, p: tunnels.gre(kind, p, key=77)), ["GRE 77"]),
                            (tunnels.within_ip(lambda kind, p: tunnels.gre(kind, p, key=78)), ["GRE 78"])),
                    "there in one VLAN and back in the other": None}
        parts = ("messages", "operations", "credits", "thresholds", "procedures", "version")
        for names in (("rxe-nfs3-basic", "rxe-nfs41-krb5"), ("siw-nfs41-basic", "siw-nfs40-basic")):
            one, other = (tunnels.Capture(name, harness.capture(name)) for name in names)
            if names[0].startswith("siw"):
                with_its_port(one, other)
            shift = tunnels.stamp_of(one, one.frames[0]) - tunnels.stamp_of(other, other.frames[0])
            bare = [self.asked(harness.capture(name)) for name in names]
            for kind, wrap in networks.items():
                with self.subTest(names=names, kind=kind):
                    if wrap is None:
                        client = one.frames[0][1][6:12]
                        expected, named = [bare[0]], [["VLAN 10", "VLAN 20"]]
                        records = [(tunnels.stamp_of(one, f), vlan(10 if f[1][6:12] == client else 20)(f[1])) for f in one.frames]
                    else:
                        expected, named = bare, [name for _, name in wrap]
                        records = [(tunnels.stamp_of(one, f), wrap[0][0](f[1])) for f in one.frames]
                        records += [(tunnels.stamp_of(other, f) + shift, wrap[1][0](f[1])) for f in other.frames]
                    records.sort(key=lambda r: r[0])
                    path = os.path.join(self.folder.name, "networks.pcap")
                    pcapfile.write(path, one.header, [struct.pack("<IIII", *divmod(t, one.second), len(f), len(f)) + f for t, f in records])
                    document = self.asked(path)
                    for part in parts:
                        self.assertEqual(sorted((c[part] for c in document["connections"]), key=str),
                                         sorted((c[part] for d in expected for c in d["connections"]), key=str), part)
                    self.assertLessEqual({(f["rule"], f["severity"]) for f in document["findings"]},
                                         {(f["rule"], f["severity"]) for d in expected for f in d["findings"]})
                    self.assertEqual(len(document["mounts"]), len(expected))
                    # Which is which, their calls tell.
                    calls = {d["connections"][0]["messages"]["calls"]: name for d, name in zip(expected, named)}
                    self.assertEqual({c["messages"]["calls"]: c.get("networks", []) for c in document["connections"]}, calls)
                    self.named_in_every_format(path, document)

    def named_in_every_format(self, path, document):
        """... and the same with several threads."""
        def printed(*arguments):
            return [harness.run(tunnels.GIVEN.analyzer, "--no-progress", "-j", threads, *arguments, path, as_json=False).output for threads in ("1", "3")]
        one, several = printed("--format", "ndjson")
        self.assertEqual(one, several)
        lines = [json.loads(line) for line in one.splitlines()]
        self.assertEqual({c["id"]: c.get("networks") for c in lines if c["type"] == "connection"},
                         {c["id"]: c.get("networks") for c in document["connections"]})
        one, several = printed("-v")
        self.assertEqual(one, several)
        fields = re.findall(r"^ +network +(.*)$", one, re.MULTILINE)
        self.assertEqual(fields, [" and ".join(c["networks"]) for c in document["connections"] if "networks" in c])
        self.assertEqual(sorted(re.findall(r"^ *Mount \d+: client \S+, server \S+, in (.*)$", one, re.MULTILINE)), sorted(fields))
        one, several = printed("--format", "junit")
        self.assertEqual(one, several)
        self.assertEqual(re.findall('name="networks" value="([^"]*)"', one), fields)

    def test_a_client_of_each_network_probes_once(self):
        """The two connections of a client that probes version 2 again and again, in one network and in two."""
        path = os.path.join(self.folder.name, "loop.pcap")
        subprocess.run([tunnels.GIVEN.forge, os.path.join(harness.ROOT, "captures/scenarios/v2-negotiation-loop.yaml"), "--transport", "rocev2",
                        "--out", path], check=True)
        self.assertIn("version-negotiation-loop", {f["rule"] for f in self.asked(path)["findings"]})
        capture = tunnels.Capture("loop", path)
        connect_request = struct.pack(">H", 0x0010)
        second = [at for at, (_, f, _) in enumerate(capture.frames) if f[47:50] == b"\0\0\1" and f[78:80] == connect_request][1]
        records = [(tunnels.stamp_of(capture, one), vlan(10 if at < second else 20)(one[1])) for at, one in enumerate(capture.frames)]
        pcapfile.write(path, capture.header, [struct.pack("<IIII", *divmod(t, capture.second), len(f), len(f)) + f for t, f in records])
        self.assertEqual({f["rule"] for f in self.asked(path)["findings"]} & {"version-negotiation-loop", "private-data-changed"}, set())

    def test_more_networks_than_are_kept_apart(self):
        """Eight VLANs with the same addresses, and untagged packets: one too many, and it says so."""
        capture = next(c for c in self.captures if c.name == "siw-nfs41-basic")
        syn = next(f for _, f, _ in capture.frames if f[12:14] == b"\x08\0" and f[23] == 6 and f[47] == 0x02)
        for vlans, told in ((7, 0), (8, 1), (20, 1)):
            syns = [syn[:12] + struct.pack(">HH", 0x8100, 100 + n) + syn[12:38] + struct.pack(">I", n * 1000) + syn[42:] for n in range(1, vlans + 1)]
            records = [capture.frames[0][0] + struct.pack("<II", len(f), len(f)) + f for f in syns]
            path = os.path.join(self.folder.name, "vlans.pcap")
            pcapfile.write(path, capture.header, records + [t + struct.pack("<II", len(f), n) + f for t, f, n in capture.frames])
            reasons = [u["reason"] for u in self.asked(path)["unchecked"] if "limit on what is kept" in u["reason"]]
            self.assertEqual(len(reasons), told, vlans)

    def test_each_is_named_by_its_own_packets(self):
        """What begins in the middle in two VLANs is one network; what has ports of its own is named by its own packets all the same. What
        has the same queue pairs cannot be told apart, and is of both."""
        for names, expected in ((("siw-nfs41-basic", "siw-nfs40-basic"), [["VLAN 10"], ["VLAN 20"]]),
                                (("rxe-nfs3-basic", "rxe-nfs41-krb5"), [["VLAN 10", "VLAN 20"]])):
            both = [tunnels.Capture(name, harness.capture(name)) for name in names]
            records = []
            for number, capture in enumerate(both):
                half = capture.frames[len(capture.frames) // 2:]
                records += [(at, number, vlan(10 * (number + 1))(f)) for at, (_, f, _) in enumerate(half)]
            records.sort()
            path = os.path.join(self.folder.name, "middle.pcap")
            pcapfile.write(path, both[0].header, [struct.pack("<IIII", 1, at * 1000, len(f), len(f)) + f for at, _, f in records])
            self.assertEqual(sorted(tunnels.seen_in(self.asked(path))), expected, names)

    def test_in_several_networks(self):
        """Copies with a tag, and packets that take a way in turn."""
        for capture in self.captures:
            path = capture.write_pieces(os.path.join(self.folder.name, "copies.pcap"), lambda f: [f, vlan(10)(f), vxlan(7)(f)])
            for names in tunnels.seen_in(self.asked(path)):
                self.assertEqual(sorted(names), ["VLAN 10", "VXLAN 7"], capture.name)
            turn = itertools.count()
            document = self.asked(self.changed(capture, lambda f, turn=turn: vlan(next(turn) % 3 + 1)(f)))
            self.assertEqual(tunnels.said(document), tunnels.said(self.bare[capture.name]))
            for names in tunnels.seen_in(document):
                self.assertLessEqual(set(names), {"VLAN 1", "VLAN 2", "VLAN 3"})
                self.assertEqual(len(names), len(set(names)))

    def test_more_networks_than_have_a_name(self):
        capture = next(c for c in self.captures if c.name == "siw-nfs41-basic")
        turn = itertools.count()
        document = self.asked(self.changed(capture, lambda f: vlan(next(turn) % 20 + 1)(f)))
        self.assertEqual(tunnels.said(document)["connections"], tunnels.said(self.bare[capture.name])["connections"])
        for names in tunnels.seen_in(document):
            self.assertEqual(len(names), 8)
            self.assertLessEqual(set(names), {f"VLAN {n}" for n in range(1, 21)})

    def test_tags_to_the_brim(self):
        """Eight tunnels and four tags at each of their ends, all of which make the name."""
        capture = next(c for c in self.captures if c.name == "siw-nfs41-basic")

        def change(frame):
            for depth in range(8, 0, -1):
                for tag in range(4, 0, -1):
                    frame = vlan(100 * depth + tag)(frame)
                frame = vxlan(depth)(frame)
            return vlan(9)(frame)
        name = ["VLAN 9"]
        for depth in range(1, 9):
            name += [f"VXLAN {depth}", *(f"VLAN {100 * depth + tag}" for tag in range(1, 5))]
        self.same(capture, change, ", ".join(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True, type=os.path.abspath)
    parser.add_argument("--forge", required=True, type=os.path.abspath)
    tunnels.GIVEN, remaining = parser.parse_known_args()
    alone.main(remaining)
