"""Damage of training lines only: what old print, faxes and bad light add to ``damage.py``.

Evaluation lines never pass through here, so that their scores stay comparable from run to run.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from chance import Dice

# A CTC head has one step per 4.7 px of a 28-px crop: no letter may become narrower than this.
NARROWEST_LETTER = 5.6 / 28


def squeeze(ink: Image.Image, letters: int, dice: Dice) -> Image.Image:
    """Narrower letters, as in condensed faces, or sometimes wider ones."""
    factor = dice.uniform(0.62, 0.95) if dice.chance(0.8) else dice.uniform(1.0, 1.25)
    width = max(int(ink.width * factor), int(letters * NARROWEST_LETTER * ink.height), 8)
    if width >= ink.width and factor < 1:
        return ink
    return ink.resize((width, ink.height), Image.Resampling.BICUBIC)


def wear_ink(ink: Image.Image, size: float, dice: Dice) -> Image.Image:
    """Print with holes, or with ink that filled the counters; ``size`` is the em in pixels."""
    if dice.chance(0.15):
        ink = break_letters(ink, size, dice)
    if size >= 26 and dice.chance(0.08):
        ink = ink.filter(ImageFilter.MaxFilter(3)).filter(ImageFilter.GaussianBlur(size / 40))
        ink = ink.point([255 if i > 110 else 0 for i in range(256)])
    return ink


def break_letters(ink: Image.Image, size: float, dice: Dice) -> Image.Image:
    """Blotches where the ink did not take."""
    w, h = ink.size
    grain = size * dice.uniform(0.05, 0.25)
    field = soft_field(w, h, grain, dice)
    keep = np.clip((field - np.quantile(field, dice.uniform(0.03, 0.25))) * 6 + 0.5, 0, 1)
    return Image.fromarray((np.asarray(ink, np.float32) * keep).astype(np.uint8))


def soft_field(w: int, h: int, grain: float, dice: Dice) -> np.ndarray:
    """Smooth noise of mean 0 and deviation about 1, float32 [h, w]; ``grain`` in pixels."""
    shape = (max(2, int(h / grain) + 1), max(2, int(w / grain) + 1))
    coarse = Image.fromarray(dice.rng.standard_normal(shape, dtype=np.float32))
    return np.asarray(coarse.resize((w, h), Image.Resampling.BICUBIC), np.float32)


def wear_scan(page: np.ndarray, ink: Image.Image, size: float, dice: Dice) -> np.ndarray:
    """Print of the other side, bad light, fax or dithering on a scan; uint8 gray."""
    if dice.chance(0.10):
        page = bleed_through(page, ink, size, dice)
    if dice.chance(0.10):
        page = bad_light(page, size, dice)
    if dice.chance(0.09):
        page = fax(page, size, dice)
    elif size >= 28 and dice.chance(0.04):
        page = np.asarray(Image.fromarray(page).convert("1").convert("L"))
    return page


def bleed_through(page: np.ndarray, ink: Image.Image, size: float, dice: Dice) -> np.ndarray:
    """The mirrored line of the other side, faint, blurred and out of place."""
    h, w = page.shape
    other = ink.resize((w, h)).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    shift = (dice.integer(-w // 4, w // 4 + 1), dice.integer(-h // 3, h // 3 + 1))
    other = other.filter(ImageFilter.GaussianBlur(size / 28 * dice.uniform(0.5, 1.6)))
    faint = np.roll(np.asarray(other, np.float32), shift, (1, 0)) * dice.uniform(0.05, 0.3)
    dark_on_light = np.median(page) > 127
    return np.clip(page - faint if dark_on_light else page + faint, 0, 255).astype(np.uint8)


def bad_light(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Shadows and stains of the size of a word; paper and ink darken alike."""
    h, w = page.shape
    light = 1 - dice.uniform(0.05, 0.22) * soft_field(w, h, size * dice.uniform(2, 8), dice)
    return np.clip(page * np.clip(light, 0.35, 1.25), 0, 255).astype(np.uint8)


def fax(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Coarse black and white rows of a fax, sometimes with half the rows."""
    h, w = page.shape
    em = min(size, dice.uniform(18, 28))
    rows = max(10, int(h * em / size * (0.7 if dice.chance(0.3) else 1.0)))
    columns = max(8, int(w * em / size))
    small = np.asarray(
        Image.fromarray(page).resize((columns, rows), Image.Resampling.BOX), np.float32
    )
    low, high = np.quantile(small, (0.02, 0.9))
    black = small > low + (high - low) * dice.uniform(0.52, 0.78)
    coarse = Image.fromarray(black.astype(np.uint8) * 255)
    return np.asarray(coarse.resize((w, h), Image.Resampling.NEAREST))
