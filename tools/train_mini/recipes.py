"""The two kinds of decoder: what differs between their snapshots, and the sizes of new models.

A recipe is named by ``text_config.model_type`` of a snapshot, without the ending ``_text``.  The
graphs themselves are told apart by the type of their config (``LANGUAGE_MODELS`` in model.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from charset import CHAR_TO_INDEX
from config import (
    TINY_TEXT,
    TINY_VISION,
    MiniLlmTextConfig,
    ModelConfig,
    TextConfig,
    VisionConfig,
)

TEXT = "model.language_model."
GATE_UP = ".gate_up_proj.weight"


# Sizes of a config and their keys in config.json.
VISION_KEYS = {
    "hidden": "hidden_size",
    "heads": "num_heads",
    "depth": "depth",
    "intermediate": "intermediate_size",
    "out_hidden": "out_hidden_size",
}
SHARED_KEYS = {
    "vocab": "vocab_size",
    "hidden": "hidden_size",
    "intermediate": "intermediate_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
}
GLM_KEYS = SHARED_KEYS | {"kv_heads": "num_key_value_heads", "head_dim": "head_dim"}
MINILLM_KEYS = SHARED_KEYS | {
    "nope_dim": "qk_nope_head_dim",
    "rope_dim": "qk_rope_head_dim",
    "value_dim": "v_head_dim",
    "kv_rank": "kv_lora_rank",
    "q_rank": "q_lora_rank",
    "dense_layers": "first_k_dense_replace",
    "experts": "n_routed_experts",
    "experts_per_token": "num_experts_per_tok",
    "expert_intermediate": "moe_intermediate_size",
    "shared_experts": "n_shared_experts",
    "draft_heads": "num_nextn_predict_layers",
    "draft_intermediate": "mtp_intermediate_size",
}


def sizes_json(config: object, keys: dict[str, str]) -> dict[str, int]:
    """The sizes of a config under their keys in config.json."""
    return {key: getattr(config, name) for name, key in keys.items()}


def sizes(json_object: dict, keys: dict[str, str]) -> dict[str, int]:
    """The reverse of ``sizes_json``."""
    return {name: json_object[key] for name, key in keys.items()}


@dataclass(frozen=True)
class Recipe:
    """A kind of decoder: how it appears in a snapshot."""

    text_json: Callable[[ModelConfig], dict]
    text: Callable[[dict], TextConfig | MiniLlmTextConfig]
    to_file: Callable[[dict[str, Tensor], ModelConfig], dict[str, Tensor]]
    from_file: Callable[[dict[str, Tensor], ModelConfig], dict[str, Tensor]]


def glm_text_json(c: ModelConfig) -> dict:
    """``text_config`` of GLM-OCR, but for the token ids."""
    return {
        "model_type": "glm_ocr_text",
        "dtype": "bfloat16",
        **sizes_json(c.text, GLM_KEYS),
        "num_nextn_predict_layers": 1,
        "hidden_act": "silu",
        "rms_norm_eps": c.eps,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "max_position_embeddings": 4096,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": c.theta,
            "partial_rotary_factor": 1.0,
            "mrope_section": list(c.text.mrope_section),
        },
    }


def glm_text(text_config: dict) -> TextConfig:
    """The sizes of a ``text_config`` of GLM-OCR."""
    section = tuple(text_config["rope_parameters"]["mrope_section"])
    return TextConfig(**sizes(text_config, GLM_KEYS), mrope_section=section)


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
    return {
        "model_type": "minillm",
        "dtype": "bfloat16",
        **sizes_json(c.text, MINILLM_KEYS),
        "num_key_value_heads": c.text.heads,
        "hidden_act": "silu",
        "rms_norm_eps": c.eps,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "max_position_embeddings": 4096,
        "rope_theta": c.theta,
        "rope_scaling": None,
        "use_moe": c.text.dense_layers < c.text.layers,
        "moe_layer_freq": 1,
        "scoring_func": "softmax",
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "seq_aux": True,
    }


def minillm_text(text_config: dict) -> MiniLlmTextConfig:
    """The sizes of a ``text_config`` of MiniLLM."""
    return MiniLlmTextConfig(**sizes(text_config, MINILLM_KEYS))


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
    "glm_ocr": Recipe(glm_text_json, glm_text, glm_to_file, glm_from_file),
    "minillm": Recipe(minillm_text_json, minillm_text, minillm_to_file, minillm_from_file),
}
# Models that can be started anew: ``glm_ocr`` is the bundled one.
MODELS: dict[str, ModelConfig] = {
    "glm_ocr": ModelConfig(),
    "minillm": ModelConfig(text=MiniLlmTextConfig()),
    "minillm-tiny": ModelConfig(TINY_VISION, TINY_TEXT),
}


def kind_of(text: TextConfig | MiniLlmTextConfig) -> str:
    """Name of the recipe of a decoder's sizes."""
    return "minillm" if isinstance(text, MiniLlmTextConfig) else "glm_ocr"


def new_config(model: str) -> ModelConfig:
    """The sizes of a model of ``MODELS``, with heads for today's alphabet."""
    return replace(MODELS[model], ctc_classes=len(CHAR_TO_INDEX) + 1)


def read_config(folder: Path) -> ModelConfig:
    """The sizes of a snapshot; one without config.json has those of the bundled model."""
    path = folder / "config.json"
    if not path.exists():
        return new_config("glm_ocr")
    content = json.loads(path.read_text())
    kind = content["text_config"]["model_type"].removesuffix("_text")
    if kind not in RECIPES:
        raise ValueError(f"{path}: text_config.model_type is {kind}, not one of {list(RECIPES)}")
    vision = VisionConfig(**sizes(content["vision_config"], VISION_KEYS))
    text = RECIPES[kind].text(content["text_config"])
    return ModelConfig(vision, text, ctc_classes=len(CHAR_TO_INDEX) + 1)
