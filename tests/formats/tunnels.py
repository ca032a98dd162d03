#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tunnels.py --analyzer PATH --forge PATH: captures inside mirror and overlay headers.

Whole frames of recorded and forged captures are put into headers that are written here, field by field, from their specifications. What
the analyzer says of them is what it says of the bare capture. What is too deep is named and counted; what is no tunnel is left alone.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import forge as forging  # noqa: E402
import pcapfile  # noqa: E402

GIVEN = None
MACS = bytes.fromhex("02aabbccdd01 02aabbccdd02")


def ethernet(kind, payload):
    return MACS + struct.pack(">H", kind) + payload


def checksum(octets):
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(protocol, payload, fragment=0, ends=(bytes([172, 16, 0, 1]), bytes([172, 16, 0, 2]))):
    """RFC 791. The identification is 1: outer headers tell packets apart by nothing."""
    def header(check):
        return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, fragment, 64, protocol, check, *ends)
    return header(checksum(header(0))) + payload


def fragments(frame, sizes, identification=[0]):
    """The IP packet of a frame in pieces: so many octets of its payload in each, the rest in the last one."""
    identification[0] = identification[0] % 0xFFFF + 1
    if ip_of(frame) is None:
        return [frame]
    kind, packet = ip_of(frame)
    header, payload = (packet[:(packet[0] & 15) * 4], packet[(packet[0] & 15) * 4:]) if kind == 0x0800 else (packet[:40], packet[40:])
    out, at = [], 0
    for n in [*sizes, len(payload)]:
        piece, more = payload[at:at + n], at + n < len(payload)
        if kind == 0x0800:
            head = header[:2] + struct.pack(">HHH", len(header) + len(piece), identification[0], (0x2000 if more else 0) | at // 8) + header[8:10]
            head += struct.pack(">H", checksum(head + b"\0\0" + header[12:])) + header[12:]
        else:
            head = header[:4] + struct.pack(">HB", 8 + len(piece), 44) + header[7:]
            head += struct.pack(">BBHI", header[6], 0, at | more, identification[0])
        out.append(frame[:14] + head + piece)
        at += len(piece)
        if not more:
            break
    return out


def ipv6(protocol, payload, ends=(b"\xfd" + b"\0" * 14 + b"\1", b"\xfd" + b"\0" * 14 + b"\2")):
    """RFC 8200."""
    return struct.pack(">IHBB", 0x60000000, len(payload), protocol, 64) + b"".join(ends) + payload


def over_ipv4(protocol, payload):
    return ethernet(0x0800, ipv4(protocol, payload))


def over_udp(port, payload):
    return over_ipv4(17, struct.pack(">HHHH", 0xC123, port, 8 + len(payload), 0) + payload)


def gre(kind, payload, key=None, sequence=None, check=False):
    """RFC 2784, RFC 2890."""
    flags = (0x8000 if check else 0) | (0x2000 if key is not None else 0) | (0x1000 if sequence is not None else 0)
    head = struct.pack(">HH", flags, kind)
    tail = b"".join(struct.pack(">I", f) for f in (key, sequence) if f is not None)
    if not check:
        return over_ipv4(47, head + tail + payload)
    whole = head + b"\0\0\0\0" + tail + payload
    return over_ipv4(47, head + struct.pack(">HH", checksum(whole + b"\0" * (len(whole) % 2)), 0) + tail + payload)


def ip_of(frame):
    """The EtherType of a frame without tags, and what it holds without padding; None when that is not IP."""
    kind, payload = struct.unpack(">H", frame[12:14])[0], frame[14:]
    if kind == 0x0800:
        return kind, payload[:struct.unpack(">H", payload[2:4])[0]]
    if kind == 0x86DD:
        return kind, payload[:40 + struct.unpack(">H", payload[4:6])[0]]
    return None


def erspan2(frame, truncated=0):
    return gre(0x88BE, struct.pack(">HHI", 0x1000 | 100, truncated << 10 | 7, 5) + frame, sequence=9)


def erspan3(frame, platform=False):
    head = struct.pack(">HHIHH", 0x2000 | 100, 7, 0x12345678, 0, 0x0001 if platform else 0)
    return gre(0x22EB, head + (b"\x11" * 8 if platform else b"") + frame, sequence=9)


def tzsp(frame, tags=b"\x01"):
    return over_udp(37008, struct.pack(">BBH", 1, 0, 1) + tags + frame)


def mpls(payload, *labels):
    stack = b"".join(struct.pack(">I", label << 12 | (0x100 if at == len(labels) - 1 else 0) | 64) for at, label in enumerate(labels))
    return ethernet(0x8847, stack + payload)


def within_ip(wrap):
    """Only what is an IP packet goes into it: others stay as they are."""
    def wrapped(frame):
        found = ip_of(frame)
        return frame if found is None else wrap(*found)
    return wrapped


def ip_in_ip(kind, packet):
    return over_ipv4(4 if kind == 0x0800 else 41, packet)


def pppoe(kind, packet):
    """RFC 2516."""
    inside = struct.pack(">H", 0x0021 if kind == 0x0800 else 0x0057) + packet
    return ethernet(0x8864, struct.pack(">BBHH", 0x11, 0, 0x1234, len(inside)) + inside)


def with_snap(frame):
    """RFC 1042; the length is one only up to 1500 octets, so that others stay as they are."""
    inside = bytes.fromhex("aaaa03 000000") + frame[12:]
    return frame if len(inside) > 1500 else frame[:12] + struct.pack(">H", len(inside)) + inside


MIRROR_22 = bytes.fromhex("0102 0304 0506 0708 090a 0b0c 0d0e 0f10 1112 1314 1516")

WRAPPERS = {
    "VLAN": lambda f: f[:12] + bytes.fromhex("8100 0064") + f[12:],
    "QinQ": lambda f: f[:12] + bytes.fromhex("88a8 0064 8100 00c8") + f[12:],
    "trailer and FCS": lambda f: f + b"\0" * 8 + b"\x5a\x5a\x5a\x5a",
    "GRE, Ethernet inside": lambda f: gre(0x6558, f),
    "GRE with key, sequence and checksum": lambda f: gre(0x6558, f, key=77, sequence=3, check=True),
    "GRE, IP inside": within_ip(gre),
    "GRE over IPv6": lambda f: ethernet(0x86DD, ipv6(47, bytes.fromhex("0000 6558") + f)),
    "ERSPAN I": lambda f: gre(0x88BE, f),
    "ERSPAN II": erspan2,
    "ERSPAN III": erspan3,
    "ERSPAN III with a platform header": lambda f: erspan3(f, True),
    "VXLAN": lambda f: over_udp(4789, bytes.fromhex("08000000 00004d00") + f),
    "VXLAN, Linux port": lambda f: over_udp(8472, bytes.fromhex("08000000 00004d00") + f),
    "VXLAN-GPE": lambda f: over_udp(4790, bytes.fromhex("0c000003 00004d00") + f),
    "VXLAN-GPE, IP inside": within_ip(lambda kind, p: over_udp(4790, bytes([0x0C, 0, 0, 1 if kind == 0x0800 else 2, 0, 0, 77, 0]) + p)),
    "Geneve": lambda f: over_udp(6081, bytes.fromhex("0000 6558 00004d00") + f),
    "Geneve with options": lambda f: over_udp(6081, bytes.fromhex("0240 6558 00004d00 0102 80 01 00000000") + f),
    "MPLS, IP inside": within_ip(lambda kind, p: mpls(p, 1000, 16)),
    "MPLS, pseudowire": lambda f: mpls(f, 1000, 17),
    "MPLS, pseudowire with control word": lambda f: mpls(b"\0\0\0\0" + f, 18),
    "PPPoE": within_ip(pppoe),
    "Cisco MetaData": lambda f: f[:12] + bytes.fromhex("8909 01 01 0001 0020") + f[12:],
    "FabricPath": lambda f: ethernet(0x8903, bytes.fromhex("0060") + f),
    "VN-tag": lambda f: f[:12] + bytes.fromhex("8926 0001 8002") + f[12:],
    "802.1ah": lambda f: MACS + bytes.fromhex("88a8 0064 88e7 00012345") + f,
    "LLC/SNAP": with_snap,
    "IP in IP": within_ip(ip_in_ip),
    "DSA": lambda f: f[:12] + bytes.fromhex("c008 0001") + f[12:],
    "EtherType DSA": lambda f: f[:12] + bytes.fromhex("dada 0000 4008 0001") + f[12:],
    "TZSP": tzsp,
    "TZSP with tags": lambda f: tzsp(f, bytes.fromhex("0a01c8 00 2902") + struct.pack(">H", len(f)) + b"\x01"),
    "NVIDIA mirror, bare": lambda f: ethernet(0x8949, f),
    "NVIDIA mirror, bare with a header": lambda f: ethernet(0x8949, MIRROR_22 + f),
    "NVIDIA mirror in GRE": lambda f: gre(0x8949, MIRROR_22 + f),
}

# What a connection's network is called; of a mirror's tunnel nothing is.
NAMES = {"VLAN": "VLAN 100", "QinQ": "VLAN 100, VLAN 200", "802.1ah": "VLAN 100", "VXLAN": "VXLAN 77", "VXLAN, Linux port": "VXLAN 77",
         "VXLAN-GPE": "VXLAN 77", "VXLAN-GPE, IP inside": "VXLAN 77", "Geneve": "Geneve 77", "Geneve with options": "Geneve 77"}
NESTED_NAMES = {"VXLAN in ERSPAN in MPLS": "VXLAN 77", "Geneve in VLAN in GRE": "VLAN 100, Geneve 77", "Cisco MetaData in 802.1ah in NVIDIA": "VLAN 100",
                "eight": "Geneve 77, VXLAN 77"}

NESTED = {
    "VXLAN in ERSPAN in MPLS": ("VXLAN", "ERSPAN II", "MPLS, pseudowire"),
    "Geneve in VLAN in GRE": ("Geneve", "VLAN", "GRE, Ethernet inside"),
    "IP in IP in PPPoE in TZSP": ("IP in IP", "PPPoE", "TZSP"),
    "Cisco MetaData in 802.1ah in NVIDIA": ("Cisco MetaData", "802.1ah", "NVIDIA mirror in GRE"),
    "eight": ("VXLAN", "GRE, Ethernet inside", "Geneve", "ERSPAN III", "TZSP", "MPLS, pseudowire with control word", "802.1ah", "FabricPath"),
}
NINE = (*NESTED["eight"], "VXLAN, Linux port")
NINE_FOR_WIRESHARK = ("GRE, Ethernet inside",) * 9


def wrapped(frame, names):
    for name in names:
        frame = WRAPPERS[name](frame)
    return frame


class Capture:
    """One capture on Ethernet, as (time, octets, length on the wire)."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        header, records = pcapfile.read(path)
        assert header[:4] in pcapfile.LITTLE and struct.unpack("<I", header[20:24])[0] == 1, path
        self.second = 10 ** 6 if header[:1] == b"\xd4" else 10 ** 9
        self.frames = [(r[:8], r[16:], struct.unpack("<I", r[12:16])[0]) for r in records]
        self.header = header[:16] + struct.pack("<I", 262144) + header[20:]

    def write(self, path, change):
        """`change`: octets -> octets, or (octets, length on the wire)."""
        records = []
        for time, octets, length in self.frames:
            new = change(octets)
            new, longer = new if isinstance(new, tuple) else (new, len(new) + length - len(octets))
            records.append(time + struct.pack("<II", len(new), longer) + new)
        pcapfile.write(path, self.header, records)
        return path


    def write_pieces(self, path, change):
        """`change`: octets -> a list of frames."""
        records = [time + struct.pack("<II", len(new), len(new)) + new for time, octets, _ in self.frames for new in change(octets)]
        pcapfile.write(path, self.header, records)
        return path


def stamp_of(capture, frame):
    second, part = struct.unpack("<II", frame[0])
    return second * capture.second + part


def said(document):
    """What is said of the connections, not of the file they were in, nor of the network."""
    out = {key: document[key] for key in ("connections", "mounts", "findings", "unchecked") if key in document}
    return {**out, "connections": [{key: value for key, value in c.items() if key != "networks"} for c in out["connections"]]}


def seen_in(document):
    return [c.get("networks", []) for c in document["connections"]]


class Prepared(unittest.TestCase):
    """The captures, and what is said of them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chmod(cls.folder.name, 0o755)
        cls.addClassCleanup(cls.folder.cleanup)
        sources = {name: harness.capture(name) for name in ("rxe-nfs41-basic", "rxe-nfs3-basic", "siw-nfs41-basic", "siw-nfs3-ipv6")}
        for scenario, transport in (("credit-limit-exceeded", "rocev2"), ("healthy-nfs41", "rocev1"), ("credit-initial-exceeded", "iwarp")):
            path = os.path.join(cls.folder.name, f"{scenario}-{transport}.pcap")
            story = os.path.join(forging.SCENARIOS, scenario + ".yaml")
            subprocess.run([GIVEN.forge, story, "--transport", transport, "--out", path], check=True, capture_output=True)
            sources[f"{scenario}-{transport}"] = path
        cls.captures = [Capture(*source) for source in sources.items()]
        cls.bare = {c.name: cls.asked(c.path) for c in cls.captures}

    @staticmethod
    def asked(path):
        run = harness.run(GIVEN.analyzer, path)
        assert run.document is not None, run.errors
        return run.document

    def changed(self, capture, change):
        return capture.write(os.path.join(self.folder.name, "changed.pcap"), change)

    def same(self, capture, change, network=None):
        document = self.asked(self.changed(capture, change))
        self.assertEqual(said(document), said(self.bare[capture.name]))
        self.assertEqual(seen_in(document), [[network] if network else [] for _ in document["connections"]])


class Tunnels(Prepared):
    def test_the_sources_say_something(self):
        self.assertGreater(sum(len(d["findings"]) for d in self.bare.values()), 1)
        for name, document in self.bare.items():
            self.assertTrue(document["connections"], name)

    def test_each_header_changes_nothing_that_is_said(self):
        for name in WRAPPERS:
            for capture in self.captures:
                with self.subTest(header=name, capture=capture.name):
                    opened = name != "VXLAN-GPE, IP inside" or ip_of(capture.frames[0][1])
                    self.same(capture, lambda frame, name=name: wrapped(frame, [name]), NAMES.get(name) if opened else None)

    def test_nested(self):
        for name, headers in NESTED.items():
            for capture in self.captures:
                with self.subTest(headers=name, capture=capture.name):
                    self.same(capture, lambda frame, headers=headers: wrapped(frame, headers), NESTED_NAMES.get(name))

    def test_in_fragments(self):
        """A tunnel over a network with a smaller MTU cuts its packets up; each counts where its last piece came."""
        orders = {"in order": (lambda f: f, [24]), "backwards": (lambda f: f[::-1], [8, 40, 16, 8]), "one twice": (lambda f: [f[0], *f], [32, 8])}
        tunnels = {"VXLAN": ["VXLAN"], "GRE over IPv6": ["GRE over IPv6"], "VXLAN in GRE": ["VXLAN", "GRE, Ethernet inside"]}
        for capture in self.captures:
            for name, headers in tunnels.items():
                for order, (ordered, sizes) in orders.items():
                    with self.subTest(capture=capture.name, header=name, order=order):
                        def pieces(frame, headers=headers, sizes=sizes, ordered=ordered):
                            return ordered(fragments(wrapped(frame, headers), sizes))

                        def bare(frame, pieces=pieces):
                            return [ethernet(0x0806, b"\0" * 46)] * (len(pieces(frame)) - 1) + [frame]
                        path = os.path.join(self.folder.name, "pieces.pcap")
                        expected = said(self.asked(capture.write_pieces(path, bare)))
                        document = self.asked(capture.write_pieces(path, pieces))
                        self.assertEqual(said(document), expected)
                        self.assertEqual(document["unchecked"], [])

    def test_links_to_a_switch(self):
        """Link types of a host's port to a switch inside it: 284 and 281 have a tag where the EtherType would be, 285 an EtherType of
        whatever number before the tag, 282 the tag in front. Tags may begin as VLAN tags do."""
        links = {284: lambda f: f[:12] + bytes.fromhex("8100 0001") + f[12:], 285: lambda f: f[:12] + bytes.fromhex("9000 0000 4008 0001") + f[12:],
                 281: lambda f: f[:12] + bytes.fromhex("2000 0003") + f[12:], 282: lambda f: bytes.fromhex("2000 0003") + f}
        for link, tag in links.items():
            for capture in self.captures:
                for kind, change in (("bare", tag), ("VLAN", lambda f, tag=tag: tag(WRAPPERS["VLAN"](f)))):
                    with self.subTest(link=link, capture=capture.name, kind=kind):
                        path = os.path.join(self.folder.name, "link.pcap")
                        records = [time + struct.pack("<II", len(change(f)), len(change(f))) + change(f) for time, f, _ in capture.frames]
                        pcapfile.write(path, capture.header[:20] + struct.pack("<I", link), records)
                        self.assertEqual(said(self.asked(path)), said(self.bare[capture.name]))

    def test_fragments_of_the_packets_themselves(self):
        """TCP over both IPs; RoCE's packets must not be cut up, which their ICRC would show."""
        path = os.path.join(self.folder.name, "pieces.pcap")
        for name in ("siw-nfs41-basic", "siw-nfs3-ipv6"):
            capture = next(c for c in self.captures if c.name == name)
            for sizes in ([16], [48, 8]):
                expected = said(self.asked(capture.write_pieces(path, lambda f, n=sizes: [ethernet(0x0806, b"\0" * 46)] * (len(fragments(f, n)) - 1) + [f])))
                self.assertEqual(said(self.asked(capture.write_pieces(path, lambda f, n=sizes: fragments(f, n)))), expected)

    def test_fragments_that_are_captured_twice(self):
        """A mirror of two ports, a copy with a tag, a copy in a tunnel: the packet counts once, and it says so."""
        def tagged(piece):
            return WRAPPERS["VLAN"](piece)
        copies = {"each one twice": lambda p: [copy for one in p for copy in (one, one)], "one behind the other": lambda p: [*p, *p],
                  "with a tag": lambda p: [copy for one in p for copy in (tagged(one), one)],
                  "in a tunnel": lambda p: [copy for one in p for copy in (one, WRAPPERS["ERSPAN II"](one))]}
        path = os.path.join(self.folder.name, "pieces.pcap")
        for capture in self.captures:
            for name, twice in copies.items():
                with self.subTest(capture=capture.name, copies=name):
                    document = self.asked(capture.write_pieces(path, lambda f, twice=twice: twice(fragments(wrapped(f, ["VXLAN"]), [24, 40]))))
                    bare = self.bare[capture.name]
                    self.assertIn("capture-duplicate", {f["rule"] for f in document["findings"]})
                    rows = [sorted((f["rule"], f["severity"], f["violator"] or "") for f in d["findings"] if f["rule"] != "capture-duplicate")
                            for d in (document, bare)]
                    self.assertEqual(*rows)
                    self.assertEqual(document["unchecked"], bare["unchecked"])
                    for part in ("messages", "operations", "credits", "thresholds", "gaps"):
                        self.assertEqual([c[part] for c in document["connections"]], [c[part] for c in bare["connections"]], part)

    def test_fragments_of_which_only_the_first_was_captured(self):
        """As with the filter "udp port 4789": but for the first few, what the first ones hold is opened."""
        capture = self.captures[0]
        path = os.path.join(self.folder.name, "pieces.pcap")
        document = self.asked(capture.write_pieces(path, lambda f: fragments(wrapped(f, ["VXLAN"]), [160])[:1]))
        self.assertEqual(len(document["connections"]), 1)
        self.assertEqual([f["severity"] for f in document["findings"] if f["severity"] in ("error", "warning")], [])
        self.assertGreater(document["connections"][0]["messages"]["calls"], 30)

    def test_fragments_that_lack_are_counted(self):
        capture = self.captures[0]
        path = os.path.join(self.folder.name, "pieces.pcap")
        document = self.asked(capture.write_pieces(path, lambda f: fragments(wrapped(f, ["VXLAN"]), [40])[1:]))
        self.assertEqual(len(document["unchecked"]), 1)
        self.assertIn(f"fragments of IP packets that are not whole (protocol 17) in {len(capture.frames)} frames", document["unchecked"][0]["reason"])

    def test_nine_deep_is_named_and_counted(self):
        capture = self.captures[0]
        run = harness.run(GIVEN.analyzer, self.changed(capture, lambda frame: wrapped(frame, NINE)))
        self.assertEqual(run.document["connections"], [])
        frames = len(capture.frames)
        self.assertEqual([u["reason"] for u in run.document["unchecked"]],
                         [f"{frames} of the {frames} frames are not opened; what is RDMA in them is not judged: "
                          f"packets more than 8 deep inside others in {frames} frames"])

    def test_what_is_not_opened_is_named_by_its_number(self):
        capture = self.captures[0]
        for closed, name in ((lambda f: ethernet(0x88E5, f), "EtherType 0x88e5 (MACsec)"), (lambda f: ethernet(0x1234, f), "EtherType 0x1234"),
                             (lambda f: over_ipv4(50, f), "IP protocol 50 (ESP)"), (lambda f: gre(0x894F, f), "EtherType 0x894f (NSH)")):
            with self.subTest(name):
                document = self.asked(self.changed(capture, closed))
                self.assertEqual(len(document["unchecked"]), 1)
                self.assertIn(f"{name} in {len(capture.frames)} frames", document["unchecked"][0]["reason"])
                text = subprocess.run([GIVEN.analyzer, "--no-progress", self.changed(capture, closed)], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, check=False)
                self.assertIn(f"{name} in {len(capture.frames)} frames", " ".join((text.stdout + text.stderr).split()))

    def test_a_port_makes_no_tunnel(self):
        capture = self.captures[0]
        for port, header in ((4789, "00000000 00004d00"), (8472, "01020304 05060708"), (37008, "02000001 01")):
            with self.subTest(port):
                document = self.asked(self.changed(capture, lambda frame, port=port, header=header: over_udp(port, bytes.fromhex(header) + frame)))
                self.assertEqual((document["connections"], document["unchecked"]), ([], []))

    def test_cut_by_the_switch(self):
        """A switch that mirrors the first octets of a frame: as a capture with that snap length, whatever the outer lengths say."""
        for capture in self.captures:
            for kept in (96, 128, 160):
                path = capture.write(os.path.join(self.folder.name, "snapped.pcap"), lambda frame, kept=kept: (frame[:kept], len(frame)))
                snapped = said(self.asked(path))
                for name in ("ERSPAN I", "ERSPAN II", "VXLAN", "GRE, Ethernet inside", "TZSP", "NVIDIA mirror in GRE", "802.1ah"):
                    with self.subTest(capture=capture.name, kept=kept, header=name):
                        path = self.changed(capture, lambda frame, kept=kept, name=name: wrapped(frame[:kept], [name]))
                        self.assertEqual(said(self.asked(path)), snapped)

    def test_the_same_packet_inside_and_outside(self):
        """A capture with the packets and their mirrored copies, whole or cut, a millisecond later: each counts once, and it says so."""
        for capture in self.captures:
            for name, kept in (("ERSPAN II", None), ("VXLAN", None), ("ERSPAN I", 96)):
                with self.subTest(capture=capture.name, header=name, kept=kept):
                    records = []
                    for time, octets, length in capture.frames:
                        stamp = struct.unpack("<II", time)[0] * capture.second + struct.unpack("<II", time)[1]
                        copy = wrapped(octets[:kept], [name])
                        records.append((stamp, len(records), struct.pack("<II", len(octets), length) + octets))
                        records.append((stamp + capture.second // 1000, len(records), struct.pack("<II", len(copy), len(copy)) + copy))
                    records.sort()
                    numbers = [at // 2 + 1 for _, at, _ in records]
                    path = os.path.join(self.folder.name, "both.pcap")
                    pcapfile.write(path, capture.header, [struct.pack("<II", *divmod(stamp, capture.second)) + rest for stamp, _, rest in records])
                    document, bare = self.asked(path), self.bare[capture.name]

                    def rows(found, number):
                        return [(f["rule"], f["severity"], f["violator"], number(f["frames"][0])) for f in found["findings"]
                                if f["rule"] != "capture-duplicate"]
                    self.assertEqual(rows(document, lambda frame, numbers=numbers: numbers[frame - 1]), rows(bare, lambda frame: frame))
                    self.assertIn("capture-duplicate", {f["rule"] for f in document["findings"]})
                    for part in ("messages", "operations", "credits", "thresholds", "gaps"):
                        self.assertEqual([c[part] for c in document["connections"]], [c[part] for c in bare["connections"]], part)

    def test_a_copy_that_was_cut_stands_in_front(self):
        """What a mirror cut comes before the packet, whose octets are not used then: nobody is accused whom they would excuse."""
        for capture in self.captures:
            for name, kept in (("ERSPAN I", 96), ("ERSPAN II", 130), (None, 96), (None, 160)):
                for ahead in (1, 20, 1000):
                    with self.subTest(capture=capture.name, header=name, kept=kept, microseconds=ahead):
                        records = []
                        for frame in capture.frames:
                            stamp, octets, length = stamp_of(capture, frame), frame[1], frame[2]
                            cut = octets[:kept] if name is None else wrapped(octets[:kept], [name])
                            records.append((stamp - capture.second * ahead // 10 ** 6, len(records), struct.pack("<II", len(cut), max(len(cut), length)) + cut))
                            records.append((stamp, len(records), struct.pack("<II", len(octets), length) + octets))
                        records.sort()
                        path = os.path.join(self.folder.name, "both.pcap")
                        pcapfile.write(path, capture.header, [struct.pack("<II", *divmod(stamp, capture.second)) + rest for stamp, _, rest in records])
                        accused = [{(f["rule"], f["violator"]) for f in d["findings"] if f["severity"] in ("error", "warning")}
                                   for d in (self.asked(path), self.bare[capture.name])]
                        self.assertLessEqual(*accused)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyzer", required=True)
    parser.add_argument("--forge", required=True)
    GIVEN, remaining = parser.parse_known_args()
    GIVEN.analyzer, GIVEN.forge = os.path.abspath(GIVEN.analyzer), os.path.abspath(GIVEN.forge)
    alone.main(remaining)
