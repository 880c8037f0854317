#!/usr/bin/env python3
"""Draws what platen found on a page: kinds, reading order, cells of tables, words.

    platen ocr PAGE --format json > RESULT.json
    draw_page.py RESULT.json PAGE OUT.png [--page 1] [--width 1000]

Each region has the colour of its kind, its place in the reading order and its kind's name; cells of
tables and forms are outlined in it, words underlined. Needs Python 3.9 and Pillow.
"""
import argparse
import json

from PIL import Image, ImageDraw, ImageSequence

COLOURS = {"title": (190, 20, 60), "heading": (220, 90, 20), "list_item": (20, 120, 60), "table": (30, 60, 200),
           "figure": (130, 60, 160), "caption": (0, 130, 150), "header": (120, 120, 120), "footer": (120, 120, 120),
           "page_number": (120, 120, 120), "footnote": (150, 110, 30), "text": (60, 60, 60)}


def draw(image, page, width):
    if page["rotation"]:
        image = image.rotate(-page["rotation"], expand=True)
    scale = width / page["width"]
    out = image.convert("RGB").resize((width, round(page["height"] * scale)), Image.LANCZOS)
    pen = ImageDraw.Draw(out)
    points = lambda quad: [(x * scale, y * scale) for x, y in quad]  # noqa: E731
    for number, region in enumerate(page["regions"]):
        colour = COLOURS.get(region["label"], (0, 0, 0))
        x0, y0, x1, y1 = (v * scale for v in region["box"])
        pen.rectangle([x0 - 2, y0 - 2, x1 + 2, y1 + 2], outline=colour, width=2)
        for cell in region.get("table", {}).get("cells", []):
            pen.polygon(points(cell["quad"]), outline=colour)
        for line in region["lines"]:
            for word in line.get("words", []):
                quad = points(word["quad"])
                pen.line([quad[3], quad[2]], fill=colour)
        name = f"{number} {region['label']}"
        box = pen.textbbox((x0, y0 - 13), name)
        pen.rectangle([box[0] - 1, box[1], box[2] + 1, box[3]], fill=(255, 255, 255))
        pen.text((x0, y0 - 13), name, fill=colour)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("result")
    parser.add_argument("image")
    parser.add_argument("out")
    parser.add_argument("--page", type=int, default=1)
    parser.add_argument("--width", type=int, default=1000)
    options = parser.parse_args()
    with open(options.result) as file:
        pages = json.load(file)["pages"]
    page = next(p for p in pages if p["page"] == options.page)
    with Image.open(options.image) as image:
        sheet = ImageSequence.Iterator(image)[options.page - 1]
        draw(sheet, page, options.width).save(options.out)


if __name__ == "__main__":
    main()
