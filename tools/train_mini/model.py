"""The whole GLM-OCR graph, sized for CPU training on text lines, with its training losses.

Besides the parameters of the published architecture it holds three auxiliary heads, all named
``ctc_*`` and dropped at export: two CTC heads and a classifier of the position inside an image
token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from align import Guide
from config import ModelConfig
from text_model import LanguageModel
from vision import Vision


class Backbone(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.visual = Vision(c)
        self.language_model = LanguageModel(c)


@dataclass
class Prompt:
    """Token ids around the image placeholders."""

    before: list[int]
    after: list[int]
    image: int
    stop: int
    pad: int


def line_positions(before: int, image: int, total: int, device: torch.device) -> Tensor:
    """M-RoPE positions [3, total] for one image of 1 x ``image`` merged tokens."""
    index = torch.arange(total, device=device)
    fixed = torch.where(
        (index >= before) & (index < before + image), torch.full_like(index, before), index
    )
    return torch.stack((fixed, fixed, index))


def token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the labels that are not -100; 0 where there is none."""
    loss = F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum"
    )
    return loss / (labels != -100).sum().clamp(min=1)


class MiniOcr(nn.Module):
    """Whole model with losses."""

    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.config = c
        self.model = Backbone(c)
        self.lm_head = nn.Linear(c.text.hidden, c.text.vocab, bias=False)
        self.ctc_patch = nn.Linear(c.vision.hidden, c.ctc_substeps * c.ctc_classes)
        self.ctc_merged = nn.Linear(c.text.hidden, 2 * c.ctc_substeps * c.ctc_classes)
        self.ctc_where = nn.Linear(c.text.hidden, 2 * c.ctc_substeps)
        self.apply(self._init)
        for name, p in self.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight", "attn.proj.weight")):
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * c.vision.depth))

    @staticmethod
    def _init(m: nn.Module) -> None:
        if isinstance(m, (nn.Linear, nn.Conv2d)):
            nn.init.normal_(m.weight, std=1.0 / math.sqrt(m.weight[0].numel()))
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Embedding):
            nn.init.normal_(m.weight, std=0.3)

    def compile_layers(self) -> None:
        """Compile vision blocks and decoder layers for any batch and length; names stay."""
        for block in (
            *self.model.visual.blocks,
            *self.model.language_model.layers[: self.config.text.layers],
        ):
            block.forward = torch.compile(block.forward, dynamic=True)

    def encode(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.model.visual(images)

    def trunk(
        self, merged: Tensor, ids: Tensor, before: int, guide: Guide | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Final-norm hidden states of ``ids`` [B, L] (image slots from ``before``), cos and sin."""
        lm = self.model.language_model
        n = merged.shape[1]
        e = lm.embed_tokens(ids)
        x = torch.cat((e[:, :before], merged, e[:, before + n :]), 1)
        cos, sin = lm.rotary(line_positions(before, n, ids.shape[1], ids.device))
        return lm(x, cos, sin, guide, self.ctc_where), cos, sin

    def mtp_logits(
        self,
        ids: Tensor,
        hidden: Tensor,
        cos: Tensor,
        sin: Tensor,
        first: int,
        depth: int,
        share: float = 0.0,
    ) -> list[Tensor]:
        """Draft logits per depth; the trunk gets ``share`` of the gradient, the embedding none."""
        lm = self.model.language_model
        embeds = F.embedding(ids[:, 1:], lm.embed_tokens.weight.detach())
        outs = lm.layers[lm.depth].unroll(
            embeds, hidden.detach() + share * (hidden - hidden.detach()), cos, sin, first, depth
        )
        return [F.linear(o, self.lm_head.weight.detach()) for o in outs]

    def ctc(self, merged: Tensor, patches: Tensor) -> dict[str, Tensor]:
        """Character logits per column sub-step, before and after the merger."""
        steps = self.config.ctc_substeps
        return {
            "ctc_patch": self.ctc_patch(patches.mean(2)).unflatten(-1, (steps, -1)).flatten(1, 3),
            "ctc_merged": self.ctc_merged(merged).unflatten(-1, (2 * steps, -1)).flatten(1, 2),
        }

    def answer_losses(
        self,
        merged: Tensor,
        ids: Tensor,
        labels: Tensor,
        before: int,
        guide: Guide | None = None,
        mtp_depth: int = 0,
        mtp_share: float = 0.0,
    ) -> dict[str, Tensor]:
        """Decoder losses for one batch.

        ``ids`` [B, L] are prompt and (possibly noised) answer inputs, ``labels`` [B, A] the clean
        answer tokens (-100 where padded); the last prompt position predicts ``labels[:, 0]``.
        """
        hidden, cos, sin = self.trunk(merged, ids[:, :-1], before, guide)
        first = ids.shape[1] - labels.shape[1] - 1
        logits = self.lm_head(hidden[:, first:]).float()
        out = {
            "loss": token_loss(logits, labels),
            "hit": (logits.argmax(-1) == labels).sum() / (labels != -100).sum(),
        }
        if guide is not None:
            out["guide"] = guide.total()
        if mtp_depth:
            # slot i predicts token i+2; slot ``first`` consumes label 0 and predicts label 1
            losses = []
            for d, lg in enumerate(
                self.mtp_logits(ids, hidden, cos, sin, first, mtp_depth, mtp_share)
            ):
                target = labels[:, d + 1 :]
                losses.append(token_loss(lg[:, : target.shape[1]].float(), target))
            out["mtp"] = torch.stack(losses)
        return out
