"""MiniLLM's decoder: latent attention, experts, and residual draft heads.

Layers have a norm before each branch only.  Keys and values of all heads come from one latent a
token; one rotary key is shared by the heads.  From ``dense_layers`` on, the feed-forward is a
shared expert and the best of a few routed ones.  Positions are plain indices, those of image rows
included.

Routed experts are computed all at once, as one wide feed-forward whose inner values carry their
expert's weight: for so narrow experts this costs less than to gather rows.  ``recipes.py`` splits
them for the file.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from config import MiniLlmTextConfig, ModelConfig
from text_model import Attention, TextMlp, Trunk
from vision import RMSNorm, rotate_half_split


class LatentAttention(Attention):
    def __init__(self, c: MiniLlmTextConfig) -> None:
        super().__init__()
        self.heads, self.nope, self.rope, self.value = c.heads, c.nope_dim, c.rope_dim, c.value_dim
        self.rank = c.kv_rank
        queries = c.heads * (c.nope_dim + c.rope_dim)
        if c.q_rank:
            self.q_a_proj = nn.Linear(c.hidden, c.q_rank, bias=False)
            self.q_a_norm = RMSNorm(c.q_rank)
            self.q_b_proj = nn.Linear(c.q_rank, queries, bias=False)
        else:
            self.q_proj = nn.Linear(c.hidden, queries, bias=False)
        self.bottleneck = c.q_rank > 0
        self.kv_a_proj = nn.Linear(c.hidden, c.kv_rank + c.rope_dim, bias=False)
        self.kv_a_norm = RMSNorm(c.kv_rank)
        self.kv_b_proj = nn.Linear(c.kv_rank, c.heads * (c.nope_dim + c.value_dim), bias=False)
        self.o_proj = nn.Linear(c.heads * c.value_dim, c.hidden, bias=False)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q and k [B,H,L,nope+rope], rotated behind, and v [B,H,L,value]."""
        b, n, _ = x.shape
        q = self.q_b_proj(self.q_a_norm(self.q_a_proj(x))) if self.bottleneck else self.q_proj(x)
        q_nope, q_rope = (
            q.view(b, n, self.heads, -1).transpose(1, 2).split((self.nope, self.rope), -1)
        )
        latent, k_rope = self.kv_a_proj(x).split((self.rank, self.rope), -1)
        k_nope, v = (
            self.kv_b_proj(self.kv_a_norm(latent))
            .view(b, n, self.heads, -1)
            .transpose(1, 2)
            .split((self.nope, self.value), -1)
        )
        k_rope = rotate_half_split(k_rope, cos, sin)[:, None].expand(-1, self.heads, -1, -1)
        q = torch.cat((q_nope, rotate_half_split(q_rope, cos, sin)), -1)
        return q, torch.cat((k_nope, k_rope), -1), v


class RoutedExperts(TextMlp):
    """The experts' feed-forwards side by side; expert e owns inner values e * width and on."""

    def __init__(self, hidden: int, experts: int, width: int) -> None:
        super().__init__(hidden, experts * width)
        self.width = width

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        """``weights`` [B, L, E], 0 for experts that a row did not choose."""
        gate, up = self.gate_up_proj(x).chunk(2, -1)
        inner = up * F.silu(gate) * weights.to(up.dtype).repeat_interleave(self.width, -1)
        return self.down_proj(inner)


def choose(scores: Tensor, count: int) -> Tensor:
    """Weights [..., E]: the ``count`` best scores made to sum to 1, the others 0."""
    best, index = scores.topk(count, -1)
    best = best / best.sum(-1, keepdim=True).clamp(min=1e-9)
    return torch.zeros_like(scores).scatter(-1, index, best)


def balance_loss(scores: Tensor, weights: Tensor, rows: Tensor) -> Tensor:
    """Mean over sequences of sum_e load_e * mean score_e; 1 where all experts are used alike.

    load_e is E / K times the share of a sequence's rows that chose expert e; ``rows`` [B, L] tells
    which rows are no padding.  Only the scores carry a gradient.
    """
    valid = rows[..., None].to(scores.dtype)
    count = valid.sum(1).clamp(min=1)
    chosen = (weights > 0).to(scores.dtype)
    per_token = (chosen * valid).sum((1, 2)) / count.squeeze(-1)
    load = (chosen * valid).sum(1) / count * scores.shape[-1] / per_token[:, None].clamp(min=1e-9)
    return (load.detach() * (scores * valid).sum(1) / count).sum(-1).mean()


