#!/usr/bin/env python3
"""Compare what `platen forward --dump DUMP` wrote with a golden case.

    compare.py DUMP tests/golden/cases/tiny-a/exif6 [--rounds k4] [--factor 1.0]

Every array of the case that the dump can have is compared: integers must be equal, floats may differ by the case's
`atol` times --factor. Of each array the worst element is named with its index and both values. The tokens of
result.json must be the case's greedy tokens as far as both go; --rounds KEY also compares the speculative rounds with
mtp/SNAPSHOT/speculative.json (run "CASE.KEY").

Exit status: 0 everything agrees, 1 something differs or is missing, 2 wrong usage. Needs numpy only.
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np

LAST_ROWS = "_last4"  # goldens keep the last four rows of text stacks; a dump has all
NOT_DUMPED = ("greedy_margins", "aifi2_alone")


class Mismatch(Exception):
    """Two results that should be equal are not; the text says where."""


def number_text(value):
    """A value for a message, with enough digits to tell floats apart."""
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else str(value)


def compare_arrays(actual, expected, atol):
    """A line about the largest difference; Mismatch if it exceeds `atol` (0: exact). NaN equals nothing."""
    if actual.shape != expected.shape:
        raise Mismatch(f"shape {list(actual.shape)}, expected {list(expected.shape)}")
    if expected.size == 0:
        return "empty"
    kind = np.float64 if expected.dtype.kind == "f" else np.int64
    difference = np.abs(actual.astype(kind) - expected.astype(kind))
    # NaN and infinite differences are the worst of all.
    ranked = np.where(np.isfinite(difference), difference, np.inf) if kind is np.float64 else difference
    at = np.unravel_index(int(np.argmax(ranked)), ranked.shape)
    index = "[" + ", ".join(str(i) for i in at) + "]"
    line = (f"worst at {index}: {number_text(actual[at])}, expected {number_text(expected[at])}, "
            f"difference {number_text(difference[at])}, allowed {number_text(atol)}")
    if not ranked[at] <= atol:
        raise Mismatch(line)
    return line


def compare_lists(actual, expected, what):
    """Mismatch at the first place where two lists differ, as far as both go."""
    for i, (a, e) in enumerate(zip(actual, expected)):
        if a != e:
            raise Mismatch(f"{what} {i} is {a}, expected {e}")
    return f"{min(len(actual), len(expected))} of {len(expected)} equal"


def load_dump(folder, name, stride=1):
    """The dump's array that corresponds to a golden name; every stride-th value where a golden keeps no more."""
    last = name.endswith(LAST_ROWS)
    path = folder / f"{name.removesuffix(LAST_ROWS)}.npy"
    if not path.exists():
        raise Mismatch(f"{path} is missing")
    array = np.load(path, allow_pickle=False)
    if stride > 1:
        return array.reshape(-1)[::stride]
    return array[-4:] if last else array


def compare_case_arrays(dump, case, golden, factor):
    """Yields (name, check) for every array of the case; `check()` returns a line or raises Mismatch."""
    entries = dict(golden["arrays"])
    pixel_names = [n for n in entries if n.startswith("pixel_values.")]
    for name, entry in entries.items():
        if name in NOT_DUMPED or name in pixel_names:
            continue
        atol = entry.get("atol", 0) * factor
        yield name, lambda n=name, e=entry, a=atol: compare_arrays(
            load_dump(dump, n, e.get("sample_stride", 1)), np.load(case / e["file"]), a)
    if pixel_names:
        # The dump holds the patches of all images, one after another.
        def check():
            expected = np.concatenate([np.load(case / entries[n]["file"]) for n in pixel_names])
            atol = max(entries[n]["atol"] for n in pixel_names) * factor
            return compare_arrays(load_dump(dump, "pixel_values"), expected, atol)
        yield "pixel_values", check


