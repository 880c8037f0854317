"""Batches for training: lines grouped by width, with cheap augmentation and input noise."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from model import Prompt
from shards import read_shard
from tokenizer import PROMPT

MIN_BATCH, MAX_BATCH = 6, 96
# A CTC head has three steps per patch column: no line can hold more characters than steps.
CTC_STEPS_PER_PATCH, PATCH_WIDTH = 3, 14


def make_prompt(tok: Tokenizer) -> Prompt:
    """Prompt token sequence of GLM-OCR's chat template for one image and the text task."""
    t = tok.token_to_id
    newline = tok.encode("\n").ids
    before = [t("[gMASK]"), t("<sop>"), t("<|user|>"), *newline, t("<|begin_of_image|>")]
    after = [t("<|end_of_image|>"), *tok.encode(PROMPT).ids, t("<|assistant|>"), *newline]
    return Prompt(before, after, t("<|image|>"), t("<|user|>"), t("<|endoftext|>"))


@dataclass
class Batch:
    """Lines of one width: images uint8 [B, 28, W], their texts, token ids and character spans."""

    images: Tensor
    texts: list[str]
    answers: list[list[int]]
    offsets: list[list[tuple[int, int]]]


def line_cost(width: int) -> float:
    """Cost of one training line in units of about one line of 450 pixels."""
    return width * 0.0021 + 0.05


class Pool:
    """Rendered lines by width; new shards are picked up while a renderer writes them.

    Rank ``rank`` of ``ranks`` takes every ``ranks``-th shard, so no two workers see the same line.
    """

    def __init__(
        self, folder: Path, tok: Tokenizer, max_lines: int, rank: int = 0, ranks: int = 1
    ) -> None:
        self.folder, self.tok, self.max_lines, self.rank, self.ranks = (
            folder,
            tok,
            max_lines,
            rank,
            ranks,
        )
        self.seen: set[str] = set()
        self.buckets: dict[int, list[tuple[np.ndarray, str]]] = defaultdict(list)
        self.size = 0

    def refresh(self, limit: int = 10_000) -> None:
        """Load up to ``limit`` new shards of this rank."""
        for path in sorted(self.folder.glob("shard-???-?????.npz")):
            if limit <= 0 or self.size >= self.max_lines:
                return
            if path.name in self.seen or int(path.stem[-5:]) % self.ranks != self.rank:
                continue
            self.seen.add(path.name)
            limit -= 1
            for image, text in read_shard(path):
                if len(text) <= image.shape[1] // PATCH_WIDTH * CTC_STEPS_PER_PATCH:
                    self.buckets[image.shape[1]].append((np.ascontiguousarray(image), text))
                    self.size += 1

    def batch(self, rng: random.Random, widest: int, budget: float) -> Batch:
        """Lines of one random width <= ``widest`` that together cost about ``budget`` units."""
        widths = sorted(w for w in self.buckets if w <= widest)
        weights = [len(self.buckets[w]) * line_cost(w) ** 0.75 for w in widths]
        width = rng.choices(widths, weights)[0]
        items = self.buckets[width]
        count = min(len(items), max(MIN_BATCH, min(MAX_BATCH, round(budget / line_cost(width)))))
        picked = rng.sample(items, count)
        texts = [text for _, text in picked]
        encoded = self.tok.encode_batch(texts, add_special_tokens=False)
        images = torch.from_numpy(np.stack([image for image, _ in picked]))
        return Batch(images, texts, [e.ids for e in encoded], [e.offsets for e in encoded])


def jitter(images: Tensor, rng: random.Random) -> Tensor:
    """Random brightness, contrast and sometimes noise; uint8 in, uint8 out."""
    x = images.float()
    b = x.shape[0]
    gain = torch.empty(b, 1, 1).uniform_(0.85, 1.1)
    x = 255 - (255 - x) * gain + torch.empty(b, 1, 1).uniform_(-12, 8)
    if rng.random() < 0.3:
        x = x + torch.randn_like(x) * rng.uniform(1, 6)
    return x.clamp(0, 255).to(torch.uint8)


def assemble(
    prompt: Prompt, image_tokens: int, answers: list[list[int]], noise: float
) -> tuple[Tensor, Tensor]:
    """Input ids [B, L] and labels [B, A] (-100 where padded).

    A share ``noise`` of the answer inputs is replaced, half by any printable byte and half by
    tokens of the same batch, so that the decoder learns to go on after a mistake of its own.
    """
    longest = max(map(len, answers)) + 1
    labels = torch.full((len(answers), longest), -100)
    for row, a in zip(labels, answers):
        row[: len(a) + 1] = torch.tensor(a + [prompt.stop])
    inputs = torch.where(labels < 0, torch.tensor(prompt.pad), labels)
    if noise > 0:
        hit = torch.rand(labels.shape) < noise
        anything = torch.randint(32, prompt.pad, labels.shape)
        nearby = inputs.flatten()[torch.randint(0, inputs.numel(), labels.shape)]
        inputs = torch.where(
            hit, torch.where(torch.rand(labels.shape) < 0.5, anything, nearby), inputs
        )
    head = torch.tensor(prompt.before + [prompt.image] * image_tokens + prompt.after)
    return torch.cat((head.expand(len(answers), -1), inputs), 1), labels
