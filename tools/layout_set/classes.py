"""The classes of pages: CLASSES maps a name to Class(draw, width_mm, height_mm, damage, pages).

A draw function takes (page, words, face files, rng) and draws in reading order.
"""
from dataclasses import dataclass
from typing import Callable

import pictures
import tables
from blocks import body, caption, faces, heading
from page import meet, pages

A4 = (210, 297)


@dataclass
class Class:
    draw: Callable
    size: tuple = A4
    damage: tuple = ("none", "light")
    pages: int = 1          # of a document
    inverted: bool = False  # the whole page: light on dark
    warp: str = ""          # "curl", "keystone"
    dirt: str = ""          # "speckle", "border"
    dpi: tuple = (200,)
    text: bool = True       # False: there is nothing to read


def picture_of(page, words, rng, width, height):
    image = pictures.photograph(rng, width, height)
    return pictures.halftone(image, page.dpi / 85) if rng.random() < .35 else image


def photo_between(page, words, files, rng):
    mm = page.mm
    x, x1 = 24 * mm, 186 * mm
    y = heading(page, words, files, 16, x, 24 * mm, kind="title")
    y = body(page, words, files, 11, [x, y, x1, 270 * mm], rng, rng.uniform(.15, .4))
    w, h = rng.uniform(80, 162) * mm, rng.uniform(45, 90) * mm
    left = x + (x1 - x - w) * rng.choice([0, .5, 1])
    page.picture(picture_of(page, words, rng, w, h), left, y + 3 * mm)
    y += h + 5 * mm
    if rng.random() < .6:
        y = caption(page, words, files, left, y, w, rng.randint(1, 30))
    body(page, words, files, 11, [x, y + 3 * mm, x1, 275 * mm], rng)


def columns_of(page, count, gutter_mm, margin_mm=16):
    width = 210 - 2 * margin_mm
    column = (width - gutter_mm * (count - 1)) / count
    return [((margin_mm + i * (column + gutter_mm)) * page.mm,
             (margin_mm + i * (column + gutter_mm) + column) * page.mm) for i in range(count)]


def columns(count, lowest_pt, highest_pt):
    def draw(page, words, files, rng):
        gutter = rng.uniform(lowest_pt, highest_pt) * 25.4 / 72
        top = 20 * page.mm
        if rng.random() < .5:
            top = heading(page, words, files, 17, 105 * page.mm, top, "center", "title") + 3 * page.mm
        for x, x1 in columns_of(page, count, gutter):
            body(page, words, files, {2: 10, 3: 9, 4: 8}[count], [x, top, x1, 280 * page.mm], rng,
                 rng.uniform(.7, 1), justify=rng.random() < .7)
    return draw


def photo_in_column(page, words, files, rng):
    """Two columns; a photo takes the width of one, somewhere in it, or of both at the top or bottom."""
    mm, bottom = page.mm, 280 * page.mm
    top = 18 * mm
    places = columns_of(page, 2, rng.uniform(4, 8))
    across = rng.choice(["", "", "top", "bottom"])
    left, right = places[0][0], places[1][1]
    if across:
        h = rng.uniform(50, 90) * mm
        y = top if across == "top" else bottom - h
        image = picture_of(page, words, rng, right - left, h)
        if across == "top":
            page.picture(image, left, y)
            top = caption(page, words, files, left, y + h + 1 * mm, right - left, 1) + 2 * mm
        else:
            bottom = y - 5 * mm
    which = rng.randrange(2) if not across else -1
    for i, (x, x1) in enumerate(places):
        y = top
        if i == which:
            y = body(page, words, files, 10, [x, y, x1, bottom], rng, rng.uniform(.1, .5), True)
            h = rng.uniform(40, 80) * mm
            page.picture(picture_of(page, words, rng, x1 - x, h), x, y + 2 * mm)
            y = caption(page, words, files, x, y + h + 3 * mm, x1 - x, 2)
        body(page, words, files, 10, [x, y, x1, bottom], rng, 1, True)
    if across == "bottom":
        page.picture(image, left, bottom + 5 * mm)