def compare_rounds(actual, expected):
    """Rounds of the dump against those of a golden run."""
    for i, (a, e) in enumerate(zip(actual, expected)):
        # A run that stops at its token limit drafts less in the last rounds.
        n = len(a["drafts"])
        if a["drafts"] != e["drafts"][:n]:
            raise Mismatch(f"round {i} drafts {a['drafts']}, expected {e['drafts']}")
        if a["emitted"] != e["emitted"][: len(a["emitted"])]:
            raise Mismatch(f"round {i} emits {a['emitted']}, expected {e['emitted']}")
        if n == len(e["drafts"]) and a["accepted"] != e["accepted"]:
            raise Mismatch(f"round {i} accepts {a['accepted']} drafts, expected {e['accepted']}")
    return f"{min(len(actual), len(expected))} of {len(expected)} equal"


def compare_detections(actual, expected):
    """What a layout model has found: labels in their order, scores to 0.01, boxes to a pixel."""
    if [a["label"] for a in actual] != [e["label"] for e in expected]:
        raise Mismatch(f"{[a['label'] for a in actual]}, expected {[e['label'] for e in expected]}")
    for i, (a, e) in enumerate(zip(actual, expected)):
        if abs(a["score"] - e["score"]) > 0.01 or max(abs(x - y) for x, y in zip(a["box"], e["box"])) > 1:
            raise Mismatch(f"detection {i} is {a['score']:.4f} {a['box']}, expected {e['score']:.4f} {e['box']}")
    return f"{len(expected)} equal"


def compare_result(dump, case, golden, rounds):
    """Yields (name, check) for prompt, tokens and, if asked for, rounds; of a layout model for its detections."""
    path = dump / "result.json"
    if not path.exists():
        def missing():
            raise Mismatch(f"{path} is missing")
        yield "result.json", missing
        return
    result = json.loads(path.read_text(encoding="utf-8"))
    if "detections" in golden:
        yield "detections", lambda: compare_detections(result["detections"], golden["detections"]["list"])
        return

    def prompt():
        if result["prompt"] != golden["prompt"]:
            raise Mismatch(f"{result['prompt']!r}, expected {golden['prompt']!r}")
        return "equal"

    yield "prompt", prompt
    yield "tokens", lambda: compare_lists(result["tokens"], golden["greedy"]["tokens"], "token")
    if rounds:
        speculative = case.parents[2] / "mtp" / golden["snapshot"] / "speculative.json"
        runs = json.loads(speculative.read_text(encoding="utf-8"))
        key = f"{case.name}.{rounds}"
        if key not in runs:
            raise SystemExit(f"{speculative} has no run {key}; known: {', '.join(runs)}")
        yield "rounds", lambda: compare_rounds(result["rounds"], runs[key]["rounds"])


def main(argv=None):
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path, help="folder written by platen forward --dump")
    parser.add_argument("case", type=Path, help="folder of a golden case (with golden.json)")
    parser.add_argument("--rounds", metavar="KEY", help="compare speculative rounds too: k1, k2, k4 or k4.stop")
    parser.add_argument("--factor", type=float, default=1.0, help="multiply every tolerance (default 1)")
    args = parser.parse_args(argv)
    for folder, name in ((args.dump, ""), (args.case, "golden.json")):
        if not (folder / name).exists():
            print(f"{folder / name} does not exist", file=sys.stderr)
            return 2
    case = args.case.resolve()
    golden = json.loads((case / "golden.json").read_text(encoding="utf-8"))
    checks = [*compare_case_arrays(args.dump, case, golden, args.factor),
              *compare_result(args.dump, case, golden, args.rounds)]
    failed = 0
    for name, check in checks:
        try:
            print(f"ok    {name}: {check()}")
        except (Mismatch, ValueError, OSError, KeyError) as problem:
            failed += 1
            print(f"MISS  {name}: {problem}")
    print(f"{len(checks) - failed} of {len(checks)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
