#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""taps.py --analyzer PATH: two taps of one path with clocks of their own, put together: the clocks are compared, what one lacks is
counted, and nobody is accused of what another clock or a hole in one of the captures shows."""
import itertools
import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import two_tap_calls  # noqa: E402
import two_taps  # noqa: E402

ANALYZER = None
CLIENT = socket.inet_aton("192.168.77.2")
ONE_WAY = 20_000  # ns
MILLISECOND = 1_000_000
HEALTHY = ["rxe-nfs3-basic", "rxe-nfs41-basic", "rxe-nfs3-big-rw", "siw-nfs41-basic", "siw-nfs41-big-rw", "siw-nfs40-basic"]
ABOUT_CUT = {("frame-truncated", "note"), ("capture-truncated", "note")}


def found(run):
    return {(f["rule"], f["severity"]) for f in run.document["findings"]}


def retransmitted(run):
    return [c["operations"]["retransmitted"] for c in run.document["connections"]]


class Taps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def taps(self, name, skew, drift=0.0, keep_client=lambda i, up: True, keep_server=lambda i, up: True):
        """Writes the client's and the server's capture, and a capture of all frames by the client's clock."""
        header, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
        start = passages[0][2]
        self.passages = passages
        by_client, by_server = [], []
        for i, (frame, up, here, there) in enumerate(passages, 1):
            if keep_client(i, up):
                by_client.append((frame, here))
            if keep_server(i, up):
                by_server.append((frame, there + skew + round((there - start) * drift)))
        two_taps.write(self.path("whole.pcap"), header, [(frame, here) for frame, _, here, _ in passages])
        two_taps.write(self.path("client.pcap"), header, by_client)
        two_taps.write(self.path("server.pcap"), header, by_server)
        return [self.path("client.pcap"), self.path("server.pcap")]

    def merged(self, *paths):
        run = harness.run(ANALYZER, "--merge", *paths)
        self.assertIsNotNone(run.document, run.errors)
        return run

    def same_judgement(self, run, name, but=frozenset()):
        whole = harness.run(ANALYZER, self.path("whole.pcap"))
        self.assertEqual(found(run) - found(whole) - but, set(), name)
        self.assertEqual(retransmitted(run), retransmitted(whole), name)
        self.assertEqual(run.document["verdict"]["state"], whole.document["verdict"]["state"], name)
        counts = [[c["messages"]["calls"] for c in r.document["connections"]] for r in (run, whole)]
        self.assertEqual(counts[0], counts[1], name)

    def clock(self, run):
        return run.document["taps"]["clocks"][1]

    def route(self, run):
        routes = run.document["taps"]["routes"]
        self.assertEqual(len(routes), 1)
        return routes[0]


