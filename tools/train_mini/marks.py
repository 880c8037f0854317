"""What lies over the print or around it on training lines: rulings, stamps, shadows, curled ends.

All functions take and give a uint8 gray page of dark print on lighter paper; ``size`` is the em in
pixels.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from chance import Dice


def mark(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Now and then one or more of them."""
    if dice.chance(0.07):
        page = rule(page, size, dice)
    if dice.chance(0.05):
        page = stamp(page, size, dice)
    if dice.chance(0.05):
        page = curl(page, size, dice)
    if dice.chance(0.09):
        page = shadow(page, size, dice)
    return page


def darken(page: np.ndarray, ink: Image.Image, tone: float) -> np.ndarray:
    """The page under ink of a gray tone; print below stays as dark as it was."""
    cover = np.asarray(ink, np.float32) / 255
    return np.minimum(page, 255 - (255 - tone) * cover).astype(np.uint8)


def rule(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Thin rulings through or under the letters: lines, dots, the combs of a form."""
    h, w = page.shape
    ink = Image.new("L", (w, h), 0)
    pen = ImageDraw.Draw(ink)
    width = max(1, round(size * dice.uniform(0.02, 0.06)))
    kind = dice.integer(0, 4)
    y = h * dice.uniform(0.15, 0.95)
    if kind == 0:  # one ruling, perhaps not quite level
        start = 0.0 if dice.chance(0.6) else dice.uniform(0, w / 2)
        pen.line((start, y, w, y + dice.uniform(-0.1, 0.1) * size), fill=255, width=width)
    elif kind == 1:  # dots
        y = h * dice.uniform(0.72, 0.9)
        for x in np.arange(0, w, size * dice.uniform(0.12, 0.3)):
            pen.rectangle((x, y, x + width, y + width), fill=255)
    elif kind == 2:  # comb
        for x in np.arange(dice.uniform(0, size), w, size * dice.uniform(0.9, 3.0)):
            pen.line((x, h * 0.55, x, h), fill=255, width=width)
        pen.line((0, h * 0.85, w, h * 0.85), fill=255, width=width)
    else:  # ruled paper
        for y in np.arange(dice.uniform(0, size), h, size * dice.uniform(0.5, 1.4)):
            pen.line((0, y, w, y), fill=255, width=width)
    return darken(page, ink, dice.uniform(0, 90) if kind < 2 else dice.uniform(90, 190))


def stamp(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Part of a round or square stamp over some letters, gray as coloured ink becomes."""
    h, w = page.shape
    ink = Image.new("L", (w, h), 0)
    pen = ImageDraw.Draw(ink)
    width = max(1, round(size * dice.uniform(0.05, 0.14)))
    x, y = dice.uniform(0, w), dice.uniform(-h, 2 * h)
    a, b = size * dice.uniform(1.5, 5), size * dice.uniform(1.0, 4)
    turn = dice.uniform(-0.5, 0.5)
    for share in (1.0, 0.85) if dice.chance(0.5) else (1.0,):
        if dice.chance(0.5):
            pen.ellipse((x - a * share, y - b * share, x + a * share, y + b * share),
                        outline=255, width=width)  # fmt: skip
        else:
            corners = [
                (
                    x + share * (i * a * math.cos(turn) - j * b * math.sin(turn)),
                    y + share * (i * a * math.sin(turn) + j * b * math.cos(turn)),
                )
                for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
            ]
            pen.line(corners, fill=255, width=width)
    return darken(page, ink.filter(ImageFilter.GaussianBlur(size / 40)), dice.uniform(70, 190))


def ends(length: int, reach: float, left: bool) -> np.ndarray:
    """1 at one end of a line, falling to 0 over ``reach`` pixels."""
    x = np.arange(length, dtype=np.float32)
    return np.clip(1 - (x if left else length - 1 - x) / reach, 0, 1)


def shadow(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Paper that grows dark towards the gutter or the edge; print keeps some contrast."""
    h, w = page.shape
    fall = ends(w, size * dice.uniform(0.8, 7), dice.chance(0.5)) ** dice.uniform(0.6, 2)
    light = 1 - dice.uniform(0.2, 0.75) * fall
    return np.clip(page * light[None, :], 0, 255).astype(np.uint8)


def curl(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """A line whose end bends up or down and is seen narrower, as towards the gutter of a book."""
    h, w = page.shape
    left, reach = dice.chance(0.5), min(size * dice.uniform(2, 8), w * 0.6)
    fall = ends(w, reach, left) ** 2
    squeeze = dice.uniform(0.0, 0.35) * reach * fall / 2
    columns = np.clip(np.arange(w) + (squeeze if left else -squeeze), 0, w - 1).astype(np.int64)
    rise = np.rint(dice.uniform(-0.2, 0.2) * size * fall).astype(np.int64)
    rows = np.clip(np.arange(h)[:, None] + rise[None, :], 0, h - 1)
    return page[rows, columns[None, :]]