def wrapped_photo(page, words, files, rng):
    """One column; its lines are shorter beside a photo at the left or the right."""
    mm = page.mm
    f = faces(page, files, 11)
    lead = f.px * 1.25
    x, x1 = 24 * mm, 186 * mm
    y = heading(page, words, files, 16, x, 20 * mm, kind="title")
    y = body(page, words, files, 11, [x, y, x1, 275 * mm], rng, rng.uniform(.1, .3))
    w, h, gap = rng.uniform(50, 85) * mm, rng.uniform(45, 80) * mm, 5 * mm
    at_left = rng.random() < .5
    image = picture_of(page, words, rng, w, h)
    page.picture(image, x if at_left else x1 - w, y + lead * .4)
    narrow = (x + w + gap, x1) if at_left else (x, x1 - w - gap)
    end = y + h + lead * .6
    while y + lead < end:
        with page.region("text"):
            y, left = page.paragraph(words.paragraph(True), narrow[0], y, narrow[1] - narrow[0], f.regular,
                                     lead, bottom=end)
            if left:  # the paragraph goes on below the photo, in full width
                y, _ = page.paragraph(" ".join(left), x, max(y, end - lead), x1 - x, f.regular, lead)
        y += lead * .5
    body(page, words, files, 11, [x, y, x1, 275 * mm], rng)


def inset(page, words, files, rng):
    """Two columns with a framed note at the foot of the second."""
    mm = page.mm
    places = columns_of(page, 2, rng.uniform(4, 7))
    h = rng.uniform(45, 80) * mm
    y = 280 * mm - h
    for i, (x, x1) in enumerate(places):
        body(page, words, files, 10, [x, 20 * mm, x1, y - 5 * mm if i == 1 else 280 * mm], rng, 1, True)
    x, x1 = places[1]
    ground = rng.choice([255, 232])
    page.draw.rectangle([round(v) for v in (x, y, x1, y + h)], fill=ground, outline=0, width=2)
    body(page, words, files, 9, [x + 4 * mm, y + 3 * mm, x1 - 4 * mm, y + h - 3 * mm], rng)


def dark_page(page, words, files, rng):
    mm = page.mm
    y = heading(page, words, files, rng.uniform(20, 28), 20 * mm, 20 * mm, kind="title")
    if rng.random() < .5:
        f = faces(page, files, rng.uniform(14, 20))
        for _ in range(rng.randint(4, 7)):
            y += f.px * .8
            with page.region("list_item"):
                y, _ = page.paragraph("• " + words.sentence(), 24 * mm, y, 162 * mm, f.regular, f.px * 1.25, "list_item")
    else:
        body(page, words, files, 12, [20 * mm, y, 190 * mm, 270 * mm], rng, rng.uniform(.3, .9))


def dark_blocks(page, words, files, rng):
    """A banner, then a block or a bar of light text in the middle of dark print."""
    mm = page.mm
    ground = rng.choice([0, 40, 90])
    with page.dark([0, 0, 210 * mm, 32 * mm], ground):
        heading(page, words, files, 22, 20 * mm, 8 * mm, kind="title")
    y = body(page, words, files, 11, [22 * mm, 42 * mm, 188 * mm, 275 * mm], rng, rng.uniform(.2, .45))
    h = rng.uniform(30, 50) * mm
    with page.dark([22 * mm, y + 2 * mm, 188 * mm, y + h], ground):
        body(page, words, files, 11, [27 * mm, y + 5 * mm, 183 * mm, y + h - 4 * mm], rng)
    body(page, words, files, 11, [22 * mm, y + h + 5 * mm, 188 * mm, 275 * mm], rng)


def lists(page, words, files, rng):
    mm = page.mm
    f = faces(page, files, 11)
    lead = f.px * 1.25
    y = heading(page, words, files, 15, 24 * mm, 20 * mm, kind="title")
    y = body(page, words, files, 11, [24 * mm, y, 186 * mm, 270 * mm], rng, .15)
    for block in range(3):
        y = heading(page, words, files, 12, 24 * mm, y)
        numbered, bullet = rng.random() < .5, rng.choice("•-–")
        for i in range(rng.randint(3, 6)):
            mark = f"{i + 1}." if numbered else bullet
            with page.region("list_item"):
                page.text(mark, 26 * mm, round(y + lead), f.regular, "list_item")
                row = page.row
                y, _ = page.paragraph(words.sentence(), 33 * mm, y, 150 * mm, f.regular, lead, "list_item")
                page.lines[-1]["row"] = row if page.lines[-2]["text"] == mark else page.lines[-1]["row"]
        y += lead


