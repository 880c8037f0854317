"""Vision tower and decoder, sized for CPU training on text lines, with the training losses.

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
from config import MiniLlmTextConfig, ModelConfig, TextConfig
from minillm_text_model import MiniLlmLanguageModel
from text_model import LanguageModel, Trunk
from vision import Vision

LANGUAGE_MODELS: dict[type, type[Trunk]] = {
    TextConfig: LanguageModel,
    MiniLlmTextConfig: MiniLlmLanguageModel,
}


class Backbone(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.visual = Vision(c)
        self.language_model = LANGUAGE_MODELS[type(c.text)](c)


@dataclass
class Prompt:
    """Token ids around the image placeholders."""

    before: list[int]
    after: list[int]
    image: int
    stop: int
    pad: int


def input_rows(labels: Tensor, first: int) -> Tensor:
    """[B, first + A]: which input rows are no padding; row ``first`` predicts label 0."""
    prompt = torch.ones(len(labels), first, dtype=torch.bool, device=labels.device)
    return torch.cat((prompt, labels != -100), 1)


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
        cos, sin = lm.line_rotary(before, merged.shape[1], ids.shape[1])
        return lm(self.inputs(merged, ids, before), cos, sin, guide, self.ctc_where), cos, sin

    def inputs(self, merged: Tensor, ids: Tensor, before: int) -> Tensor:
        """Embeddings of ``ids`` with the image in its slots."""
        e = self.model.language_model.embed_tokens(ids)
        return torch.cat((e[:, :before], merged, e[:, before + merged.shape[1] :]), 1)

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
        """Draft logits per depth; the trunk gets ``share`` of the gradient, the head none."""
        shared = hidden.detach() + share * (hidden - hidden.detach())
        outs = self.model.language_model.draft_hidden(ids, shared, cos, sin, first, depth)
        return [F.linear(o, self.lm_head.weight.detach()) for o in outs]

    def draft_losses(self, drafts: list[Tensor], labels: Tensor) -> Tensor:
        """Cross-entropy of every draft position.

        Row r of ``drafts[d]`` belongs to the hidden state that predicts label r, and guesses label
        r + d + 1.
        """
        losses = []
        for d, logits in enumerate(drafts):
            target = labels[:, d + 1 :]
            losses.append(token_loss(logits[:, : target.shape[1]].float(), target))
        return torch.stack(losses)

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
        out |= self.model.language_model.auxiliary(input_rows(labels, first))
        if mtp_depth:
            drafts = self.mtp_logits(ids, hidden, cos, sin, first, mtp_depth, mtp_share)
            out["mtp"] = self.draft_losses(drafts, labels)
        return out
