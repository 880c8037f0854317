"""GLM-OCR's decoder with sandwich norms and M-RoPE, and its draft (MTP) layer.

Parameter names equal the Hugging Face checkpoint names.  A batch holds images of one width, so no
attention masks are needed: text padding sits at the end, under the causal mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from align import Guide
from config import ModelConfig, TextConfig
from vision import RMSNorm

if TYPE_CHECKING:
    from decode import Session


def line_positions(before: int, image: int, total: int, device: torch.device) -> Tensor:
    """M-RoPE positions [3, total] for one image of 1 x ``image`` merged tokens."""
    index = torch.arange(total, device=device)
    fixed = torch.where(
        (index >= before) & (index < before + image), torch.full_like(index, before), index
    )
    return torch.stack((fixed, fixed, index))


def rotate_adjacent(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary with adjacent pairs (text)."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


class Attention(nn.Module):
    """What is the same in every decoder: `project` and `o_proj` are the decoder's own."""

    o_proj: nn.Linear

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated q and k, and v, each [B,H,L,D] with all query heads."""
        raise NotImplementedError

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, heads: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attention output, and queries and keys of the first ``heads`` heads (for the guide)."""
        b, n, _ = x.shape
        q, k, v = self.project(x, cos, sin)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(b, n, -1)), q[:, :heads], k[:, :heads]


class TextAttention(Attention):
    def __init__(self, c: TextConfig) -> None:
        super().__init__()
        self.heads, self.kv, self.dim = c.heads, c.kv_heads, c.head_dim
        self.q_proj = nn.Linear(c.hidden, c.heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden, c.kv_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden, c.kv_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.heads * c.head_dim, c.hidden, bias=False)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated q [B,H,L,D] and k, v expanded to all query heads."""
        b, n, _ = x.shape
        q = rotate_adjacent(
            self.q_proj(x).view(b, n, self.heads, self.dim).transpose(1, 2), cos, sin
        )
        k = rotate_adjacent(self.k_proj(x).view(b, n, self.kv, self.dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, n, self.kv, self.dim).transpose(1, 2)
        rep = self.heads // self.kv
        return q, k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)


class TextMlp(nn.Module):
    def __init__(self, hidden: int, intermediate: int) -> None:
        super().__init__()
        self.gate_up_proj = nn.Linear(hidden, 2 * intermediate, bias=False)
        self.down_proj = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up_proj(x).chunk(2, -1)
        return self.down_proj(up * F.silu(gate))


class TextLayer(nn.Module):
    """Sandwich-norm decoder layer."""

    def __init__(self, c: TextConfig) -> None:
        super().__init__()
        self.self_attn, self.mlp = TextAttention(c), TextMlp(c.hidden, c.intermediate)
        for name in (
            "input_layernorm",
            "post_self_attn_layernorm",
            "post_attention_layernorm",
            "post_mlp_layernorm",
        ):
            setattr(self, name, RMSNorm(c.hidden))

    def feed_forward(self, x: Tensor) -> Tensor:
        return x + self.post_mlp_layernorm(self.mlp(self.post_attention_layernorm(x)))

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, heads: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        y, q, k = self.self_attn(self.input_layernorm(x), cos, sin, heads)
        return self.finish(x, y), q, k

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The layer's output for its input and what its attention gave."""
        return self.feed_forward(x + self.post_self_attn_layernorm(attended))


