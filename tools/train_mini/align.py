"""CTC forced alignment and the attention guide built from it.

The CTC head tells where every character sits.  That knowledge teaches some decoder heads
to look at the image tokens of the text they are about to write, which makes the alignment
of the autoregressive decoder emerge much sooner.  Nothing of this exists at inference.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def forced_align(logp: np.ndarray, targets: list[list[int]]) -> np.ndarray:
    """First sub-step of every character on the best CTC path; [B, longest], -1 where unknown.

    ``logp`` is [B, T, C] with blank 0; vectorised over the batch.
    """
    b, t, _ = logp.shape
    longest = max(map(len, targets))
    size = 2 * longest + 1
    ext = np.zeros((b, size), np.int64)
    for row, target in zip(ext, targets):
        row[1 : 2 * len(target) : 2] = target
    skip = np.zeros((b, size), bool)
    skip[:, 2:] = (ext[:, 2:] != 0) & (ext[:, 2:] != ext[:, :-2])
    emit = np.take_along_axis(logp, np.broadcast_to(ext[:, None, :], (b, t, size)), 2)
    low = np.float32(-1e30)
    dp = np.full((b, size), low, np.float32)
    dp[:, :2] = emit[:, 0, :2]
    back = np.zeros((t, b, size), np.int8)
    for i in range(1, t):
        one = np.concatenate((np.full((b, 1), low, np.float32), dp[:, :-1]), 1)
        two = np.where(skip, np.concatenate((np.full((b, 2), low, np.float32), dp[:, :-2]), 1), low)
        step = (one > dp).astype(np.int8)
        best = np.maximum(dp, one)
        step[two > best] = 2
        back[i] = step
        dp = np.maximum(best, two) + emit[:, i]
    rows = np.arange(b)
    lengths = np.array([len(x) for x in targets])
    state = np.where(
        dp[rows, 2 * lengths] > dp[rows, 2 * lengths - 1], 2 * lengths, 2 * lengths - 1
    )
    good = dp[rows, state] > -1e20
    first = np.full((b, size), -1, np.int64)
    for i in range(t - 1, -1, -1):
        first[rows, state] = i
        state = state - back[i][rows, state]
    out = first[:, 1::2]
    out[~good] = -1
    return out


@dataclass
class Guide:
    """Where each answer token should look; collects the resulting losses.

    ``low``/``high`` [B, A] are image token ranges, ``sub`` [B, A] the sub-step inside ``low``;
    -1 marks unknown entries.
    """

    before: int
    image: int
    first: int
    low: Tensor
    high: Tensor
    sub: Tensor
    layers: tuple[int, ...] = (1, 2)
    heads: int = 2
    losses: list[Tensor] = field(default_factory=list)

    def attention(self, q: Tensor, k: Tensor) -> None:
        """Add -log of the attention mass that the guided heads put on the right image tokens."""
        q = q[:, :, self.first :]
        scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        causal = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(self.first)
        logp = scores.masked_fill(~causal, float("-inf")).log_softmax(-1)[
            ..., self.before : self.before + self.image
        ]
        cols = torch.arange(self.image)
        allowed = (cols >= self.low[..., None]) & (cols <= self.high[..., None])
        mass = logp.masked_fill(~allowed[:, None], -1e4).logsumexp(-1)
        valid = (self.low >= 0)[:, None].expand_as(mass)
        self.losses.append(-(mass * valid).sum() / valid.sum().clamp(min=1))

    def position(self, logits: Tensor) -> None:
        """Add the sub-step classification loss."""
        loss = F.cross_entropy(
            logits[:, self.first :].flatten(0, 1),
            self.sub.flatten(),
            ignore_index=-1,
            reduction="sum",
        )
        self.losses.append(loss / (self.sub >= 0).sum().clamp(min=1))

    def total(self) -> Tensor:
        return torch.stack(self.losses).mean()


def build_guide(
    ctc_logits: Tensor,
    texts: list[list[int]],
    offsets: list[list[tuple[int, int]]],
    answer: int,
    before: int,
    image: int,
    first: int,
) -> Guide:
    """Align characters and translate token character spans to image token ranges.

    Empty lines have no spans, so their tokens stay unknown.
    """
    aligned = [text or [1] for text in texts]
    starts = forced_align(ctc_logits.detach().float().log_softmax(-1).numpy(), aligned)
    per_token = ctc_logits.shape[1] // image
    low = np.full((len(texts), answer), -1, np.int64)
    high, sub = low.copy(), low.copy()
    for i, spans in enumerate(offsets):
        for j, (s, e) in enumerate(spans):
            s = min(s, len(texts[i]) - 1)
            e = min(max(e, s + 1), len(texts[i]))
            a, z = starts[i, s], starts[i, e - 1]
            if a >= 0 and z >= a:
                low[i, j], high[i, j], sub[i, j] = a // per_token, z // per_token, a % per_token
    return Guide(
        before, image, first, torch.from_numpy(low), torch.from_numpy(high), torch.from_numpy(sub)
    )
