"""Layers that learn from the layers of another decoder of the same width and depth.

Every layer of the student gets the input of the teacher's layer and learns its output, so all of
them learn at once and none waits for those below.  Draft heads learn on the teacher's last hidden
states.  What is left for the joint stage is to correct the errors that add up.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model import MiniOcr, input_rows


def layer_error(got: Tensor, wanted: Tensor, given: Tensor, rows: Tensor) -> Tensor:
    """Squared error of a layer's output over the square of what the teacher's layer adds."""
    error = (got - wanted).square().sum(-1)[rows].mean()
    return error / (wanted - given).square().sum(-1)[rows].mean()


def imitation(
    student: MiniOcr, teacher: MiniOcr, merged: Tensor, ids: Tensor, labels: Tensor, before: int,
    depth: int,
) -> dict[str, Tensor]:  # fmt: skip
    """Losses of one batch; ``ids`` and ``labels`` as in ``MiniOcr.answer_losses``."""
    ours, theirs = student.model.language_model, teacher.model.language_model
    first = ids.shape[1] - labels.shape[1] - 1
    rows, inputs = input_rows(labels, first), ids[:, :-1]
    line = before, merged.shape[1], inputs.shape[1]
    rotary, their_rotary = ours.line_rotary(*line), theirs.line_rotary(*line)
    with torch.no_grad():
        x = teacher.inputs(merged, inputs, before)
    errors = []
    for layer, model_layer in zip(ours.layers[: ours.depth], theirs.layers[: theirs.depth]):
        with torch.no_grad():
            wanted = model_layer(x, *their_rotary)[0]
        errors.append(layer_error(layer(x, *rotary)[0], wanted, x, rows))
        x = wanted
    out = {f"layer{i}": e for i, e in enumerate(errors)} | ours.auxiliary(rows)
    if depth:
        with torch.no_grad():
            hidden = theirs.norm(x)
        drafts = student.mtp_logits(ids, hidden, *rotary, first, depth)
        out["mtp"] = student.draft_losses(drafts, labels)
    return out