class Clocks(Taps):
    def test_apart(self):
        for name in HEALTHY:
            for skew in (0, 300_000, -300_000, 5 * MILLISECOND, -5 * MILLISECOND, 50 * MILLISECOND, -50 * MILLISECOND, 3_600_000 * MILLISECOND):
                with self.subTest(name=name, skew=skew):
                    run = self.merged(*self.taps(name, skew))
                    clock, route = self.clock(run), self.route(run)
                    self.assertEqual(clock["basis"], "packets")
                    self.assertLess(abs(clock["ahead_us"] - skew / 1000), 100)
                    self.assertLess(clock["uncertainty_us"], 100)
                    self.assertEqual((route["near"], route["address"]), (1, "192.168.77.2"))
                    self.assertEqual(route["out"]["both"] + route["back"]["both"], sum(frame.rdma() for frame, *_ in self.passages))
                    for path in (route["out"], route["back"]):
                        self.assertEqual([path[k] for k in ("lost", "missed_far", "missed_far_acknowledgements", "missed_near")], [0, 0, 0, 0])
                        self.assertLess(abs(path["one_way_us"]["p50"] - ONE_WAY / 1000), 15)
                    self.same_judgement(run, name)

    def test_the_server_named_first(self):
        client, server = self.taps("rxe-nfs41-basic", 5 * MILLISECOND)
        run = self.merged(server, client)
        self.assertLess(abs(self.clock(run)["ahead_us"] + 5000), 100)
        self.assertEqual((self.route(run)["near"], self.route(run)["address"]), (1, "192.168.77.1"))
        self.same_judgement(run, "server first")

    def test_drifting(self):
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic"):
            for drift in (20e-6, -20e-6, 200e-6):
                with self.subTest(name=name, drift=drift):
                    run = self.merged(*self.taps(name, 5 * MILLISECOND, drift))
                    self.assertLess(abs(self.clock(run)["ahead_us"] - 5000), 100)
                    for path in (self.route(run)["out"], self.route(run)["back"]):
                        self.assertLess(abs(path["one_way_us"]["p50"] - ONE_WAY / 1000), 100)
                    self.same_judgement(run, name)

    def test_with_itself_later(self):
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic"):
            header, passages = two_taps.passages(harness.capture(name), CLIENT, 0)
            two_taps.write(self.path("whole.pcap"), header, [(frame, here) for frame, _, here, _ in passages])
            two_taps.write(self.path("later.pcap"), header, [(frame, here + 5 * MILLISECOND) for frame, _, here, _ in passages])
            run = self.merged(self.path("whole.pcap"), self.path("later.pcap"))
            self.assertEqual(self.clock(run)["ahead_us"], 5000)
            self.assertEqual(self.route(run)["out"]["both"] + self.route(run)["back"]["both"], sum(frame.rdma() for frame, *_ in passages))
            self.same_judgement(run, name)

    def test_one_direction_on_each(self):
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic"):
            for skew in (300_000, -300_000, 5 * MILLISECOND, -50 * MILLISECOND):
                with self.subTest(name=name, skew=skew):
                    run = self.merged(*self.taps(name, skew, keep_client=lambda i, up: up, keep_server=lambda i, up: not up))
                    self.assertEqual(self.clock(run)["basis"], "acknowledgements")
                    # Between two times that each acknowledgement took, a peer's own leisure included.
                    self.assertLess(abs(self.clock(run)["ahead_us"] - skew / 1000), self.clock(run)["uncertainty_us"])
                    self.assertLess(self.clock(run)["uncertainty_us"], 600)
                    self.same_judgement(run, name)


