"""Checkpoints, the start from an exported snapshot, and the running mean of the weights."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from charset import CHAR_TO_INDEX
from model import MiniOcr
from recipes import read_config
from snapshot import TRAINING_ONLY, snapshot_weights

HEADS_FILE = "heads.safetensors"
# Heads with one row for each step and character, and by how much new characters start less likely.
CLASS_HEADS = ("ctc_patch.", "ctc_merged.")
NEW_CLASS_SHIFT = 3.0


class Average:
    """Exponential mean of the weights; what is exported before a run has ended."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self, model: nn.Module) -> None:
        with torch.no_grad():
            for name, value in model.state_dict().items():
                self.weights[name].lerp_(value, 1 - self.decay)


def save_checkpoint(
    path: Path,
    model: nn.Module,
    average: Average,
    optimizers: list[torch.optim.Optimizer],
    state: dict,
) -> None:
    """Write everything a resumed run needs, atomically."""
    temp = path.with_suffix(".tmp")
    torch.save(
        {
            "model": model.state_dict(),
            "ema": average.weights,
            "optimizers": [o.state_dict() for o in optimizers],
            "state": state,
        },
        temp,
    )
    os.replace(temp, path)


def load_checkpoint(
    path: Path, model: nn.Module, average: Average, optimizers: list[torch.optim.Optimizer]
) -> dict:
    """Restore a checkpoint; returns its counters."""
    saved = torch.load(path, weights_only=False)
    model.load_state_dict(saved["model"])
    average.weights = {k: v.clone() for k, v in (saved.get("ema") or saved["model"]).items()}
    for optimizer, old in zip(optimizers, saved["optimizers"]):
        optimizer.load_state_dict(old)
    return saved["state"]


def save_heads(folder: Path, weights: dict[str, Tensor]) -> None:
    """Keep the parts that a snapshot lacks (CTC heads, sub-position classifier) as bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    heads = {
        k: v.to(torch.bfloat16).contiguous()
        for k, v in weights.items()
        if k.startswith(TRAINING_ONLY)
    }
    save_file(heads, folder / HEADS_FILE)


def grow(head: Tensor, steps: int) -> Tensor:
    """A CTC head of fewer characters (rows are steps times classes) for today's alphabet.

    The alphabet only ever grows at its end.  A new letter starts as the letter without its accent,
    a little less likely.
    """
    old = head.unflatten(0, (steps, -1))
    count = old.shape[1]
    if count > len(CHAR_TO_INDEX) + 1:
        raise ValueError(f"training heads have {count} classes, more than characters are known")
    rows = []
    for char in list(CHAR_TO_INDEX)[count - 1 :]:
        base = CHAR_TO_INDEX.get(unicodedata.normalize("NFD", char)[0], count)
        rows.append(old[:, base] if base < count else old[:, CHAR_TO_INDEX[","]])
    if rows:
        shift = NEW_CLASS_SHIFT if head.ndim == 1 else 0.0
        old = torch.cat((old, torch.stack(rows, 1) - shift), 1)
    return old.flatten(0, 1)


def shared_weights(model: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Of another model's weights those that the model has in the same shape.

    These are the vision tower, the embedding, the head, norms and dense feed-forwards.
    """
    own = model.state_dict()
    return {k: v for k, v in weights.items() if k in own and own[k].shape == v.shape}


def init_from(model: MiniOcr, snapshot: Path, heads: Path | None) -> None:
    """Start from an exported snapshot, and from the saved training heads where given.

    From a snapshot with another decoder than the model's, only what both have is taken.
    """
    weights = snapshot_weights(snapshot)
    foreign = read_config(snapshot).text != model.config.text
    if foreign:
        weights = shared_weights(model, weights)
    if heads is not None:
        own = model.state_dict()
        for name, value in load_file(heads / HEADS_FILE).items():
            steps = own[name].shape[0] // model.config.ctc_classes
            grown = name.startswith(CLASS_HEADS)
            weights[name] = grow(value.float(), steps) if grown else value.float()
    missing, _ = model.load_state_dict(weights, strict=False)
    unknown = [name for name in missing if not name.startswith(TRAINING_ONLY)]
    if unknown and not foreign:
        raise ValueError(f"{snapshot}: snapshot lacks {unknown}")