CODE = """def read_pages(folder, first=0):
    for name in sorted(folder.glob("*.png")):
        if name.stat().st_size == 0:
            continue
        yield name, first
        first += 1

class Ledger:
    def __init__(self, path):
        self.path = path
        self.done = {}

    def add(self, page, text):
        if page in self.done:
            raise ValueError(f"{page} twice")
        self.done[page] = len(text)
        return self"""


def code(page, words, files, rng):
    mm = page.mm
    y = heading(page, words, files, 15, 24 * mm, 20 * mm, kind="title")
    y = body(page, words, files, 11, [24 * mm, y, 186 * mm, 270 * mm], rng, rng.uniform(.15, .3)) + 3 * mm
    f = faces(page, page.mono, 9.5)
    with page.region("code"):
        for line in CODE.split("\n"):
            y += f.px * 1.25
            if line:
                indent = len(line) - len(line.lstrip())
                page.text(line.strip(), 26 * mm + indent * f.regular.getlength(" "), round(y), f.regular, "code")
    body(page, words, files, 11, [24 * mm, y + 6 * mm, 186 * mm, 275 * mm], rng)


FORMULAS = ["E = mc² + ½ (a - b)", "f(x) = ax² + bx + c", "sin a + cos b < 2", "P = U I = R I²", "x = (a + b) / (c - d)",
            "n > 2k + 1", "y = k x (1 - x)", "max (a, b) = a + b - 1"]


def formulas(page, words, files, rng):
    """Formulas on lines of their own, some with a number at the right edge."""
    mm = page.mm
    y = heading(page, words, files, 15, 24 * mm, 20 * mm, kind="title")
    f = faces(page, files, 11)
    for number in range(1, rng.randint(3, 5)):
        y = body(page, words, files, 11, [24 * mm, y, 186 * mm, y + 60 * mm], rng, rng.uniform(.5, .8)) + f.px
        with page.region("formula"):
            page.text(rng.choice(FORMULAS), 105 * mm, round(y), rng.choice([f.italic, f.regular]), "formula", "center")
        if rng.random() < .6:
            with page.region("formula_number"):
                page.text(f"({number})", 186 * mm, round(y), f.regular, "formula_number", "right", new_row=False)
        y += f.px
    body(page, words, files, 11, [24 * mm, y, 186 * mm, 275 * mm], rng)


def footnotes(page, words, files, rng):
    mm = page.mm
    f = faces(page, files, 8.5)
    notes = rng.randint(1, 4)
    top = 280 * mm - notes * f.px * 2.6
    y = heading(page, words, files, 14, 26 * mm, 22 * mm)
    body(page, words, files, 11, [26 * mm, y, 184 * mm, top - 6 * mm], rng, 1, True)
    page.rule(26 * mm, top - 2 * mm, 76 * mm, top - 2 * mm)
    for i in range(notes):
        with page.region("footnote"):
            top, _ = page.paragraph(f"{i + 1} {words.sentence()}", 26 * mm, top, 158 * mm, f.regular, f.px * 1.2,
                                    "footnote")


def running_heads(page, words, files, rng):
    """A page of a document: the same head, a page number, now and then a footer."""
    mm = page.mm
    f = faces(page, files, 9)
    number = page.first_number + page.index
    outer = 184 * mm if number % 2 else 26 * mm
    with page.region("header"):
        page.text(page.title, 105 * mm, 14 * mm, f.italic, "header", "center")
    if page.number_above:
        with page.region("page_number"):
            page.text(str(number), outer, 14 * mm, f.regular, "page_number", "right" if number % 2 else "left")
    body(page, words, files, 11, [26 * mm, 24 * mm, 184 * mm, 272 * mm], rng, rng.uniform(.8, 1), True)
    if not page.number_above:
        with page.region("page_number"):
            page.text(f"- {number} -", 105 * mm, 287 * mm, f.regular, "page_number", "center")


READABLE_SLANT = 3  # degrees: the words of a straighter stamp on white paper belong to the page's text