class ExpertMlp(nn.Module):
    """A shared expert and the best of the routed ones, by softmax scores."""

    def __init__(self, c: MiniLlmTextConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(c.hidden, c.experts, bias=False)
        self.experts = RoutedExperts(c.hidden, c.experts, c.expert_intermediate)
        self.shared_expert = TextMlp(c.hidden, c.shared_experts * c.expert_intermediate)
        self.per_token = c.experts_per_token
        self.routing: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            scores = self.gate(x.float()).softmax(-1)
            weights = choose(scores, self.per_token)
        self.routing = (scores, weights) if self.training else None
        return self.experts(x, weights) + self.shared_expert(x)


class MiniLlmLayer(nn.Module):
    def __init__(self, c: MiniLlmTextConfig, experts: bool) -> None:
        super().__init__()
        self.self_attn = LatentAttention(c)
        self.mlp = ExpertMlp(c) if experts else TextMlp(c.hidden, c.intermediate)
        self.input_layernorm = RMSNorm(c.hidden)
        self.post_attention_layernorm = RMSNorm(c.hidden)

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, heads: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        y, q, k = self.self_attn(self.input_layernorm(x), cos, sin, heads)
        return self.finish(x, y), q, k

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The layer's output for its input and what its attention gave."""
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x))


class ResidualHead(TextMlp):
    """g + MLP(norm(g)): from the state that tells one token to that which tells the next."""

    def __init__(self, hidden: int, intermediate: int) -> None:
        super().__init__(hidden, intermediate)
        self.norm = RMSNorm(hidden)

    def forward(self, g: Tensor) -> Tensor:
        return g + super().forward(self.norm(g))


class MiniLlmLanguageModel(Trunk):
    def __init__(self, c: ModelConfig) -> None:
        t = c.text
        layers = [MiniLlmLayer(t, experts=i >= t.dense_layers) for i in range(t.layers)]
        super().__init__(t.vocab, t.hidden, layers, t.layers)
        self.mtp_layers = nn.ModuleList(
            ResidualHead(t.hidden, t.draft_intermediate) for _ in range(t.draft_heads)
        )
        self.register_buffer(
            "inv_freq",
            1.0 / (c.theta ** (torch.arange(0, t.rope_dim, 2).float() / t.rope_dim)),
            persistent=False,
        )

    def line_rotary(self, before: int, image: int, total: int) -> tuple[Tensor, Tensor]:
        """cos, sin [total, rope_dim / 2]; where the image stands does not matter."""
        positions = torch.arange(total, device=self.inv_freq.device)
        angles = positions[:, None].float() * self.inv_freq
        return angles.cos(), angles.sin()

    def guesses(self, hidden: Tensor, count: int) -> list[Tensor]:
        """States of the next ``count`` tokens behind the one that ``hidden`` tells."""
        out = []
        for head in self.mtp_layers[:count]:
            hidden = head(hidden)
            out.append(hidden)
        return out

    def draft_hidden(
        self, ids: Tensor, hidden: Tensor, cos: Tensor, sin: Tensor, first: int, depth: int
    ) -> list[Tensor]:
        """Drafts' hidden states: at [d][:, r] that of token first + r + d + 2."""
        return self.guesses(hidden[:, first:], depth)

    def draft(
        self, session: object, tokens: list[int], hidden: Tensor, slot: int, count: int,
        head: nn.Linear,
    ) -> list[int]:  # fmt: skip
        """Up to ``count`` draft tokens, all from the last accepted row of ``hidden``."""
        return [int(head(g[0, 0]).argmax()) for g in self.guesses(hidden[:, -1:], count)]

    def auxiliary(self, rows: Tensor) -> dict[str, Tensor]:
        """The router's loss: mean of the layers' balance of experts."""
        losses = [
            balance_loss(*layer.mlp.routing, rows)
            for layer in self.layers
            if isinstance(layer.mlp, ExpertMlp)
        ]
        return {"aux": torch.stack(losses).mean()} if losses else {}
