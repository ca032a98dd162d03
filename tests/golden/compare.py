#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py --analyzer PATH CAPTURE...: the analyzer's JSON against expect/NAME.json beside each capture.

In an expectation {"any": [..]} admits each of its values, {"not": x} everything but x, {"min": n} a number from n on.
A finding under "must" has to be there; one under "must_not" must not; a warning or error that is neither demanded nor
listed under "allow" is a false accusation. Exit status 0: all as expected; 1: not.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402

MISSING = object()


def admits(wanted, value):
    """Whether a leaf of an expectation admits the value."""
    if isinstance(wanted, dict):
        if "any" in wanted:
            return value in wanted["any"]
        if "not" in wanted:
            return value is not MISSING and value != wanted["not"]
        if "min" in wanted:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= wanted["min"]
    return type(wanted) is type(value) and wanted == value if isinstance(wanted, bool) else wanted == value


def is_leaf(wanted):
    return not isinstance(wanted, dict) or set(wanted) <= {"any", "not", "min"} and len(wanted) == 1


def differences(wanted, value, path=""):
    """Yields (path, wanted, found) for each leaf that is not as expected."""
    if is_leaf(wanted):
        if not admits(wanted, value):
            yield path, wanted, "nothing" if value is MISSING else value
        return
    for key, inner in wanted.items():
        below = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        yield from differences(inner, below, f"{path}.{key}" if path else key)


def same_connection(wanted, connections, taken):
    """The reported connection that an expected one means: by client address with port and QPN, as far as both are known."""
    def fits(connection, keys):
        return all(wanted["client"].get(k) == connection.get("client", {}).get(k) for k in keys)

    for keys in (("address", "port", "qpn"), ("address", "qpn"), ("address", "port")):
        if any(wanted["client"].get(k) is None for k in keys if k != "address" and len(keys) == 2):
            continue
        for connection in connections:
            if connection.get("id") not in taken and fits(connection, keys):
                return connection
    return None


def calls_by_program(connection):
    calls = {}
    for procedure in connection.get("procedures") or []:
        key = f"{procedure['program']}/{procedure['version']}"
        calls[key] = calls.get(key, 0) + procedure["calls"]
    return calls


def check_facts(expected, document):
    """Yields a line for each wrong fact."""
    first_input = (document.get("inputs") or [{}])[0]
    for path, wanted, found in differences(expected.get("inputs", {}), first_input, "inputs[0]"):
        yield f"{path}: expected {json.dumps(wanted)}, found {json.dumps(found)}"
    for path, wanted, found in differences(expected.get("totals", {}), document.get("totals", {}), "totals"):
        yield f"{path}: expected {json.dumps(wanted)}, found {json.dumps(found)}"
    for number, wanted in enumerate(expected.get("connections", []), 1):
        connection = expected["_pairs"].get(number)
        if connection is None:
            yield f"connection {number} ({json.dumps(wanted['client'])}) is not reported"
            continue
        plain = {k: v for k, v in wanted.items() if k != "procedure_calls"}
        for path, inner, found in differences(plain, connection, f"connection {number}"):
            yield f"{path}: expected {json.dumps(inner)}, found {json.dumps(found)}"
        calls = calls_by_program(connection)
        for program, least in (wanted.get("procedure_calls") or {}).items():
            if calls.get(program, 0) < least:
                yield f"connection {number}: program {program} expected in at least {least} calls, found {calls.get(program, 0)}"


def rules_of(wanted):
    return wanted["rule"] if isinstance(wanted["rule"], list) else [wanted["rule"]]


def primary(finding):
    return (finding.get("frames") or [None])[0]


def severity(finding):
    return harness.SEVERITY.get(finding.get("severity"), 2)


def is_wanted(finding, wanted, pairs):
    if finding.get("rule") not in rules_of(wanted):
        return False
    if wanted.get("frames") and primary(finding) not in wanted["frames"]:
        return False
    if wanted.get("violator") is not None and not admits(wanted["violator"], finding.get("violator")):
        return False
    if wanted.get("severity") and severity(finding) < harness.SEVERITY[wanted["severity"]]:
        return False
    connection = pairs.get(wanted.get("connection"))
    return connection is None or connection["id"] == finding.get("connection")


def check_findings(expected, document, pairs):
    """Yields a line for each finding that is missing or should not be there."""
    found = document.get("findings") or []
    answered = set()
    for wanted in expected.get("must", []):
        hit = next((i for i, f in enumerate(found) if is_wanted(f, wanted, pairs)), None)
        if hit is None:
            yield f"missed: {' or '.join(rules_of(wanted))} frames {wanted.get('frames')} violator {json.dumps(wanted.get('violator'))}"
        else:
            answered.add(hit)
    admitted = set(expected.get("allow", [])) | {r for w in expected.get("must", []) for r in rules_of(w)}
    for i, finding in enumerate(found):
        forbidden = any(finding.get("rule") == n["rule"] and severity(finding) >= harness.SEVERITY[n.get("severity", "note")]
                        and (not n.get("frames") or primary(finding) in n["frames"]) for n in expected.get("must_not", []))
        surprising = severity(finding) >= 1 and i not in answered and finding.get("rule") not in admitted
        slander = severity(finding) == 2 and finding.get("violator") and finding["violator"] == expected.get("innocent")
        if forbidden or surprising or slander:
            yield "false: " + harness.describe(finding)


def complaints(analyzer, path):
    """All that is wrong with what the analyzer says about one capture, one line each."""
    expected = harness.expectation(path)
    if expected is None:
        return [f"no expectation for {os.path.basename(path)}"]
    result = []
    for variant in [expected, *expected.get("variants", [])]:
        options = variant.get("options", [])
        said = f" with {' '.join(options)}" if options else ""
        run = harness.run(analyzer, *options, path)
        if run.status not in variant["exit"]:
            result.append(f"exit status{said}: expected {variant['exit']}, found {run.status} ({run.errors.strip()[-200:]})")
        if run.document is None:
            result.append(f"no JSON document{said}: {run.errors.strip()[-300:]}")
            continue
        pairs = {}
        if variant is expected:
            taken = set()
            for number, wanted in enumerate(expected.get("connections", []), 1):
                pairs[number] = same_connection(wanted, run.connections(), taken)
                taken.add((pairs[number] or {}).get("id"))
            result += check_facts({**expected, "_pairs": pairs}, run.document)
        result += [line + said for line in check_findings(variant["findings"], run.document, pairs)]
    return result


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    options.add_argument("captures", nargs="*", help="all bundled ones when none is named")
    given = options.parse_args()
    wrong = 0
    for path in given.captures or harness.captures():
        lines = complaints(given.analyzer, path)
        wrong += bool(lines)
        for line in lines:
            print(f"{os.path.basename(path)}: {line}")
        if lines:
            print(f"alone: {sys.argv[0]} --analyzer {given.analyzer} {path}")
    print(f"{len(given.captures or harness.captures())} captures, {wrong} with something wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