def stamps(page, words, files, rng):
    pages.letter(page, words, files, False)
    mm = page.mm
    for _ in range(rng.randint(1, 2)):
        width, height, font = rng.uniform(40, 60) * mm, rng.uniform(16, 24) * mm, faces(page, files, 12).bold
        text = rng.choice(["RECEIVED", "PAID", "COPY"]) + f" {words.date()}"
        mark, slant = pictures.stamp(rng, width, height, text, font)
        x, y = rng.uniform(20, 120) * mm, rng.uniform(90, 220) * mm
        page.image.paste(rng.randint(60, 110), (round(x), round(y)), mark)
        box = [x, y, x + mark.width, y + mark.height]
        if abs(slant) <= READABLE_SLANT and not any(meet(box, line["box"]) for line in page.lines):
            page.stamped(text, box, font)


def engraving(page, words, files, rng):
    mm = page.mm
    y = body(page, words, files, 11, [26 * mm, 24 * mm, 184 * mm, 275 * mm], rng, rng.uniform(.1, .3), True)
    w, h = rng.uniform(90, 158) * mm, rng.uniform(70, 120) * mm
    left = 105 * mm - w / 2
    page.picture(pictures.engraving(rng, w, h), left, y + 2 * mm)
    y = caption(page, words, files, left, y + h + 3 * mm, w, rng.randint(1, 9))
    body(page, words, files, 11, [26 * mm, y + 2 * mm, 184 * mm, 275 * mm], rng, 1, True)


def charts(page, words, files, rng):
    mm = page.mm
    y = heading(page, words, files, 15, 24 * mm, 20 * mm, kind="title")
    y = body(page, words, files, 11, [24 * mm, y, 186 * mm, 270 * mm], rng, rng.uniform(.2, .4))
    w, h = rng.uniform(100, 160) * mm, rng.uniform(55, 80) * mm
    page.picture(pictures.chart(rng, w, h, faces(page, files, 7).regular), 105 * mm - w / 2, y + 2 * mm, "chart")
    y = caption(page, words, files, 24 * mm, y + h + 4 * mm, 160 * mm, 3)
    body(page, words, files, 11, [24 * mm, y + 2 * mm, 186 * mm, 275 * mm], rng)


def no_text(page, words, files, rng):
    """A photograph, an engraving, or an empty sheet: nothing to read."""
    mm, kind = page.mm, rng.randrange(3)
    if kind == 2:
        return
    make = pictures.photograph if kind == 0 else pictures.engraving
    w, h = rng.uniform(120, 190) * mm, rng.uniform(100, 240) * mm
    page.picture(make(rng, w, h), 105 * mm - w / 2, 148 * mm - h / 2)


def known(draw):
    return lambda page, words, files, rng: draw(page, words, files, rng.random() < .5)


BOOK = (148, 210)
CLASSES = {
    "photo_between": Class(photo_between), "photo_in_column": Class(photo_in_column),
    "wrapped_photo": Class(wrapped_photo), "inset": Class(inset),
    "columns_2": Class(columns(2, 10, 24)), "columns_3": Class(columns(3, 9, 18)),
    "columns_4": Class(columns(4, 8, 14)), "narrow_gutter": Class(columns(2, 6, 9)),
    "dark_page": Class(dark_page, inverted=True), "dark_blocks": Class(dark_blocks),
    "table_ruled": Class(tables.page_of("ruled")), "table_half": Class(tables.page_of("half")),
    "table_open": Class(tables.page_of("open")), "table_dark": Class(tables.page_of("dark")),
    "form": Class(known(pages.form), damage=("light", "moderate")), "invoice": Class(known(pages.invoice)),
    "receipt": Class(known(pages.receipt), size=(80, 260), damage=("light", "bilevel")),
    "lists": Class(lists), "code": Class(code), "formulas": Class(formulas), "footnotes": Class(footnotes),
    "running_heads": Class(running_heads, pages=4),
    "stamps": Class(stamps, damage=("light",)), "engraving": Class(engraving), "charts": Class(charts),
    "curled": Class(known(pages.book), size=BOOK, warp="curl", damage=("light",)),
    "keystone": Class(known(pages.letter), warp="keystone", damage=("light",)),
    "speckle": Class(known(pages.letter), dirt="speckle", damage=("fax",)),
    "border": Class(known(pages.book), size=BOOK, dirt="border", damage=("moderate",)),
    "fax_204x98": Class(known(pages.letter), dpi=(204, 98), damage=("bilevel",)),
    "no_text": Class(no_text, damage=("light", "moderate"), text=False),
}
