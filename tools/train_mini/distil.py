"""Layers that learn from the layers of another decoder of the same width and depth.

Every layer of the student learns the output of the teacher's layer.  With the teacher's inputs
all of them learn at once and none waits for those below; with their own inputs they learn to
correct the errors that add up, and the answer's tokens are learnt too.  Draft heads learn on
the last hidden states.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model import MiniOcr, input_rows, token_loss


def layer_error(got: Tensor, wanted: Tensor, added: Tensor, rows: Tensor) -> Tensor:
    """Squared error of a layer's output over the square of ``added``, what the teacher's adds."""
    error = (got - wanted).square().sum(-1)[rows].mean()
    return error / added.square().sum(-1)[rows].mean()


def imitation(
    student: MiniOcr, teacher: MiniOcr, merged: Tensor, ids: Tensor, labels: Tensor, before: int,
    depth: int, own_inputs: bool = False,
) -> dict[str, Tensor]:  # fmt: skip
    """Losses of one batch; ``ids`` and ``labels`` as in ``MiniOcr.answer_losses``."""
    ours, theirs = student.model.language_model, teacher.model.language_model
    first = ids.shape[1] - labels.shape[1] - 1
    rows, inputs = input_rows(labels, first), ids[:, :-1]
    line = before, merged.shape[1], inputs.shape[1]
    rotary, their_rotary = ours.line_rotary(*line), theirs.line_rotary(*line)
    with torch.no_grad():
        x = teacher.inputs(merged, inputs, before)
    y = student.inputs(merged, inputs, before)
    errors = []
    for layer, model_layer in zip(ours.layers[: ours.depth], theirs.layers[: theirs.depth]):
        with torch.no_grad():
            wanted = model_layer(x, *their_rotary)[0]
        y = layer(y if own_inputs else x, *rotary)[0]
        errors.append(layer_error(y, wanted, wanted - x, rows))
        x = wanted
    out = {f"layer{i}": e for i, e in enumerate(errors)} | ours.auxiliary(rows)
    if own_inputs:
        hidden = ours.norm(y)
        logits = student.lm_head(hidden[:, first:]).float()
        out["loss"] = token_loss(logits, labels)
        out["hit"] = (logits.argmax(-1) == labels).sum() / (labels != -100).sum()
    if depth:
        with torch.no_grad():
            drafted = hidden if own_inputs else theirs.norm(x)
        drafts = student.mtp_logits(ids, drafted, *rotary, first, depth)
        out["mtp"] = student.draft_losses(drafts, labels)
    return out
