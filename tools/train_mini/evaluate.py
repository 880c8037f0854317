"""Score snapshots beside Tesseract on fresh held-out lines, and measure draft acceptance.

Fonts, texts and (unless --seed is given) the random seed are ones that training has never seen.
Half of the lines are clean print, half have scan damage; crops have the errors that the layout
stage usually makes.  Prose in worn serif print stands for old journals; no other score has it.
The seed is printed, so any result can be repeated.  Every snapshot is also decoded with 1, 2 and 3
drafts; the text must not change.  Crops without text, with textures as in training, tell what is
invented.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer

from batches import make_prompt
from calibration import calibration_error, tokens_right
from chance import Dice
from charset import CENTRAL
from decode import Decoder
from journal import JOURNAL, journal_lines
from render import Line, Renderer
from scoring import figures_right, length_band, letters_right, score
from shards import empty_line
from snapshot import load_snapshot
from text import TextSource

BATCH = 32
# Mean confidences below which platen doubts a line, and a page (stages/doubts.h, platen.json).
LOW_CONFIDENCE = (0.6, 0.9)
FOREIGN = "foreign"
FOREIGN_LENGTHS = (12, 50)
WIDTH_BANDS = (140, 280, 420, 560, 700)


def build_set(corpus: Path, fonts: Path, font_dir: Path, count: int, seed: int) -> list[Line]:
    """``count`` lines in held-out fonts, every second one degraded."""
    source = TextSource(corpus, seed)
    renderer = Renderer(font_dir, fonts, True, seed)
    lines: list[Line] = []
    while len(lines) < count:
        line = renderer.render(source.line(), degraded=len(lines) % 2 == 1)
        if line is not None:
            lines.append(line)
    return lines


def foreign_lines(words: Path, fonts: Path, font_dir: Path, count: int, seed: int) -> list[Line]:
    """``count`` clean lines of words of 21 languages, also of Central and Eastern Europe."""
    source = TextSource(words, seed)
    renderer = Renderer(font_dir, fonts, True, seed)
    lines: list[Line] = []
    while len(lines) < count:
        line = renderer.render(source.foreign.line(source.rng.randint(*FOREIGN_LENGTHS)), False)
        if line is not None:
            lines.append(replace(line, family=FOREIGN))
    return lines


def groups(line: Line) -> tuple[str, ...]:
    """Names of the groups in whose score a line counts."""
    if line.family in (JOURNAL, FOREIGN):
        return (line.family,)
    width = next(w for w in WIDTH_BANDS if line.image.shape[1] <= w)
    return (
        "all",
        "degraded" if line.degraded else "clean",
        length_band(line.text),
        f"width <= {width}",
        line.family,
    )


def tesseract(images: list[np.ndarray], dpi: int) -> list[str]:
    """Tesseract (eng, --psm 7) on every image, one process for the whole list."""
    if not images:
        return []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i:05d}.png" for i in range(len(images))]
        for path, image in zip(paths, images):
            Image.fromarray(image).save(path)
        listing = Path(folder) / "list.txt"
        listing.write_text("\n".join(map(str, paths)) + "\n")
        command = [
            "tesseract",
            str(listing),
            "stdout",
            "-l",
            "eng",
            "--psm",
            "7",
            "--dpi",
            str(dpi),
        ]
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    pages = run.stdout.split("\f")[: len(images)]
    if len(pages) != len(images):
        raise RuntimeError("tesseract returned an unexpected number of pages")
    return [" ".join(p.split()) for p in pages]


def acceptance(rounds: list[list[int]], drafts: int) -> dict[str, float]:
    """Share of rounds in which drafts 1..j were all accepted, and tokens per round."""
    flat = [a for r in rounds for a in r]
    shares = {
        f"A{j}": round(sum(a >= j for a in flat) / max(1, len(flat)), 4)
        for j in range(1, drafts + 1)
    }
    return shares | {
        "tokens_per_round": round(1 + sum(flat) / max(1, len(flat)), 4),
        "rounds": len(flat),
    }


def read_all(decoder: Decoder, lines: list[Line]) -> tuple[list[list[int]], list[list[float]]]:
    """Answer ids of all lines and their probabilities, decoded in batches of one width."""
    by_width: dict[int, list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        by_width[line.image.shape[1]].append(i)
    answers: list[list[int]] = [[] for _ in lines]
    confidence: list[list[float]] = [[] for _ in lines]
    for width in sorted(by_width):
        for start in range(0, len(by_width[width]), BATCH):
            rows = by_width[width][start : start + BATCH]
            got = decoder.run_batch_with_confidence(np.stack([lines[i].image for i in rows]))
            for i, ids, shares in zip(rows, *got):
                answers[i], confidence[i] = ids, shares
    return answers, confidence


def calibration(
    lines: list[Line], answers: list[list[int]], confidence: list[list[float]]
) -> dict[str, float]:
    """Expected calibration error of the tokens of clean, damaged and all lines."""
    sums: dict[str, tuple[list[float], list[bool]]] = defaultdict(lambda: ([], []))
    for line, ids, shares in zip(lines, answers, confidence):
        right = tokens_right(line.text.encode(), bytes(i if i < 256 else 0 for i in ids))
        for name in groups(line)[:2]:
            sums[name][0].extend(shares)
            sums[name][1].extend(right)
    return {name: round(calibration_error(*pair), 4) for name, pair in sums.items()}


def invented(texts: list[str], confidence: list[list[float]] | None = None) -> dict[str, int]:
    """What a system writes for crops without text, and how much of it at which mean confidence."""
    out = {
        "crops": len(texts),
        "with text": sum(bool(t.strip()) for t in texts),
        "characters": sum(len(t.strip()) for t in texts),
    }
    if confidence is not None:
        means = [sum(shares) / max(1, len(shares)) for shares in confidence]
        for bound in LOW_CONFIDENCE:
            kept = sum(len(t.strip()) for t, mean in zip(texts, means) if mean >= bound)
            out[f"at {bound:.2f} or above"] = kept
    return out


def scores_of(lines: list[Line], texts: list[str]) -> dict:
    """Error rates by group, and the share of words with digits that are right."""
    foreign = [(line.text, got) for line, got in zip(lines, texts) if line.family == FOREIGN]
    letters = {"central letters right": letters_right(foreign, set(CENTRAL))} if foreign else {}
    return letters | {
        "scores": score((line.text, got, groups(line)) for line, got in zip(lines, texts)),
        "figures right": figures_right((line.text, got) for line, got in zip(lines, texts)),
    }


def evaluate_snapshot(
    folder: Path,
    lines: list[Line],
    empty: list[Line],
    draft_counts: list[int],
    draft_lines: int,
) -> dict:
    """Scores, inventions, draft acceptance and answers of one snapshot."""
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    decoder = Decoder(load_snapshot(folder), make_prompt(tok))
    plain, confidence = read_all(decoder, lines)
    texts = [tok.decode(ids) for ids in plain]
    result = scores_of(lines, texts) | {
        "calibration": calibration(lines, plain, confidence),
    }
    answers, shares = read_all(decoder, empty)
    result["invented"] = invented([tok.decode(ids) for ids in answers], shares)
    for k in draft_counts:
        runs = [decoder.run(line.image, drafts=k) for line in lines[:draft_lines]]
        same = sum(ids == expected for (ids, _), expected in zip(runs, plain))
        result[f"drafts_{k}"] = acceptance([accepted for _, accepted in runs], k) | {
            "same_text": same,
            "of": len(runs),
        }
    result["answers"] = texts
    return result


def show(name: str, result: dict) -> None:
    """Print the main figures of one system."""
    scores = result["scores"]
    row = "  ".join(
        f"{g} {100 * scores[g]['cer']:.2f} % ({100 * scores[g]['exact']:.0f} % exact)"
        for g in ("clean", "degraded", "all", JOURNAL, FOREIGN)
        if g in scores
    )
    print(f"{name:24s} CER {row}", flush=True)
    for key in ("figures right", "central letters right", "calibration", "invented"):
        if key in result:
            print(f"{'':24s} {key}: {result[key]}")
    for key, value in result.items():
        if key.startswith("drafts_"):
            shares = "/".join(f"{v:.2f}" for k, v in value.items() if k.startswith("A"))
            speed, same = value["tokens_per_round"], f"{value['same_text']}/{value['of']}"
            print(f"{'':24s} {key}: accepted {shares}, {speed} tokens a round, same text {same}")


def main() -> None:
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument(
        "--snapshot",
        type=Path,
        nargs="*",
        default=[],
        help="snapshot folders; none: only Tesseract",
    )
    ap.add_argument("--corpus", type=Path, required=True, help="held-out corpus JSON")
    ap.add_argument("--fonts", type=Path, required=True)
    ap.add_argument("--font-dir", type=Path, required=True)
    ap.add_argument("--lines", type=int, default=600)
    ap.add_argument("--journal", type=int, default=300, help="lines of worn serif prose")
    ap.add_argument("--words", type=Path, help="corpus JSON with words of other languages")
    ap.add_argument(
        "--foreign", type=int, default=300, help="lines of them, where --words is given"
    )
    ap.add_argument("--empty", type=int, default=300, help="crops without text")
    ap.add_argument("--seed", type=int, help="default: a random one")
    ap.add_argument("--drafts", type=int, nargs="*", default=[1, 2, 3])
    ap.add_argument("--draft-lines", type=int, default=150)
    ap.add_argument("--no-tesseract", action="store_true")
    ap.add_argument("--out", type=Path, help="JSON file for all figures and answers")
    args = ap.parse_args()
    torch.set_num_threads(1)
    seed = (
        args.seed
        if args.seed is not None
        else random.SystemRandom().randrange(1_000_000, 1_000_000_000)
    )
    print(f"seed {seed}, {args.lines} lines", flush=True)
    lines = build_set(args.corpus, args.fonts, args.font_dir, args.lines, seed)
    lines += journal_lines(args.corpus, args.fonts, args.font_dir, args.journal, seed)
    if args.words:
        lines += foreign_lines(args.words, args.fonts, args.font_dir, args.foreign, seed)
    dice = Dice(seed)
    empty = [empty_line(dice) for _ in range(args.empty)]
    result: dict = {"seed": seed, "systems": {}}
    if not args.no_tesseract:
        for name, images, dpi in (
            ("tesseract original", [line.original for line in lines], 300),
            ("tesseract 28 px", [line.image for line in lines], 110),
        ):
            answers = tesseract(images, dpi)
            result["systems"][name] = scores_of(lines, answers) | {"answers": answers}
            blanks = [line.original if "original" in name else line.image for line in empty]
            result["systems"][name]["invented"] = invented(tesseract(blanks, dpi))
            show(name, result["systems"][name])
    for folder in args.snapshot:
        result["systems"][folder.name] = evaluate_snapshot(
            folder, lines, empty, args.drafts, args.draft_lines
        )
        show(folder.name, result["systems"][folder.name])
    if args.out:
        result["truth"] = [
            {
                "text": line.text,
                "font": line.family,
                "degraded": line.degraded,
                "width": int(line.image.shape[1]),
            }
            for line in lines
        ]
        args.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
