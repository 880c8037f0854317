"""Render synthetic scanned text lines as the crops that the product makes.

A line is drawn at some original resolution with random font, layout and scan damage, then scaled to
28 rows.  The scale follows the font's x-height, not the line's ink, as a page-wide scale does.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import damage
import wear
from chance import Dice
from confusing import LEADER
from fonts import HELD_OUT_FAMILIES, FontFile, load_face

HEIGHT = 28
# Geometry of a crop: x-height and baseline of the page's letters, in pixels of the 28 rows.
X_HEIGHT = 11.0
BASELINE = 20.0
MAX_WIDTH = 28 * 25
# Share of training lines whose width is stretched to a multiple of the height, not padded to it.
STRETCHED_SHARE = 0.25
# Share of lines with scan damage when the caller does not say.
DEGRADED_SHARE = 0.7
# Shares of training lines whose letters are squeezed or widened: of all, of the longest.
SQUEEZED_SHARE, LONG_SQUEEZED_SHARE = 0.3, 0.5
# Share of training lines in capitals whose words go on in small capitals.
SMALL_CAPITALS_SHARE = 0.3
# Share of training lines with a check box before the text, where the margin has room.
CHECK_BOX_SHARE = 0.03
# Training lines whose scan shows less of their print are left out: nobody could read them.
LEAST_LEGIBILITY = 0.4
# Share of training lines whose commas have lost their tails, and of the commas in them.
LOST_TAILS_SHARE, LOST_TAIL_SHARE = 0.15, 0.6
COMMA_IN_SENTENCE = re.compile(r"(?<=[a-z]),(?= [a-z])")
LONE_LEADER = re.compile(rf"(^| ){re.escape(LEADER)}(?= |$)")
# Share of training lines with a blank before commas, as in old books; and of short lines of nothing
# but words those whose letters stand apart, as in old headings.  Neither is read.
SPACED_COMMAS_SHARE, LETTERSPACED_SHARE = 0.06, 0.25
COMMA_AFTER_WORD = re.compile(r"(?<=[^\W\d_]),(?= |$)")
ONLY_WORDS = re.compile(r"[^\W\d_]{3,}( [^\W\d_]{2,})*[.,]?")
LETTERSPACED_LENGTH = 28
# How many pixels of an unusually long ascender or descender a crop may lose.
CUT_ALLOWED = 0.7


@dataclass
class Line:
    """One rendered sample."""

    text: str
    image: np.ndarray  # uint8 [28, 28*n]
    original: np.ndarray  # uint8 [h, w] before scaling
    family: str
    degraded: bool


@dataclass
class Placement:
    """Where a line stands on its canvas, in pixels at the original resolution."""

    left: float
    total: float  # width of the text
    right: float
    height: float
    baseline: float
    chunks: list[str]
    advances: list[float]  # from the start of a chunk to the start of the next


class Renderer:
    """Draws lines with random fonts and scan-like damage.

    ``held_out``: the fonts kept for evaluation, and crops as the layout stage cuts them; otherwise
    the training fonts, also crops whose scale and place are clearly wrong, squeezed letters, tight
    word gaps and the damage of ``wear.py``.
    """

    def __init__(self, font_dir: Path, font_list: Path, held_out: bool, seed: int) -> None:
        self.usual_crops = held_out
        files = [FontFile(**d) for d in json.loads(font_list.read_text())]
        self.fonts = [f for f in files if (f.family in HELD_OUT_FAMILIES) == held_out]
        self.font_dir = font_dir
        self.x_heights: dict[tuple[str, int], float] = {}
        self.dice = Dice(seed)
        self.weigh_fonts(held_out)

    def weigh_fonts(self, held_out: bool) -> None:
        """How often each font is drawn."""
        weights = np.array([f.weight for f in self.fonts])
        if held_out:  # every held-out family equally often
            families = [f.family for f in self.fonts]
            weights = np.array([1.0 / families.count(f) for f in families])
        self.cumulative = np.cumsum(weights / weights.sum())
        self.charsets = [frozenset(f.chars) for f in self.fonts]

    def keep_faces(self, names: list[str]) -> None:
        """Draw with the font files of these names only."""
        self.fonts = [f for f in self.fonts if Path(f.path).name in names]
        self.weigh_fonts(False)

    def pick_font(self, text: str) -> FontFile | None:
        """A random font that has all characters of ``text``."""
        need = set(text)
        for _ in range(12):
            i = min(
                int(np.searchsorted(self.cumulative, self.dice.rng.random())), len(self.fonts) - 1
            )
            if need <= self.charsets[i]:
                return self.fonts[i]
        return None

    def em_size(self) -> int:
        """Font size in pixels, as found in 100-300 dpi scans."""
        u = self.dice.rng.random()
        for limit, low, high in ((0.10, 11, 16), (0.50, 16, 27), (0.90, 26, 43)):
            if u < limit:
                return self.dice.integer(low, high)
        return self.dice.integer(42, 62)

    def x_height(self, font: FontFile) -> float:
        """Height of the letter x as a share of the em."""
        key = (font.path, font.index)
        if key not in self.x_heights:
            face = load_face(str(self.font_dir / font.path), 200)
            self.x_heights[key] = -face.getbbox("x", anchor="ls")[1] / 200
        return self.x_heights[key]

    def frame(self, font: FontFile, size: int) -> tuple[float, float]:
        """Height of the crop and position of its baseline, in pixels at the original resolution.

        The crop is what a page-wide scale gives: the x-height of the font lands near ``X_HEIGHT``
        of the 28 rows and the baseline near ``BASELINE``, with the errors that a layout stage
        makes and with small print.
        """
        dice = self.dice
        u = dice.rng.random()
        if self.usual_crops or u < 0.72:
            low, high = 0.88, 1.13
        else:
            low, high = (0.78, 1.25) if u < 0.90 else (0.62, 0.85)
        scale = dice.uniform(low, high)
        near = dice.chance(0.75) or self.usual_crops
        shift = dice.uniform(-1.5, 1.5) if near else dice.uniform(-3.0, 3.0)
        x_height, above, below = self.x_height(font), BASELINE + shift, HEIGHT - BASELINE - shift
        target = min(
            X_HEIGHT * scale,
            (above + CUT_ALLOWED) * x_height / font.ascent,
            (below + CUT_ALLOWED) * x_height / font.descent,
        )
        unit = size * x_height / target
        return HEIGHT * unit, above * unit

    def place(
        self, text: str, face: ImageFont.FreeTypeFont, font: FontFile, size: int
    ) -> Placement:
        """Margins, word gaps and vertical position of a line."""
        dice = self.dice
        height, baseline = self.frame(font, size)
        gap_scale = dice.uniform(0.9, 2.2) if dice.chance(0.12) else 0.0
        if not self.usual_crops and dice.chance(0.12):
            gap_scale = dice.uniform(0.6, 0.95)
        table = dice.chance(0.05)
        chunks = text.split(" ") if (gap_scale or table) else [text]
        space = face.getlength(" ") or size * 0.25
        widths = [face.getlength(c) for c in chunks]
        gaps = [
            space * (dice.uniform(2.0, 7.0) if table and dice.chance(0.4) else (gap_scale or 1.0))
            for _ in chunks[1:]
        ] + [0.0]
        left = size * (dice.uniform(0.0, 0.25) if dice.chance(0.4) else dice.uniform(0.1, 1.2)) + 2
        right = size * (dice.uniform(0.0, 0.25) if dice.chance(0.4) else dice.uniform(0.1, 1.6)) + 2
        return Placement(
            left,
            sum(widths) + sum(gaps),
            right,
            height,
            baseline,
            chunks,
            [w + g for w, g in zip(widths, gaps)],
        )

    def spread(self, p: Placement, face: ImageFont.FreeTypeFont, size: int) -> Placement:
        """The line with its letters apart; the gap between words stays clearly wider."""
        dice, text = self.dice, " ".join(p.chunks)
        apart = size * dice.uniform(0.1, 0.6)
        blank = face.getlength(" ") + max(apart, size * 0.2) * dice.uniform(0.9, 1.8)
        advances = [blank if c == " " else face.getlength(c) + apart for c in text]
        total = sum(advances) - apart
        return replace(p, chunks=list(text), advances=advances, total=total)

    def draw(self, text: str, font: FontFile, degraded: bool) -> tuple[Image.Image, float] | None:
        """Ink mask ('L', ink = 255) of the line and its em size in pixels; None if too wide."""
        size = self.em_size()
        if len(text) > 60:
            size = min(size, 44)
        face = load_face(str(self.font_dir / font.path), size, self.dice.chance(0.15))
        p = self.place(text, face, font, size)
        training = not self.usual_crops
        apart = training and letters_may_spread(text) and self.dice.chance(LETTERSPACED_SHARE)
        if apart:
            p = self.spread(p, face, size)
        width = p.left + p.total + p.right
        if width * HEIGHT / p.height > MAX_WIDTH + HEIGHT / 2:
            return None
        canvas = Image.new("L", (int(width), max(8, int(round(p.height)))), 0)
        pen, x = ImageDraw.Draw(canvas), p.left
        small = training and not apart and capitals(text)
        if small and self.dice.chance(SMALL_CAPITALS_SHARE):
            self.draw_small_capitals(pen, font, size, text, p)
        else:
            for chunk, advance in zip(p.chunks, p.advances):
                pen.text((x, p.baseline), chunk, fill=255, font=face, anchor="ls")
                x += advance
        if not self.usual_crops and self.dice.chance(CHECK_BOX_SHARE):
            self.draw_check_box(pen, size, p)
        if self.dice.chance(0.05) and not self.usual_crops:
            canvas = self.crop_to_ink(canvas, (font.ascent + font.descent) * size)
        elif self.dice.chance(0.30 if degraded else 0.12) and len(text) > 3:
            self.draw_neighbours(canvas, text, face, size, p)
        self.draw_rules(canvas, size, p, degraded)
        return canvas, float(size)

    def draw_check_box(self, pen: ImageDraw.ImageDraw, size: int, p: Placement) -> None:
        """A box in the left margin, empty or ticked, where there is room; it is not read."""
        side, room = size * self.dice.uniform(0.5, 0.8), p.left - size * 0.2
        if side > room:
            return
        x, y, width = self.dice.uniform(0, room - side), p.baseline, max(1, size // 16)
        pen.rectangle((x, y - side, x + side, y), outline=255, width=width)
        if self.dice.chance(0.5):
            pen.line((x, y - side, x + side, y), fill=255, width=width)
            pen.line((x, y, x + side, y - side), fill=255, width=width)

    def draw_small_capitals(
        self, pen: ImageDraw.ImageDraw, font: FontFile, size: int, text: str, p: Placement
    ) -> None:
        """Capitals, those that do not begin a word at a share of the size."""
        share = self.dice.uniform(0.7, 0.88)
        small = load_face(str(self.font_dir / font.path), max(8, round(size * share)))
        large, x, before = load_face(str(self.font_dir / font.path), size), p.left, " "
        for char in text:
            face = small if before.isalpha() else large
            pen.text((x, p.baseline), char, fill=255, font=face, anchor="ls")
            x, before = x + face.getlength(char), char

    def crop_to_ink(self, canvas: Image.Image, full: float) -> Image.Image:
        """A crop that follows the ink closely; lines without tall letters stay as they are."""
        box = canvas.getbbox()
        if not box or box[3] - box[1] <= 0.55 * full:
            return canvas
        margin = max(1.0, (box[3] - box[1]) * self.dice.uniform(0.03, 0.2))
        return canvas.crop((0, int(box[1] - margin), canvas.width, int(box[3] + margin + 1)))

    def draw_neighbours(
        self, canvas: Image.Image, text: str, face: ImageFont.FreeTypeFont, size: int, p: Placement
    ) -> None:
        """Parts of the lines above and below that reach into the crop."""
        dice, pen = self.dice, ImageDraw.Draw(canvas)
        step, half = size * dice.uniform(1.12, 1.5), max(1, len(text) // 2)
        for sign in (-1, 1):
            if dice.chance(0.7):
                place = (p.left + dice.uniform(-size, size), p.baseline + sign * step)
                pen.text(place, text[half:] + " " + text[:half], fill=255, font=face, anchor="ls")

    def draw_rules(self, canvas: Image.Image, size: int, p: Placement, degraded: bool) -> None:
        """Sometimes an underline, or table rules at the edges of a damaged line."""
        dice, pen = self.dice, ImageDraw.Draw(canvas)
        if dice.chance(0.03):
            y = p.baseline + max(1.5, size * dice.uniform(0.08, 0.14))
            pen.line((p.left, y, p.left + p.total, y), fill=255, width=max(1, size // 16))
        if degraded and dice.chance(0.04):
            y = dice.rng.choice([0, canvas.height - 1])
            pen.line((0, y, canvas.width, y), fill=255, width=max(1, size // 14))
        if degraded and dice.chance(0.03):
            for x in (1, canvas.width - 2):
                pen.line((x, 0, x, canvas.height), fill=255, width=max(1, size // 16))

    def leader(self, text: str) -> str:
        """The text with its leader as it is printed: dots in number and spacing of their own."""
        if not LONE_LEADER.search(text):
            return text
        dots = self.dice.integer(4, 30)
        printed = (". " * dots).strip() if self.dice.chance(0.4) else "." * dots
        before = "" if self.dice.chance(0.25) else r"\1"
        return LONE_LEADER.sub(rf"{before}{printed}", text, count=1)

    def as_printed(self, text: str) -> str:
        """What is drawn for a training line."""
        return self.spaced_commas(self.without_tails(self.leader(text)))

    def without_tails(self, text: str) -> str:
        """The text with some commas printed as points, as a scanner's threshold leaves thin tails.

        Only where the small letter behind tells what stood there.
        """
        if not self.dice.chance(LOST_TAILS_SHARE):
            return text
        return COMMA_IN_SENTENCE.sub(
            lambda comma: "." if self.dice.chance(LOST_TAIL_SHARE) else comma.group(), text
        )

    def spaced_commas(self, text: str) -> str:
        """The text as an old book may print it, with a blank before each comma."""
        if not self.dice.chance(SPACED_COMMAS_SHARE):
            return text
        return COMMA_AFTER_WORD.sub(" ,", text)

    def scan(self, ink: Image.Image, size: float) -> np.ndarray:
        """A damaged scan of an ink mask; training lines suffer more kinds of damage."""
        ink = damage.warp(ink, size, self.dice)
        if self.usual_crops:
            return damage.scan(ink, size, self.dice)
        ink = wear.wear_ink(ink, size, self.dice)
        return wear.wear_scan(damage.scan(ink, size, self.dice), ink, size, self.dice)

    def render(self, text: str, degraded: bool | None = None) -> Line | None:
        """Render ``text``; None when no font has the characters or the line is too wide."""
        font = self.pick_font(text)
        if font is None:
            return None
        if degraded is None:
            degraded = self.dice.chance(DEGRADED_SHARE)
        shown = text if self.usual_crops else self.as_printed(text)
        drawn = self.draw(shown, font, degraded)
        if drawn is None:
            return None
        ink, size = drawn
        share = LONG_SQUEEZED_SHARE if len(text) > 50 else SQUEEZED_SHARE
        if not self.usual_crops and self.dice.chance(share):
            ink = wear.squeeze(ink, len(shown), self.dice)
        original = self.scan(ink, size) if degraded else damage.clean_print(ink, self.dice)
        if not self.usual_crops and legibility(original, ink) < LEAST_LEGIBILITY:
            return None
        filters = [Image.Resampling.BICUBIC, Image.Resampling.BILINEAR, Image.Resampling.LANCZOS]
        resample = Image.Resampling(self.dice.rng.choice(filters, p=[0.7, 0.15, 0.15]))
        stretch = self.dice.chance(STRETCHED_SHARE) and not self.usual_crops
        small = to_line_height(original, resample, stretch)
        if small.shape[1] > MAX_WIDTH:
            return None
        return Line(text, small, original, font.family, degraded)


def letters_may_spread(text: str) -> bool:
    """Whether letters that stand apart can only be words: no codes, initials or single letters."""
    return len(text) <= LETTERSPACED_LENGTH and ONLY_WORDS.fullmatch(text) is not None


def capitals(text: str) -> bool:
    """Whether a text has two capitals at least and no small letters."""
    return text == text.upper() and sum(c.isupper() for c in text) > 1


def legibility(page: np.ndarray, ink: Image.Image) -> float:
    """Share of the printed ink that a scan still shows, 0 to 1, whichever of them is dark.

    Print is compared with the lightest pixel of its own column, so that shadows do not count.
    """
    w, h = max(2, ink.width * HEIGHT // ink.height), HEIGHT
    printed, seen = (
        np.asarray(image.resize((w, h), Image.Resampling.BOX), np.float32)
        for image in (ink, Image.fromarray(page))
    )
    seen = 255 - seen if np.median(seen) < 128 else seen
    dark = seen.max(0, keepdims=True) - seen
    print_here = printed > printed.max() / 2
    full = max(float(np.quantile(dark[print_here], 0.9)), 1.0)
    return float(np.minimum(dark[print_here] / full, 1).mean())


def to_line_height(image: np.ndarray, resample: Image.Resampling, stretch: bool) -> np.ndarray:
    """Scale to 28 px height and bring the width to a multiple of 28.

    The layout stage pads with paper; ``stretch`` changes the width instead, as the image processor
    does with crops of any width.
    """
    h, w = image.shape
    exact = max(1, round(w * HEIGHT / h))
    width = HEIGHT * (max(1, round(exact / HEIGHT)) if stretch else -(-exact // HEIGHT))
    target = width if stretch else exact
    small = np.asarray(Image.fromarray(image).resize((target, HEIGHT), resample))
    left = (width - target) // 2
    paper = int(np.median(small[:, [0, -1]]))
    return np.pad(small, ((0, 0), (left, width - target - left)), constant_values=paper)