class SetWhileItRuns(Taps):
    """A clock that is set in the middle: that of the second capture, and that of the first."""

    def set_by(self, name, step, lacks=17):
        """The client's capture, and the server's with the step."""
        header, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
        two_taps.write(self.path("whole.pcap"), header, [(frame, here) for frame, _, here, _ in passages])
        two_taps.write(self.path("client.pcap"), header, [(frame, here) for frame, _, here, _ in passages])
        middle = sorted(there for *_, there in passages)[len(passages) // 2]
        kept = [(frame, there) for i, (frame, _, _, there) in enumerate(passages, 1) if i % lacks != 0]
        two_taps.write_as_seen(self.path("server.pcap"), header, kept, lambda time: time + 5 * MILLISECOND + (step if time >= middle else 0))
        # In a pause it is not seen that the clock was set back: then the other one saw more time pass.
        behind = min((time for _, time in kept if time >= middle), default=middle)
        before = max(time for _, time in kept if time < middle)
        self.goes_back = behind + step < before
        return self.path("client.pcap"), self.path("server.pcap")

    def steps(self, run):
        return [clock["steps_us"] for clock in run.document["taps"]["clocks"]]

    def test_forward_and_back(self):
        for name in HEALTHY:
            for step in (20, -20, 3000, -3000):
                client, server = self.set_by(name, step * MILLISECOND)
                # The one whose own times go back, or else that which saw more time pass, whichever is named first.
                stepped, by = (server, step) if step > 0 or self.goes_back else (client, -step)
                for paths in ((client, server), (server, client)):
                    with self.subTest(name=name, step=step, first=os.path.basename(paths[0])):
                        run = self.merged(*paths)
                        whose = paths.index(stepped)
                        self.assertEqual(self.steps(run)[1 - whose], [])
                        self.assertEqual(len(self.steps(run)[whose]), 1)
                        self.assertLess(abs(self.steps(run)[whose][0] - by * 1000), 100)
                        self.assertLess(abs(self.clock(run)["ahead_us"] - (5000 if paths[0] == client else -5000)), 100)
                        self.same_judgement(run, name)

    def set_forward(self, name, step, share):
        """The client's clock, behind that share of its packets; the server's is good."""
        header, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
        by_client = sorted(here for _, _, here, _ in passages)
        behind = by_client[round(len(by_client) * share)]
        frames = [(frame, here) for frame, _, here, _ in passages]
        two_taps.write(self.path("whole.pcap"), header, frames)
        two_taps.write_as_seen(self.path("client.pcap"), header, frames, lambda time: time + (step if time >= behind else 0))
        two_taps.write(self.path("server.pcap"), header, [(frame, there + 5 * MILLISECOND) for frame, _, _, there in passages])
        return self.path("client.pcap"), self.path("server.pcap")

    def test_no_wait_is_made_by_it(self):
        """Set forward by more than a Call may wait: the other tap holds what lies around the step, milliseconds apart."""
        pending = ["rxe-upeer-plain", "rxe-upeer-disconnect-with-call-pending"]
        for name in HEALTHY + pending:
            for step in (5000, 30_000):
                for share in (0.3, 0.5, 0.75):
                    client, server = self.set_forward(name, step * MILLISECOND, share)
                    undamaged = self.merged(self.path("whole.pcap"), server)
                    for paths in ((client, server), (server, client)):
                        with self.subTest(name=name, step=step, share=share, first=os.path.basename(paths[0])):
                            run = self.merged(*paths)
                            whose = paths.index(client)
                            self.assertEqual(len(self.steps(run)[whose]), 1)
                            self.assertLess(abs(self.steps(run)[whose][0] - step * 1000), 100)
                            self.assertEqual(self.steps(run)[1 - whose], [])
                            self.assertEqual(found(run), found(undamaged))
                            self.same_judgement(run, name)

    def test_it_is_said(self):
        client, server = self.set_by("rxe-nfs41-basic", -20 * MILLISECOND)
        for paths, said in (((client, server), "tap 2's is 5.000 ms ahead, to 20.0 us; it was set back by 20.000 ms while it ran"),
                            ((server, client), "as it was before it was set back by 20.000 ms while it ran.")):
            text = " ".join(harness.run(ANALYZER, "--merge", *paths, as_json=False).output.split())
            self.assertIn(said, text)

    def test_the_first_one_set_forward_is_said(self):
        client, server = self.set_forward("rxe-nfs41-basic", 30_000 * MILLISECOND, 0.5)
        for paths, said in (((client, server), "as it was before it was set forward by 30.000000 s while it ran."),
                            ((server, client), "tap 2's is 5.000 ms behind, to 20.0 us; it was set forward by 30.000000 s while it ran")):
            text = " ".join(harness.run(ANALYZER, "--merge", *paths, as_json=False).output.split())
            self.assertIn(said, text)
            self.assertEqual(text.count("while it ran"), 1)

    def test_three_taps(self):
        for name, step in itertools.product(("rxe-nfs41-basic", "siw-nfs41-basic"), (-20, 20, 30_000)):
            client, server = self.set_by(name, step * MILLISECOND)
            header, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
            switch = [(frame, (here + there) // 2 + MILLISECOND) for i, (frame, _, here, there) in enumerate(passages) if i % 17 != 0]
            two_taps.write(self.path("switch.pcap"), header, switch)
            for paths in itertools.permutations((client, server, self.path("switch.pcap"))):
                with self.subTest(name=name, step=step, paths=[os.path.basename(path) for path in paths]):
                    run = self.merged(*paths)
                    self.assertEqual(sum(len(steps) for steps in self.steps(run)), 1)
                    self.assertEqual(len(self.steps(run)[paths.index(server)]), 1)
                    self.same_judgement(run, name)


class WhereTheTimeWent(Taps):
    """Of each Call: on the way to the peer, at the peer, and back, whichever capture is named first."""

    NAMES = ["rxe-nfs3-basic", "rxe-nfs41-basic", "rxe-nfs41-cb-recall", "siw-nfs41-basic", "siw-nfs41-cb-recall"]

    def write(self, name, one_way, skew, places):
        """{file: place}, from the client at 0 to the server at 1; each clock is so much ahead of the one before."""
        header, passages = two_taps.passages(harness.capture(name), CLIENT, one_way)
        for i, (file, place) in enumerate(places.items()):
            two_taps.write(self.path(file), header, [(frame, here + round((there - here) * place) + skew * i) for frame, _, here, there in passages])
        return two_tap_calls.calls(passages), [self.path(file) for file in places]

    def as_they_passed(self, run, calls):
        said = run.document["taps"]["calls"]
        slowest = max(calls, key=lambda call: call.whole)
        for part in ("whole", "there", "peer", "back"):
            times = sorted(getattr(call, part) for call in calls)
            measured = said[f"{part}_us"]
            self.assertEqual(measured["count"], len(calls))
            for value, expected in ((measured["min"], times[0]), (measured["p50"], times[len(times) // 2]),
                                    (said["slowest"][f"{part}_us"], getattr(slowest, part))):
                self.assertLess(abs(value - expected / 1000), 2, part)  # each time is written to a microsecond

    def test_either_named_first(self):
        for name in self.NAMES:
            for one_way in (ONE_WAY, 2 * MILLISECOND, 30 * MILLISECOND):
                for skew in (300_000, 5 * MILLISECOND, 50 * MILLISECOND):
                    calls, paths = self.write(name, one_way, skew, {"client.pcap": 0, "server.pcap": 1})
                    latencies = []
                    for order in (paths, paths[::-1]):
                        with self.subTest(name=name, one_way=one_way, skew=skew, first=os.path.basename(order[0])):
                            run = self.merged(*order)
                            self.as_they_passed(run, calls)
                            latencies.append([connection["latency_us"] for connection in run.document["connections"]])
                            # From the tap near the requester to the one near the responder.
                            if "cb-recall" not in name:
                                self.assertLess(abs(latencies[-1][0]["min"] - min(call.there + call.peer for call in calls) / 1000), 2)
                    self.assertEqual(latencies[0], latencies[1], name)

    def test_a_tap_between_them(self):
        for name in self.NAMES:
            calls, paths = self.write(name, 2 * MILLISECOND, 5 * MILLISECOND, {"client.pcap": 0, "switch.pcap": 0.25, "server.pcap": 1})
            for order in itertools.permutations(paths):
                with self.subTest(name=name, order=[os.path.basename(path) for path in order]):
                    self.as_they_passed(self.merged(*order), calls)

    def test_the_nearer_copy_is_cut(self):
        """The whole one is shown, with the time of the farther tap."""
        for name in self.NAMES:
            for cut in (0, 1):
                calls, paths = self.write(name, 500_000, 5 * MILLISECOND, {"client.pcap": 0, "server.pcap": 1})
                two_taps.cut(paths[cut], 128)
                for order in (paths, paths[::-1]):
                    with self.subTest(name=name, cut=cut, first=os.path.basename(order[0])):
                        self.as_they_passed(self.merged(*order), calls)


class Losses(Taps):
    def test_every_seventeenth_on_one_tap(self):
        for name in HEALTHY:
            for who in ("client", "server"):
                for skew in (300_000, 5 * MILLISECOND, -50 * MILLISECOND):
                    with self.subTest(name=name, who=who, skew=skew):
                        keep = {f"keep_{who}": lambda i, up: i % 17 != 0}
                        run = self.merged(*self.taps(name, skew, **keep))
                        self.assertLess(abs(self.clock(run)["ahead_us"] - skew / 1000), 100)
                        route = self.route(run)
                        gone = [up for i, (frame, up, _, _) in enumerate(self.passages, 1) if i % 17 == 0 and frame.rdma()]
                        for up, path in ((True, route["out"]), (False, route["back"])):
                            nearer = (who == "client") == up
                            far = path["missed_far"] + path["missed_far_acknowledgements"]
                            self.assertEqual((path["missed_near"], far), (gone.count(up), 0) if nearer else (0, gone.count(up)))
                            self.assertEqual(path["lost"], 0)
                        self.same_judgement(run, name)


class CutAnew(Taps):
    """The same octets in other segments: offloading in one of the hosts."""

    def test_nothing_is_lost_and_nothing_sent_again(self):
        for one, other in (("split", "both"), ("both", "split")):
            paths = [harness.capture(f"siw-nfs41-reseg-{name}") for name in (one, other)]
            run = self.merged(*paths)
            for path in (self.route(run)["out"], self.route(run)["back"]):
                self.assertGreater(path["recut"], 0)
                self.assertEqual([path[k] for k in ("lost", "missed_far", "missed_near")], [0, 0, 0])
            self.assertEqual(retransmitted(run), [0])
            self.assertEqual(found(run) - found(harness.run(ANALYZER, paths[0])) - found(harness.run(ANALYZER, paths[1])), set())


class Snapped(Taps):
    """One of the two captures has only the beginning of each frame: what the other one holds whole is judged whole."""

    def test_the_whole_copy_counts(self):
        for name in HEALTHY + ["rxe-upeer-rejected", "rxe-kpeer-oversize-send", "rxe-upeer-done-good", "siw-kpeer-read-inline"]:
            for who in ("client", "server"):
                for octets in (64, 96, 128, 200):
                    for skew in (0, 5 * MILLISECOND, -50 * MILLISECOND):
                        with self.subTest(name=name, who=who, octets=octets, skew=skew):
                            client, server = self.taps(name, skew)
                            two_taps.cut(client if who == "client" else server, octets)
                            for paths in ((client, server), (server, client)):
                                run = self.merged(*paths)
                                self.same_judgement(run, name, ABOUT_CUT)
                                self.assertEqual(found(run) | ABOUT_CUT, found(harness.run(ANALYZER, self.path("whole.pcap"))) | ABOUT_CUT)


    def nobody_is_accused(self, run, name):
        whole = harness.run(ANALYZER, self.path("whole.pcap"))
        # A Reply of which no copy is whole leaves a note about its Call.
        self.assertEqual({f for f in found(run) - found(whole) if f[1] != "note"}, set(), name)
        self.assertEqual(run.document["verdict"]["state"], whole.document["verdict"]["state"], name)

    def test_what_one_lacks_the_other_one_cut(self):
        for name in HEALTHY:
            for octets in (96, 128, 200):
                for lacks in range(3, 17, 4):
                    with self.subTest(name=name, octets=octets, lacks=lacks):
                        client, server = self.taps(name, 5 * MILLISECOND, keep_client=lambda i, up, lacks=lacks: i % 17 != lacks)
                        two_taps.cut(server, octets)
                        self.nobody_is_accused(self.merged(client, server), name)

    def test_both_cut(self):
        for name in HEALTHY:
            for one, other in ((64, 128), (128, 64), (256, 64), (96, 200)):
                with self.subTest(name=name, one=one, other=other):
                    client, server = self.taps(name, 5 * MILLISECOND)
                    two_taps.cut(client, one)
                    two_taps.cut(server, other)
                    self.nobody_is_accused(self.merged(client, server), name)


class Lost(Taps):
    """Packets that the network lost behind the client's tap, and that TCP sent again."""

    def test_on_the_way(self):
        name = "siw-nfs3-lab-call-lost"
        _, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
        seen = {}
        for i, (frame, up, _, _) in enumerate(passages, 1):
            at = 14 + (frame.octets[14] & 15) * 4
            length = int.from_bytes(frame.octets[16:18], "big") - (at - 14) - (frame.octets[at + 12] >> 4) * 4
            if up and length > 0 and frame.rdma():
                seen.setdefault((frame.octets[at + 4:at + 8], length), []).append(i)
        again = {number for numbers in seen.values() for number in numbers[:-1]}
        self.assertTrue(again)
        run = self.merged(*self.taps(name, 5 * MILLISECOND, keep_server=lambda i, up: i not in again))
        path = self.route(run)["out"]
        self.assertEqual([path[k] for k in ("lost", "missed_far", "missed_near")], [len(again), 0, 0])
        self.same_judgement(run, name)


class Ring(Taps):
    """The files of one capture, one after the other: they have one clock, although a packet and its repetition look alike."""

    def test_sent_again_in_the_next_file(self):
        for name in ("rxe-nfs3-lab-call-lost", "rxe-nfs41-lab-server-killed", "siw-nfs3-lab-call-lost", "siw-nfs3-loss", "rxe-nfs41-basic"):
            header, passages = two_taps.passages(harness.capture(name), CLIENT, 0)
            frames = [(frame, here) for frame, _, here, _ in passages]
            for at in range(len(frames) // 8, len(frames), len(frames) // 8):
                with self.subTest(name=name, at=at):
                    # The last one of a file once more, as adapters send it that count no IP identification.
                    again = [(frames[at - 1][0], frames[at][1] - 1)]
                    two_taps.write(self.path("whole.pcap"), header, frames[:at] + again + frames[at:])
                    two_taps.write(self.path("1.pcap"), header, frames[:at])
                    two_taps.write(self.path("2.pcap"), header, again + frames[at:])
                    run = self.merged(self.path("1.pcap"), self.path("2.pcap"))
                    self.assertEqual(run.document["taps"]["clocks"][1].get("ahead_us") or 0, 0)
                    self.same_judgement(run, name)


class Several(Taps):
    """More than two captures, in whatever order they are named."""

    def write_all(self, name, captures):
        """{file: (place, skew, keep)}; place: of the way from the client to the server, 0 to 1."""
        header, passages = two_taps.passages(harness.capture(name), CLIENT, ONE_WAY)
        two_taps.write(self.path("whole.pcap"), header, [(frame, here) for frame, _, here, _ in passages])
        for file, (place, skew, keep) in captures.items():
            two_taps.write(self.path(file), header, [(frame, here + round((there - here) * place) + skew)
                                                     for i, (frame, _, here, there) in enumerate(passages, 1) if keep(i, len(passages))])
        return [self.path(file) for file in captures]

    def test_three_taps(self):
        taps = {"client.pcap": (0, 0, lambda i, n: i % 17 != 0), "switch.pcap": (0.5, 5 * MILLISECOND, lambda i, n: i % 17 != 5),
                "server.pcap": (1, -3_600_000 * MILLISECOND, lambda i, n: i % 17 != 11)}
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic"):
            paths = self.write_all(name, taps)
            skews = [skew for _, skew, _ in taps.values()]
            for order in itertools.permutations(range(3)):
                with self.subTest(name=name, order=order):
                    run = self.merged(*[paths[n] for n in order])
                    for clock, n in zip(run.document["taps"]["clocks"], order):
                        self.assertLess(abs((clock.get("ahead_us") or 0) - (skews[n] - skews[order[0]]) / 1000), 100)
                    self.assertEqual({(r["near"], r["far"]) for r in run.document["taps"]["routes"]},
                                     {(1, 2), (1, 3), (2, 3)})
                    self.same_judgement(run, name)

    def test_a_ring_at_each_end(self):
        hour = 3_600_000 * MILLISECOND
        ring = {"c1": (0, 0, lambda i, n: i <= n * 0.4), "c2": (0, 0, lambda i, n: i > n * 0.4),
                "s1": (1, hour, lambda i, n: i <= n * 0.2), "s2": (1, hour, lambda i, n: n * 0.2 < i <= n * 0.7),
                "s3": (1, hour, lambda i, n: i > n * 0.7)}
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic", "rxe-nfs3-basic"):
            paths = self.write_all(name, ring)
            for order in itertools.permutations(range(5)):
                with self.subTest(name=name, order=order):
                    run = self.merged(*[paths[n] for n in order])
                    first = hour if order[0] >= 2 else 0
                    for clock, n in zip(run.document["taps"]["clocks"], order):
                        self.assertLess(abs((clock.get("ahead_us") or 0) - ((hour if n >= 2 else 0) - first) / 1000), 200)
                    self.same_judgement(run, name)

    def test_the_second_begins_late(self):
        for name in ("rxe-nfs41-basic", "siw-nfs41-basic", "rxe-nfs3-big-rw"):
            for skew in (0, 3_600_000 * MILLISECOND, -3_600_000 * MILLISECOND):
                for share in (0.5, 0.7, 0.76):
                    with self.subTest(name=name, skew=skew, share=share):
                        late = {"client": (0, 0, lambda i, n: i <= n * 0.9), "server": (1, skew, lambda i, n, s=share: i > n * s)}
                        run = self.merged(*self.write_all(name, late))
                        self.assertLess(abs(self.clock(run)["ahead_us"] - skew / 1000), 100)
                        self.same_judgement(run, name)


class NotMeasured(Taps):
    def test_what_can_be_read_only_once(self):
        client, server = self.taps("rxe-nfs41-basic", 0)
        with open(server, "rb") as pipe:
            done = subprocess.run([ANALYZER, "--merge", client, "-"], stdin=pipe, capture_output=True, text=True, check=False)
        self.assertIn("Taps", done.stdout)
        self.assertIn("standard input can be read only once", done.stdout)

    def test_nothing_is_said_of_one(self):
        for more in ([], ["--merge"]):
            self.assertNotIn("taps", harness.run(ANALYZER, *more, harness.capture("rxe-nfs41-basic")).document)


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
