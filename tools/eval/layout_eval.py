#!/usr/bin/env python3
"""Measures the layout stage on synthetic pages with exact ground truth.

    layout_eval.py --program BUILD/bench/layout_pages --seed N [--keep DIR]     freshly made pages
    layout_eval.py --program BUILD/bench/layout_pages --truth DIR               pages made before

Fresh pages: every kind of page times seven kinds of damage, drawn by generate_pages.py from the
seed. DIR holds a page file and a JSON of ground truth for each document.

For every printed line: `alone` if one detection covers it and covers no line of another row (the
cells of a table's row may come together); `merged` if that detection covers another row's line too;
`missed` if nearly nothing of it is covered; else `split`. `false` are detections that cover no line,
per printed line. `order` is the share of pairs of lines of different rows that come in the wrong
order. `--rotate` turns the pages first and counts the pages that were turned back.

Needs Python 3.9, numpy, and for fresh pages what generate_pages.py needs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

KINDS = {
    "letter": "serif",
    "article": "serif",
    "invoice": "sans",
    "form": "sans",
    "receipt": "mono",
    "book": "serif",
}
DAMAGES = [
    ("light", 200),
    ("moderate", 200),
    ("dirty", 200),
    ("moderate", 150),
    ("bilevel", 300),
    ("fax", 300),
    ("fax", 200),
]
SAMPLES_PER_LINE = 60  # points along a line's middle that must be covered
COVERS = 0.85  # share of the points that makes a line covered
TOUCHES = 0.3  # ... that makes a detection include a line, or parts of it


def fresh_plan():
    """One document for each kind and damage; damaged pages in the other style of typeface."""
    other = {"serif": "sans", "sans": "serif", "mono": "mono"}
    plan = []
    for kind, fonts in KINDS.items():
        for damage, dpi in DAMAGES:
            swap = damage in ("dirty", "fax")
            plan.append(
                {
                    "name": f"{kind}-{damage}-{dpi}",
                    "format": "png",
                    "pages": [
                        {
                            "kind": kind,
                            "dpi": dpi,
                            "damage": damage,
                            "prose": kind in ("article", "book"),
                            "fonts": other[fonts] if swap else fonts,
                        }
                    ],
                }
            )
    return plan


def make_pages(folder, seed, fonts):
    plan = folder / "plan.json"
    plan.write_text(json.dumps(fresh_plan()))
    script = pathlib.Path(__file__).with_name("generate_pages.py")
    command = [sys.executable, script, "--out", folder, "--seed", str(seed), "--plan", plan]
    if fonts:
        command += ["--fonts", fonts]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    plan.unlink()


def contains(quads, points):
    """For every quad and point, whether the point lies inside. [quads, points]"""
    inside = np.ones((len(quads), len(points)), bool)
    for i in range(4):
        a, b = quads[:, i], quads[:, (i + 1) % 4]
        edge = (b - a)[:, None, :]
        to_point = points[None] - a[:, None, :]
        inside &= edge[..., 0] * to_point[..., 1] - edge[..., 1] * to_point[..., 0] >= -1e-6
    return inside


def coverage(truth_lines, quads):
    """Share of each printed line's middle that each detection covers. [lines, detections]"""
    share = np.zeros((len(truth_lines), len(quads)))
    for k, line in enumerate(truth_lines):
        q = np.asarray(line["quad"], float)
        left, right = (q[0] + q[3]) / 2, (q[1] + q[2]) / 2
        t = np.linspace(0.01, 0.99, SAMPLES_PER_LINE)[:, None]
        share[k] = contains(quads, left + t * (right - left)).mean(1)
    return share


def turned(quads, page, rotation):
    """Corners on the page turned clockwise by `rotation` -> on the page as printed."""
    x, y = quads[..., 0], quads[..., 1]
    width, height = page["width"], page["height"]
    if rotation == 90:
        x, y = y, height - x
    elif rotation == 180:
        x, y = width - x, height - y
    elif rotation == 270:
        x, y = width - y, x
    return np.stack([x, y], -1)


def order_errors(truth_lines, owner):
    """(pairs out of order, pairs) among lines of different rows found by different detections."""
    known = [k for k in range(len(truth_lines)) if owner[k] >= 0]
    wrong = pairs = 0
    for n, i in enumerate(known):
        for j in known[n + 1 :]:
            if truth_lines[i]["row"] == truth_lines[j]["row"] or owner[i] == owner[j]:
                continue
            pairs += 1
            wrong += owner[i] > owner[j]
    return wrong, pairs


