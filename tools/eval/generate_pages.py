#!/usr/bin/env python3
"""Synthetic scans with exact ground truth.

Draws whole pages (letter, two-column article, invoice, form, receipt, book page) with known text and known line boxes,
then damages them the way a scanner, a photocopier and a fax do. Everything follows from --seed: the same seed, fonts and
text give the same pages.

    generate_pages.py --out DIR --seed 7 [--plan plan.json] [--fonts fonts.json] [--text text.txt] [--lexicon lexicon.json]

plan.json     list of documents: {"name", "pages": [{"kind", "dpi", "damage", "fonts"?}], "format"}
              format: png | jpg | tif (G4 for bilevel, deflate otherwise, multi-page if more than one page) | pdf (images only)
fonts.json    {"serif": [[regular, bold, italic], ...], "sans": [...], "mono": [...], "hand": [...]}  paths of font files
text.txt      paragraphs separated by blank lines, used for running text
lexicon.json  word lists that replace the built-in ones (see LEXICON)

Writes DIR/<name>.<ext> and DIR/<name>.json:
  {"file", "pages": [{"width", "height", "dpi", "kind", "damage", "skew_deg", "fonts", "text", "lines": [
      {"text", "box": [x0,y0,x1,y1], "quad": [[x,y]*4], "baseline": y, "block": int, "row": int, "role": str}]}]}
Lines stand in reading order. `row` joins the cells of one table or form row: a detector may return the cells apart or
together. `text` is the page in reading order, a blank line between blocks, the cells of a row on one line.
Needs Python 3.9, Pillow, numpy and OpenCV. The default fonts come from Debian's packages fonts-liberation, fonts-dejavu,
fonts-lato and fonts-gnutypewriter (free licences that allow embedding in pictures). The built-in prose is out of
copyright (Dickens, Austen, Melville, Lincoln); the word lists were made for this project.
"""

import argparse, json, math, os, random, unicodedata
import cv2, numpy as np
from PIL import Image, ImageDraw, ImageFont

# ----------------------------------------------------------------------------------------------------------- words
LEXICON = {
    "first": "Anna Peter Maria Thomas Julia Henry Clara Simon Laura Victor Irene Oscar Nora Felix Edith Hugo".split(),
    "last": "Baker Miller Winter Hoffmann Keller Dupont Moreau Jansen Larsen Novak Fischer Carter Bishop Turner".split(),
    "street": [
        "Mill Lane",
        "Church Street",
        "Station Road",
        "High Street",
        "Garden Avenue",
        "Harbour Walk",
        "Rue du Port",
        "Lindenstraße",
        "Park Crescent",
        "Canal Street",
    ],
    "town": [
        "Bristol",
        "Norwich",
        "Leiden",
        "Basel",
        "Ghent",
        "Uppsala",
        "Tours",
        "Lübeck",
        "Graz",
        "Aarhus",
    ],
    "firm": [
        "Northgate Supplies Ltd",
        "Hansen & Sons",
        "Atlas Paper Works",
        "Meridian Tools GmbH",
        "Old Quay Trading Co.",
    ],
    "item": [
        "Copy paper A4, 80 g",
        "Box file, grey",
        "Toner cartridge K-204",
        "Desk lamp, brass",
        "Envelope C5 (500)",
        "Ball pen, blue",
        "Hanging folder",
        "Label roll 62 mm",
        "Stapler No. 10",
        "Cable, 3 m",
        "Archive box, large",
        "Ink pad, black",
        "Index cards 5x8",
        "Scissors 21 cm",
        "Paper clip 32 mm",
        "Binding wire",
    ],
    "subject": [
        "the committee",
        "our office",
        "the supplier",
        "the department",
        "the archive",
        "the second shipment",
        "your letter of last week",
        "the chief engineer",
        "the board",
        "the revised schedule",
    ],
    "verb": [
        "has confirmed",
        "will review",
        "cannot accept",
        "expects",
        "received",
        "has postponed",
        "returned",
        "requires",
    ],
    "object": [
        "the enclosed estimate",
        "the annual report",
        "a corrected copy",
        "both invoices",
        "the missing pages",
        "the terms of delivery",
        "twelve boxes of records",
        "the new price list",
        "an early reply",
        "your proposal",
    ],
    "tail": [
        "before the end of the month",
        "without further delay",
        "as agreed in March",
        "at no additional cost",
        "in accordance with section 4.2",
        "for the reasons given above",
        "(see the attached list)",
        "by registered post",
        "on 14 June",
        "at 3:30 p.m.",
    ],
    "heading": [
        "Introduction",
        "Method",
        "Results",
        "Discussion",
        "Earlier work",
        "Conclusion",
        "Materials",
        "Limits",
    ],
    "field": [
        "Name",
        "Given names",
        "Date of birth",
        "Street and number",
        "Town",
        "Postcode",
        "Telephone",
        "Occupation",
        "Employer",
        "Account no.",
        "Reference",
        "Signature",
    ],
}
TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness, it was the spring of hope, it was the winter of despair.

