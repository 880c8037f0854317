"""Shards of easy lines: a few words and numbers in clean print, in the fonts of a list.

They are what ``minillm-tiny`` learns to read: enough to see in a test that a program reads.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from render import Line, Renderer
from shards import write_shard

WORDS = """
    amount blue book box city cold copy count dark date day door east field file first five fox
    glass gold green half hand height home ink item jump king lamp last letter line list low map
    mark milk moon name new night nine north note oak office old one open order page paper pick
    print queen quick read red river road salt scan seven six small snow south stone table ten text
    three total two type under unit up view voice walk water west white wind word year young zero
""".split()
NUMBER_SHARE, DEGRADED_SHARE = 0.4, 0.2


def plain_text(rng: random.Random) -> str:
    """One to three words or numbers."""
    items = []
    for _ in range(rng.randint(1, 3)):
        number = rng.random() < NUMBER_SHARE
        items.append(str(rng.randrange(10 ** rng.randint(1, 4))) if number else rng.choice(WORDS))
    return " ".join(items)


def plain_lines(renderer: Renderer, rng: random.Random, count: int) -> list[Line]:
    """``count`` lines, cropped as the layout stage does."""
    renderer.usual_crops = True
    out: list[Line] = []
    while len(out) < count:
        line = renderer.render(plain_text(rng), rng.random() < DEGRADED_SHARE)
        if line is not None:
            out.append(line)
    return out


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--fonts", type=Path, required=True, help="list written by fonts.py")
    ap.add_argument("--font-dir", type=Path, required=True)
    ap.add_argument("--faces", nargs="+", default=["LiberationSans-Regular.ttf"])
    ap.add_argument("--pool", type=Path, required=True, help="folder for the shards")
    ap.add_argument("--shards", type=int, default=4)
    ap.add_argument("--shard-size", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    args.pool.mkdir(parents=True, exist_ok=True)
    for i in range(args.shards):
        seed = args.seed * 1000 + i
        renderer = Renderer(args.font_dir, args.fonts, False, seed)
        renderer.keep_faces(args.faces)
        lines = plain_lines(renderer, random.Random(seed), args.shard_size)
        write_shard(args.pool / f"shard-{args.seed:03d}-{i:05d}.npz", lines)


if __name__ == "__main__":
    main()