def score_page(truth, found):
    lines = truth["lines"]
    quads = np.asarray([l["quad"] for l in found["lines"]], float).reshape(-1, 4, 2)
    share = coverage(lines, quads)
    counts = dict(lines=len(lines), alone=0, merged=0, split=0, missed=0)
    owner = []
    for k, line in enumerate(lines):
        best = int(share[k].argmax()) if len(quads) else -1
        best_share = share[k][best] if len(quads) else 0
        owner.append(best if best_share >= TOUCHES else -1)
        others = [j for j in range(len(lines)) if lines[j]["row"] != line["row"]]
        if not len(quads) or share[k].sum() < 0.15:
            counts["missed"] += 1
        elif best_share < COVERS:
            counts["split"] += 1
        elif any(share[j][best] >= TOUCHES for j in others):
            counts["merged"] += 1
        else:
            counts["alone"] += 1
    counts["false"] = int((share.max(0) < 0.05).sum()) if len(lines) else len(quads)
    counts["wrong_pairs"], counts["pairs"] = order_errors(lines, owner)
    return counts


def detect(program, files, rotate):
    out = subprocess.run(
        [program, "--rotate", str(rotate), *map(str, files)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return [json.loads(line) for line in out.splitlines()]


def total(rows):
    return {key: sum(row[key] for row in rows) for key in rows[0]}


def describe(name, t):
    n = max(1, t["lines"])
    return (
        f"{name:22s} {t['pages']:5d} {t['lines']:6d} {t['alone'] / n:7.4f} {t['merged'] / n:7.4f} "
        f"{t['split'] / n:7.4f} {t['missed'] / n:7.4f} {t['false'] / n:7.4f} "
        f"{t['wrong_pairs'] / max(1, t['pairs']):8.5f} {t['cpu'] / t['pages']:7.3f}"
    )


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--program", required=True, help="the layout_pages binary")
    ap.add_argument("--seed", type=int, help="make fresh pages from this seed")
    ap.add_argument("--fonts", help="fonts.json for generate_pages.py")
    ap.add_argument("--keep", help="keep the fresh pages in this folder")
    ap.add_argument("--truth", help="folder with pages and their ground truth")
    ap.add_argument("--rotate", type=int, default=0, choices=(0, 90, 180, 270))
    ap.add_argument("--pages", action="store_true", help="a row for every page")
    o = ap.parse_args()
    if (o.seed is None) == (o.truth is None):
        ap.error("give either --seed or --truth")

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(o.truth or o.keep or temporary)
        if o.seed is not None:
            folder.mkdir(parents=True, exist_ok=True)
            print(f"seed {o.seed}")
            make_pages(folder, o.seed, o.fonts)
        rows, upright = [], 0
        for truth_file in sorted(folder.glob("*.json")):
            document = json.loads(truth_file.read_text(encoding="utf-8"))
            if "pages" not in document or "file" not in document:
                continue
            found_pages = detect(o.program, [folder / document["file"]], o.rotate)
            for truth, found in zip(document["pages"], found_pages):
                turn = found["rotation"]
                upright += (turn + o.rotate) % 360 == 0
                on_its_side = turn in (90, 270)
                # The detector's corners lie on the page it turned; back to the page as printed.
                size = {
                    "width": found["height"] if on_its_side else found["width"],
                    "height": found["width"] if on_its_side else found["height"],
                }
                for line in found["lines"]:
                    back = turned(np.asarray(line["quad"], float), size, (turn + o.rotate) % 360)
                    line["quad"] = back.tolist()
                row = score_page(truth, found) | {"pages": 1, "cpu": found["cpu_seconds"]}
                rows.append((truth["kind"], f"{truth['damage']} {truth['dpi']}", row))
                if o.pages:
                    print(describe(truth_file.stem[:22], row))

    if not rows:
        sys.exit(f"no pages with ground truth in {folder}")
    print(f"{'':22s} pages  lines   alone  merged   split  missed   false    order   cpu s")
    for index in (0, 1):
        for name in sorted({r[index] for r in rows}):
            print(describe(name, total([r[2] for r in rows if r[index] == name])))
    print(describe("all", total([r[2] for r in rows])))
    print(f"orientation right: {upright} of {len(rows)}")


if __name__ == "__main__":
    main()
