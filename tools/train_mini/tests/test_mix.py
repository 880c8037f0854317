"""Means of weights."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from export import export
from mix import mix, weights_of
from snapshot import new_model
from state import save_heads

SNAPSHOT = Path(__file__).resolve().parents[3] / "assets" / "platen-mini"


def test_a_share_of_the_second_is_taken():
    mixed = mix({"a": torch.tensor([0.0, 4.0])}, {"a": torch.tensor([8.0, 0.0])}, 0.25)
    assert mixed["a"].tolist() == [2.0, 3.0]


def test_a_snapshot_mixed_with_itself_is_itself(tmp_path):
    save_heads(tmp_path, new_model().state_dict())
    weights = weights_of(SNAPSHOT, tmp_path)
    export(mix(weights, weights, 0.5), SNAPSHOT / "tokenizer.json", tmp_path)
    before, after = (load_file(f / "model.safetensors") for f in (SNAPSHOT, tmp_path))
    assert before.keys() == after.keys()
    for name, value in before.items():
        # the patch kernel is folded to gray and spread to colours again, which rounds
        slack = 1e-3 if "patch_embed" in name else 0.0
        assert torch.allclose(value.float(), after[name].float(), rtol=0, atol=slack), name
