#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""validate_schema.py SCHEMA DOCUMENT...: holds JSON reports against the schema, and against what a schema cannot say.

DOCUMENT may be - for standard input. Exit 0: all are right; 1: one is not; 2: usage, or a file that is no JSON.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("validate_schema.py needs python3-jsonschema")


def beyond_schema(doc):
    """Sums and references inside one document."""
    ids = [c["id"] for c in doc["connections"]]
    totals = doc["totals"]
    if ids != sorted(set(ids)):
        yield "connections: ids are not unique and ascending"
    if totals["connections"] != len(ids):
        yield f"totals.connections is {totals['connections']}, there are {len(ids)}"
    for severity in ("error", "warning", "note"):
        found = sum(f["severity"] == severity for f in doc["findings"])
        if totals[severity + "s"] != found:
            yield f"totals.{severity}s is {totals[severity + 's']}, there are {found}"
    if totals["frames"] != sum(i["frames"] for i in doc["inputs"]):
        yield "totals.frames is not the sum over the inputs"
    places = [f["frames"][0] for f in doc["findings"] if f["frames"]]
    if places != sorted(places):
        yield "findings are not sorted by their primary frame"
    for kind in ("findings", "unchecked"):
        for i, item in enumerate(doc[kind]):
            if item["connection"] is not None and item["connection"] not in ids:
                yield f"{kind}[{i}].connection {item['connection']} is not among the connections"
    for i, finding in enumerate(doc["findings"]):
        late = [n for n in finding["frames"] if n > totals["frames"]]
        if late:
            yield f"findings[{i}].frames names frame {late[0]} of {totals['frames']}"
    for i, connection in enumerate(doc["connections"]):
        if connection["transport"] == "iwarp" and (connection["client"]["qpn"], connection["server"]["qpn"]) != (None, None):
            yield f"connections[{i}]: iWARP has no QPN"


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
    except (OSError, ValueError, jsonschema.SchemaError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    validator = jsonschema.Draft202012Validator(schema)
    wrong = 0
    for path in arguments[1:]:
        try:
            if path == "-":
                doc = json.load(sys.stdin)
            else:
                with open(path, encoding="utf-8") as file:
                    doc = json.load(file)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        complaints = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(doc)]
        if not complaints:
            complaints = list(beyond_schema(doc))
        for complaint in complaints:
            print(f"{path}: {complaint}")
        wrong += bool(complaints)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
