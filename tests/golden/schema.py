#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py --analyzer PATH: what the analyzer really prints for each bundled capture against docs/report.schema.json,
and the sums and references that a schema cannot express (validate_schema.py).

Checks also that the schema is a valid one and that it can refuse: a document without its totals must not pass.
"""
import argparse
import json
import os
import sys

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import analyzer as harness  # noqa: E402
import validate_schema  # noqa: E402


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--analyzer", required=True)
    given = options.parse_args()
    with open(os.path.join(harness.ROOT, "docs", "report.schema.json"), encoding="utf-8") as handle:
        schema = json.load(handle)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    validator = kind(schema)
    wrong = documents = 0
    for path in harness.captures():
        run = harness.run(given.analyzer, path)
        if run.document is None:
            print(f"{os.path.basename(path)}: no JSON document")
            wrong += 1
            continue
        documents += 1
        errors = sorted(validator.iter_errors(run.document), key=lambda e: list(map(str, e.path)))
        wrong += bool(errors)
        for error in errors[:5]:
            print(f"{os.path.basename(path)}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
        for line in validate_schema.beyond_schema(run.document):
            print(f"{os.path.basename(path)}: {line}")
            wrong += 1
        maimed = {k: v for k, v in run.document.items() if k != "totals"}
        if validator.is_valid(maimed):
            print(f"{os.path.basename(path)}: the schema accepts a document without totals")
            wrong += 1
    print(f"{documents} documents, {wrong} wrong")
    return 1 if wrong or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
