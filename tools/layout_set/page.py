"""A page that knows its regions: what is drawn between `with page.region(KIND)` belongs to one.

Drawn in reading order. Lines as in tools/eval/generate_pages.py; beside them `regions` and `tables`.
"""
import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "eval"))

import generate_pages as pages  # noqa: E402


class LayoutPage(pages.Page):
    def __init__(self, width_mm, height_mm, dpi):
        super().__init__(width_mm, height_mm, dpi)
        self.regions, self.tables, self.ink = [], [], 0

    def put(self, words, xs, baseline, font, role, ink=0):
        super().put(words, xs, baseline, font, role, ink or self.ink)
        boxes = (self.draw.textbbox((x, baseline), word, font=font, anchor="ls") for word, x in zip(words, xs))
        self.lines[-1]["words"] = [{"text": word, "box": list(box)} for word, box in zip(words, boxes)]
        self.lines[-1]["x_height"] = -font.getbbox("x", anchor="ls")[1]

    @contextlib.contextmanager
    def region(self, kind):
        """Lines drawn inside become one region, a block of its own."""
        self.new_block()
        first = len(self.lines)
        yield
        boxes = [line["box"] for line in self.lines[first:]]
        if boxes:
            self.add_region(kind, around(boxes), list(range(first, len(self.lines))))

    def add_region(self, kind, box, lines=()):
        self.regions.append({"kind": kind, "box": [round(v) for v in box], "lines": list(lines)})

    def picture(self, image, x, y, kind="figure"):
        """Pastes an image; its box is a region without text."""
        x, y = round(x), round(y)
        self.image.paste(image, (x, y))
        self.add_region(kind, [x, y, x + image.width, y + image.height])

    def stamped(self, words, box, font):
        """A line of words in the middle of `box`, which is drawn already; after what begins above it."""
        bounds = self.draw.textbbox(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), words, font=font, anchor="mm")
        place = next((i for i, line in enumerate(self.lines) if line["box"][1] > bounds[1]
                      and (i == 0 or line["block"] != self.lines[i - 1]["block"])), len(self.lines))
        self.new_block()
        self.new_row()
        line = {"text": words, "box": list(bounds), "baseline": bounds[3], "block": self.block, "row": self.row,
                "role": "text", "words": [], "x_height": -font.getbbox("x", anchor="ls")[1]}
        left = bounds[0]
        for word in words.split(" "):
            right = left + font.getlength(word)
            line["words"].append({"text": word, "box": [left, bounds[1], right, bounds[3]]})
            left = right + font.getlength(" ")
        self.lines.insert(place, line)

    @contextlib.contextmanager
    def dark(self, box, ground=0, ink=255):
        """Light text on a dark rectangle."""
        self.draw.rectangle([round(v) for v in box], fill=ground)
        before, self.ink = self.ink, ink
        yield
        self.ink = before


def meet(a, b):
    """Whether two boxes have a place in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def around(boxes):
    return [min(b[0] for b in boxes), min(b[1] for b in boxes),
            max(b[2] for b in boxes), max(b[3] for b in boxes)]


def scan(page, level, rng):
    """The page as scanned: (image, skew in degrees). All boxes move along."""
    cells = [cell for table in page.tables for cell in table["cells"]]
    words = [word for line in page.lines for word in line["words"]]
    boxed = page.regions + page.tables + cells + words
    for item in boxed:
        item["baseline"] = item["box"][3]  # as the damage of lines wants it
    lines = page.lines
    page.lines = lines + boxed
    image, angle = pages.damage(page, level, rng, None)
    page.lines = lines
    for item in boxed:
        del item["baseline"], item["quad"]
    return image, angle
