"""The two recipes: what differs between their snapshots.

A recipe is named by ``text_config.model_type`` of a snapshot, without the ending ``_text``.  The
graphs themselves are told apart by the type of their config (``LANGUAGE_MODELS`` in model.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from charset import CHAR_TO_INDEX
from config import MiniLlmTextConfig, ModelConfig, TextConfig

TEXT = "model.language_model."
GATE_UP = ".gate_up_proj.weight"


@dataclass(frozen=True)
class Recipe:
    """How a decoder appears in a snapshot, and its size if it is started anew."""

    text: Callable[[], TextConfig | MiniLlmTextConfig]
    text_json: Callable[[ModelConfig], dict]
    to_file: Callable[[dict[str, Tensor], ModelConfig], dict[str, Tensor]]
    from_file: Callable[[dict[str, Tensor], ModelConfig], dict[str, Tensor]]

    def config(self) -> ModelConfig:
        return ModelConfig(text=self.text(), ctc_classes=len(CHAR_TO_INDEX) + 1)


def glm_text_json(c: ModelConfig) -> dict:
    """``text_config`` of GLM-OCR, but for the token ids."""
    t = c.text
    return {
        "model_type": "glm_ocr_text",
        "dtype": "bfloat16",
        "vocab_size": t.vocab,
        "hidden_size": t.hidden,
        "intermediate_size": t.intermediate,
        "num_hidden_layers": t.layers,
        "num_nextn_predict_layers": 1,
        "num_attention_heads": t.heads,
        "num_key_value_heads": t.kv_heads,
        "head_dim": t.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": c.eps,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "max_position_embeddings": 4096,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": c.theta,
            "partial_rotary_factor": 1.0,
            "mrope_section": list(t.mrope_section),
        },
    }


def glm_to_file(state: dict[str, Tensor], c: ModelConfig) -> dict[str, Tensor]:
    """The draft layer gets copies of embedding and head."""
    layer = f"{TEXT}layers.{c.text.layers}."
    return state | {
        layer + "embed_tokens.weight": state[TEXT + "embed_tokens.weight"].clone(),
        layer + "shared_head.head.weight": state["lm_head.weight"].clone(),
    }


def glm_from_file(state: dict[str, Tensor], c: ModelConfig) -> dict[str, Tensor]:
    """The copies are left out."""
    layer = f"{TEXT}layers.{c.text.layers}."
    copies = {layer + "embed_tokens.weight", layer + "shared_head.head.weight"}
    return {k: v for k, v in state.items() if k not in copies}


def minillm_text_json(c: ModelConfig) -> dict:
    """``text_config`` of MiniLLM, but for the token ids."""
    t = c.text
    return {
        "model_type": "minillm",
        "dtype": "bfloat16",
        "vocab_size": t.vocab,
        "hidden_size": t.hidden,
        "intermediate_size": t.intermediate,
        "moe_intermediate_size": t.expert_intermediate,
        "num_hidden_layers": t.layers,
        "num_attention_heads": t.heads,
        "num_key_value_heads": t.heads,
        "hidden_act": "silu",
        "rms_norm_eps": c.eps,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "max_position_embeddings": 4096,
        "rope_theta": c.theta,
        "rope_scaling": None,
        "q_lora_rank": t.q_rank or None,
        "kv_lora_rank": t.kv_rank,
        "qk_nope_head_dim": t.nope_dim,
        "qk_rope_head_dim": t.rope_dim,
        "v_head_dim": t.value_dim,
        "use_moe": t.dense_layers < t.layers,
        "n_routed_experts": t.experts,
        "num_experts_per_tok": t.experts_per_token,
        "n_shared_experts": t.shared_experts,
        "first_k_dense_replace": t.dense_layers,
        "moe_layer_freq": 1,
        "scoring_func": "softmax",
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "seq_aux": True,
        "num_nextn_predict_layers": t.draft_heads,
        "mtp_intermediate_size": t.draft_intermediate,
    }


def split_experts(name: str, value: Tensor, count: int) -> dict[str, Tensor]:
    """The routed experts of one layer under a name each."""
    head = name.split(".experts.")[0]
    if name.endswith(GATE_UP):
        gate, up = (half.chunk(count) for half in value.chunk(2))
        return {
            f"{head}.experts.{e}.{part}_proj.weight": rows[e]
            for part, rows in (("gate", gate), ("up", up))
            for e in range(count)
        }
    columns = value.chunk(count, 1)
    return {f"{head}.experts.{e}.down_proj.weight": columns[e] for e in range(count)}


def minillm_to_file(state: dict[str, Tensor], c: ModelConfig) -> dict[str, Tensor]:
    """Gate and up projections apart, experts one by one, draft heads outside of the decoder."""
    out: dict[str, Tensor] = {}
    for name, value in state.items():
        name = name.replace(TEXT + "mtp_layers.", "mtp_layers.")
        if ".mlp.experts." in name:
            out |= split_experts(name, value, c.text.experts)
        elif name.endswith(GATE_UP):
            gate, up = value.chunk(2)
            base = name.removesuffix(GATE_UP)
            out |= {base + ".gate_proj.weight": gate, base + ".up_proj.weight": up}
        else:
            out[name] = value
    return out


def minillm_from_file(state: dict[str, Tensor], c: ModelConfig) -> dict[str, Tensor]:
    """The reverse of ``minillm_to_file``; the vision tower's projections stay apart."""
    out = {k: v for k, v in state.items() if ".mlp.experts." not in k}
    for layer in range(c.text.dense_layers, c.text.layers):
        base = f"{TEXT}layers.{layer}.mlp.experts."
        parts = [
            [state[f"{base}{e}.{part}_proj.weight"] for e in range(c.text.experts)]
            for part in ("gate", "up", "down")
        ]
        out[base + "gate_up_proj.weight"] = torch.cat(parts[0] + parts[1])
        out[base + "down_proj.weight"] = torch.cat(parts[2], 1)
    for name in [n for n in out if n.endswith(".gate_proj.weight") and ".visual." not in n]:
        base = name.removesuffix(".gate_proj.weight")
        out[base + GATE_UP] = torch.cat((out.pop(name), out.pop(base + ".up_proj.weight")))
    return {k.replace("mtp_layers.", TEXT + "mtp_layers."): v for k, v in out.items()}


RECIPES = {
    "glm_ocr": Recipe(TextConfig, glm_text_json, glm_to_file, glm_from_file),
    "minillm": Recipe(MiniLlmTextConfig, minillm_text_json, minillm_to_file, minillm_from_file),
}


def recipe_of(folder: Path) -> str:
    """Name of the recipe of a snapshot; one without config.json is GLM-OCR's."""
    path = folder / "config.json"
    if not path.exists():
        return "glm_ocr"
    kind = json.loads(path.read_text())["text_config"]["model_type"].removesuffix("_text")
    if kind not in RECIPES:
        raise ValueError(f"{path}: text_config.model_type is {kind}, not one of {list(RECIPES)}")
    return kind
