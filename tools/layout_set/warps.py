"""What happens to a whole sheet: curl into the gutter, a camera's view, a black border, speckle.

A warp returns (image, move); move(points) says where points [n][2] of the sheet have gone.
"""
import math

import cv2
import numpy as np
from PIL import Image


def curl(image, rng):
    """The left or right edge bends into the gutter: print is compressed, bent down and shadowed."""
    a = np.asarray(image, np.float32)
    h, w = a.shape
    depth, drop = rng.uniform(.12, .22) * w, rng.uniform(.012, .03) * h
    at_left = rng.random() < .5

    def bend(x):  # how far into the curl, 0 to 1
        edge = x if at_left else w - x
        return np.clip(1 - edge / depth, 0, 1)

    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    t = bend(x)
    from_x = x + (1 if at_left else -1) * -t * t * depth * .25
    from_y = y - drop * t * t
    out = cv2.remap(a, from_x.astype(np.float32), from_y.astype(np.float32), cv2.INTER_CUBIC,
                    borderMode=cv2.BORDER_CONSTANT, borderValue=255)
    out *= 1 - .55 * t ** 2

    def move(points):  # the inverse, by iteration
        moved = points.copy()
        for _ in range(20):
            t = bend(moved[:, 0])
            moved[:, 0] = points[:, 0] + (1 if at_left else -1) * t * t * depth * .25
        moved[:, 1] = points[:, 1] + drop * bend(moved[:, 0]) ** 2
        return moved

    return Image.fromarray(np.clip(out, 0, 255).astype(np.uint8)), move


def keystone(image, rng):
    """A photo of the sheet on a dark desk, from a hand that is not quite above it."""
    a = np.asarray(image)
    h, w = a.shape
    margin = .05
    size = (round(w * (1 + 2 * margin)), round(h * (1 + 2 * margin)))
    corners = np.float32([[0, 0], [w, 0], [w, h], [0, h]])
    shift = np.float32([[rng.uniform(-.035, .035) * w, rng.uniform(-.035, .035) * h] for _ in range(4)])
    target = corners + np.float32([margin * w, margin * h]) + shift
    m = cv2.getPerspectiveTransform(corners, target)
    out = cv2.warpPerspective(a, m, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT,
                              borderValue=rng.randint(30, 80))
    move = lambda points: cv2.perspectiveTransform(points[None].astype(np.float64), m)[0]  # noqa: E731
    return Image.fromarray(out), move


WARPS = {"curl": curl, "keystone": keystone}


def speckle(image, rng):
    """A worn drum: dots of all sizes, streaks, a dark band."""
    a = np.asarray(image).copy()
    h, w = a.shape
    n = np.random.default_rng(rng.randrange(1 << 30))
    for _ in range(int(rng.uniform(2e-4, 6e-4) * w * h)):
        radius = int(n.choice([0, 0, 1, 1, 2, 3]))
        cv2.circle(a, (int(n.integers(0, w)), int(n.integers(0, h))), radius, int(n.integers(0, 120)), -1)
    for _ in range(rng.randint(0, 3)):
        x = rng.randrange(w)
        a[:, x:x + rng.randint(1, 3)] = rng.randint(0, 90)
    return Image.fromarray(a)


def border(image, rng):
    """The black of the lid round the sheet, straight or slanting, and the fingers of a copier."""
    a = np.asarray(image).copy()
    h, w = a.shape
    for side in rng.sample(range(4), rng.randint(2, 4)):
        near, far = (rng.uniform(.01, .05) for _ in range(2))
        quad = {0: [(0, 0), (w, 0), (w, far * h), (0, near * h)], 1: [(0, 0), (near * w, 0), (far * w, h), (0, h)],
                2: [(0, h), (w, h), (w, h - far * h), (0, h - near * h)],
                3: [(w, 0), (w - near * w, 0), (w - far * w, h), (w, h)]}[side]
        cv2.fillPoly(a, [np.int32(np.round(quad))], rng.randint(0, 35))
    return Image.fromarray(a)


DIRT = {"speckle": speckle, "border": border}


def moved_box(box, move):
    x0, y0, x1, y1 = box
    points = np.float64([[x0, y0], [(x0 + x1) / 2, y0], [x1, y0], [x1, y1], [(x0 + x1) / 2, y1], [x0, y1]])
    p = move(points)
    return [math.floor(p[:, 0].min()), math.floor(p[:, 1].min()),
            math.ceil(p[:, 0].max()), math.ceil(p[:, 1].max())]