class SharedHead(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = RMSNorm(hidden)


class MtpLayer(TextLayer):
    """Draft layer: z = eh_proj [enorm(e); hnorm(h)], decoder layer, shared_head.norm."""

    def __init__(self, c: TextConfig) -> None:
        super().__init__(c)
        self.enorm, self.hnorm = RMSNorm(c.hidden), RMSNorm(c.hidden)
        self.eh_proj = nn.Linear(2 * c.hidden, c.hidden, bias=False)
        self.shared_head = SharedHead(c.hidden)

    def combine(self, e: Tensor, h: Tensor) -> Tensor:
        return self.eh_proj(torch.cat((self.enorm(e), self.hnorm(h)), -1))

    def unroll(
        self, embeds: Tensor, hidden: Tensor, cos: Tensor, sin: Tensor, first: int, depth: int
    ) -> list[Tensor]:
        """Recursive drafts with the attention pattern of real drafting.

        ``embeds[:, i]`` is the embedding of token i+1, ``hidden[:, i]`` the trunk output at i.
        Returns one tensor per depth d with rows for base slots ``first .. S-1-d``.
        """
        b, s, _ = embeds.shape
        z = self.combine(embeds, hidden)
        q, k0, v0 = self.self_attn.project(self.input_layernorm(z), cos, sin)
        scale = q.shape[-1] ** -0.5
        rows = s - first
        mask = torch.ones(rows, s, dtype=torch.bool, device=z.device).tril(first)
        q, z = q[:, :, first:], z[:, first:]
        chain_k: list[Tensor] = []
        chain_v: list[Tensor] = []
        outputs: list[Tensor] = []
        for d in range(depth):
            keep = rows - d
            if d:
                z = self.combine(embeds[:, first + d :], outputs[-1][:, :keep])
                q, k, v = self.self_attn.project(
                    self.input_layernorm(z), cos[first + d :], sin[first + d :]
                )
                chain_k = [t[:, :, :keep] for t in chain_k] + [k]
                chain_v = [t[:, :, :keep] for t in chain_v] + [v]
            scores = (q @ k0.transpose(-1, -2)) * scale
            scores = scores.masked_fill(~mask[:keep], float("-inf"))
            extra = [(q * k).sum(-1, keepdim=True) * scale for k in chain_k]
            p = torch.cat([scores, *extra], -1).softmax(-1)
            o = p[..., :s] @ v0
            for j, v in enumerate(chain_v):
                o = o + p[..., s + j : s + j + 1] * v
            o = self.self_attn.o_proj(o.transpose(1, 2).reshape(b, keep, -1))
            outputs.append(self.shared_head.norm(self.finish(z, o)))
        return outputs


class Trunk(nn.Module):
    """What decoders have in common: an embedding, ``depth`` layers and the final norm."""

    def __init__(self, vocab: int, hidden: int, layers: list[nn.Module], depth: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, hidden)
        self.layers = nn.ModuleList(layers)
        self.norm = RMSNorm(hidden)
        self.depth = depth

    def forward(
        self,
        x: Tensor,
        cos: Tensor,
        sin: Tensor,
        guide: Guide | None = None,
        where: nn.Linear | None = None,
    ) -> Tensor:
        for i, layer in enumerate(self.layers[: self.depth]):
            guided = guide if guide is not None and i in guide.layers else None
            x, q, k = layer(x, cos, sin, guide.heads if guided is not None else 0)
            if guided is not None:
                guided.attention(q.float(), k.float())
                if where is not None:
                    guided.position(where(x.float()))
        return self.norm(x)

    def auxiliary(self, rows: Tensor) -> dict[str, Tensor]:
        """Further losses of the last forward over the rows [B, L] that count."""
        return {}


class LanguageModel(Trunk):
    def __init__(self, c: ModelConfig) -> None:
        t = c.text
        layers = [TextLayer(t) for _ in range(t.layers)] + [MtpLayer(t)]
        super().__init__(t.vocab, t.hidden, layers, t.layers)
        self.section = t.mrope_section
        self.register_buffer(
            "inv_freq",
            1.0 / (c.theta ** (torch.arange(0, t.head_dim, 2).float() / t.head_dim)),
            persistent=False,
        )

    def rotary(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """positions [3, L] -> cos, sin [L, head_dim / 2] with contiguous M-RoPE sections."""
        angles = positions[..., None].float() * self.inv_freq
        parts = angles.split(self.section, -1)
        angles = torch.cat([part[i] for i, part in enumerate(parts)], -1)
        return angles.cos(), angles.sin()

    def line_rotary(self, before: int, image: int, total: int) -> tuple[Tensor, Tensor]:
        """cos, sin of a prompt with one line image at ``before`` and what follows it."""
        return self.rotary(line_positions(before, image, total, self.inv_freq.device))

    def draft_hidden(
        self, ids: Tensor, hidden: Tensor, cos: Tensor, sin: Tensor, first: int, depth: int
    ) -> list[Tensor]:
        """Drafts' hidden states: at [d][:, r] that of token first + r + d + 2.

        ``hidden`` are the trunk's outputs at ``ids[:, :-1]``; the embedding gets no gradient.
        """
        embeds = F.embedding(ids[:, 1:], self.embed_tokens.weight.detach())
        return self.layers[self.depth].unroll(embeds, hidden, cos, sin, first, depth)

    def draft(
        self,
        session: Session,
        tokens: list[int],
        hidden: Tensor,
        slot: int,
        count: int,
        head: nn.Linear,
    ) -> list[int]:
        """``count`` draft tokens after the accepted ``tokens`` whose first slot is ``slot``.

        Slot i takes token i+1 and ``hidden`` of i, or the previous draft's output.
        """
        layer = self.layers[self.depth]
        out: list[int] = []
        for j in range(count):
            fresh = [out[-1]] if j else tokens
            start = slot + len(tokens) - 1 + j if j else slot
            z = layer.combine(self.embed_tokens(torch.tensor([fresh])), hidden)
            z = session.layer(layer, z, session.draft_cache, start)
            hidden = layer.shared_head.norm(z)[:, -1:]
            out.append(int(head(hidden[0, 0]).argmax()))
        return out
