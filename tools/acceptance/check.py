#!/usr/bin/env python3
"""Run platen on the images of a golden and say whether it agrees with the reference.

    check.py --model SNAPSHOT --golden DIR [--platen PROGRAM] [--precisions f32,int8] [--keep DIR]

DIR is what make_golden.py wrote. A table, and a verdict in words for each precision. Exit status: 0 both agree,
1 something differs, 2 something could not be run. Needs numpy only.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import comparison

ROOT = Path(__file__).resolve().parents[2]
FORMAT = 1


class CannotRun(Exception):
    """The comparison could not be made; the text says why."""


def load_golden(folder):
    """The arrays and the words of a case in one dictionary; large arrays stay in their files."""
    golden = json.loads((folder / "golden.json").read_text(encoding="utf-8"))
    if golden.get("format") != FORMAT:
        raise CannotRun(f"{folder}: format {golden.get('format')}, this program reads {FORMAT}; make the golden anew")
    for name in golden.pop("arrays"):
        golden[name] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    return golden


def forward_words(options, precision, case, golden, dump):
    words = [str(options.platen), "forward", str(options.model), "--image", str(case / "image.png"),
             "--prompt", golden["prompt"], "--max-new-tokens", str(golden["max_new_tokens"]),
             "--precision", precision, "--packed", "never", "--dump", str(dump), "--logits", "all"]
    return words + (["--answer-ids", ",".join(map(str, golden["answer"]))] if golden["answer"] else [])


def load_dump(folder, printed):
    """The arrays of a dump that goldens have, its tokens, and what ended the answer."""
    dump = {path.stem: np.load(path, mmap_mode="r", allow_pickle=False) for path in folder.glob("*.npy")}
    dump["tokens"] = json.loads((folder / "result.json").read_text(encoding="utf-8"))["tokens"]
    ended = re.search(r"^tokens .*, ended by (.*)$", printed, re.MULTILINE)
    dump["ended_by"] = ended.group(1) if ended else ""
    return dump


def without_stop(tokens, golden):
    """result.json has the stop token, a golden's answer does not."""
    return tokens[:-1] if tokens and tokens[-1] in golden["stop"] else tokens


def run_case(options, precision, name, folder):
    """Runs platen and compares -> CaseResult."""
    case = options.golden / name
    golden = load_golden(case)
    shutil.rmtree(folder, ignore_errors=True)
    words = forward_words(options, precision, case, golden, folder)
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    # A request that fails (logits that are no numbers) ends with 1 too, but with a dump that shows where.
    if not (folder / "logits.npy").exists():
        raise CannotRun(f"{' '.join(words)}\nended with {done.returncode}: {done.stderr.strip()}")
    dump = load_dump(folder, done.stdout)
    dump["tokens"] = without_stop(dump["tokens"], golden)
    result = comparison.compare_case(name, golden, dump)
    result.own_difference = golden["own_difference"]
    return result


HEADING = ("image", "precision", "positions", "largest", "spread", "divergence", "answer rows", "tokens")


def table_row(result, precision):
    if result.rows is None:
        return [result.name, precision, "-", "-", "-", "-", "-", "-"]
    rows, answer = result.rows, result.answer_rows
    return [result.name, precision, str(len(rows.error)), f"{rows.error.max():.1e}", f"{np.median(rows.spread):.1e}",
            f"{rows.divergence[answer].mean():.1e}", f"{rows.agrees[answer].sum()} of {len(rows.agrees[answer])}",
            result.tokens]


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def check(options, scratch):
    """Prints table and verdict; True if everything agrees."""
    names = json.loads((options.golden / "golden.json").read_text(encoding="utf-8"))["cases"]
    table, verdicts = [list(HEADING)], []
    for precision in options.precisions.split(","):
        results = []
        for name in names:
            print(f"{precision}: {name} ...", file=sys.stderr, flush=True)
            results.append(run_case(options, precision, name, scratch / f"{precision}-{name}"))
            table.append(table_row(results[-1], precision))
            if not options.keep:
                shutil.rmtree(scratch / f"{precision}-{name}", ignore_errors=True)
        verdicts.append(comparison.verdict(precision, results))
    print_table(table)
    print("\nlargest and spread: differences of logits in standard deviations of the reference's row (worst, and median of the\n"
          "root mean squares); divergence: mean Kullback-Leibler of the rows that decide the answer, nats; answer rows: where\n"
          "both would choose the same token.\n")
    for _, lines in verdicts:
        print("\n".join(lines))
    agreed = [agrees for agrees, _ in verdicts]
    if not agreed[0] and any(agreed):
        print("f32 decides: where it differs, int8 within its limits says only that the mistake is smaller than rounding.")
    return all(agreed)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--golden", type=Path, required=True)
    parser.add_argument("--platen", type=Path, default=ROOT / "build" / "bin" / "platen")
    parser.add_argument("--precisions", default="f32,int8")
    parser.add_argument("--keep", type=Path, help="keep platen's dumps in this folder")
    options = parser.parse_args(argv)
    try:
        if options.keep:
            return 0 if check(options, options.keep) else 1
        with tempfile.TemporaryDirectory() as scratch:
            return 0 if check(options, Path(scratch)) else 1
    except (CannotRun, OSError, ValueError, KeyError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
