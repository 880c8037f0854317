"""Pictures that are not text: photographs, engravings, charts, seals. All made from a seed."""
import math

import cv2
import numpy as np
from PIL import Image, ImageDraw


def smooth_noise(rng, width, height, cells):
    """Noise in [0, 1] whose features are about width / cells wide."""
    n = np.random.default_rng(rng.randrange(1 << 30))
    rows = max(2, round(cells * height / width))
    small = n.random((rows, max(2, cells))).astype(np.float32)
    out = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.clip(out, 0, 1)


def photograph(rng, width, height):
    """Sky, hills, something man-made with edges, grain: the textures that are taken for letters."""
    width, height = round(width), round(height)
    tone = sum(smooth_noise(rng, width, height, c) * f for c, f in ((3, .5), (9, .25), (40, .15), (160, .1)))
    image = Image.fromarray((40 + 190 * tone).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    horizon = rng.uniform(.35, .6) * height
    for _ in range(rng.randint(3, 9)):  # houses with windows
        w, h = rng.uniform(.06, .2) * width, rng.uniform(.1, .35) * height
        x, y = rng.uniform(0, .85) * width, horizon + rng.uniform(-.1, .3) * height
        draw.rectangle([x, y - h, x + w, y], fill=rng.randint(20, 200))
        step = max(3, w / rng.randint(3, 6))
        for wy in np.arange(y - h + step / 2, y - step / 2, step):
            for wx in np.arange(x + step / 3, x + w - step / 3, step):
                draw.rectangle([wx, wy, wx + step * .4, wy + step * .5], fill=rng.randint(0, 255))
    for _ in range(rng.randint(2, 6)):  # a mast, a wire
        x = rng.uniform(0, 1) * width
        draw.line([x, horizon, x + rng.uniform(-.1, .1) * width, horizon - rng.uniform(.1, .4) * height],
                  fill=rng.randint(0, 60), width=max(1, width // 300))
    a = np.asarray(image, np.float32)
    n = np.random.default_rng(rng.randrange(1 << 30))
    return Image.fromarray(np.clip(a + n.normal(0, 7, a.shape), 0, 255).astype(np.uint8))


def halftone(image, pitch):
    """A printed photograph: dots on a grid of `pitch` pixels at 45 degrees."""
    a = np.asarray(image, np.float32) / 255
    y, x = np.mgrid[0:a.shape[0], 0:a.shape[1]].astype(np.float32)
    u, v = (x + y) * math.pi / pitch / math.sqrt(2), (x - y) * math.pi / pitch / math.sqrt(2)
    screen = (np.cos(2 * u) + np.cos(2 * v)) / 4 + .5
    return Image.fromarray(np.where(a > screen, 255, 0).astype(np.uint8))


def engraving(rng, width, height):
    """Hatching: bent lines whose thickness follows a tone, in one to three directions."""
    width, height = round(width), round(height)
    tone = .6 * smooth_noise(rng, width, height, 4) + .4 * smooth_noise(rng, width, height, 14)
    bend = smooth_noise(rng, width, height, 5) * 6
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    ink = np.zeros((height, width), bool)
    pitch = max(4.0, width / rng.uniform(120, 220))
    for layer in range(rng.randint(1, 3)):
        t = rng.uniform(0, math.pi)
        wave = np.sin((x * math.cos(t) + y * math.sin(t)) * 2 * math.pi / pitch + bend)
        ink |= wave > .3 + .9 * (tone - .15 * layer)
    edge = np.abs(cv2.Laplacian(cv2.GaussianBlur(tone, (0, 0), 3), cv2.CV_32F)) > .004
    return Image.fromarray(np.where(ink | edge, 0, 255).astype(np.uint8))


def chart(rng, width, height, font):
    """Bars over an axis with numbers: it belongs to the picture and is not read."""
    width, height = round(width), round(height)
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    left, bottom = width * .12, height * .86
    draw.line([left, height * .05, left, bottom, width * .97, bottom], fill=0, width=2)
    bars = rng.randint(4, 9)
    step = (width * .84) / bars
    for i in range(bars):
        h = rng.uniform(.1, .75) * height
        draw.rectangle([left + i * step + step * .2, bottom - h, left + i * step + step * .8, bottom],
                       fill=rng.randint(60, 190))
        draw.text((left + (i + .5) * step, bottom + 4), str(1990 + i), font=font, fill=0, anchor="ma")
    return image


def stamp(rng, width, height, words, font):
    """A rubber stamp, light enough that print under it can be read: its mask and its slant in degrees."""
    size = (round(width), round(height))
    mask = Image.new("L", size, 0)
    draw = ImageDraw.Draw(mask)
    draw.rounded_rectangle([2, 2, size[0] - 3, size[1] - 3], radius=size[1] // 6, outline=255,
                           width=max(2, size[1] // 24))
    draw.text((size[0] / 2, size[1] / 2), words, font=font, fill=255, anchor="mm")
    slant = rng.uniform(-14, 14)
    mask = mask.rotate(slant, expand=True, resample=Image.BICUBIC)
    return mask.point(lambda v: v * rng.randint(110, 150) // 255), slant