It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful property of some one or other of their daughters.

Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of the world. It is a way I have of driving off the spleen and regulating the circulation.

Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war, testing whether that nation, or any nation so conceived and so dedicated, can long endure."""


class Words:
    """Seeded source of sentences, names and numbers."""

    def __init__(self, rng, lexicon, paragraphs):
        self.r, self.lex, self.paragraphs = rng, lexicon, paragraphs
        self.at = rng.randrange(len(paragraphs))

    def pick(self, key):
        return self.r.choice(self.lex[key])

    def name(self):
        return f"{self.pick('first')} {self.pick('last')}"

    def date(self):
        return f"{self.r.randint(1, 28)}.{self.r.randint(1, 12):02d}.{self.r.randint(1961, 2024)}"

    def money(self, lo=1, hi=900):
        return f"{self.r.randint(lo, hi):,}.{self.r.randint(0, 99):02d}"

    def sentence(self):
        s = f"{self.pick('subject')} {self.pick('verb')} {self.pick('object')}"
        if self.r.random() < 0.7:
            s += " " + self.pick("tail")
        if self.r.random() < 0.3:
            s += f", and {self.pick('subject')} {self.pick('verb')} {self.pick('object')}"
        return s[0].upper() + s[1:] + self.r.choice([".", ".", ".", ";", "."]).replace(";", ".")

    def paragraph(self, prose):
        if prose:
            self.at = (self.at + 1) % len(self.paragraphs)
            return self.paragraphs[self.at]
        return " ".join(self.sentence() for _ in range(self.r.randint(2, 5)))


# ----------------------------------------------------------------------------------------------------------- the page
class Face:
    """One family at one size: regular, bold, italic."""

    def __init__(self, files, pt, dpi):
        px = max(6, round(pt * dpi / 72))
        files = list(files) + [files[0]] * (3 - len(files))
        self.regular, self.bold, self.italic = (ImageFont.truetype(f, px) for f in files)
        self.px = px


MISSING = {}


def drawable(s, font):
    """s with the characters that the font lacks replaced by their unaccented form, or left out."""

    def has(c):
        key = (font.path, c)
        if key not in MISSING:
            same = lambda a, b: a.size == b.size and bytes(a) == bytes(b)
            MISSING[key] = not c.isspace() and same(font.getmask(c), font.getmask("\uffff"))
        return not MISSING[key]

    out = []
    for c in s:
        out += (
            [c]
            if has(c)
            else [
                d
                for d in unicodedata.normalize("NFKD", c)
                if not unicodedata.combining(d) and has(d)
            ]
        )
    return " ".join("".join(out).split())


class Page:
    def __init__(self, width_mm, height_mm, dpi):
        self.dpi, self.mm = dpi, dpi / 25.4
        self.size = (round(width_mm * self.mm), round(height_mm * self.mm))
        self.image = Image.new("L", self.size, 255)
        self.draw = ImageDraw.Draw(self.image)
        self.lines, self.block, self.row = [], 0, 0

    def new_block(self):
        self.block += 1

    def new_row(self):
        self.row += 1

    def put(self, words, xs, baseline, font, role, ink=0):
        """Draws words at the given x positions and records them as one line."""
        x0 = y0 = 10**9
        x1 = y1 = -1
        for word, x in zip(words, xs):
            self.draw.text((x, baseline), word, font=font, fill=ink, anchor="ls")
            b = self.draw.textbbox((x, baseline), word, font=font, anchor="ls")
            x0, y0, x1, y1 = min(x0, b[0]), min(y0, b[1]), max(x1, b[2]), max(y1, b[3])
        self.lines.append(
            {
                "text": " ".join(words),
                "box": [x0, y0, x1, y1],
                "baseline": baseline,
                "block": self.block,
                "row": self.row,
                "role": role,
            }
        )

    def text(self, s, x, baseline, font, role="text", align="left", new_row=True, ink=0):
        if new_row:
            self.new_row()
        words = drawable(s, font).split(" ")
        space = font.getlength(" ")
        widths = [font.getlength(w) for w in words]
        total = sum(widths) + space * (len(words) - 1)
        x = x - total if align == "right" else x - total / 2 if align == "center" else x
        xs = []
        for w in widths:
            xs.append(x)
            x += w + space
        self.put(words, xs, baseline, font, role, ink)
        return total

    def paragraph(
        self, s, x, y, width, font, leading, role="text", justify=False, indent=0, bottom=None
    ):
        """Wraps s into width; returns the y below it and the words that did not fit above `bottom`."""
        words, space = drawable(s, font).split(), font.getlength(" ")
        first = True
        while words:
            if bottom is not None and y + leading > bottom:
                return y, words
            x_start = x + (indent if first else 0)
            room, line, used = width - (indent if first else 0), [], 0.0
            while words:
                w = font.getlength(words[0])
                if line and used + space + w > room:
                    break
                used += (space if line else 0) + w
                line.append(words.pop(0))
            gap = space
            if justify and words and len(line) > 1:
                gap = space + (room - used) / (len(line) - 1)
            xs, cx = [], x_start
            for w in line:
                xs.append(cx)
                cx += font.getlength(w) + gap
            y += leading
            first = False
            self.new_row()
            self.put(line, xs, round(y), font, role)
        return y, []

    def rule(self, x0, y0, x1, y1, mm=0.25, ink=0):
        self.draw.line([x0, y0, x1, y1], fill=ink, width=max(1, round(mm * self.mm)))


# ----------------------------------------------------------------------------------------------------------- kinds
def letter(p, w, fam, prose):
    mm, r = p.mm, w.r
    pt = r.uniform(10, 12)
    f = Face(fam, pt, p.dpi)
    lead = f.px * r.uniform(1.2, 1.45)
    x, y, width = 25 * mm, 22 * mm, 160 * mm
    big = Face(fam, pt * 1.5, p.dpi)
    p.text(w.pick("firm"), x, y, big.bold, "heading")
    y += lead * 1.1
    p.text(f"{r.randint(1, 180)} {w.pick('street')}, {w.pick('town')}", x, y, f.regular)
    y += lead * 0.5
    p.rule(x, y, x + width, y)
    p.new_block()
    y += lead * 3
    for s in (
        w.name(),
        f"{r.randint(1, 99)} {w.pick('street')}",
        f"{r.randint(1000, 99999)} {w.pick('town')}",
    ):
        p.text(s, x, y, f.regular)
        y += lead
    p.new_block()
    y += lead
    p.text(f"{w.pick('town')}, {w.date()}", x + width, y, f.regular, align="right")
    p.new_block()
    y += lead * 2
    p.text(
        f"Re: {w.pick('object')}, ref. {r.choice('ABCDEFGK')}-{r.randint(100, 9999)}/{r.randint(10, 99)}",
        x,
        y,
        f.bold,
        "heading",
    )
    p.new_block()
    y += lead * 2
    p.text(f"Dear {r.choice(['Mr', 'Ms', 'Dr'])} {w.pick('last')},", x, y, f.regular)
    for _ in range(r.randint(3, 5)):
        p.new_block()
        y += lead * 0.6
        y, _left = p.paragraph(
            w.paragraph(prose),
            x,
            y,
            width,
            f.regular,
            lead,
            justify=r.random() < 0.3,
            bottom=235 * mm,
        )
        if y > 225 * mm:
            break
    p.new_block()
    y += lead * 1.8
    p.text("Yours sincerely,", x, y, f.regular)
    y += lead * 3
    p.new_block()
    p.text(w.name(), x, y, f.regular)
    y += lead
    p.text("Head of records", x, y, f.italic)
    small = Face(fam, 8, p.dpi)
    p.new_block()
    p.text(
        f"Tel. {r.randint(100, 999)} {r.randint(1000, 9999)} · Bank {r.randint(10**7, 10**8)} · VAT {r.randint(10**8, 10**9)}",
        105 * mm,
        283 * mm,
        small.regular,
        "footer",
        "center",
    )


def article(p, w, fam, prose):
    mm, r = p.mm, w.r
    pt = r.uniform(8.8, 10)
    f = Face(fam, pt, p.dpi)
    lead = f.px * r.uniform(1.15, 1.25)
    title, sub, small = Face(fam, 17, p.dpi), Face(fam, pt + 1.5, p.dpi), Face(fam, 8, p.dpi)
    x, width, gap = 18 * mm, 174 * mm, r.uniform(6, 9) * mm
    p.text(
        f"Journal of Records, Vol. {r.randint(2, 40)}, No. {r.randint(1, 12)}",
        x,
        12 * mm,
        small.italic,
        "header",
    )
    p.text(str(r.randint(2, 480)), x + width, 12 * mm, small.regular, "header", "right")
    p.new_block()
    y = 28 * mm
    p.text(
        f"On {w.pick('subject')} and {w.pick('object')}",
        105 * mm,
        y,
        title.bold,
        "heading",
        "center",
    )
    y += 9 * mm
    p.text(f"{w.name()} and {w.name()}", 105 * mm, y, sub.regular, "text", "center")
    y += 4 * mm
    p.new_block()
    y, _ = p.paragraph(
        "Abstract. " + w.paragraph(prose),
        x + 14 * mm,
        y,
        width - 28 * mm,
        f.italic,
        lead,
        justify=True,
    )
    top, bottom, cw = y + lead * 1.3, 278 * mm, (width - gap) / 2
    col, y, n = 0, top, 0
    queue = []
    for i in range(14):
        if i % 3 == 0:
            queue.append(("h", f"{n + 1}. {w.lex['heading'][n % len(w.lex['heading'])]}"))
            n += 1
        queue.append(("p", w.paragraph(prose)))
    p.new_block()
    while queue and col < 2:
        kind, s = queue.pop(0)
        cx = x + col * (cw + gap)
        if kind == "h":
            if y + 4 * lead > bottom:
                col, y = col + 1, top
                p.new_block()
                queue.insert(0, (kind, s))
                continue
            y += lead * (1.7 if y > top + 1 else 1)
            p.text(s, cx, round(y), sub.bold, "heading")
            y += lead * 0.3
        else:
            y, left = p.paragraph(
                s,
                cx,
                y,
                cw,
                f.regular,
                lead,
                justify=True,
                indent=0 if kind == "c" else 4 * mm,
                bottom=bottom,
            )
            if left:
                col, y = col + 1, top
                p.new_block()
                queue.insert(0, ("c", " ".join(left)))
    p.new_block()
    p.text(str(r.randint(1, 300)), 105 * mm, 288 * mm, small.regular, "footer", "center")


def invoice(p, w, fam, prose):
    mm, r = p.mm, w.r
    f, big, small = Face(fam, 10, p.dpi), Face(fam, 20, p.dpi), Face(fam, 8, p.dpi)
    lead, x, right = f.px * 1.3, 20 * mm, 190 * mm
    p.text(w.pick("firm"), x, 24 * mm, big.bold, "heading")
    p.text("INVOICE", right, 24 * mm, big.regular, "heading", "right", new_row=False)
    p.new_block()
    y = 45 * mm
    left = [
        w.name(),
        f"{r.randint(1, 200)} {w.pick('street')}",
        f"{r.randint(1000, 99999)} {w.pick('town')}",
    ]
    facts = [
        ("Invoice no.", f"{r.randint(2000, 2024)}-{r.randint(100, 9999):04d}"),
        ("Date", w.date()),
        ("Customer", f"K{r.randint(10000, 99999)}"),
    ]
    for s in left:
        p.text(s, x, y, f.regular)
        y += lead
    p.new_block()
    y = 45 * mm
    for k, v in facts:
        p.text(k, 125 * mm, y, f.regular)
        p.text(v, right, y, f.regular, "text", "right", new_row=False)
        y += lead
    p.new_block()
    y = 75 * mm
    cols = [
        (x + 1 * mm, "left"),
        (x + 12 * mm, "left"),
        (128 * mm, "right"),
        (158 * mm, "right"),
        (right - 1 * mm, "right"),
    ]
    boxed, h = r.random() < 0.5, lead * 1.35
    rows = [("Pos", "Description", "Quantity", "Unit price", "Amount")]
    total = 0
    for i in range(r.randint(6, 14)):
        q, unit = r.randint(1, 40), r.randint(50, 9000) / 100
        total += q * unit
        rows.append((str(i + 1), w.pick("item"), str(q), f"{unit:,.2f}", f"{q * unit:,.2f}"))
    y0 = y
    for i, row in enumerate(rows):
        p.new_row()
        for (cx, al), s in zip(cols, row):
            p.text(
                s,
                cx,
                round(y + h * 0.72),
                f.bold if i == 0 else f.regular,
                "table",
                al,
                new_row=False,
            )
        if boxed or i == 0:
            p.rule(x, y + h, right, y + h)
        y += h
    if boxed:
        p.draw.rectangle([x, y0, right, y], outline=0, width=max(1, round(0.3 * mm)))
        for cx in (x + 10 * mm, 108 * mm, 132 * mm, 162 * mm):
            p.rule(cx, y0, cx, y)
    p.new_block()
    y += lead * 0.5
    for k, v in (("Net", total), ("VAT 19 %", total * 0.19), ("Total EUR", total * 1.19)):
        y += lead * 1.1
        p.text(k, 132 * mm, round(y), f.bold if k.startswith("T") else f.regular, "table")
        p.text(
            f"{v:,.2f}",
            right - 1 * mm,
            round(y),
            f.bold if k.startswith("T") else f.regular,
            "table",
            "right",
            new_row=False,
        )
    p.new_block()
    y += lead
    y, _ = p.paragraph(
        "Payment is due within 30 days. " + w.sentence(), x, y, 170 * mm, f.regular, lead
    )
    p.new_block()
    p.text(
        f"IBAN DE{r.randint(10, 99)} {r.randint(1000, 9999)} {r.randint(1000, 9999)} {r.randint(1000, 9999)} {r.randint(10, 99)}",
        105 * mm,
        284 * mm,
        small.regular,
        "footer",
        "center",
    )


def form(p, w, fam, prose):
    mm, r = p.mm, w.r
    f, big, fill = Face(fam, 9, p.dpi), Face(fam, 15, p.dpi), Face(p.fill, 11, p.dpi)
    x, right, y = 20 * mm, 190 * mm, 25 * mm
    p.text(
        f"Form {r.choice('ABCD')}-{r.randint(10, 99)}", right, 14 * mm, f.regular, "header", "right"
    )
    p.new_block()
    p.text(
        r.choice(
            [
                "Application for access to records",
                "Change of address",
                "Registration of a business",
                "Request for a certified copy",
            ]
        ),
        x,
        y,
        big.bold,
        "heading",
    )
    y += 5 * mm
    p.rule(x, y, right, y, 0.6)
    p.new_block()
    y, _ = p.paragraph(
        "Please complete in block letters. " + w.sentence(), x, y, 170 * mm, f.italic, f.px * 1.25
    )
    y += 6 * mm
    values = {
        "Name": w.pick("last"),
        "Given names": w.pick("first"),
        "Date of birth": w.date(),
        "Street and number": f"{w.pick('street')} {r.randint(1, 99)}",
        "Town": w.pick("town"),
        "Postcode": str(r.randint(1000, 99999)),
        "Telephone": f"{r.randint(100, 999)} {r.randint(10000, 99999)}",
        "Occupation": r.choice(["clerk", "teacher", "engineer", "printer"]),
        "Employer": w.pick("firm"),
        "Account no.": str(r.randint(10**7, 10**8)),
        "Reference": f"{r.randint(1, 99)}/{r.randint(100, 999)}",
    }
    boxed, h = r.random() < 0.6, 11 * mm
    p.new_block()
    for k in w.lex["field"]:
        v = values.get(k) or (
            ""
            if k == w.lex["field"][-1]
            else r.choice(
                [w.name(), w.pick("town"), w.date(), str(r.randint(10, 99999)), w.pick("firm")]
            )
        )
        p.text(k, x + 2 * mm, round(y + h * 0.66), f.regular, "form")
        if v:
            p.text(
                v,
                x + 58 * mm,
                round(y + h * 0.68),
                fill.regular,
                "form",
                new_row=False,
                ink=r.choice([0, 30]),
            )
        if boxed:
            p.draw.rectangle([x, y, right, y + h], outline=0, width=max(1, round(0.2 * mm)))
            p.rule(x + 54 * mm, y, x + 54 * mm, y + h)
        else:
            p.rule(x + 56 * mm, y + h * 0.8, right, y + h * 0.8)
        y += h
    y += 7 * mm
    p.new_block()
    for s in ("I have read the conditions overleaf.", "A copy of my identity card is enclosed."):
        s_ = 4 * mm
        p.draw.rectangle(
            [x, y - s_ * 0.8, x + s_, y + s_ * 0.2], outline=0, width=max(1, round(0.25 * mm))
        )
        if r.random() < 0.6:
            p.rule(x, y - s_ * 0.8, x + s_, y + s_ * 0.2, 0.4)
            p.rule(x, y + s_ * 0.2, x + s_, y - s_ * 0.8, 0.4)
        p.text(s, x + 7 * mm, round(y), f.regular, "form")
        y += 8 * mm


def receipt(p, w, fam, prose):
    mm, r = p.mm, w.r
    f = Face(fam, r.uniform(8.5, 9.5), p.dpi)
    lead, right, cx = f.px * 1.25, p.size[0] - 6 * mm, p.size[0] / 2
    y, x = 10 * mm, 6 * mm
    p.text(w.pick("firm").upper(), cx, y, f.bold, "heading", "center")
    y += lead
    p.text(f"{w.pick('street')} {r.randint(1, 99)}", cx, y, f.regular, "text", "center")
    y += lead
    p.text(f"{r.randint(1000, 99999)} {w.pick('town')}", cx, y, f.regular, "text", "center")
    y += lead * 1.6
    p.new_block()
    total = 0
    for _ in range(r.randint(7, 16)):
        a = r.randint(80, 4000) / 100
        total += a
        name = w.pick("item").upper()
        while f.regular.getlength(name) > (right - x) * 0.68:
            name = name[:-1].rstrip()
        p.text(name, x, round(y), f.regular, "table")
        p.text(f"{a:.2f}", right, round(y), f.regular, "table", "right", new_row=False)
        y += lead
    y += lead * 0.2
    p.rule(x, y - lead * 0.6, right, y - lead * 0.6)
    y += lead * 0.4
    p.new_block()
    p.text("TOTAL EUR", x, round(y), f.bold, "table")
    p.text(f"{total:.2f}", right, round(y), f.bold, "table", "right", new_row=False)
    y += lead
    p.text("CASH", x, round(y), f.regular, "table")
    p.text(
        f"{math.ceil(total / 10) * 10:.2f}",
        right,
        round(y),
        f.regular,
        "table",
        "right",
        new_row=False,
    )
    y += lead * 1.8
    p.new_block()
    p.text(
        f"{w.date()}  {r.randint(8, 20)}:{r.randint(10, 59)}".replace("  ", " "),
        cx,
        round(y),
        f.regular,
        "text",
        "center",
    )
    y += lead
    p.text(
        f"No. {r.randint(1000, 99999)} / Till {r.randint(1, 9)}",
        cx,
        round(y),
        f.regular,
        "text",
        "center",
    )
    y += lead
    p.text("Thank you for your visit!", cx, round(y), f.regular, "text", "center")
    p.image = p.image.crop((0, 0, p.size[0], min(p.size[1], round(y + 10 * mm))))
    p.size = p.image.size


def book(p, w, fam, prose):
    mm, r = p.mm, w.r
    pt = r.uniform(10, 11.5)
    f = Face(fam, pt, p.dpi)
    lead = f.px * r.uniform(1.2, 1.35)
    x, width, bottom = 22 * mm, p.size[0] - 44 * mm, p.size[1] - 30 * mm
    small = Face(fam, pt * 0.82, p.dpi)
    p.text(
        r.choice(
            [
                "THE HISTORY OF THE HOUSE",
                "LETTERS AND PAPERS",
                "A JOURNEY NORTH",
                "CHAPTER THE THIRD",
            ]
        ),
        p.size[0] / 2,
        18 * mm,
        small.regular,
        "header",
        "center",
    )
    p.new_block()
    y = 26 * mm
    if r.random() < 0.5:
        y += lead * 2.5
        p.text(
            f"CHAPTER {r.choice(['I', 'II', 'IV', 'VII', 'XII'])}",
            p.size[0] / 2,
            round(y),
            Face(fam, pt * 1.4, p.dpi).regular,
            "heading",
            "center",
        )
        y += lead
        p.new_block()
    note = r.random() < 0.5
    if note:
        bottom -= lead * 4
    while y + lead * 2 < bottom:
        y, left = p.paragraph(
            w.paragraph(prose),
            x,
            y,
            width,
            f.regular,
            lead,
            justify=True,
            indent=5 * mm,
            bottom=bottom,
        )
        if left:
            break
    if note:
        p.rule(x, bottom + lead * 0.8, x + width * 0.3, bottom + lead * 0.8)
        p.new_block()
        p.paragraph(
            "* " + w.sentence() + " " + w.sentence(),
            x,
            bottom + lead,
            width,
            small.regular,
            small.px * 1.2,
            role="footnote",
            bottom=bottom + lead * 4.4,
        )
    p.new_block()
    p.text(
        str(r.randint(3, 420)), p.size[0] / 2, p.size[1] - 16 * mm, f.regular, "footer", "center"
    )


KINDS = {
    "letter": (letter, 210, 297),
    "article": (article, 210, 297),
    "invoice": (invoice, 210, 297),
    "form": (form, 210, 297),
    "receipt": (receipt, 80, 260),
    "book": (book, 148, 210),
}

# ----------------------------------------------------------------------------------------------------------- damage
DAMAGE = (
    {  # skew: largest angle; light: darkest corner; blur/noise: pixels and grey levels at 200 dpi
        "none": dict(skew=0, light=0, blur=0, noise=0, specks=0, border=0, bleed=0, bilevel=0),
        "light": dict(
            skew=0.4, light=0.05, blur=0.4, noise=3, specks=20, border=0, bleed=0, bilevel=0
        ),
        "moderate": dict(
            skew=1.2, light=0.25, blur=0.7, noise=7, specks=80, border=0.3, bleed=0.06, bilevel=0
        ),
        "dirty": dict(
            skew=1.5, light=0.4, blur=0.9, noise=10, specks=300, border=1, bleed=0.12, bilevel=0
        ),
        "bilevel": dict(
            skew=0.6, light=0.05, blur=0.6, noise=9, specks=60, border=0, bleed=0, bilevel=1
        ),
        "fax": dict(
            skew=1.2, light=0.12, blur=0.9, noise=16, specks=500, border=0.5, bleed=0, bilevel=1
        ),
    }
)


def damage(p, level, rng, ghost):
    """Returns the scanned image and the skew in degrees; moves the boxes of p along."""
    d, n = DAMAGE[level], np.random.default_rng(rng.randrange(1 << 30))
    a = np.asarray(p.image, np.float32)
    h, w = a.shape
    s = p.dpi / 200
    angle = rng.uniform(-d["skew"], d["skew"])
    if d["bleed"] and ghost is not None:
        g = cv2.GaussianBlur(
            cv2.resize(np.asarray(ghost, np.float32)[:, ::-1].copy(), (w, h)), (0, 0), 1.6 * s
        )
        a -= (255 - g) * d["bleed"]
    if d["blur"]:
        a = cv2.GaussianBlur(a, (0, 0), d["blur"] * s)
    m = cv2.getRotationMatrix2D((w / 2, h / 2), angle, 1.0)
    m[:, 2] += [rng.uniform(-1, 1) * d["skew"] * 3 * s, rng.uniform(-1, 1) * d["skew"] * 3 * s]
    if angle:
        a = cv2.warpAffine(
            a, m, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT, borderValue=255
        )
    for line in p.lines:
        x0, y0, x1, y1 = line["box"]
        q = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)
        if angle:
            q = q @ m[:, :2].T + m[:, 2]
        line["quad"] = np.round(q, 1).tolist()
        line["box"] = [
            int(math.floor(q[:, 0].min())),
            int(math.floor(q[:, 1].min())),
            int(math.ceil(q[:, 0].max())),
            int(math.ceil(q[:, 1].max())),
        ]
        if angle:
            line["baseline"] = round(float(m[1] @ [(x0 + x1) / 2, line["baseline"], 1]), 1)
    paper = 255 - rng.uniform(0, 14) if level != "none" else 255
    ink = rng.uniform(5, 55) if level != "none" else 0
    a = ink + np.clip(a, 0, 255) / 255 * (paper - ink)
    if d["light"]:
        yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
        t = rng.uniform(0, 2 * math.pi)
        ramp = (math.cos(t) * (xx / w - 0.5) + math.sin(t) * (yy / h - 0.5)) / 1.0 + 0.5
        blob = np.exp(-(((xx / w - rng.random()) ** 2 + (yy / h - rng.random()) ** 2) / 0.15))
        a *= 1 - d["light"] * (0.7 * np.clip(ramp, 0, 1) ** 2 + 0.3 * blob)
    if (
        d["border"] and rng.random() < d["border"]
    ):  # shadow of the lid along one edge, outside the text
        k = int(rng.uniform(2, 6) * p.mm)
        e = np.linspace(0.05, 1, k) ** 0.5
        side = rng.randrange(3)
        if side == 0:
            a[:, :k] *= e[None]
        elif side == 1:
            a[:, -k:] *= e[None, ::-1]
        else:
            a[:k] *= e[:, None]
    if d["noise"]:
        a += (
            cv2.GaussianBlur(
                n.normal(0, d["noise"], a.shape).astype(np.float32), (0, 0), max(0.3, 0.5 * s)
            )
            * 1.6
        )
    for _ in range(int(d["specks"] * (w * h) / (1654 * 2339 * s * s))):
        x, y, rad = n.integers(0, w), n.integers(0, h), n.uniform(0.3, 1.6) * s
        cv2.circle(a, (int(x), int(y)), int(round(rad)), float(n.choice([20, 90, 240])), -1)
    a = np.clip(a, 0, 255)
    if d["bilevel"]:
        t = rng.uniform(0.45, 0.62) * 255 if level == "bilevel" else rng.uniform(0.4, 0.68) * 255
        a = np.where(a > t * (paper / 255), 255, 0)
    return Image.fromarray(a.astype(np.uint8)), angle


# ----------------------------------------------------------------------------------------------------------- output
def page_text(lines):
    out, last = [], None
    for l in lines:
        if last is None:
            out.append(l["text"])
        elif l["row"] == last["row"]:
            out[-1] += " " + l["text"]
        else:
            out += ([""] if l["block"] != last["block"] else []) + [l["text"]]
        last = l
    return "\n".join(out) + "\n"


def save(images, path, fmt, dpis, bilevels, quality):
    def ready(i):
        return images[i].convert("1", dither=Image.Dither.NONE) if bilevels[i] else images[i]

    if fmt == "png":
        ready(0).save(path, dpi=(dpis[0],) * 2, optimize=True)
    elif fmt == "jpg":
        images[0].save(path, quality=quality, dpi=(dpis[0],) * 2)
    elif fmt == "tif":
        comp = "group4" if all(bilevels) else "tiff_adobe_deflate"
        pages = [ready(i) for i in range(len(images))]
        pages[0].save(
            path, compression=comp, dpi=(dpis[0],) * 2, save_all=True, append_images=pages[1:]
        )
    elif fmt == "pdf":  # one image per page, at its own size
        pages = [ready(i) for i in range(len(images))]
        how = {} if any(bilevels) else {"quality": quality}  # of JPEG; fax code has none
        pages[0].save(
            path, "PDF", resolution=dpis[0], save_all=True, append_images=pages[1:], **how
        )
    else:
        raise SystemExit(f"unknown format {fmt}")


DEFAULT_FONTS = {
    "serif": [
        ["LiberationSerif-Regular.ttf", "LiberationSerif-Bold.ttf", "LiberationSerif-Italic.ttf"],
        ["DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf", "DejaVuSerif-Italic.ttf"],
    ],
    "sans": [
        ["LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf", "LiberationSans-Italic.ttf"],
        ["Lato-Regular.ttf", "Lato-Bold.ttf", "Lato-Italic.ttf"],
    ],
    "mono": [
        ["LiberationMono-Regular.ttf", "LiberationMono-Bold.ttf", "LiberationMono-Italic.ttf"],
        ["DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"],
    ],
    "hand": [["GNUTypewriter.ttf"]],
}
DEFAULT_PLAN = [
    {
        "name": "letter-200",
        "format": "jpg",
        "pages": [{"kind": "letter", "dpi": 200, "damage": "light", "fonts": "serif"}],
    },
    {
        "name": "article-300",
        "format": "tif",
        "pages": [
            {"kind": "article", "dpi": 300, "damage": "bilevel", "fonts": "serif", "prose": True}
        ],
    },
    {
        "name": "invoice-150",
        "format": "png",
        "pages": [{"kind": "invoice", "dpi": 150, "damage": "none", "fonts": "sans"}],
    },
    {
        "name": "form-200",
        "format": "jpg",
        "pages": [{"kind": "form", "dpi": 200, "damage": "moderate", "fonts": "sans"}],
    },
    {
        "name": "receipt-200",
        "format": "png",
        "pages": [{"kind": "receipt", "dpi": 200, "damage": "bilevel", "fonts": "mono"}],
    },
    {
        "name": "book-200",
        "format": "jpg",
        "pages": [
            {"kind": "book", "dpi": 200, "damage": "moderate", "fonts": "serif", "prose": True}
        ],
    },
]


def find_font(name):
    if os.path.sep in name:
        return name
    for root, _dirs, files in (
        e for top in ("/usr/share/fonts", "/usr/share/texmf/fonts") for e in os.walk(top)
    ):
        if name in files:
            return os.path.join(root, name)
    raise SystemExit(f"font {name} not found below the system font folder")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--quality", type=int, default=70)
    for o in ("plan", "fonts", "text", "lexicon"):
        ap.add_argument("--" + o)
    o = ap.parse_args()
    load = lambda f: json.load(open(f, encoding="utf-8"))
    plan, fonts = load(o.plan) if o.plan else DEFAULT_PLAN, (
        load(o.fonts) if o.fonts else DEFAULT_FONTS
    )
    lexicon = {**LEXICON, **(load(o.lexicon) if o.lexicon else {})}
    paragraphs = [
        " ".join(s.split())
        for s in (open(o.text, encoding="utf-8").read() if o.text else TEXT).split("\n\n")
        if s.strip()
    ]
    fonts = {k: [[find_font(f) for f in fam] for fam in v] for k, v in fonts.items()}
    os.makedirs(o.out, exist_ok=True)
    for doc in plan:
        rng = random.Random(f"{o.seed}/{doc['name']}")  # a document does not depend on the others
        words, images, meta, ghost = Words(rng, lexicon, paragraphs), [], [], None
        for spec in doc["pages"]:
            draw, width, height = KINDS[spec["kind"]]
            p = Page(width, height, spec["dpi"])
            fam = rng.choice(fonts[spec.get("fonts", "serif")])
            p.fill = rng.choice(fonts["hand"])
            draw(p, words, fam, spec.get("prose", False))
            if ghost is None:
                g = Page(width, height, 75)
                g.fill = p.fill
                draw(
                    g,
                    Words(random.Random(rng.random()), lexicon, paragraphs),
                    fam,
                    spec.get("prose", False),
                )
                ghost = g.image
            image, angle = damage(p, spec["damage"], rng, ghost)
            images.append(image)
            meta.append(
                {
                    "width": image.width,
                    "height": image.height,
                    "dpi": spec["dpi"],
                    "kind": spec["kind"],
                    "damage": spec["damage"],
                    "skew_deg": round(angle, 3),
                    "fonts": [os.path.basename(fam[0])],
                    "text": page_text(p.lines),
                    "lines": p.lines,
                }
            )
        file = f"{doc['name']}.{doc['format']}"
        save(
            images,
            os.path.join(o.out, file),
            doc["format"],
            [s["dpi"] for s in doc["pages"]],
            [bool(DAMAGE[s["damage"]]["bilevel"]) for s in doc["pages"]],
            doc.get("quality", o.quality),
        )
        json.dump(
            {"file": file, "pages": meta},
            open(os.path.join(o.out, doc["name"] + ".json"), "w", encoding="utf-8"),
            ensure_ascii=False,
        )
        print(
            f"{file}: {len(images)} page(s), {sum(len(m['lines']) for m in meta)} lines, {os.path.getsize(os.path.join(o.out, file)) // 1024} KiB"
        )


if __name__ == "__main__":
    main()
