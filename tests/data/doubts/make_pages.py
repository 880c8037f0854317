#!/usr/bin/env python3
"""Draws the pages of this folder: what must, and must not, be called doubtful.

Needs Pillow, numpy and the font DejaVu Serif (Debian: fonts-dejavu-core), whose licence lets pictures be passed on.
The texts were written for this project.
"""

import os

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = os.path.dirname(os.path.abspath(__file__))
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
GREEK = """Η παλιά πόλη βρίσκεται δίπλα στη θάλασσα.
Κάθε πρωί οι ψαράδες γυρίζουν στο λιμάνι
και πουλούν τα ψάρια τους στην αγορά.
Τα σπίτια είναι άσπρα και οι δρόμοι στενοί.
Το καλοκαίρι έρχονται πολλοί επισκέπτες,
αλλά τον χειμώνα όλα είναι ήσυχα.
Μόνο ο άνεμος ακούγεται τη νύχτα."""
ENGLISH = """The old town lies beside the sea.
Every morning the fishermen return to the
harbour and sell their fish at the market.
The houses are white, the streets narrow."""


def page(text, width, height):
    image = Image.new("L", (width, height), 255)
    font = ImageFont.truetype(FONT, 30)
    ImageDraw.Draw(image).multiline_text((60, 60), text, 0, font, spacing=16)
    return image


def save_bilevel(image, name):
    image.convert("1", dither=Image.Dither.NONE).save(f"{HERE}/{name}.png", optimize=True)


def save_grey(pixels, name):
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(f"{HERE}/{name}.jpg", quality=60)


save_bilevel(page(GREEK, 900, 440), "greek")
save_bilevel(page(ENGLISH, 900, 320), "english")
slide = np.asarray(page(ENGLISH, 1240, 1754), np.float64)
save_bilevel(Image.fromarray((255 - slide).astype(np.uint8)), "light_on_dark")

paper = np.random.default_rng(20261123).normal(236, 4, (1170, 827)) * np.linspace(1, 0.85, 827)
paper[:, :20] = 20  # the scanner's lid
save_grey(paper, "blank")
y, x = np.mgrid[0:400, 0:500]
hills = 120 + 60 * np.sin(x / 37) * np.cos(y / 23) + 40 * np.sin(x / 90 + y / 31)
paper[300:700, 150:650] = hills
save_grey(paper, "picture")
