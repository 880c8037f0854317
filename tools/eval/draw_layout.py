#!/usr/bin/env python3
"""Draws the lines that the layout stage finds on a page.

    draw_layout.py --program BUILD/bench/layout_pages PAGE OUT.png [--width PIXELS]

Every line's outline in the colour of its block, its number in reading order, its baseline in grey.
Needs Python 3.9 and Pillow.
"""
import argparse
import json
import subprocess

from PIL import Image, ImageDraw

COLOURS = [(200, 30, 30), (20, 130, 40), (30, 60, 200), (200, 120, 0)]


def draw(page, found, width):
    if found["rotation"]:
        page = page.rotate(-found["rotation"], expand=True)
    scale = width / page.width
    out = page.convert("RGB").resize((width, round(page.height * scale)), Image.LANCZOS)
    pen = ImageDraw.Draw(out)
    for number, line in enumerate(found["lines"]):
        quad = [(x * scale, y * scale) for x, y in line["quad"]]
        colour = COLOURS[line["block"] % len(COLOURS)]
        drop = line["baseline"] * scale
        pen.line([(quad[0][0], quad[0][1] + drop), (quad[1][0], quad[1][1] + drop)], (170, 170, 170))
        pen.polygon(quad, outline=colour)
        pen.text((quad[0][0] - 16, quad[0][1]), str(number), fill=colour)
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--program", required=True, help="the layout_pages binary")
    ap.add_argument("--width", type=int, default=900)
    ap.add_argument("page")
    ap.add_argument("out")
    o = ap.parse_args()
    text = subprocess.run([o.program, o.page], check=True, stdout=subprocess.PIPE, text=True).stdout
    picture = draw(Image.open(o.page), json.loads(text.splitlines()[0]), o.width)
    picture.quantize(32).save(o.out, optimize=True)


if __name__ == "__main__":
    main()
