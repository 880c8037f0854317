"""Evaluation lines like those of old journals: prose in worn serif print that shines through."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

import damage
import wear
from render import LEAST_LEGIBILITY, Line, Renderer, legibility
from text import TextSource

JOURNAL = "journal"
SERIF_FAMILIES = ("Caladea", "LinLibertine")
LENGTHS = (20, 66)
BROKEN_SHARE, OTHER_SIDE_SHARE, BAD_LIGHT_SHARE = 0.6, 0.4, 0.4


class JournalRenderer(Renderer):
    """Draws with the serif families that training never saw."""

    def __init__(self, font_dir: Path, font_list: Path, seed: int) -> None:
        super().__init__(font_dir, font_list, True, seed)
        self.fonts = [f for f in self.fonts if f.family in SERIF_FAMILIES]
        self.weigh_fonts(True)
        self.legible = True

    def scan(self, ink: Image.Image, size: float) -> np.ndarray:
        """Broken letters, the damage of every scan, the other side, uneven light."""
        dice, whole = self.dice, damage.warp(ink, size, self.dice)
        worn = wear.break_letters(whole, size, dice) if dice.chance(BROKEN_SHARE) else whole
        page = damage.scan(worn, size, dice)
        if dice.chance(OTHER_SIDE_SHARE):
            page = wear.bleed_through(page, whole, size, dice)
        if dice.chance(BAD_LIGHT_SHARE):
            page = wear.bad_light(page, size, dice)
        self.legible = legibility(page, whole) >= LEAST_LEGIBILITY
        return page


def journal_lines(corpus: Path, fonts: Path, font_dir: Path, count: int, seed: int) -> list[Line]:
    """``count`` legible lines, whose family is ``JOURNAL``."""
    source = TextSource(corpus, seed)
    renderer = JournalRenderer(font_dir, fonts, seed)
    lines: list[Line] = []
    while len(lines) < count:
        line = renderer.render(source.prose_window(source.rng.randint(*LENGTHS)), degraded=True)
        if line is not None and renderer.legible:
            lines.append(replace(line, family=JOURNAL))
    return lines
