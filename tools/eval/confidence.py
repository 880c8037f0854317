#!/usr/bin/env python3
"""Whether the confidence of a line is the share of its characters that are right.

    tools/eval/confidence.py --platen build/bin/platen --scans DIR [--scans DIR ...] [--ocr-options "..."]

The folders are those of cer.py. What was read is aligned with the truth page by page, with as few edits as
possible, after cer.py's normalisation; characters that an edit replaces or deletes are wrong. Lines are
sorted into bins by their mean confidence. Prints each bin's mean confidence and share of right characters,
and the expected calibration error: the difference of the two, mean over characters. Text in another order
than the truth's counts as wrong, so a page whose order of reading is off makes the error larger.

Needs Python 3.9 and rapidfuzz (requirements.txt).
"""
import argparse
import json
import shlex
import tempfile
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from cer import cpu_of, find_pages, normalise

BINS = 15


def lines_of(result: dict) -> list:
    """(text, mean confidence) of the lines of a page result that have text, in reading order."""
    return [(normalise(line["text"]), line["confidence"]["mean"])
            for region in result["regions"] for line in region["lines"] if normalise(line["text"])]


def right_by_line(truth: str, lines: list) -> list:
    """Of every line the number of characters, and of those that stand in the truth."""
    text = " ".join(line for line, _ in lines)
    right = [True] * len(text)
    for edit in Levenshtein.editops(text, normalise(truth)):
        if edit.tag in ("replace", "delete"):
            right[edit.src_pos] = False
    counts, start = [], 0
    for line, _ in lines:
        counts.append((len(line), sum(right[start:start + len(line)])))
        start += len(line) + 1
    return counts


def calibration(counts: list, confidences: list) -> tuple:
    """Rows (characters, confidence, share right) of the bins that hold lines, and the expected error."""
    bins = [[0, 0.0, 0] for _ in range(BINS)]
    for (characters, right), mean in zip(counts, confidences):
        row = bins[min(int(mean * BINS), BINS - 1)]
        row[0] += characters
        row[1] += characters * mean
        row[2] += right
    total = max(1, sum(row[0] for row in bins))
    error = sum(abs(row[1] - row[2]) for row in bins) / total
    return [(n, said / n, right / n) for n, said, right in bins if n], error


def read(platen: Path, pages: list, options: list) -> list:
    """The page results of platen."""
    with tempfile.TemporaryDirectory() as work:
        manifest = Path(work) / "pages.txt"
        manifest.write_text("".join(f"{page.path.resolve()}\n" for page in pages))
        cpu_of([platen, "ocr", "--manifest", manifest, "-o", Path(work) / "out", "--format", "json",
                "--quiet", *options])
        found = {path.name: path for path in (Path(work) / "out").rglob("*.json")}
        return [json.loads(found[page.path.name + ".json"].read_text())["pages"][0] for page in pages]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platen", type=Path, required=True)
    parser.add_argument("--scans", type=Path, action="append", required=True)
    parser.add_argument("--ocr-options", default="", help="further options of platen ocr, one string")
    options = parser.parse_args()
    for folder in options.scans:
        pages = find_pages(folder)
        results = read(options.platen, pages, shlex.split(options.ocr_options))
        for group in sorted({page.path.parent.name for page in pages}):
            counts, confidences = [], []
            for page, result in zip(pages, results):
                if page.path.parent.name == group:
                    lines = lines_of(result)
                    counts += right_by_line(page.truth, lines)
                    confidences += [mean for _, mean in lines]
            rows, error = calibration(counts, confidences)
            print(f"{folder / group}: expected calibration error {100 * error:.2f} %, {len(counts)} lines")
            for characters, said, right in rows:
                print(f"  {characters:7d} characters, confidence {said:.3f}, right {right:.3f}")


if __name__ == "__main__":
    main()
