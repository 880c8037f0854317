#!/usr/bin/env python3
"""Pages to judge a layout by, with exact truth: every class of classes.py, from a seed.

    tools/layout_set/generate.py --out DIR --seed N [--per-class 10] [--classes LIST]

Writes DIR/CLASS/synthetic/NAME.EXT and NAME.json, so that each class is a scans folder of tools/eval/cer.py:

  {"file", "class", "seed", "pages": [{"width", "height", "dpi": [x, y], "class", "damage", "skew_deg", "text",
    "lines": [{"text", "box", "quad", "baseline", "x_height", "block", "row", "role",
               "words": [{"text", "box"}]}],                                        in reading order
    "regions": [{"kind", "box", "lines": [indices]}],                               in reading order
    "tables": [{"style", "rows", "columns", "box",
                "cells": [{"row", "column", "row_span", "column_span", "text", "box"}]}]}]}

A document does not depend on the others, nor on how many there are. Use a fresh seed for every figure
that is quoted, and print it. Needs Python 3.9, Pillow, numpy, OpenCV and the fonts of
tools/eval/generate_pages.py; its text is the same.
"""
import argparse
import json
import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

import page as layout
import warps
from classes import CLASSES

pages = layout.pages
TITLES = ["The history of the house", "Letters and papers", "A journey north", "Records of the office"]


def move_boxes(page, move):
    items = page.regions + page.tables + [cell for table in page.tables for cell in table["cells"]]
    items += [word for line in page.lines for word in line["words"]]
    for line in page.lines:
        quad = move(np.float64(line["quad"]))
        line["quad"] = np.round(quad, 1).tolist()
        line["baseline"] = round(float(move(np.float64([[np.mean(line["box"][::2]), line["baseline"]]]))[0, 1]), 1)
    for item in page.lines + items:
        item["box"] = warps.moved_box(item["box"], move)


def scanned(page, kind, rng):
    """The finished picture of a page."""
    level = rng.choice(kind.damage)
    image, angle = layout.scan(page, level, rng)
    if kind.warp:
        image, move = warps.WARPS[kind.warp](image, rng)
        move_boxes(page, move)
    if kind.dirt:
        image = warps.DIRT[kind.dirt](image, rng)
    if kind.inverted:
        image = ImageOps.invert(image)
    if len(kind.dpi) == 2:  # lines are fewer than dots in a line
        scale = kind.dpi[1] / kind.dpi[0]
        image = image.resize((image.width, round(image.height * scale)), Image.BOX)
        image = image.point(lambda v: 255 if v > 140 else 0)
        move_boxes(page, lambda p: p * np.float64([1, scale]))
    return image, angle, level


def make_page(name, kind, index, document, fonts, lexicon, paragraphs):
    rng = random.Random(f"{document['seed']}/{name}/{index}")
    page = layout.LayoutPage(*kind.size, kind.dpi[0])
    page.fill, page.mono = rng.choice(fonts["hand"]), document["mono"]
    page.index, page.first_number = index, document["first_number"]
    page.title, page.number_above = document["title"], document["number_above"]
    kind.draw(page, pages.Words(rng, lexicon, paragraphs), document["files"], rng)
    image, angle, level = scanned(page, kind, rng)
    truth = {"width": image.width, "height": image.height, "dpi": [kind.dpi[0], kind.dpi[-1]],
             "class": name.rsplit("-", 1)[0], "damage": level, "skew_deg": round(angle, 3),
             "text": pages.page_text(page.lines) if page.lines else "", "lines": page.lines,
             "regions": page.regions, "tables": page.tables}
    return image, truth


def make_document(name, kind, seed, out, fonts, lexicon, paragraphs):
    rng = random.Random(f"{seed}/{name}")
    document = {"seed": seed, "first_number": rng.randint(2, 300), "title": rng.choice(TITLES),
                "number_above": rng.random() < .5, "mono": rng.choice(fonts["mono"]),
                "files": rng.choice(fonts[rng.choice(["serif", "serif", "sans"])])}
    images, truths = zip(*(make_page(name, kind, i, document, fonts, lexicon, paragraphs)
                           for i in range(kind.pages)))
    dpi = (kind.dpi[0], kind.dpi[-1])
    if len(images) > 1 or len(kind.dpi) == 2:
        file = f"{name}.tif"
        bilevel = len(kind.dpi) == 2
        ready = [image.convert("1") if bilevel else image for image in images]
        ready[0].save(out / file, compression="group4" if bilevel else "tiff_adobe_deflate", dpi=dpi, save_all=True,
                      append_images=ready[1:])
    elif truths[0]["damage"] in ("none", "bilevel", "fax"):
        file = f"{name}.png"
        images[0].save(out / file, dpi=dpi)
    else:
        file = f"{name}.jpg"
        images[0].save(out / file, quality=75, dpi=dpi)
    truth = {"file": file, "class": truths[0]["class"], "seed": seed, "pages": truths}
    (out / f"{name}.json").write_text(json.dumps(truth, ensure_ascii=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--per-class", type=int, default=10, help="documents of each class")
    parser.add_argument("--classes", default=",".join(CLASSES))
    options = parser.parse_args()
    fonts = {kind: [[pages.find_font(f) for f in family] for family in families]
             for kind, families in pages.DEFAULT_FONTS.items()}
    paragraphs = [" ".join(p.split()) for p in pages.TEXT.split("\n\n")]
    for wanted in options.classes.split(","):
        if wanted not in CLASSES:
            parser.error(f"no class {wanted}; there are {', '.join(CLASSES)}")
        out = options.out / wanted / "synthetic"
        out.mkdir(parents=True, exist_ok=True)
        for i in range(options.per_class):
            make_document(f"{wanted}-{i:02}", CLASSES[wanted], options.seed, out, fonts, pages.LEXICON, paragraphs)
        print(f"{wanted}: {options.per_class}")


if __name__ == "__main__":
    main()
