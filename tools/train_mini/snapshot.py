"""Read an exported snapshot back into the training model."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from config import IMAGE_MEAN, IMAGE_STD, LUMA_MEAN, LUMA_STD
from model import MiniOcr
from recipes import RECIPES, kind_of, new_config, read_config

PATCH_KERNEL = "model.visual.patch_embed.proj.weight"
PATCH_BIAS = "model.visual.patch_embed.proj.bias"
# Parts of the training model that a snapshot does not have (see heads_file in state.py).
TRAINING_ONLY = "ctc_"


def fold_patch_kernel(state: dict[str, Tensor]) -> None:
    """Turn the 2x3x14x14 patch kernel into the equal luma filter, in place.

    Gray input puts one pixel value into all channels, so kernel and normalisation fold exactly.
    """
    scaled = state[PATCH_KERNEL] / torch.tensor(IMAGE_STD).view(1, 3, 1, 1, 1)
    offset = (scaled.sum((2, 3, 4)) * torch.tensor(IMAGE_MEAN)).sum(1)
    gray = scaled.sum((1, 2)).flatten(1) * LUMA_STD
    state[PATCH_KERNEL] = gray
    state[PATCH_BIAS] = state[PATCH_BIAS] + gray.sum(1) * (LUMA_MEAN / LUMA_STD) - offset


def snapshot_weights(folder: Path) -> dict[str, Tensor]:
    """Float32 weights of a snapshot under the names of the training model."""
    state = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    fold_patch_kernel(state)
    config = read_config(folder)
    return RECIPES[kind_of(config.text)].from_file(state, config)


def new_model(name: str = "glm_ocr") -> MiniOcr:
    """A freshly initialised model; ``glm_ocr`` has the bundled size."""
    return MiniOcr(new_config(name))


def load_snapshot(folder: Path) -> MiniOcr:
    """The model with the weights of a snapshot, for evaluation; training heads stay random."""
    model = MiniOcr(read_config(folder)).eval()
    missing, _ = model.load_state_dict(snapshot_weights(folder), strict=False)
    unknown = [name for name in missing if not name.startswith(TRAINING_ONLY)]
    if unknown:
        raise ValueError(f"{folder}: snapshot lacks {unknown}")
    return model
