"""Damage of training lines only: what old print, faxes and bad light add to ``damage.py``.

Evaluation lines never pass through here, so that their scores stay comparable from run to run.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from chance import Dice
from damage import jpeg
from marks import mark

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


def faint_print(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """A worn ribbon: every letter of its own strength, upper or lower halves lighter."""
    h, w = page.shape
    letter = max(2, int(size / 1.7))
    strength = np.repeat(dice.rng.uniform(0.3, 1.0, w // letter + 1), letter)[:w]
    field = np.broadcast_to(strength.astype(np.float32), (h, w)).copy()
    if dice.chance(0.4):
        field *= np.linspace(*dice.rng.permutation([1.0, dice.uniform(0.4, 0.9)]), h)[:, None]
    field *= np.clip(1 + 0.25 * soft_field(w, h, max(2.0, size * 0.08), dice), 0.3, 1)
    return pale(page, field)


def damaged_end(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Holes and pale print over the first or, less often, the last letters."""
    h, w = page.shape
    reach = max(2, min(w, int(size * dice.uniform(1, 4))))
    blotches = soft_field(reach, h, max(1.5, size * dice.uniform(0.06, 0.2)), dice)
    keep = np.clip((blotches - np.quantile(blotches, dice.uniform(0.1, 0.3))) * 5 + 0.5, 0, 1)
    keep *= np.linspace(dice.uniform(0.35, 0.8), 1, reach)[None, :]
    field = np.ones((h, w), np.float32)
    if dice.chance(0.7):
        field[:, :reach] = keep
    else:
        field[:, w - reach :] = keep[:, ::-1]
    return pale(page, field)


def pale(page: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Print of a share of its strength on the same paper; strengths [h, w]."""
    ground = float(np.median(page))
    return np.clip(ground - (ground - page) * strength, 0, 255).astype(np.uint8)


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
    """Other sides, light, marks, low resolution, fax or dithering on a scan; uint8 gray."""
    if np.median(page) <= 127 and dice.chance(0.5):
        page = 255 - page
    if dice.chance(0.10):
        page = bleed_through(page, ink, size, dice)
    kind = dice.uniform(0, 1)
    if kind < 0.09:
        return fax(page, size, dice)
    if kind < 0.12 and size >= 28:
        return np.asarray(Image.fromarray(page).convert("1").convert("L"))
    if np.median(page) > 127:
        page = wear_print(page, size, dice)
    if dice.chance(0.10):
        page = bad_light(page, size, dice)
    return coarse_jpeg(page, size, dice) if dice.chance(0.08) else page


def wear_print(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Pale print, turned dark ground, then marks on the paper; dark print on lighter paper only."""
    if dice.chance(0.15):
        page = (faint_print if dice.chance(0.65) else damaged_end)(page, size, dice)
    elif dice.chance(0.05):
        page = turned_dark(page, size, dice)
    return mark(page, size, dice)


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


def coarse_jpeg(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """A JPEG file of 72 to 100 dpi."""
    h, w = page.shape
    share = min(1.0, dice.uniform(10, 15) / size)
    small = (max(8, round(w * share)), max(8, round(h * share)))
    coarse = np.asarray(Image.fromarray(page).resize(small, Image.Resampling.BICUBIC))
    again = Image.fromarray(jpeg(coarse, dice.integer(30, 85)))
    return np.asarray(again.resize((w, h), Image.Resampling.BICUBIC))


def turned_dark(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Light print on dark ground after the layout has turned it: thin strokes and grain."""
    thin = Image.fromarray(page)
    if size >= 24 and dice.chance(0.6):
        thin = Image.blend(thin, thin.filter(ImageFilter.MaxFilter(3)), dice.uniform(0.2, 0.7))
    light = np.asarray(jpeg(255 - np.asarray(thin), dice.integer(40, 90)), np.float32)
    grain = dice.rng.standard_normal(page.shape, dtype=np.float32) * dice.uniform(0, 14)
    turned = 255 - light + np.minimum(grain, 0) * 2
    return np.clip(turned, 0, 255).astype(np.uint8)


def fax(page: np.ndarray, size: float, dice: Dice) -> np.ndarray:
    """Coarse black and white pixels of a fax, often with half as many rows (204 x 98 dpi)."""
    h, w = page.shape
    em = min(size, dice.uniform(18, 28))
    rows = max(10, int(h * em / size * (dice.uniform(0.48, 0.75) if dice.chance(0.45) else 1.0)))
    columns = max(8, int(w * em / size))
    small = np.asarray(
        Image.fromarray(page).resize((columns, rows), Image.Resampling.BOX), np.float32
    )
    low, high = np.quantile(small, (0.02, 0.9))
    black = small > low + (high - low) * dice.uniform(0.52, 0.78)
    coarse = Image.fromarray(black.astype(np.uint8) * 255)
    return np.asarray(coarse.resize((w, h), Image.Resampling.NEAREST))
