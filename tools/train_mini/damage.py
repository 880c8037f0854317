"""What printing, paper and scanner do to a line: shape, paper, blur, noise, threshold, JPEG.

Probabilities and ranges are meant to cover ordinary office and book scans at 100 to 300 dpi.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageFilter

from chance import Dice


def warp(ink: Image.Image, size: float, dice: Dice) -> Image.Image:
    """Skew, slant, stretch and stroke weight of an ink mask; ``size`` is the em in pixels."""
    if dice.chance(0.5):
        w, h = ink.size
        skew = dice.uniform(-1, 1) * min(0.022, 0.22 * size / w)
        slant = dice.uniform(-0.12, 0.12) if dice.chance(0.3) else 0.0
        matrix = (1, slant, -slant * h / 2, skew, 1, -skew * w / 2)
        ink = ink.transform(ink.size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    if dice.chance(0.3):
        ink = ink.resize(
            (max(8, int(ink.width * dice.uniform(0.82, 1.2))), ink.height),
            Image.Resampling.BILINEAR,
        )
    if dice.chance(0.25):
        ink = change_weight(ink, size, dice)
    return ink


def change_weight(ink: Image.Image, size: float, dice: Dice) -> Image.Image:
    """Bolder or thinner strokes; small type only changes its gray values."""
    if size >= 22:
        other = ink.filter(
            ImageFilter.MaxFilter(3) if dice.chance(0.6) else ImageFilter.MinFilter(3)
        )
        return Image.blend(ink, other, dice.uniform(0.2, 0.9 if size > 30 else 0.6))
    gamma = dice.uniform(0.6, 1.5)
    return ink.point([int(255 * (i / 255) ** gamma) for i in range(256)])


def clean_print(ink: Image.Image, dice: Dice) -> np.ndarray:
    """Ink on even paper, as from a born-digital page; uint8 gray."""
    paper, black = dice.uniform(235, 255), dice.uniform(0, 50)
    mask = np.asarray(ink, np.float32) / 255
    return np.clip(paper + (black - paper) * mask, 0, 255).astype(np.uint8)


def scan(ink: Image.Image, size: float, dice: Dice) -> np.ndarray:
    """A damaged scan of an ink mask; uint8 gray."""
    if dice.chance(0.55):
        ink = ink.filter(ImageFilter.GaussianBlur(dice.uniform(0.2, 1.0) * size / 28))
    mask = np.asarray(ink, np.float32) * (1 / 255)
    paper, black = dice.uniform(180, 255), dice.uniform(0, 110)
    if dice.chance(0.03):
        paper, black = black, paper
    page = uneven_paper(mask.shape, paper, dice) if dice.chance(0.35) else paper
    image = page + (black - page) * mask
    if dice.chance(0.5):
        image = image + noise(mask.shape, dice)
    if dice.chance(0.08):
        speck = dice.rng.random(mask.shape, dtype=np.float32)
        p = dice.uniform(0.001, 0.012)
        image = np.where(speck < p, 0, np.where(speck > 1 - p, 255, image))
    if dice.chance(0.35) and size >= 16:
        middle = (paper + black) / 2 + dice.uniform(-0.18, 0.18) * (paper - black)
        image = np.where(image > middle, 255.0, 0.0)
    out = np.clip(image, 0, 255).astype(np.uint8)
    return jpeg(out, dice.integer(25, 90)) if dice.chance(0.3) else out


def uneven_paper(shape: tuple[int, int], paper: float, dice: Dice) -> np.ndarray:
    """Paper with a gray ramp along and across the line."""
    h, w = shape
    along = np.linspace(dice.uniform(-30, 30), dice.uniform(-30, 30), w, dtype=np.float32)[None, :]
    across = np.linspace(dice.uniform(-12, 12), dice.uniform(-12, 12), h, dtype=np.float32)[:, None]
    return paper + along + across


def noise(shape: tuple[int, int], dice: Dice) -> np.ndarray:
    """Gray noise, fine or in 2x2 grains."""
    h, w = shape
    sigma = dice.uniform(1, 16)
    if dice.chance(0.4):
        coarse = dice.rng.standard_normal(((h + 1) // 2, (w + 1) // 2), dtype=np.float32)
        return np.repeat(np.repeat(coarse, 2, 0), 2, 1)[:h, :w] * sigma
    return dice.rng.standard_normal((h, w), dtype=np.float32) * sigma


def jpeg(image: np.ndarray, quality: int) -> np.ndarray:
    """The image after JPEG compression."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer))
