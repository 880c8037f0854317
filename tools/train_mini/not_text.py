"""Crops without text, whose answer is empty: what a layout cuts from pictures, dirt and edges.

All textures are made here; nothing is drawn that could be a character standing alone.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import damage
from chance import Dice
from wear import soft_field

# Crops are made at several times their height, as scans are.
LARGEST_SCALE = 2.5


def picture(w: int, h: int, dice: Dice) -> np.ndarray:
    """A photograph: soft tones in several sizes, a few shapes with edges, grain; float 0..255."""
    tone = np.full((h, w), dice.uniform(60, 200), np.float32)
    for grain, strength in ((4.0, 40), (1.2, 25), (0.4, 18), (0.12, 10)):
        tone += dice.uniform(0.2, 1.0) * strength * soft_field(w, h, max(1.5, grain * h), dice)
    shapes = Image.new("L", (w, h), 0)
    pen = ImageDraw.Draw(shapes)
    for _ in range(dice.integer(0, 8)):
        points = [(dice.uniform(-h, w + h), dice.uniform(-h, 2 * h)) for _ in range(4)]
        pen.polygon(points, fill=dice.integer(20, 256))
    for _ in range(dice.integer(0, 5)):
        ends = [(dice.uniform(-h, w + h), dice.uniform(-h, 2 * h)) for _ in range(2)]
        pen.line(ends, fill=dice.integer(0, 256), width=dice.integer(1, max(2, h // 5)))
    edges = np.asarray(shapes.filter(ImageFilter.GaussianBlur(h / 60)), np.float32)
    tone = np.where(edges > 0, tone * 0.5 + edges * 0.5, tone)
    return tone + dice.rng.standard_normal((h, w), dtype=np.float32) * dice.uniform(0, 12)


def halftone(w: int, h: int, dice: Dice) -> np.ndarray:
    """A printed photograph: dots or lines of a screen, or a dithered one."""
    tone = np.clip(picture(w, h, dice), 0, 255)
    if dice.chance(0.3):
        return np.asarray(Image.fromarray(tone.astype(np.uint8)).convert("1").convert("L"))
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    angle, pitch = dice.uniform(0, math.pi), h * dice.uniform(0.06, 0.28)
    u = (x * math.cos(angle) + y * math.sin(angle)) * 2 * math.pi / pitch
    v = (y * math.cos(angle) - x * math.sin(angle)) * 2 * math.pi / pitch
    screen = np.cos(u) if dice.chance(0.25) else (np.cos(u) + np.cos(v)) / 2
    return np.where(tone / 255 > screen / 2 + 0.5, 255.0, 0.0)


def engraving(w: int, h: int, dice: Dice) -> np.ndarray:
    """Hatching: one to three sets of bent lines whose thickness follows a tone."""
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    ink = np.zeros((h, w), bool)
    for _ in range(dice.integer(1, 4)):
        angle, pitch = dice.uniform(0, math.pi), h * dice.uniform(0.1, 0.35)
        bend = dice.uniform(0, 2) * pitch * soft_field(w, h, h * dice.uniform(0.6, 3), dice)
        wave = np.sin((x * math.cos(angle) + y * math.sin(angle) + bend) * 2 * math.pi / pitch)
        ink |= wave > dice.uniform(0.1, 0.9) + 0.5 * soft_field(w, h, h * 1.5, dice)
    return np.where(ink, dice.uniform(0, 80), dice.uniform(190, 255)).astype(np.float32)


def dirt(w: int, h: int, dice: Dice) -> np.ndarray:
    """Specks of many sizes strewn over paper."""
    page = Image.new("L", (w, h), dice.integer(200, 256))
    pen = ImageDraw.Draw(page)
    for _ in range(max(6, int(w / h * dice.uniform(3, 40)))):
        x, y, r = dice.uniform(0, w), dice.uniform(0, h), h * dice.uniform(0.008, 0.05)
        a, b = r * dice.uniform(0.5, 1.6), r * dice.uniform(0.5, 1.6)
        pen.ellipse((x - a, y - b, x + a, y + b), fill=dice.integer(0, 140))
    return np.asarray(page, np.float32)


def border(w: int, h: int, dice: Dice) -> np.ndarray:
    """The black edge of a scan, ragged, with the paper beside it; or black all over."""
    along = w if dice.chance(0.7) else h
    edge = soft_field(along, 2, h * dice.uniform(0.1, 1.5), dice)[0] * h * dice.uniform(0.0, 0.1)
    if along == w:
        limit = h * dice.uniform(0.3, 1.2) + edge
        black = np.arange(h)[:, None] < limit[None, :]
        black = black[::-1] if dice.chance(0.5) else black
    else:
        limit = max(w * dice.uniform(0.2, 0.9), h * 0.6) + edge
        black = np.arange(w)[None, :] < limit[:, None]
        black = black[:, ::-1] if dice.chance(0.5) else black
    page = np.where(black, dice.uniform(0, 70), dice.uniform(170, 255)).astype(np.float32)
    return page + dice.rng.standard_normal((h, w), dtype=np.float32) * dice.uniform(0, 14)


def scribble(w: int, h: int, dice: Dice) -> np.ndarray:
    """Loops and strokes of a pen that stand for nothing."""
    page = Image.new("L", (w, h), dice.integer(215, 256))
    pen, tone = ImageDraw.Draw(page), dice.integer(0, 120)
    for _ in range(dice.integer(1, 4)):
        count = int(40 + 50 * w / h)
        t = np.linspace(0, 1, count)
        drift = dice.uniform(0, 0.3) * w + t * dice.uniform(0.3, 0.7) * w
        x, y = drift.copy(), np.full(count, h * dice.uniform(0.3, 0.7))
        for _ in range(dice.integer(2, 5)):
            turns, phase = dice.uniform(1, 3 + 4 * w / h), dice.uniform(0, 6.28)
            x += h * dice.uniform(0.0, 0.3) * np.sin(turns * 6.28 * t + phase)
            y += h * dice.uniform(0.1, 0.35) * np.cos(turns * 6.28 * t + phase)
        width = max(1, round(h * dice.uniform(0.02, 0.08)))
        pen.line(list(zip(x.tolist(), y.tolist())), fill=tone, width=width, joint="curve")
    return np.asarray(page, np.float32)


def rules(w: int, h: int, dice: Dice) -> np.ndarray:
    """Corners and crossings of tables, rows of rulings, check boxes empty or ticked."""
    page = Image.new("L", (w, h), dice.integer(215, 256))
    pen, tone = ImageDraw.Draw(page), dice.integer(0, 110)
    width = max(1, round(h * dice.uniform(0.02, 0.07)))
    if dice.chance(0.4):
        side = h * dice.uniform(0.35, 0.6)
        for x in np.arange(h * 0.2, max(w - side, h * 0.3), h * dice.uniform(1.0, 4.0)):
            y = h * 0.72
            pen.rectangle((x, y - side, x + side, y), outline=tone, width=width)
            if dice.chance(0.4):
                pen.line((x, y - side, x + side, y), fill=tone, width=width)
                pen.line((x, y, x + side, y - side), fill=tone, width=width)
        return np.asarray(page, np.float32)
    for _ in range(dice.integer(1, 4)):
        y = dice.uniform(0, h)
        pen.line((0, y, w, y + dice.uniform(-0.1, 0.1) * h), fill=tone, width=width)
    for _ in range(dice.integer(0, 4)):
        x = dice.uniform(0, w)
        pen.line((x, 0, x + dice.uniform(-0.1, 0.1) * h, h), fill=tone, width=width)
    return np.asarray(page, np.float32)


def paper(w: int, h: int, dice: Dice) -> np.ndarray:
    """Empty paper: grain, stains, shadows, the blurred print of the other side."""
    page = np.full((h, w), dice.uniform(150, 255), np.float32)
    page += dice.uniform(0, 14) * soft_field(w, h, h * dice.uniform(0.2, 3), dice)
    page += dice.uniform(0, 8) * soft_field(w, h, max(1.5, h * 0.08), dice)
    return page + dice.rng.standard_normal((h, w), dtype=np.float32) * dice.uniform(0, 10)


KINDS = (picture, halftone, engraving, dirt, border, scribble, rules, paper)
SHARES = (4, 4, 4, 2, 2, 2, 1.5, 1)


def crop(height: int, widest: int, dice: Dice) -> np.ndarray:
    """A random crop without text, uint8 [height, n * height], most of them short."""
    longest = widest // height
    n = dice.integer(1, 6) if dice.chance(0.5) else dice.integer(1, longest + 1)
    scale = dice.uniform(1.0, LARGEST_SCALE)
    w, h = max(8, int(n * height * scale)), int(height * scale)
    shares = np.array(SHARES) / sum(SHARES)
    page = KINDS[int(dice.rng.choice(len(KINDS), p=shares))](w, h, dice)
    if dice.chance(0.3):
        page = Image.fromarray(np.clip(page, 0, 255).astype(np.uint8))
        page = np.asarray(page.filter(ImageFilter.GaussianBlur(dice.uniform(0.3, 1.2))), np.float32)
    if dice.chance(0.3):  # as a layout stage or a bilevel scan makes it
        page = np.where(page > np.quantile(page, dice.uniform(0.2, 0.6)), 255.0, 0.0)
    out = np.clip(page, 0, 255).astype(np.uint8)
    if dice.chance(0.3):
        out = damage.jpeg(out, dice.integer(25, 90))
    return np.asarray(
        Image.fromarray(out).resize((n * height, height), Image.Resampling.BICUBIC)
    ).copy()
