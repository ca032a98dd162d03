# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the analyzer and finding the recorded captures: what the Python tests share."""
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = [os.path.join(ROOT, "captures", "kernel"), os.path.join(ROOT, "captures", "peers")]
SEVERITY = {"note": 0, "warning": 1, "error": 2}


class Run:
    """One run of the analyzer: exit status, the JSON document (None where there is none), standard error."""

    def __init__(self, status, document, errors, output):
        self.status, self.document, self.errors, self.output = status, document, errors, output

    def findings(self, least="note"):
        found = (self.document or {}).get("findings") or []
        return [f for f in found if SEVERITY.get(f.get("severity"), 2) >= SEVERITY[least]]

    def connections(self):
        return (self.document or {}).get("connections") or []


def run(analyzer, *arguments, stdin=None, as_json=True, timeout=300, environment=None):
    command = [analyzer, *(["--json", "--no-progress"] if as_json else []), *arguments]
    done = subprocess.run(command, stdin=stdin if stdin is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, env=environment, check=False)
    output = done.stdout.decode("utf-8", "backslashreplace")
    document = None
    if as_json:
        try:
            document = json.loads(output)
        except ValueError:
            pass
    return Run(done.returncode, document, done.stderr.decode("utf-8", "backslashreplace"), output)


def capture(name):
    """Path of a bundled capture by its name without ending."""
    for room in ROOMS:
        for ending in (".pcap", ".pcapng"):
            path = os.path.join(room, name + ending)
            if os.path.exists(path):
                return path
    raise SystemExit(f"no bundled capture is called {name}")


def captures():
    """Every bundled capture, by path."""
    return sorted(os.path.join(room, f) for room in ROOMS if os.path.isdir(room) for f in os.listdir(room)
                  if f.endswith((".pcap", ".pcapng")))


def stem(path):
    return os.path.basename(path).rsplit(".", 1)[0]


def expectation(path):
    """What a correct analyzer says about the capture, or None."""
    found = os.path.join(os.path.dirname(path), "expect", stem(path) + ".json")
    if not os.path.exists(found):
        return None
    with open(found, encoding="utf-8") as handle:
        return json.load(handle)


def truth(path, ending):
    """The lines of a truth file of the capture, or None."""
    found = os.path.join(os.path.dirname(path), "truth", f"{stem(path)}.{ending}")
    if not os.path.exists(found):
        return None
    with open(found, encoding="utf-8", errors="replace") as handle:
        return handle.read().splitlines()


def is_healthy_kernel(path):
    """Recorded between two kernels, nothing done wrong on purpose: no warning and no error may come out of it."""
    expected = expectation(path)
    return bool(expected) and expected["kind"] == "healthy" and os.path.dirname(path).endswith("kernel")


def describe(finding):
    return (f"{finding.get('severity')} {finding.get('rule')} frames {finding.get('frames')} "
            f"violator {finding.get('violator')}: {str(finding.get('message'))[:140]}")
