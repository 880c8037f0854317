"""Checkpoints, the start from an exported snapshot, and the running mean of the weights."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from snapshot import TRAINING_ONLY, snapshot_weights

HEADS_FILE = "heads.safetensors"


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


def init_from(model: nn.Module, snapshot: Path, heads: Path | None) -> None:
    """Start from an exported snapshot, and from the saved training heads where given."""
    weights = snapshot_weights(snapshot)
    if heads is not None:
        weights |= {k: v.float() for k, v in load_file(heads / HEADS_FILE).items()}
    missing, _ = model.load_state_dict(weights, strict=False)
    unknown = [name for name in missing if not name.startswith(TRAINING_ONLY)]
    if unknown:
        raise ValueError(f"{snapshot}: snapshot lacks {unknown}")
