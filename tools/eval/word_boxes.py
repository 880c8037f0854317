#!/usr/bin/env python3
"""How well the estimated boxes of words agree with where the words stand.

    tools/eval/word_boxes.py --platen build/bin/platen --set DIR [--ocr-options "..."]

DIR holds pages of tools/layout_set/generate.py. A true line and the line found over it are compared word by
word, as far as their texts agree. A word of platen is as high as its line, so edges are compared along the
line alone. Prints, for each class of pages and over all of them:

  compared   true words that have a partner
  IoU        share of them whose extents along the line have an intersection of at least half their union
  centre     share whose found centre lies in the true box
  edge       mean distance of the left and right edges, in heights of a small letter
  95 %       the distance that 95 % of the edges do not exceed

Needs Python 3.9.
"""
import argparse
import difflib
import json
import statistics
import subprocess
import tempfile
from pathlib import Path


def bounds(quad):
    xs, ys = [p[0] for p in quad], [p[1] for p in quad]
    return min(xs), min(ys), max(xs), max(ys)


def overlap(a, b):
    """Area that two boxes share."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(0, width) * max(0, height)


def line_over(line, found):
    """The found line that covers most of a true one, at least half of it."""
    box = line["box"]
    area = max(1, (box[2] - box[0]) * (box[3] - box[1]))
    best = max(found, key=lambda other: overlap(box, other["box"]), default=None)
    return best if best and overlap(box, best["box"]) > .5 * area else None


def pairs(line, found):
    """(true, found) boxes of the words whose texts agree."""
    true, read = line["words"], found.get("words", [])
    matcher = difflib.SequenceMatcher(None, [w["text"] for w in true], [w["text"] for w in read], autojunk=False)
    for block in matcher.get_matching_blocks():
        for i in range(block.size):
            yield true[block.a + i]["box"], bounds(read[block.b + i]["quad"])


class Sums:
    def __init__(self):
        self.words = self.half = self.centre = 0
        self.true_words = 0
        self.edges = []

    def add(self, page, result):
        found = [line for region in result["regions"] for line in region["lines"]]
        square = result["height"] / page["height"]  # oblong pixels are made square
        for line in page["lines"]:
            line = {**line, "box": [v * (square if i % 2 else 1) for i, v in enumerate(line["box"])]}
            self.true_words += len(line["words"])
            other = line_over(line, found)
            for true, read in pairs(line, other) if other else ():
                common = min(true[2], read[2]) - max(true[0], read[0])
                self.words += 1
                self.half += common >= .5 * (max(true[2], read[2]) - min(true[0], read[0]))
                self.centre += true[0] <= (read[0] + read[2]) / 2 <= true[2]
                self.edges += [abs(true[i] - read[i]) / line["x_height"] for i in (0, 2)]

    def row(self, name):
        if not self.words:
            return f"{name:18}{self.true_words:8}       no word compared"
        edges = sorted(self.edges)
        return (f"{name:18}{self.true_words:8}{self.words / self.true_words:10.3f}{self.half / self.words:9.4f}"
                f"{self.centre / self.words:9.4f}{statistics.fmean(edges):8.3f}{edges[int(.95 * len(edges))]:8.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platen", type=Path, required=True)
    parser.add_argument("--set", type=Path, required=True)
    parser.add_argument("--ocr-options", default="")
    options = parser.parse_args()
    documents = [(path, json.loads(path.read_text())) for path in sorted(options.set.glob("*/synthetic/*.json"))]
    if not documents:
        raise SystemExit(f"{options.set}: no pages; make some with tools/layout_set/generate.py")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "pages").write_text("".join(f"{path.parent / truth['file']}\n" for path, truth in documents))
        subprocess.run([options.platen, "ocr", "--manifest", work / "pages", "-o", work / "out", "--format", "json",
                        "--quiet", *options.ocr_options.split()], check=False)
        results = {path.name: json.loads(path.read_text()) for path in (work / "out").rglob("*.json")
                   if ".platen" not in path.parts and path.name != "run.json"}
    classes, total = {}, Sums()
    for path, truth in documents:
        result = results[Path(truth["file"]).name + ".json"]
        for page, found in zip(truth["pages"], result["pages"]):
            classes.setdefault(truth["class"], Sums()).add(page, found)
            total.add(page, found)
    print(f"seed {', '.join(sorted({str(truth['seed']) for _, truth in documents}))}")
    print(f"{'class':18}{'words':>8}{'compared':>10}{'IoU':>9}{'centre':>9}{'edge':>8}{'95 %':>8}")
    for name, sums in classes.items():
        print(sums.row(name))
    print(total.row("all"))


if __name__ == "__main__":
    main()
