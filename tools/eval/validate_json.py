#!/usr/bin/env python3
"""Checks the outputs of `platen ocr` against docs/schema with a validator that is not platen's.

    tools/eval/validate_json.py OUT

Every .json of the folder is compared with page-result.schema.json, every line of failures.jsonl with
failure.schema.json; the schemas themselves with JSON Schema's own. Needs Python 3.9 and jsonschema.
"""
import json
import sys
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schema"


def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    out, bad, checked = Path(sys.argv[1]), 0, 0
    results, failures = validator("page-result"), validator("failure")
    values = [(path, results, json.loads(path.read_text())) for path in sorted(out.rglob("*.json"))
              if ".platen" not in path.parts and path != out / "run.json"]
    log = out / "failures.jsonl"
    values += [(log, failures, json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []
    for path, schema, value in values:
        checked += 1
        for error in schema.iter_errors(value):
            bad += 1
            print(f"{path}: {error.json_path}: {error.message[:200]}")
    print(f"{checked} checked, {bad} errors")
    raise SystemExit(bad > 0 or checked == 0)


if __name__ == "__main__":
    main()
