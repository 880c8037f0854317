"""Shard files of rendered lines, and the worker that writes them.

A shard is a pure function of (seed, shard number): rendering it again gives the same bytes of
pixels and text.  The trainer picks up shards while this worker is still writing more.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

import not_text
from chance import Dice
from render import HEIGHT, MAX_WIDTH, Line, Renderer
from text import TextSource

SEED_STRIDE = 100_003
# Share of training crops that show no text.
EMPTY_SHARE = 0.045


def write_shard(path: Path, lines: list[Line]) -> None:
    """Store lines atomically: concatenated columns, widths and texts."""
    temp = path.with_suffix(".tmp.npz")
    texts = json.dumps([line.text for line in lines], ensure_ascii=False).encode()
    np.savez(
        temp,
        pixels=np.concatenate([line.image for line in lines], axis=1),
        widths=np.array([line.image.shape[1] for line in lines], np.int32),
        texts=np.frombuffer(texts, np.uint8),
    )
    os.replace(temp, path)


def read_shard(path: Path) -> list[tuple[np.ndarray, str]]:
    """(image uint8 [28, W], text) pairs of a shard."""
    with np.load(path) as z:
        pixels, widths, texts = z["pixels"], z["widths"], json.loads(z["texts"].tobytes())
    ends = np.cumsum(widths)
    return [(pixels[:, e - w : e], t) for e, w, t in zip(ends, widths, texts)]


def make_lines(
    source: TextSource, renderer: Renderer, count: int, degraded: bool | None = None
) -> list[Line]:
    """``count`` random lines; texts that no font or width allows are skipped.

    With hard texts some lines are crops without text.
    """
    out: list[Line] = []
    while len(out) < count:
        if source.hard and renderer.dice.chance(EMPTY_SHARE):
            out.append(empty_line(renderer.dice))
            continue
        line = renderer.render(source.line(), degraded)
        if line is not None:
            out.append(line)
    return out


def empty_line(dice: Dice) -> Line:
    """A crop without text, whose answer is empty."""
    image = not_text.crop(HEIGHT, MAX_WIDTH, dice)
    return Line("", image, image, "none", True)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--corpus", type=Path, required=True)
    ap.add_argument("--fonts", type=Path, required=True, help="list written by fonts.py")
    ap.add_argument("--font-dir", type=Path, required=True)
    ap.add_argument("--pool", type=Path, required=True, help="folder for the shards")
    ap.add_argument("--shards", type=int, default=1000)
    ap.add_argument("--shard-size", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--pause", type=float, default=0.0, help="seconds to wait after each shard")
    ap.add_argument("--fast", type=int, default=0, help="so many shards first without a pause")
    ap.add_argument("--held-out-fonts", action="store_true")
    args = ap.parse_args()
    args.pool.mkdir(parents=True, exist_ok=True)
    source = TextSource(args.corpus, args.seed, hard=not args.held_out_fonts)
    for i in range(args.shards):
        path = args.pool / f"shard-{args.seed:03d}-{i:05d}.npz"
        if path.exists():
            continue
        start = time.time()
        seed = args.seed * SEED_STRIDE + i
        source.rng.seed(seed)
        renderer = Renderer(args.font_dir, args.fonts, args.held_out_fonts, seed)
        write_shard(path, make_lines(source, renderer, args.shard_size))
        print(f"{path.name} {args.shard_size / (time.time() - start):.0f} lines/s", flush=True)
        if i >= args.fast:
            time.sleep(args.pause)


if __name__ == "__main__":
    main()
