"""Greedy decoding of one line with a key/value cache and optional drafting."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import MiniOcr, Prompt

# Spare rotary positions for drafts beyond the last answer token.
DRAFT_ROOM = 16


class Session:
    """Caches and rotary tables of one line being decoded."""

    def __init__(self, model: MiniOcr, before: int, image: int, length: int, room: int) -> None:
        self.lm = model.model.language_model
        self.cos, self.sin = self.lm.line_rotary(before, image, length + room)
        self.caches: list[list[Tensor]] = [[] for _ in range(self.lm.depth)]
        self.draft_cache: list[Tensor] = []

    def layer(self, layer: nn.Module, x: Tensor, cache: list[Tensor], start: int) -> Tensor:
        """Rows [start, start + n) through one layer; ``cache`` is cut at ``start`` and extended."""
        n = x.shape[1]
        q, k, v = layer.self_attn.project(
            layer.input_layernorm(x), self.cos[start : start + n], self.sin[start : start + n]
        )
        if cache:
            k, v = (
                torch.cat((cache[0][:, :, :start], k), 2),
                torch.cat((cache[1][:, :, :start], v), 2),
            )
        cache[:] = [k, v]
        total = k.shape[2]
        mask = torch.ones(n, total, dtype=torch.bool).tril(total - n)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        o = layer.self_attn.o_proj(o.transpose(1, 2).reshape(x.shape[0], n, -1))
        return layer.finish(x, o)

    def trunk(self, x: Tensor, start: int) -> Tensor:
        """Final-norm hidden states of rows [start, start + n)."""
        for layer, cache in zip(self.lm.layers[: self.lm.depth], self.caches):
            x = self.layer(layer, x, cache, start)
        return self.lm.norm(x)


class Decoder:
    """Reads one line image at a time."""

    def __init__(self, model: MiniOcr, prompt: Prompt) -> None:
        self.model, self.prompt = model, prompt
        self.stops = (prompt.stop, prompt.pad)

    @torch.no_grad()
    def run(
        self, image: np.ndarray, drafts: int = 0, limit: int = 160
    ) -> tuple[list[int], list[int]]:
        """Answer ids of a uint8 [28, W] image and, per verification round, the accepted drafts."""
        pr, lm, head = self.prompt, self.model.model.language_model, self.model.lm_head
        merged, _ = self.model.encode(torch.from_numpy(image[None].copy()))
        n, before = merged.shape[1], len(pr.before)
        ids = pr.before + [pr.image] * n + pr.after
        s = Session(self.model, before, n, len(ids), limit + DRAFT_ROOM)
        e = lm.embed_tokens(torch.tensor([ids]))
        hidden = s.trunk(torch.cat((e[:, :before], merged, e[:, before + n :]), 1), 0)
        out, rounds = [int(head(hidden[0, -1]).argmax())], []
        tokens, slot = ids[1:] + out, 0
        while out[-1] not in self.stops and len(out) < limit:
            draft = lm.draft(s, tokens, hidden, slot, drafts, head)
            start = len(ids) + len(out) - 1
            hidden = s.trunk(lm.embed_tokens(torch.tensor([[out[-1]] + draft])), start)
            best = head(hidden[0]).argmax(-1).tolist()
            accepted = 0
            while (
                accepted < len(draft)
                and draft[accepted] == best[accepted]
                and draft[accepted] not in self.stops
            ):
                accepted += 1
            tokens, slot = draft[:accepted] + [best[accepted]], start
            hidden = hidden[:, : accepted + 1]
            rounds.append(accepted)
            out += tokens
        while out and out[-1] in self.stops:
            out.pop()
        return out, rounds

    def run_batch(self, images: np.ndarray, limit: int = 160) -> list[list[int]]:
        """Answers to uint8 [B, 28, W] images of one width, without drafts; much faster per line."""
        return self.run_batch_with_confidence(images, limit)[0]

    @torch.no_grad()
    def run_batch_with_confidence(
        self, images: np.ndarray, limit: int = 160
    ) -> tuple[list[list[int]], list[list[float]]]:
        """As ``run_batch``, and the probability of every token of the answers."""
        pr, lm = self.prompt, self.model.model.language_model
        merged, _ = self.model.encode(torch.from_numpy(images.copy()))
        count, n, before = merged.shape[0], merged.shape[1], len(pr.before)
        ids = torch.tensor(pr.before + [pr.image] * n + pr.after)
        s = Session(self.model, before, n, len(ids), limit + DRAFT_ROOM)
        e = lm.embed_tokens(ids).expand(count, -1, -1)
        hidden = s.trunk(torch.cat((e[:, :before], merged, e[:, before + n :]), 1), 0)
        answers: list[list[int]] = [[] for _ in range(count)]
        confidence: list[list[float]] = [[] for _ in range(count)]
        open_rows = set(range(count))
        for step in range(limit):
            share, best = self.model.lm_head(hidden[:, -1]).float().softmax(-1).max(-1)
            for row, (token, p) in enumerate(zip(best.tolist(), share.tolist())):
                if token in self.stops:
                    open_rows.discard(row)
                elif row in open_rows:
                    answers[row].append(token)
                    confidence[row].append(p)
            if not open_rows:
                break
            hidden = s.trunk(lm.embed_tokens(best[:, None]), len(ids) + step)
        return answers, confidence
