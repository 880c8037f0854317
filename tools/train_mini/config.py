"""Sizes of the model and the constants of its image processor."""

from __future__ import annotations

from dataclasses import dataclass, field

PATCH, MERGE = 14, 2
IMAGE_MEAN = (0.48145466, 0.4578275, 0.40821073)
IMAGE_STD = (0.26862954, 0.26130258, 0.27577711)
LUMA = (0.299, 0.587, 0.114)
LUMA_MEAN = sum(share * mean for share, mean in zip(LUMA, IMAGE_MEAN))
LUMA_STD = 0.27


@dataclass
class VisionConfig:
    hidden: int = 128
    heads: int = 4
    depth: int = 6
    intermediate: int = 384
    out_hidden: int = 192


@dataclass
class TextConfig:
    vocab: int = 320
    hidden: int = 192
    intermediate: int = 576
    layers: int = 4
    heads: int = 8
    kv_heads: int = 4
    head_dim: int = 32
    mrope_section: tuple[int, int, int] = (4, 6, 6)


@dataclass
class MiniLlmTextConfig:
    """A decoder with latent attention, experts and residual draft heads."""

    vocab: int = 320
    hidden: int = 192
    intermediate: int = 576
    layers: int = 4
    heads: int = 4
    nope_dim: int = 32
    rope_dim: int = 16
    value_dim: int = 48
    kv_rank: int = 64
    q_rank: int = 0  # 0: no bottleneck
    dense_layers: int = 1  # the first ones, without experts
    experts: int = 8
    experts_per_token: int = 2
    expert_intermediate: int = 64
    shared_experts: int = 4
    draft_heads: int = 3
    draft_intermediate: int = 256


# A model of 1.5 MB, for tests of programs.
TINY_VISION = VisionConfig(hidden=64, heads=2, depth=3, intermediate=160, out_hidden=96)
TINY_TEXT = MiniLlmTextConfig(
    hidden=96,
    intermediate=192,
    layers=3,
    heads=4,
    nope_dim=16,
    rope_dim=16,
    value_dim=24,
    kv_rank=48,
    experts=4,
    expert_intermediate=32,
    shared_experts=2,
    draft_heads=2,
    draft_intermediate=96,
)


@dataclass
class ModelConfig:
    vision: VisionConfig = field(default_factory=VisionConfig)
    text: TextConfig | MiniLlmTextConfig = field(default_factory=TextConfig)
    ctc_classes: int = 200
    ctc_substeps: int = 3
    eps: float = 1e-5
    theta: float = 10000.0
