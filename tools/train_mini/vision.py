"""Vision tower: patch embedding, blocks with 2-D rotary positions, 2x2 downsample and merger.

Parameter names equal the Hugging Face checkpoint names, except that the patch projection is stored
as one luma filter of 14 x 14; ``export.py`` expands it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from config import LUMA_MEAN, LUMA_STD, MERGE, PATCH, ModelConfig, VisionConfig


class RMSNorm(nn.Module):
    """Root-mean-square norm with weight."""

    def __init__(self, dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def rotate_half_split(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary with dim d paired with d + half (vision)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class VisionAttention(nn.Module):
    def __init__(self, c: VisionConfig) -> None:
        super().__init__()
        self.heads, self.dim = c.heads, c.hidden // c.heads
        self.qkv = nn.Linear(c.hidden, 3 * c.hidden)
        self.proj = nn.Linear(c.hidden, c.hidden)
        self.q_norm, self.k_norm = RMSNorm(self.dim), RMSNorm(self.dim)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.dim).permute(2, 0, 3, 1, 4).unbind(0)
        q = rotate_half_split(self.q_norm(q), cos, sin)
        k = rotate_half_split(self.k_norm(k), cos, sin)
        o = F.scaled_dot_product_attention(q, k, v)
        return self.proj(o.transpose(1, 2).reshape(b, n, -1))


class VisionMlp(nn.Module):
    def __init__(self, c: VisionConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden, c.intermediate)
        self.up_proj = nn.Linear(c.hidden, c.intermediate)
        self.down_proj = nn.Linear(c.intermediate, c.hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class VisionBlock(nn.Module):
    def __init__(self, c: VisionConfig) -> None:
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(c.hidden), RMSNorm(c.hidden)
        self.attn, self.mlp = VisionAttention(c), VisionMlp(c)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x), cos, sin)
        return x + self.mlp(self.norm2(x))


class PatchMerger(nn.Module):
    def __init__(self, dim: int, inner: int) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, dim, bias=False)
        self.post_projection_norm = nn.LayerNorm(dim)
        self.gate_proj = nn.Linear(dim, inner, bias=False)
        self.up_proj = nn.Linear(dim, inner, bias=False)
        self.down_proj = nn.Linear(inner, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.post_projection_norm(self.proj(x)))
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class PatchEmbed(nn.Module):
    """Luma-only patch projection; export expands it to the 2x3x14x14 kernel."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.proj = nn.Linear(PATCH * PATCH, hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(x)


class Vision(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        v = c.vision
        self.patch_embed = PatchEmbed(v.hidden)
        self.blocks = nn.ModuleList(VisionBlock(v) for _ in range(v.depth))
        self.post_layernorm = RMSNorm(v.hidden)
        self.downsample = nn.Conv2d(v.hidden, v.out_hidden, MERGE, MERGE)
        self.merger = PatchMerger(v.out_hidden, 3 * v.out_hidden)
        spatial = v.hidden // v.heads // 2
        self.register_buffer(
            "inv_freq",
            1.0 / (c.theta ** (torch.arange(0, spatial, 2).float() / spatial)),
            persistent=False,
        )

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """uint8 [B, 28a, 28b] -> (merged [B, ab, out], patch features [B, ab, 2, 2, hidden])."""
        b, h, w = images.shape
        gh, gw = h // PATCH, w // PATCH
        x = (images.float() * (1 / 255) - LUMA_MEAN) * (1 / LUMA_STD)
        x = (
            x.view(b, gh // 2, 2, PATCH, gw // 2, 2, PATCH)
            .permute(0, 1, 4, 2, 5, 3, 6)
            .reshape(b, gh * gw, PATCH * PATCH)
        )
        block = torch.arange(gh * gw // 4, device=x.device)
        rows = ((block // (gw // 2)) * 2).view(-1, 1) + torch.tensor([0, 0, 1, 1], device=x.device)
        cols = ((block % (gw // 2)) * 2).view(-1, 1) + torch.tensor([0, 1, 0, 1], device=x.device)
        angles = torch.cat(
            (
                rows.reshape(-1, 1).float() * self.inv_freq,
                cols.reshape(-1, 1).float() * self.inv_freq,
            ),
            -1,
        )
        cos, sin = angles.cos(), angles.sin()
        x = self.patch_embed(x)
        for blk in self.blocks:
            x = blk(x, cos, sin)
        x = self.post_layernorm(x)
        kernel = self.downsample.weight.permute(0, 2, 3, 1).reshape(
            self.downsample.weight.shape[0], -1
        )
        y = F.linear(x.reshape(b, gh * gw // 4, -1), kernel, self.downsample.bias)
        return self.merger(y), x.view(b, gh * gw // 4, 2, 2, -1)
