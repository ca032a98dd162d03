# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: what their files say, on which fabrics they are played, and captures that the forge makes of them."""
import json
import os
import subprocess

import yaml

SCENARIOS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "captures", "scenarios"))


def scenarios(prefix=""):
    """{path: what the file says}, by name."""
    found = {}
    for name in sorted(n for n in os.listdir(SCENARIOS) if n.startswith(prefix) and n.endswith(".yaml")):
        found[os.path.join(SCENARIOS, name)] = load(os.path.join(SCENARIOS, name))
    return found


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def family(transport):
    return "iwarp" if transport.startswith("iwarp") else "ib"


def transports(forge):
    return subprocess.run([forge, "--list-transports"], capture_output=True, text=True, check=True).stdout.split()


def plays_on(scenario, transport):
    wanted = scenario.get("transports")
    return wanted is None or transport in wanted or family(transport) in wanted


class Reel:
    """One capture of many scenarios, one after the other."""

    def __init__(self, forge, paths, transport, capture, *options):
        paths, chart = list(paths), capture + ".map.json"
        self.capture, self.transport = capture, transport
        done = subprocess.run([forge, *paths, "--transport", transport, "--out", capture, "--map", chart, *options], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{transport}: {done.stderr.strip()}")
        with open(chart, encoding="utf-8") as file:
            said = json.load(file)
        os.unlink(chart)
        # Of one scenario the map speaks of nothing else.
        self.stories = said.get("stories", [{**said, "scenario": paths[0], "first": 1}])
        self.left_out = {entry["scenario"]: entry["why"] for entry in said.get("left_out", [])}
        self._of_frame = [story for story in self.stories for _ in range(story["frames"])]

    def story(self, frame):
        """The story that a frame belongs to."""
        return self._of_frame[frame - 1]
